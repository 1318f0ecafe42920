//! Handles the jobs of a worker: one handler for its own project, and in a fleet one for each other project.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

use super::arguments::GlobalFlags;
use super::command_context::CommandContext;
use super::service_wiring::{build_service, hud_patience};
use archivist_core::config::ProcessEnvironment;
use archivist_core::service::Archivist;
use archivist_core::service::{Job, JobHandler, JobOutcome, JobQueue, JobSubmitter, ReflectionJobHandler};

/// The most other projects that are kept open. They share their connections.
const OPEN: usize = 256;

/// Handles jobs of any project.
pub(super) struct FleetJobHandler<'s> {
    session: &'s CommandContext,
    globals: &'s GlobalFlags,
    surroundings: &'s ProcessEnvironment,
    own: Arc<ProjectJobHandler>,
    /// The handlers of other projects, the most recently used last.
    others: Mutex<VecDeque<Arc<ProjectJobHandler>>>,
}

/// Handles the jobs of one project.
struct ProjectJobHandler {
    bank: String,
    root: PathBuf,
    archivist: Archivist,
    labour: ReflectionJobHandler,
    hud_patience: Duration,
}

impl<'s> FleetJobHandler<'s> {
    pub(super) fn new(
        session: &'s CommandContext,
        globals: &'s GlobalFlags,
        surroundings: &'s ProcessEnvironment,
    ) -> Result<Self> {
        let own = Arc::new(ProjectJobHandler::from_context(session, surroundings)?);
        Ok(Self { session, globals, surroundings, own, others: Mutex::default() })
    }

    /// Maintains the memories of all projects that were served, and delivers pending messages to displays.
    pub(super) async fn finish_all_projects(&self) {
        let others: Vec<Arc<ProjectJobHandler>> = self.lock_others().drain(..).collect();
        for hand in others.iter().chain([&self.own]) {
            hand.finish_project().await;
        }
    }

    /// Returns the handler of a project, and the least recently used handler if it must be closed for it.
    fn handler_for_project(
        &self,
        bank: &str,
        root: &Path,
    ) -> Result<(Arc<ProjectJobHandler>, Option<Arc<ProjectJobHandler>>)> {
        let mut others = self.lock_others();
        let known = others.iter().position(|hand| hand.bank == bank && hand.root == root);
        let hand = match known.and_then(|at| others.remove(at)) {
            Some(hand) => hand,
            None => Arc::new(self.open_project(bank, root)?),
        };
        others.push_back(Arc::clone(&hand));
        let surplus = if others.len() > OPEN { others.pop_front() } else { None };
        Ok((hand, surplus))
    }

    /// Opens a project at its own path with its own settings. Where the path is missing on this machine, or holds a
    /// project with another bank, this worker's settings and memory directory are used.
    fn open_project(&self, bank: &str, root: &Path) -> Result<ProjectJobHandler> {
        let CommandContext { now, seed, .. } = *self.session;
        if root.is_dir() {
            let globals = self.globals.for_project(root);
            let there = ProcessEnvironment { current_dir: root.to_owned(), ..self.surroundings.clone() };
            let mut session = CommandContext::open(&globals, &there, now, seed)?;
            session.archivist = session.archivist.with_shared_server(&self.session.archivist);
            if session.archivist.bank_key() == bank {
                return ProjectJobHandler::from_context(&session, &there)
                    .map(|hand| ProjectJobHandler { root: root.to_owned(), ..hand });
            }
        }
        let mut config = self.session.archivist.config().clone();
        config.project.key = bank.to_owned();
        config.memory.dir = self.session.archivist.memory_dir().display().to_string();
        let archivist = Archivist::open(root.to_owned(), config, self.surroundings, None)
            .with_shared_server(&self.session.archivist);
        let session = self.session.with_archivist(archivist);
        ProjectJobHandler::from_context(&session, self.surroundings)
    }

    fn lock_others(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<ProjectJobHandler>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl JobHandler for FleetJobHandler<'_> {
    async fn handle_job(&self, job: &Job) -> JobOutcome {
        self.own.labour.handle_job(job).await
    }

    async fn handle_job_for_bank(&self, bank: Option<&str>, job: &Job) -> JobOutcome {
        let Some(bank) = bank.filter(|bank| *bank != self.own.bank) else { return self.handle_job(job).await };
        let (hand, surplus) = match self.handler_for_project(bank, Path::new(job.errand.project_root())) {
            Ok(found) => found,
            Err(error) => return JobOutcome::Again(format!("{}: {error:#}", job.errand.project_root())),
        };
        if let Some(surplus) = surplus {
            surplus.flush_displays().await;
        }
        hand.labour.handle_job(job).await
    }
}

impl ProjectJobHandler {
    fn from_context(session: &CommandContext, surroundings: &ProcessEnvironment) -> Result<Self> {
        let archivist = session.archivist.clone();
        Ok(Self {
            bank: archivist.bank_key(),
            root: archivist.project().root.clone(),
            labour: ReflectionJobHandler {
                service: build_service(session, surroundings)?,
                queue: open_job_submitter(&archivist),
            },
            archivist,
            hud_patience: hud_patience(session),
        })
    }

    /// Delivers pending messages to displays.
    async fn flush_displays(&self) {
        self.labour.service.flush_hud(self.hud_patience).await;
    }

    async fn finish_project(&self) {
        if let Err(skip) = self.labour.service.refresh_lesson_states().await {
            tracing::warn!(why = %skip, "older lessons were not looked after");
        }
        self.flush_displays().await;
        self.archivist.memory.run_maintenance().await;
    }
}

/// Returns the queue to which jobs of this project are submitted.
pub(super) fn open_job_submitter(archivist: &Archivist) -> Arc<dyn JobSubmitter> {
    #[cfg(feature = "postgres")]
    if let Some(fleet) = archivist.fleet_queue() {
        return Arc::new(fleet);
    }
    Arc::new(JobQueue::for_memory(archivist.memory_dir()))
}
