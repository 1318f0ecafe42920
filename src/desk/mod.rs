//! The desk at which everybody asks: the command line, the HTTP API, MCP and the display in the terminal.
//!
//! A question in, an answer out; the answer is what `--json` prints, whoever asked. Nothing here parses flags, prints,
//! or listens on a socket.

mod condition;
mod effect;
mod feed;
mod feedback;
mod grounds;
mod lessons;
mod look;
mod moving;
mod recall;
mod refusal;
mod reply;
mod spend;
mod stats;
mod steps;
mod versions;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::config::{self, Backend, Config, RepoIdentity, Surroundings};
use crate::domain::{AgentMemory, MemoryQuery};
use crate::ingest::discover::Places;
use crate::memory::jsonl::{JsonlMemory, JsonlSettings};
#[cfg(feature = "postgres")]
use crate::memory::postgres::{GLOBAL, PostgresMemory, PostgresSettings, Server};
use crate::memory::{Lesson, LessonName, MemoryError, MemoryService, Stamp, Tenancy};
use crate::model::embed::{Cached, Embedder, LocalEmbedder};
use crate::service::{Owner, Project, Queue};

pub use condition::{Condition, JobReport, Jobs};
pub use effect::{EffectRow, Measured};
pub use feedback::{Evidence, Noted, Opinion, role};
pub use grounds::{Given, Grounds, Judged, Merged, Other, Related, Seen};
pub use lessons::{Author, EpisodeQuestion, Forgotten, LessonFilter, NewLesson, known_at};
pub use look::ProjectLook;
pub use moving::{Bank, Moving};
pub use recall::{Asked, Found};
pub use refusal::{Fault, Refusal};
pub use reply::{Level, Reply, ReplyItem};
pub use spend::{DaySpend, Spend};
pub use stats::Stats;
pub use steps::{StepView, Steps};
pub use versions::Version;

/// One project's memory, and everything that is asked of it.
#[derive(Debug, Clone)]
pub struct Desk {
    /// The memory itself.
    pub memory: Arc<dyn MemoryService>,
    /// The server that it is on, where it is on one.
    #[cfg(feature = "postgres")]
    server: Option<Arc<Server>>,
    config: Arc<Config>,
    project: Arc<Project>,
    memory_dir: PathBuf,
    /// Where a model's cost is written down, where there is such a place.
    spend_dir: Option<PathBuf>,
    tenancy: Tenancy,
    has_global: bool,
    /// Tells meanings, where a model is set. It is loaded at the first question and kept.
    embedder: Option<Arc<dyn Embedder>>,
}

impl Desk {
    /// Opens the memory that the configuration names. Nothing is read or written yet. With a patience of its own,
    /// a writer waits no longer than that for others.
    pub fn open(root: PathBuf, config: Config, surroundings: &Surroundings, patience: Option<Duration>) -> Self {
        let home = surroundings.home.as_deref();
        let mut settings = config.memory.jsonl(&root, home);
        settings.lock_timeout = patience.unwrap_or(settings.lock_timeout);
        // On a server every project has a bank of its own, whatever directory is set.
        let is_shared = settings.tenancy == Tenancy::Shared && config.memory.backend == Backend::Jsonl;
        let tenancy = if is_shared { Tenancy::Shared } else { Tenancy::Own };
        let has_global = settings.global.is_some();
        let memory_dir = settings.project.clone();
        let project = project(root, &config, surroundings, tenancy);
        #[cfg(feature = "postgres")]
        let server = (config.memory.backend == Backend::Postgres)
            .then(|| Server::new(config.memory.postgres.server(surroundings, patience)));
        #[cfg(feature = "postgres")]
        let memory: Arc<dyn MemoryService> = match &server {
            Some(server) => Arc::new(PostgresMemory::open(Arc::clone(server), config.memory.bank(bank_of(&project)))),
            None => Arc::new(JsonlMemory::open(settings)),
        };
        #[cfg(not(feature = "postgres"))]
        let memory = Arc::new(JsonlMemory::open(settings));
        let embedder = config.embeddings.path(home).map(|folder| {
            let cache = memory_dir.join("index").join("vectors");
            Arc::new(Cached::new(LocalEmbedder::new(&folder)).with_file(&cache)) as Arc<dyn Embedder>
        });
        Self {
            memory,
            #[cfg(feature = "postgres")]
            server,
            config: Arc::new(config),
            project: Arc::new(project),
            spend_dir: surroundings.state_dir().map(|state| state.join("spend")),
            memory_dir,
            tenancy,
            has_global,
            embedder,
        }
    }

    /// The project that this is about.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The server that a fleet shares, where there is one.
    #[cfg(feature = "postgres")]
    pub fn server(&self) -> Option<&Arc<Server>> {
        self.server.as_ref()
    }

    /// What this project is called among those of a fleet: its repository, or its path.
    pub fn bank(&self) -> String {
        bank_of(&self.project)
    }

    /// A question of this project's that mentions nothing yet.
    pub fn question(&self) -> MemoryQuery {
        self.project.question()
    }

    /// The same over the connections of another desk, where both are on one server.
    pub fn sharing(self, other: &Self) -> Self {
        #[cfg(feature = "postgres")]
        if let (Some(own), Some(shared)) = (&self.server, &other.server)
            && own.is_same(shared)
        {
            let memory = PostgresMemory::open(Arc::clone(shared), self.config.memory.bank(self.bank()));
            return Self { memory: Arc::new(memory), server: Some(Arc::clone(shared)), ..self };
        }
        let _ = other;
        self
    }

    /// One of its banks without the other.
    fn bank_alone(&self, which: Bank) -> Arc<dyn MemoryService> {
        #[cfg(feature = "postgres")]
        if let Some(server) = &self.server {
            let key = match which {
                Bank::Project => self.bank(),
                Bank::Global => GLOBAL.to_owned(),
            };
            let settings = PostgresSettings { global: None, ..self.config.memory.bank(key) };
            return Arc::new(PostgresMemory::open(Arc::clone(server), settings));
        }
        let settings = self.config.memory.jsonl(&self.project.root, self.project.home.as_deref());
        Arc::new(JsonlMemory::open(match which {
            Bank::Project => JsonlSettings { global: None, ..settings },
            Bank::Global => JsonlSettings { project: self.memory_dir.join("no-project"), ..settings },
        }))
    }

    /// Where the project's memory lies; on a server, where its jobs wait to be handed on.
    pub fn memory_dir(&self) -> &Path {
        &self.memory_dir
    }

    /// The configuration that holds here.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What tells meanings, where a model is set.
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    /// Whether a lesson that lies in the memory is this project's business.
    pub fn sees(&self, memory: &AgentMemory) -> bool {
        self.tenancy == Tenancy::Own || memory.belongs_to(&self.question())
    }

    /// Whether a run at this path, of this repository, was a run of this project.
    pub fn owns(&self, project_root: &str, repo_id: Option<&str>) -> bool {
        match (self.tenancy, repo_id, self.project.repo_id.as_deref()) {
            (Tenancy::Own, _, _) => true,
            (Tenancy::Shared, Some(theirs), Some(ours)) => theirs == ours,
            (Tenancy::Shared, _, _) => project_root == self.project.root_text(),
        }
    }

    /// Whether there is a place for lessons that hold everywhere.
    pub fn has_global(&self) -> bool {
        self.has_global
    }

    /// The lesson of this name, or the error that says there is none.
    pub async fn lesson(&self, name: &LessonName) -> Result<Lesson, MemoryError> {
        let lesson = self.memory.get(name).await?.filter(|lesson| self.sees(&lesson.memory));
        lesson.ok_or_else(|| MemoryError::NoSuchLesson { name: name.clone() })
    }

    /// Changes whenever anything in the memory or its queue did.
    pub async fn stamp(&self) -> Result<Stamp, MemoryError> {
        let Stamp(memory) = self.memory.stamp().await?;
        let queue = Queue::at(&self.memory_dir).stamp();
        #[cfg(feature = "postgres")]
        let queue = match self.fleet() {
            Some(fleet) => format!("{queue}{}", fleet.stamp().await?),
            None => queue,
        };
        Ok(Stamp(format!("{memory}{queue}")))
    }

    /// All of these, each once. They are looked up before anything is changed: a misspelt one changes nothing.
    pub async fn lessons_named(&self, names: &[LessonName]) -> Result<Vec<Lesson>, MemoryError> {
        let mut found: Vec<Lesson> = Vec::new();
        for name in names {
            let lesson = self.lesson(name).await?;
            if !found.iter().any(|other| other.memory.id == lesson.memory.id) {
                found.push(lesson);
            }
        }
        Ok(found)
    }
}

/// What a project is called on a server: its repository, or its path where that is all that is known.
fn bank_of(project: &Project) -> String {
    project.repo_id.clone().unwrap_or_else(|| project.root_text())
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
