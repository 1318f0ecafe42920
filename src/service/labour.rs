//! What a worker does with a job: it reflects, or it looks for sessions that nobody told of.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::archivist::{Anew, ArchivistService};
use super::batch::Planned;
use super::outcome::Skip;
use super::queue::{Enqueued, Errand, Intake, Job, Urgency};
use super::worker::{Handled, Handler};
use crate::domain::{Extra, ReflectionTrigger};

/// How far back a sweep looks, in days. Agents throw logs away after a month; whoever was away longer runs a batch.
const SWEEP_DAYS: i64 = 7;

/// A sweep brings in no more sessions than this at once: what a month has left behind is for a batch, and a person.
const SWEPT_SESSIONS: usize = 50;

/// Does the jobs of one queue.
#[derive(Debug)]
pub struct Labour {
    /// Who reflects.
    pub service: ArchivistService,
    /// Where a sweep puts what it finds.
    pub queue: Arc<dyn Intake>,
}

#[async_trait]
impl Handler for Labour {
    async fn handle(&self, job: &Job) -> Handled {
        match &job.errand {
            Errand::Reflect(trigger) => self.reflect(trigger).await,
            Errand::Sweep { .. } => match self.sweep(job).await {
                Ok(found) => Handled::Done(format!("{found} sessions found")),
                Err(skip) => Handled::Again(skip.to_string()),
            },
        }
    }
}

impl Labour {
    async fn reflect(&self, trigger: &ReflectionTrigger) -> Handled {
        if let Some(skip) = self.misses_logs(trigger).await {
            return Handled::NotHere(skip.to_string());
        }
        match self.service.reflect(trigger, Anew::IfGrown).await {
            Ok(learned) => Handled::Done(learned.summary()),
            Err(skip) if skip.is_choice() => Handled::Done(format!("skipped: {skip}")),
            Err(skip) if skip.is_transient() => Handled::Again(skip.to_string()),
            Err(skip) => Handled::Hopeless(skip.to_string()),
        }
    }

    /// That the logs which the trigger names are not to be found here, where that is so.
    async fn misses_logs(&self, trigger: &ReflectionTrigger) -> Option<Skip> {
        let home = self.service.project.home.as_deref();
        if trigger.log_paths.is_empty() || log_bytes(trigger, home).is_some() {
            return None;
        }
        self.service.sources(trigger).await.err().filter(|skip| matches!(skip, Skip::NoLog(_)))
    }

    /// Asks for a reflection on every session that has something new to tell.
    async fn sweep(&self, job: &Job) -> Result<usize, Skip> {
        let now = self.service.clock.now();
        let since = now.checked_sub_signed(TimeDelta::days(SWEEP_DAYS)).unwrap_or_default();
        let plan = self.service.plan_batch(since).await?;
        let mut found = 0;
        // The newest first: what is left out comes with the next sweep, or never mattered.
        for Planned { trigger, sources } in plan.sessions.into_iter().rev().take(SWEPT_SESSIONS) {
            let job = Job {
                errand: Errand::Reflect(trigger),
                agent: job.agent.clone(),
                event: "sweep".to_owned(),
                urgency: Urgency::Pause,
                log_bytes: Some(sources.bytes()),
                enqueued_at: now,
                not_before: None,
                attempts: Vec::new(),
                extra: Extra::new(),
            };
            match self.queue.ask(&job, now).await {
                Ok(Enqueued::New) => found += 1,
                Ok(Enqueued::Known) => {}
                Err(error) => return Err(Skip::Broke(error.to_string())),
            }
        }
        Ok(found)
    }
}

/// How long the logs of a trigger are now, as far as they are there.
pub fn log_bytes(trigger: &ReflectionTrigger, home: Option<&Path>) -> Option<u64> {
    let root = Path::new(&trigger.project_root);
    let paths = trigger.log_paths.iter().map(|path| super::sources::expanded(path, root, home));
    let lengths: Vec<u64> = paths.filter_map(|path| std::fs::metadata(path).ok()).map(|found| found.len()).collect();
    (!lengths.is_empty()).then(|| lengths.into_iter().fold(0, u64::saturating_add))
}
