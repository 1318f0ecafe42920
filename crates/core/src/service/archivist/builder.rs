//! Opens an [`Archivist`]: as the configuration says, or with parts that the caller supplies.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(feature = "postgres")]
use super::project_bank_key;
use super::{Archivist, build_project};
use crate::config::{Config, ConfigError, ConfigLoadRequest, MemoryBackend, ProcessEnvironment, load_config};
use crate::domain::IdSource;
use crate::files::is_link;
use crate::hud::{HudBroadcaster, HudSink};
use crate::memory::jsonl::JsonlMemory;
#[cfg(feature = "postgres")]
use crate::memory::postgres::{PostgresMemory, PostgresServer};
use crate::memory::{BankTenancy, MemoryService};
use crate::model::LanguageModel;
use crate::model::embed::Embedder;
use crate::service::ServiceClock;
use crate::service::embedder_choice::choose_embedder;
use crate::service::redacting_memory::RedactingMemory;
use crate::trust::{MachineKey, MemoryFolder};

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;

/// Builds an [`Archivist`]. Whatever is not set comes from the configuration.
#[must_use]
pub struct ArchivistBuilder {
    root: PathBuf,
    environment: Option<ProcessEnvironment>,
    config: Option<Config>,
    memory: Option<Arc<dyn MemoryService>>,
    model: Option<Arc<dyn LanguageModel>>,
    embedder: Option<Arc<dyn Embedder>>,
    hud: Option<Arc<HudBroadcaster>>,
    clock: ServiceClock,
    seed: u64,
    lock_timeout: Option<Duration>,
    vouching: MemoryVouching,
}

/// Who answers for the lessons in a project's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemoryVouching {
    /// The seal of this machine, or the user's trust in the repository.
    Checked,
    /// The caller, who named the folder.
    Caller,
}

impl std::fmt::Debug for ArchivistBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArchivistBuilder").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Archivist {
    /// Opens the memory of the project at `root` as the command line would: with the settings of the project and of the
    /// user, and with the variables of this process. Nothing is read from the memory and nothing is written yet.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        Self::builder(root).environment(ProcessEnvironment::of_this_process()).build()
    }

    /// Returns a builder for the memory of the project at `root`. It knows nothing of the process around it: without an
    /// [`environment`](ArchivistBuilder::environment) there are no user settings, no global lessons and no keys, and the
    /// caller answers for what the memory holds, whoever wrote it.
    pub fn builder(root: impl Into<PathBuf>) -> ArchivistBuilder {
        ArchivistBuilder {
            root: root.into(),
            environment: None,
            config: None,
            memory: None,
            model: None,
            embedder: None,
            hud: None,
            clock: ServiceClock::from_system_time(),
            seed: 0,
            lock_timeout: None,
            vouching: MemoryVouching::Checked,
        }
    }
}

impl ArchivistBuilder {
    /// Sets the environment of the process: its home directory, its variables and its current directory. A memory that
    /// came with a clone is then given only if its repository is trusted.
    pub fn environment(self, environment: ProcessEnvironment) -> Self {
        Self { environment: Some(environment), ..self }
    }

    /// Gives what the memory holds, whoever wrote it: a person named its directory for this one purpose.
    pub fn vouch_for_memory(self) -> Self {
        Self { vouching: MemoryVouching::Caller, ..self }
    }

    /// Sets the configuration, so that no file is read for it.
    pub fn config(self, config: Config) -> Self {
        Self { config: Some(config), ..self }
    }

    /// Sets the store.
    pub fn memory(self, memory: Arc<dyn MemoryService>) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Sets the language model. The configured limits of spend, time and attempts apply to it too.
    pub fn model(self, model: Arc<dyn LanguageModel>) -> Self {
        Self { model: Some(model), ..self }
    }

    /// Sets the sentence model by which lessons are compared in meaning.
    pub fn embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// Sets the sinks that hear of reflections.
    pub fn hud(self, sinks: Vec<Box<dyn HudSink>>) -> Self {
        Self { hud: Some(Arc::new(HudBroadcaster::new(sinks))), ..self }
    }

    /// Sets the clock.
    pub fn clock(self, clock: ServiceClock) -> Self {
        Self { clock, ..self }
    }

    /// Sets the seed of new ids and of the pauses between attempts. Ids also depend on the time and on the text.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets how long a writer waits for other writers.
    pub fn lock_timeout(self, timeout: Duration) -> Self {
        Self { lock_timeout: Some(timeout), ..self }
    }

    /// Opens the memory. Nothing is read from it and nothing is written yet.
    pub fn build(self) -> Result<Archivist, ConfigError> {
        let is_checked = self.environment.is_some() && self.vouching == MemoryVouching::Checked;
        let environment = self.environment.unwrap_or_default();
        let config = match self.config {
            Some(config) => config,
            None => {
                let request = ConfigLoadRequest {
                    environment: environment.clone(),
                    project_root: self.root.clone(),
                    ..ConfigLoadRequest::default()
                };
                load_config(&request)?.config
            }
        };
        let home = environment.home.as_deref();
        let mut settings = config.memory.jsonl_settings(&self.root, home);
        settings.lock_timeout = self.lock_timeout.unwrap_or(settings.lock_timeout);
        // On a server every project has its own bank, whatever directory is set.
        let is_shared = settings.tenancy == BankTenancy::Shared && config.memory.backend == MemoryBackend::Jsonl;
        let tenancy = if is_shared { BankTenancy::Shared } else { BankTenancy::Own };
        let has_global = settings.global.is_some();
        let memory_dir = settings.project.clone();
        refuse_linked_memory(&self.root, &memory_dir)?;
        let machine_key = MachineKey::in_state_dir(environment.state_dir().as_deref());
        // Only a folder of the project itself can have come with it.
        let may_be_strange = is_checked
            && self.memory.is_none()
            && config.memory.backend == MemoryBackend::Jsonl
            && settings.tenancy == BankTenancy::Own;
        let guarded_folder = may_be_strange.then(|| MemoryFolder::new(&memory_dir, machine_key.clone()));
        let project = build_project(self.root, &config, &environment, tenancy);
        #[cfg(feature = "postgres")]
        let server = (config.memory.backend == MemoryBackend::Postgres && self.memory.is_none())
            .then(|| PostgresServer::new(config.memory.postgres.server_settings(&environment, self.lock_timeout)));
        let configured = || -> Arc<dyn MemoryService> {
            #[cfg(feature = "postgres")]
            if let Some(server) = &server {
                let bank = config.memory.bank_settings(project_bank_key(&project));
                return Arc::new(PostgresMemory::open(Arc::clone(server), bank));
            }
            match settings.tenancy {
                BankTenancy::Own => Arc::new(JsonlMemory::open_sealed(settings, machine_key.clone())),
                BankTenancy::Shared => Arc::new(JsonlMemory::open(settings)),
            }
        };
        let memory = RedactingMemory::wrap(self.memory.unwrap_or_else(configured));
        let embedder = match self.embedder {
            Some(embedder) => Some(embedder),
            None => choose_embedder(&config.embeddings, &environment, &memory_dir.join("index").join("vectors"))?,
        };
        Ok(Archivist {
            memory,
            #[cfg(feature = "postgres")]
            server,
            config: Arc::new(config),
            project: Arc::new(project),
            environment: Arc::new(environment),
            memory_dir,
            machine_key,
            guarded_folder,
            tenancy,
            has_global,
            clock: self.clock,
            ids: Arc::new(IdSource::new(self.seed)),
            seed: self.seed,
            embedder,
            model: self.model,
            hud: self.hud,
            reflection: Arc::new(Mutex::new(None)),
        })
    }
}

/// Returns an error if a memory inside of a project is reached by a symbolic link: it may have come with the repository,
/// and lead anywhere.
fn refuse_linked_memory(root: &Path, memory_dir: &Path) -> Result<(), ConfigError> {
    let inside = memory_dir.ancestors().take_while(|path| *path != root && path.starts_with(root));
    match inside.filter(|path| is_link(path)).last() {
        Some(link) => Err(ConfigError::linked_memory(link)),
        None => Ok(()),
    }
}
