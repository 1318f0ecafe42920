//! The façade `Archivist`, which the command line, the HTTP API, MCP and the terminal display share.
//!
//! Every operation on a project's memory starts here, and returns the value that `--json` prints for every caller.
//! Nothing here parses flags, prints, or listens on a socket.

mod builder;
mod episode_steps;
mod event_feed;
mod evidence_report;
mod feedback;
mod file_probe;
mod lesson_effect;
mod lesson_versions;
mod lessons;
mod memory_status;
mod memory_trust;
mod model_wiring;
mod prompt_files;
mod purge;
mod recall;
mod recall_reply;
mod reflection;
mod request_error;
mod spend_report;
mod stats;
mod store_copy;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::config::{self, Config, ProcessEnvironment, RepoIdentity};
use crate::domain::{AgentMemory, IdSource, MemoryQuery, Timestamp};
use crate::hud::HudBroadcaster;
use crate::ingest::discover::SearchPlaces;
use crate::memory::jsonl::{JsonlMemory, JsonlSettings};
#[cfg(feature = "postgres")]
use crate::memory::postgres::{GLOBAL, PostgresBankSettings, PostgresMemory, PostgresServer};
use crate::memory::{BankTenancy, Lesson, LessonName, MemoryError, MemoryService, MemoryStamp};
use crate::model::LanguageModel;
use crate::model::embed::Embedder;
#[cfg(feature = "postgres")]
use crate::service::redacting_memory::RedactingMemory;
use crate::service::{ArchivistService, JobQueue, LessonOwner, ProjectContext, ServiceClock};
use crate::trust::{MachineKey, MemoryFolder, TrustedRepositories};

pub use builder::ArchivistBuilder;
pub use episode_steps::{EpisodeSteps, StepView};
pub use evidence_report::{
    LessonBrief, LessonEvidenceReport, LessonFeedback, LessonInjection, LessonSighting, MergedLesson, RelatedLesson,
};
pub use feedback::{FeedbackEvidence, LessonOpinion, RecordedFeedback, parse_role};
pub use file_probe::ProjectFileProbe;
pub use lesson_effect::{LessonEffectRow, MeasuredEffect};
pub use lesson_versions::LessonVersion;
pub use lessons::{EpisodeListFilter, ForgottenLesson, LessonAuthor, LessonFilter, NewLesson, last_confirmed_at};
pub use memory_status::{JobQueueStatus, JobReport, MemoryStatus};
pub use prompt_files::load_prompts;
pub use purge::{PurgePlan, PurgeReport, PurgeSelector};
pub use recall::{RecallRequest, RecallResult};
pub use recall_reply::{RecallLevel, RecallReply, RecallReplyItem};
pub use reflection::QueuedJob;
pub use request_error::{RequestError, RequestFault};
pub use spend_report::{DaySpend, SpendReport};
pub use stats::MemoryStats;
pub use store_copy::BankKind;

/// The memory of one project and all operations on it. A clone shares everything with its original.
#[derive(Clone)]
pub struct Archivist {
    /// The underlying memory service.
    pub memory: Arc<dyn MemoryService>,
    /// The server that holds the memory, if there is one.
    #[cfg(feature = "postgres")]
    server: Option<Arc<PostgresServer>>,
    config: Arc<Config>,
    project: Arc<ProjectContext>,
    environment: Arc<ProcessEnvironment>,
    memory_dir: PathBuf,
    machine_key: MachineKey,
    /// The memory's folder, if it may have come with the repository.
    guarded_folder: Option<MemoryFolder>,
    tenancy: BankTenancy,
    has_global: bool,
    clock: ServiceClock,
    ids: Arc<IdSource>,
    seed: u64,
    /// The embedding model, if one is configured. It is loaded at the first query and kept.
    embedder: Option<Arc<dyn Embedder>>,
    /// The language model that the caller supplied instead of the configured one.
    model: Option<Arc<dyn LanguageModel>>,
    /// The sinks that the caller supplied instead of the configured ones.
    hud: Option<Arc<HudBroadcaster>>,
    /// The service that reflects, once it was needed.
    reflection: Arc<Mutex<Option<Arc<ArchivistService>>>>,
}

impl std::fmt::Debug for Archivist {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archivist")
            .field("root", &self.project.root)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

impl Archivist {
    /// Returns the current time, by the clock of this memory.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the clock of this memory.
    pub fn clock(&self) -> &ServiceClock {
        &self.clock
    }

    /// Returns the source of new ids.
    pub fn id_source(&self) -> &IdSource {
        &self.ids
    }

    /// Returns the project of this memory.
    pub fn project(&self) -> &ProjectContext {
        &self.project
    }

    /// Returns the server that the fleet shares, if there is one.
    #[cfg(feature = "postgres")]
    pub fn server(&self) -> Option<&Arc<PostgresServer>> {
        self.server.as_ref()
    }

    /// Returns the project's bank key in a fleet: its repository, or its path.
    pub fn bank_key(&self) -> String {
        project_bank_key(&self.project)
    }

    /// Returns a query for this project without any topic.
    pub fn new_query(&self) -> MemoryQuery {
        self.project.new_query()
    }

    /// Reuses the connections of another `Archivist`, if both are on the same server.
    pub fn with_shared_server(self, other: &Self) -> Self {
        #[cfg(feature = "postgres")]
        if let (Some(own), Some(shared)) = (&self.server, &other.server)
            && own.has_same_settings(shared)
        {
            let memory = PostgresMemory::open(Arc::clone(shared), self.config.memory.bank_settings(self.bank_key()));
            return Self {
                memory: RedactingMemory::wrap(Arc::new(memory)),
                server: Some(Arc::clone(shared)),
                reflection: Arc::default(),
                ..self
            };
        }
        let _ = other;
        self
    }

    /// Opens one of the banks without the other.
    fn open_single_bank(&self, which: BankKind) -> Arc<dyn MemoryService> {
        #[cfg(feature = "postgres")]
        if let Some(server) = &self.server {
            let key = match which {
                BankKind::Project => self.bank_key(),
                BankKind::Global => GLOBAL.to_owned(),
            };
            let settings = PostgresBankSettings { global: None, ..self.config.memory.bank_settings(key) };
            return Arc::new(PostgresMemory::open(Arc::clone(server), settings));
        }
        let settings = self.config.memory.jsonl_settings(&self.project.root, self.project.home.as_deref());
        Arc::new(JsonlMemory::open(match which {
            BankKind::Project => JsonlSettings { global: None, ..settings },
            BankKind::Global => JsonlSettings { project: self.memory_dir.join("no-project"), ..settings },
        }))
    }

    /// Returns the directory of the project's memory; with a server, the directory where its jobs are spooled.
    pub fn memory_dir(&self) -> &Path {
        &self.memory_dir
    }

    /// Returns the job queue in the files of this memory, which spools the jobs of a fleet.
    pub fn file_queue(&self) -> JobQueue {
        JobQueue::for_memory(&self.memory_dir, self.machine_key.clone())
    }

    /// Returns the configuration in effect.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the embedding model, if one is configured.
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    /// Returns true if a stored lesson concerns this project.
    pub fn sees_lesson(&self, memory: &AgentMemory) -> bool {
        self.tenancy == BankTenancy::Own || memory.is_visible_to(&self.new_query())
    }

    /// Returns true if a job for the project at this path is one for this project. A directory that several projects share
    /// holds the jobs of all of them; in a directory of its own every job is the project's, also after it was moved.
    pub fn is_project_root(&self, root: &Path) -> bool {
        let is_same = || match (root.canonicalize(), self.project.root.canonicalize()) {
            (Ok(theirs), Ok(ours)) => theirs == ours,
            _ => false,
        };
        self.tenancy == BankTenancy::Own || root == self.project.root || is_same()
    }

    /// Returns true if a session at this path, of this repository, belongs to this project.
    pub fn owns_episode(&self, project_root: &str, repo_id: Option<&str>) -> bool {
        match (self.tenancy, repo_id, self.project.repo_id.as_deref()) {
            (BankTenancy::Own, _, _) => true,
            (BankTenancy::Shared, Some(theirs), Some(ours)) => theirs == ours,
            (BankTenancy::Shared, _, _) => project_root == self.project.root_text(),
        }
    }

    /// Returns true if there is a bank for global lessons.
    pub fn has_global_bank(&self) -> bool {
        self.has_global
    }

    /// Returns the lesson of this name, or an error if there is none.
    pub async fn get_lesson(&self, name: &LessonName) -> Result<Lesson, MemoryError> {
        let lesson = self.memory.get_lesson(name).await?.filter(|lesson| self.sees_lesson(&lesson.memory));
        lesson.ok_or_else(|| MemoryError::NoSuchLesson { name: name.clone() })
    }

    /// Returns a stamp that changes whenever the memory or its queue changes.
    pub async fn change_stamp(&self) -> Result<MemoryStamp, MemoryError> {
        let MemoryStamp(memory) = self.memory.memory_stamp().await?;
        let queue = self.file_queue().change_stamp();
        #[cfg(feature = "postgres")]
        let queue = match self.fleet_queue() {
            Some(fleet) => format!("{queue}{}", fleet.change_stamp().await?),
            None => queue,
        };
        Ok(MemoryStamp(format!("{memory}{queue}")))
    }

    /// Returns all of these lessons, each once, or an error if any name is unknown.
    pub async fn get_lessons(&self, names: &[LessonName]) -> Result<Vec<Lesson>, MemoryError> {
        let mut found: Vec<Lesson> = Vec::new();
        for name in names {
            let lesson = self.get_lesson(name).await?;
            if !found.iter().any(|other| other.memory.id == lesson.memory.id) {
                found.push(lesson);
            }
        }
        Ok(found)
    }
}

/// Returns a project's bank key on a server: its repository, or its path if the repository is unknown.
fn project_bank_key(project: &ProjectContext) -> String {
    project.repo_id.clone().unwrap_or_else(|| project.root_text())
}

/// Builds the project at this path: the owner of its lessons, and the places of its session logs.
fn build_project(
    root: PathBuf,
    config: &Config,
    environment: &ProcessEnvironment,
    tenancy: BankTenancy,
) -> ProjectContext {
    let identity = config::identify_repository(&root, &config.project.key);
    // In the project's own directory a stored path would break as soon as the project moves.
    let moves_along = tenancy == BankTenancy::Own;
    let is_lasting = matches!(identity, RepoIdentity::Explicit(_) | RepoIdentity::Remote(_));
    let homes = config.sources.agent_homes(&root, environment);
    let places = SearchPlaces {
        project: root.clone(),
        repository: matches!(identity, RepoIdentity::Remote(_)).then(|| identity.text()).flatten(),
        claude_home: homes.claude,
        codex_home: homes.codex,
        gemini_home: homes.gemini,
        ..SearchPlaces::default()
    };
    let mut project = ProjectContext::from_root(root);
    project.trusted_repositories = Some(TrustedRepositories::in_state_dir(environment.state_dir().as_deref()));
    project.owner = LessonOwner {
        project_root: (!moves_along).then(|| project.root_text()),
        repo_id: if moves_along && !is_lasting { None } else { identity.text() },
    };
    ProjectContext { repo_id: identity.text(), places, home: environment.home.clone(), ..project }
}
