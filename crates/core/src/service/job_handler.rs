//! Handles a worker's jobs: reflects on a session, or sweeps for sessions that no hook reported.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::batch_reflection::PlannedSession;
use super::queue::{EnqueueResult, Job, JobKind, JobSubmitter, JobUrgency};
use super::queue_worker::{JobHandler, JobOutcome};
use super::reflection_outcome::SkipReason;
use super::reflection_service::{ArchivistService, RepeatPolicy};
use crate::domain::{Extra, ReflectionTrigger};

/// The number of days that a sweep looks back. Agents delete logs after a month; longer gaps need a batch.
const SWEEP_DAYS: i64 = 7;

/// The most sessions that one sweep enqueues; larger backlogs need a batch.
const SWEPT_SESSIONS: usize = 50;

/// Handles the jobs of one queue.
#[derive(Debug)]
pub struct ReflectionJobHandler {
    /// The service that reflects.
    pub service: ArchivistService,
    /// The queue that a sweep submits sessions to.
    pub queue: Arc<dyn JobSubmitter>,
}

#[async_trait]
impl JobHandler for ReflectionJobHandler {
    async fn handle_job(&self, job: &Job) -> JobOutcome {
        match &job.errand {
            JobKind::Reflect(trigger) => self.handle_reflection(trigger).await,
            JobKind::Sweep { .. } => match self.sweep_sessions(job).await {
                Ok(found) => JobOutcome::Done(format!("{found} sessions found")),
                Err(skip) => JobOutcome::Again(skip.to_string()),
            },
        }
    }
}

impl ReflectionJobHandler {
    async fn handle_reflection(&self, trigger: &ReflectionTrigger) -> JobOutcome {
        if let Some(skip) = self.check_logs_present(trigger).await {
            return JobOutcome::NotHere(skip.to_string());
        }
        match self.service.reflect_on_session(trigger, RepeatPolicy::IfGrown).await {
            Ok(learned) => JobOutcome::Done(learned.summary()),
            Err(skip) if skip.is_choice() => JobOutcome::Done(format!("skipped: {skip}")),
            Err(skip) if skip.is_transient() => JobOutcome::Again(skip.to_string()),
            Err(skip) => JobOutcome::Hopeless(skip.to_string()),
        }
    }

    /// Returns `SkipReason::NoLog` if none of the logs that the trigger names exists here.
    async fn check_logs_present(&self, trigger: &ReflectionTrigger) -> Option<SkipReason> {
        let home = self.service.project.home.as_deref();
        if trigger.log_paths.is_empty() || total_log_bytes(trigger, home).is_some() {
            return None;
        }
        self.service.find_log_sources(trigger).await.err().filter(|skip| matches!(skip, SkipReason::NoLog(_)))
    }

    /// Submits a job for every session with new log content, and returns their number.
    async fn sweep_sessions(&self, job: &Job) -> Result<usize, SkipReason> {
        let now = self.service.clock.now();
        let since = now.checked_sub_signed(TimeDelta::days(SWEEP_DAYS)).unwrap_or_default();
        let plan = self.service.plan_batch(since).await?;
        let mut found = 0;
        // The newest first: what is left out comes with the next sweep.
        for PlannedSession { trigger, sources } in plan.sessions.into_iter().rev().take(SWEPT_SESSIONS) {
            let job = Job {
                errand: JobKind::Reflect(trigger),
                agent: job.agent.clone(),
                event: "sweep".to_owned(),
                urgency: JobUrgency::Pause,
                log_bytes: Some(sources.total_bytes()),
                enqueued_at: now,
                not_before: None,
                attempts: Vec::new(),
                extra: Extra::new(),
            };
            match self.queue.submit_job(&job, now).await {
                Ok(EnqueueResult::New) => found += 1,
                Ok(EnqueueResult::Known) => {}
                Err(error) => return Err(SkipReason::Broke(error.to_string())),
            }
        }
        Ok(found)
    }
}

/// Returns the total size of a trigger's existing logs; `None` if none exists.
pub fn total_log_bytes(trigger: &ReflectionTrigger, home: Option<&Path>) -> Option<u64> {
    let root = Path::new(&trigger.project_root);
    let paths = trigger.log_paths.iter().map(|path| super::log_sources::expand_path(path, root, home));
    let lengths: Vec<u64> = paths.filter_map(|path| std::fs::metadata(path).ok()).map(|found| found.len()).collect();
    (!lengths.is_empty()).then(|| lengths.into_iter().fold(0, u64::saturating_add))
}
