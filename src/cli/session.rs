//! One command at work: which project, which memory, what time it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::Globals;
use super::failure::Failure;
use crate::config::{self, Backend, Config, LoadRequest, Loaded, RepoIdentity, Surroundings};
use crate::domain::{AgentMemory, IdSource, MemoryQuery, Timestamp};
use crate::ingest::discover::Places;
use crate::memory::jsonl::{JsonlMemory, Tenancy};
use crate::memory::{Lesson, LessonName, MemoryError, MemoryService};
use crate::service::{Clock, Owner, Project};

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
    pub(super) clock: Clock,
    config: Config,
    project: Project,
    memory_dir: PathBuf,
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
        Self::at(Workplace::find(globals, surroundings)?, globals, surroundings, (now, seed), None)
    }

    /// The same for whoever cannot wait long for other writers.
    pub(super) fn open_in_haste(
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        Self::at(Workplace::find(globals, surroundings)?, globals, surroundings, (now, 0), Some(patience))
    }

    fn at(
        workplace: Workplace,
        globals: &Globals,
        surroundings: &Surroundings,
        (now, seed): (Timestamp, u64),
        patience: Option<Duration>,
    ) -> anyhow::Result<Self> {
        let Workplace { root, loaded } = workplace;
        let config = loaded.config;
        let mut settings = config.memory.jsonl(&root, surroundings.home.as_deref());
        settings.lock_timeout = patience.unwrap_or(settings.lock_timeout);
        let (tenancy, has_global) = (settings.tenancy, settings.global.is_some());
        let memory_dir = settings.project.clone();
        let project = project(root, &config, surroundings, tenancy);
        let memory = match config.memory.backend {
            Backend::Jsonl => JsonlMemory::open(settings),
        };
        Ok(Self {
            memory,
            now,
            ids: IdSource::new(seed),
            seed,
            clock: globals.now.map_or_else(Clock::of_the_system, Clock::fixed),
            project,
            memory_dir,
            tenancy,
            has_global,
            config,
        })
    }

    /// The project that this is about.
    pub(super) fn project(&self) -> &Project {
        &self.project
    }

    /// A question of this project's that mentions nothing yet.
    pub(super) fn question(&self) -> MemoryQuery {
        self.project.question()
    }

    /// Where the project's memory lies.
    pub(super) fn memory_dir(&self) -> &Path {
        &self.memory_dir
    }

    /// The configuration that holds here.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Whether a lesson that lies in the memory is this project's business.
    pub(super) fn sees(&self, memory: &AgentMemory) -> bool {
        self.tenancy == Tenancy::Own || memory.belongs_to(&self.question())
    }

    /// Whether a run at this path, of this repository, was a run of this project.
    pub(super) fn owns(&self, project_root: &str, repo_id: Option<&str>) -> bool {
        match (self.tenancy, repo_id, self.project.repo_id.as_deref()) {
            (Tenancy::Own, _, _) => true,
            (Tenancy::Shared, Some(theirs), Some(ours)) => theirs == ours,
            (Tenancy::Shared, _, _) => project_root == self.project.root_text(),
        }
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
}

/// The project at this path: what its lessons carry, and where its sessions are.
fn project(root: PathBuf, config: &Config, surroundings: &Surroundings, tenancy: Tenancy) -> Project {
    let identity = config::repo_id(&root, &config.project.key);
    // In the project's own directory a path would only break when the project moves.
    let moves_along = tenancy == Tenancy::Own;
    let is_lasting = matches!(identity, RepoIdentity::Explicit(_) | RepoIdentity::Remote(_));
    let homes = config.sources.homes(&root, surroundings);
    let places = Places {
        project: root.clone(),
        repository: matches!(identity, RepoIdentity::Remote(_)).then(|| identity.text()).flatten(),
        claude_home: homes.claude,
        codex_home: homes.codex,
        gemini_home: homes.gemini,
        jobs: Vec::new(),
    };
    let mut project = Project::at(root);
    project.owner = Owner {
        project_root: (!moves_along).then(|| project.root_text()),
        repo_id: if moves_along && !is_lasting { None } else { identity.text() },
    };
    Project { repo_id: identity.text(), places, home: surroundings.home.clone(), ..project }
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
