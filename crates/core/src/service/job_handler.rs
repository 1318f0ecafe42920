//! Handles a worker's jobs: reflects on a session, or sweeps for sessions that no hook reported.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chrono::TimeDelta;

use super::archivist::{Archivist, RequestError};
use super::batch_reflection::PlannedSession;
use super::queue::{EnqueueResult, Job, JobKind, JobUrgency};
use super::queue_worker::{JobHandler, JobOutcome};
use super::reflection_outcome::SkipReason;
use super::reflection_service::{ArchivistService, RepeatPolicy};
use crate::domain::ReflectionTrigger;

/// The number of days that a sweep looks back. Agents delete logs after a month; longer gaps need a batch.
const SWEEP_DAYS: i64 = 7;

/// The most sessions that one sweep enqueues; larger backlogs need a batch.
const SWEPT_SESSIONS: usize = 50;

/// The most other projects that are kept open. They share their connections.
const OPEN_PROJECTS: usize = 256;

/// Opens the memory of another project by its root and, in a fleet, its bank, or tells why it cannot.
pub type OpenProject<'o> = Box<dyn Fn(Option<&str>, &Path) -> Result<Archivist, String> + Send + Sync + 'o>;

/// Handles the jobs of a worker: those of its own project and of any other in its fleet or in its memory's directory.
pub struct ReflectionJobHandler<'o> {
    own: Archivist,
    service: Arc<ArchivistService>,
    open_project: OpenProject<'o>,
    /// The other projects that are open, the most recently used last.
    others: Mutex<VecDeque<OtherProject>>,
}

/// Another project, as its jobs name it.
#[derive(Debug, Clone)]
struct OtherProject {
    bank: Option<String>,
    root: PathBuf,
    archivist: Archivist,
}

impl std::fmt::Debug for ReflectionJobHandler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReflectionJobHandler").field("own", &self.own).finish_non_exhaustive()
    }
}

#[async_trait]
impl JobHandler for ReflectionJobHandler<'_> {
    async fn handle_job(&self, job: &Job) -> JobOutcome {
        self.handle_job_for_bank(None, job).await
    }

    async fn handle_job_for_bank(&self, bank: Option<&str>, job: &Job) -> JobOutcome {
        let root = job.kind.project_root();
        let is_own = match bank {
            Some(bank) => bank == self.own.bank_key(),
            None => self.own.is_project_root(Path::new(root)),
        };
        if is_own {
            return handle_job(&self.service, &self.own, job).await;
        }
        let opened = self.open_other(bank, Path::new(root));
        let opened = opened.and_then(|(archivist, closed)| {
            let service = archivist.reflection_service().map_err(|error| error.to_string())?;
            Ok((archivist, service, closed))
        });
        match opened {
            Ok((archivist, service, closed)) => {
                if let Some(closed) = closed {
                    closed.flush_displays().await;
                }
                handle_job(&service, &archivist, job).await
            }
            Err(why) => JobOutcome::Again(format!("{root}: {why}")),
        }
    }
}

impl<'o> ReflectionJobHandler<'o> {
    /// Makes the handler of a worker. `open_project` is asked for the other projects of a fleet or of a directory.
    pub fn new(own: &Archivist, open_project: OpenProject<'o>) -> Result<Self, RequestError> {
        Ok(Self { own: own.clone(), service: own.reflection_service()?, open_project, others: Mutex::default() })
    }

    /// Maintains the memories of all projects that were served, and delivers pending messages to displays.
    pub async fn finish_all_projects(&self) {
        let others: Vec<OtherProject> = self.lock_others().drain(..).collect();
        for archivist in others.iter().map(|other| &other.archivist).chain([&self.own]) {
            archivist.finish_reflections().await;
            archivist.memory.run_maintenance().await;
        }
    }

    /// Returns another project, and the least recently used one if it must be closed for it.
    fn open_other(&self, bank: Option<&str>, root: &Path) -> Result<(Archivist, Option<Archivist>), String> {
        let mut others = self.lock_others();
        let known = others.iter().position(|other| other.bank.as_deref() == bank && other.root == root);
        let other = match known.and_then(|at| others.remove(at)) {
            Some(other) => other,
            None => OtherProject {
                bank: bank.map(str::to_owned),
                root: root.to_owned(),
                archivist: (self.open_project)(bank, root)?,
            },
        };
        let archivist = other.archivist.clone();
        others.push_back(other);
        let surplus = if others.len() > OPEN_PROJECTS { others.pop_front() } else { None };
        Ok((archivist, surplus.map(|other| other.archivist)))
    }

    fn lock_others(&self) -> MutexGuard<'_, VecDeque<OtherProject>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn handle_job(service: &ArchivistService, archivist: &Archivist, job: &Job) -> JobOutcome {
    match &job.kind {
        JobKind::Reflect(trigger) => handle_reflection(service, trigger).await,
        JobKind::Sweep { .. } => match sweep_sessions(service, archivist, job).await {
            Ok(found) => JobOutcome::Done(format!("{found} sessions found")),
            Err(skip) => JobOutcome::Again(skip.to_string()),
        },
    }
}

async fn handle_reflection(service: &ArchivistService, trigger: &ReflectionTrigger) -> JobOutcome {
    if let Some(skip) = check_logs_present(service, trigger).await {
        return JobOutcome::NotHere(skip.to_string());
    }
    match service.reflect_on_session(trigger, RepeatPolicy::IfGrown).await {
        Ok(learned) => JobOutcome::Done(learned.summary()),
        Err(skip) if skip.is_choice() => JobOutcome::Done(format!("skipped: {skip}")),
        Err(skip) if skip.is_transient() => JobOutcome::Again(skip.to_string()),
        Err(skip) => JobOutcome::Hopeless(skip.to_string()),
    }
}

/// Returns `SkipReason::NoLog` if none of the logs that the trigger names exists here.
async fn check_logs_present(service: &ArchivistService, trigger: &ReflectionTrigger) -> Option<SkipReason> {
    if trigger.log_paths.is_empty() || total_log_bytes(trigger, service.project.home.as_deref()).is_some() {
        return None;
    }
    service.find_log_sources(trigger).await.err().filter(|skip| matches!(skip, SkipReason::NoLog(_)))
}

/// Submits a job for every session with new log content, and returns their number.
async fn sweep_sessions(service: &ArchivistService, archivist: &Archivist, sweep: &Job) -> Result<usize, SkipReason> {
    let now = archivist.now();
    let since = now.checked_sub_signed(TimeDelta::days(SWEEP_DAYS)).unwrap_or_default();
    let plan = service.plan_batch(since).await?;
    let queue = archivist.job_submitter();
    let mut found = 0;
    // The newest first: what is left out comes with the next sweep.
    for PlannedSession { trigger, sources } in plan.sessions.into_iter().rev().take(SWEPT_SESSIONS) {
        let job = Job {
            urgency: JobUrgency::Pause,
            log_bytes: Some(sources.total_bytes()),
            ..archivist.build_job(trigger, &sweep.agent, "sweep")
        };
        match queue.submit_job(&job, now).await {
            Ok(EnqueueResult::New) => found += 1,
            Ok(EnqueueResult::Known) => {}
            Err(error) => return Err(SkipReason::Broke(error.to_string())),
        }
    }
    Ok(found)
}

/// Returns the total size of a trigger's existing logs; `None` if none exists.
pub fn total_log_bytes(trigger: &ReflectionTrigger, home: Option<&Path>) -> Option<u64> {
    let root = Path::new(&trigger.project_root);
    let paths = trigger.log_paths.iter().map(|path| super::log_sources::expand_path(path, root, home));
    let lengths: Vec<u64> = paths.filter_map(|path| std::fs::metadata(path).ok()).map(|found| found.len()).collect();
    (!lengths.is_empty()).then(|| lengths.into_iter().fold(0, u64::saturating_add))
}
