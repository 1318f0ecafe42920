//! One command at work: which project, which memory, what time it is.

use std::path::{Path, PathBuf};

use super::arguments::Globals;
use super::failure::Failure;
use crate::config::{self, Backend, Config, LoadRequest, Loaded, RepoIdentity, Surroundings};
use crate::domain::{AgentMemory, IdSource, MemoryQuery, MemoryScope, Timestamp};
use crate::memory::jsonl::{JsonlMemory, Tenancy};
use crate::memory::{Lesson, LessonName, MemoryError, MemoryService};
use crate::recall::Ranking;

/// The project and the configuration that holds in it.
#[derive(Debug)]
pub(super) struct Workplace {
    pub(super) root: PathBuf,
    pub(super) loaded: Loaded,
}

impl Workplace {
    /// Finds the project and reads its configuration.
    pub(super) fn find(globals: &Globals, surroundings: &Surroundings) -> anyhow::Result<Self> {
        let here = &surroundings.current_dir;
        if !here.is_absolute() {
            let hint = "change to a directory that exists";
            return Err(Failure::user("the current directory is gone").with_hint(hint).into());
        }
        let root = match &globals.project {
            Some(given) => given_root(given, here)?,
            None => config::find_project_root(here, surroundings.home.as_deref()),
        };
        let request = LoadRequest {
            surroundings: surroundings.clone(),
            project_root: root.clone(),
            config_file: globals.config.clone(),
            flags: flags(globals, here)?,
        };
        Ok(Self { loaded: config::load(&request)?, root })
    }
}

/// A workplace with its memory open.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) memory: JsonlMemory,
    pub(super) now: Timestamp,
    pub(super) ids: IdSource,
    pub(super) seed: u64,
    config: Config,
    root: PathBuf,
    identity: RepoIdentity,
    tenancy: Tenancy,
    has_global: bool,
}

impl Session {
    /// Opens the memory that the configuration names. Nothing is read or written yet.
    pub(super) fn open(
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let Workplace { root, loaded } = Workplace::find(globals, surroundings)?;
        let config = loaded.config;
        let settings = config.memory.jsonl(&root, surroundings.home.as_deref());
        let (tenancy, has_global) = (settings.tenancy, settings.global.is_some());
        let memory = match config.memory.backend {
            Backend::Jsonl => JsonlMemory::open(settings),
        };
        Ok(Self {
            memory,
            now,
            ids: IdSource::new(seed),
            seed,
            identity: config::repo_id(&root, &config.project.key),
            tenancy,
            has_global,
            config,
            root,
        })
    }

    /// A question of this project's that mentions nothing yet.
    pub(super) fn question(&self) -> MemoryQuery {
        let mut query = MemoryQuery::for_project(self.project_root());
        query.repo_id = self.identity.text();
        query
    }

    /// The configuration that holds here.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// How the configuration ranks lessons.
    pub(super) fn ranking(&self) -> Ranking {
        self.config.recall.ranking()
    }

    /// Writes on a lesson whose it is. In the project's own directory a path would only break when the project moves.
    pub(super) fn sign(&self, memory: &mut AgentMemory) {
        let global = memory.scope == MemoryScope::Global;
        let moves_along = self.tenancy == Tenancy::Own;
        let lasting = matches!(self.identity, RepoIdentity::Explicit(_) | RepoIdentity::Remote(_));
        memory.repo_id = if global || (moves_along && !lasting) { None } else { self.identity.text() };
        memory.project_root = if global || moves_along { None } else { Some(self.project_root()) };
    }

    /// Whether a lesson that lies in the memory is this project's business.
    pub(super) fn sees(&self, memory: &AgentMemory) -> bool {
        self.tenancy == Tenancy::Own || memory.belongs_to(&self.question())
    }

    /// Whether a run at this path, of this repository, was a run of this project.
    pub(super) fn owns(&self, project_root: &str, repo_id: Option<&str>) -> bool {
        match (self.tenancy, repo_id, self.identity.text()) {
            (Tenancy::Own, _, _) => true,
            (Tenancy::Shared, Some(theirs), Some(ours)) => theirs == ours,
            (Tenancy::Shared, _, _) => project_root == self.project_root(),
        }
    }

    /// Where the project stands.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Which repository it is, where that is known apart from the path.
    pub(super) fn repo_id(&self) -> Option<String> {
        self.identity.text()
    }

    /// Whether there is a place for lessons that hold everywhere.
    pub(super) fn has_global(&self) -> bool {
        self.has_global
    }

    /// The lesson of this name, or the error that says there is none.
    pub(super) async fn lesson(&self, name: &LessonName) -> Result<Lesson, MemoryError> {
        let lesson = self.memory.get(name).await?.filter(|lesson| self.sees(&lesson.memory));
        lesson.ok_or_else(|| MemoryError::NoSuchLesson { name: name.clone() })
    }

    pub(super) fn project_root(&self) -> String {
        // A path that text cannot hold is written so that two such paths never become one.
        self.root.to_str().map_or_else(|| format!("{:?}", self.root), str::to_owned)
    }
}

fn given_root(given: &Path, here: &Path) -> Result<PathBuf, Failure> {
    let path = here.join(given);
    match path.canonicalize() {
        Ok(root) if root.is_dir() => Ok(root),
        Ok(_) => Err(Failure::user(format!("--project {} is not a directory", given.display()))),
        Err(error) => Err(Failure::user(format!("--project {} cannot be used: {error}", given.display()))
            .with_hint("give the root directory of the project")),
    }
}

/// The flags that set a key. A path on the command line starts where the person is, not at the project's root.
fn flags(globals: &Globals, here: &Path) -> Result<Vec<(String, String)>, Failure> {
    let Some(given) = &globals.memory_dir else {
        return Ok(Vec::new());
    };
    let keeps_its_meaning = given.as_os_str().is_empty() || given.starts_with("~");
    let path = if keeps_its_meaning { given.clone() } else { here.join(given) };
    match path.into_os_string().into_string() {
        Ok(path) => Ok(vec![("memory.dir".to_owned(), path)]),
        Err(_) => Err(Failure::user(format!("--memory-dir {} is not Unicode", given.display()))),
    }
}
