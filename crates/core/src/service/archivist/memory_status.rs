//! The state of the memory and of its job queue.

#[cfg(feature = "postgres")]
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::{Archivist, RequestError};
use crate::domain::Timestamp;
use crate::memory::{BankStatus, MemoryError};
#[cfg(feature = "postgres")]
use crate::service::FleetQueue;
use crate::service::{JobFolder, JobKind, LeaseState, ListedJob, QueueError};

/// How the memory and its queue are.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Condition")]
pub struct MemoryStatus {
    /// The directories that hold lessons.
    pub banks: Vec<BankStatus>,
    /// What is to be done, and whether anybody does it.
    #[serde(flatten)]
    pub queue: JobQueueStatus,
}

/// What is to be done, and whether anybody does it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Jobs")]
pub struct JobQueueStatus {
    /// Whether a worker runs.
    pub is_worked: bool,
    /// Every job, those that are done among them.
    pub jobs: Vec<JobReport>,
}

/// A job as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobReport {
    /// The name of its file.
    pub name: String,
    /// Where it lies.
    pub place: JobFolder,
    /// The session to reflect on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Who asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// On which event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// How long it has been there.
    pub age_seconds: u64,
    /// How often it was tried in vain.
    pub attempts: usize,
    /// Nobody takes it before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// What was last said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl JobReport {
    /// Builds the report of a listed job.
    fn from_listed_job(listed: &ListedJob) -> Self {
        let job = listed.job.as_ref().ok();
        let session = job.and_then(|job| match &job.kind {
            JobKind::Reflect(trigger) => Some(trigger.session_id.to_string()),
            JobKind::Sweep { .. } => None,
        });
        let last = job.and_then(|job| job.attempts.last()).map(|attempt| attempt.error.clone());
        let unreadable = listed.job.as_ref().err().cloned();
        Self {
            name: listed.name.clone(),
            place: listed.place,
            session,
            agent: job.map(|job| job.agent.clone()),
            event: job.map(|job| job.event.clone()),
            age_seconds: listed.age.as_secs(),
            attempts: job.map_or(0, |job| job.attempts.len()),
            not_before: job.and_then(|job| job.not_before),
            note: listed.note.clone().or(last).or(unreadable),
        }
    }

    /// Returns the session's id, or a description of the job where it has no session.
    pub fn display_name(&self) -> &str {
        let otherwise = if self.event.is_some() { "a look for sessions" } else { self.name.as_str() };
        self.session.as_deref().unwrap_or(otherwise)
    }
}

impl Archivist {
    /// Returns the state of the memory and of its job queue.
    pub async fn memory_status(&self) -> Result<MemoryStatus, RequestError> {
        Ok(MemoryStatus { banks: self.memory.bank_statuses().await?, queue: self.queue_status().await? })
    }

    /// Lists the jobs, and tells whether a worker runs.
    pub async fn queue_status(&self) -> Result<JobQueueStatus, RequestError> {
        let listed = self.list_jobs().await?;
        // Whoever has a job of a fleet and renews its lease is a worker, on whichever machine it runs.
        let is_alive = |job: &ListedJob| job.lease == Some(LeaseState::Held);
        let is_worked = self.file_queue().has_worker();
        #[cfg(feature = "postgres")]
        let is_worked = is_worked || (self.server().is_some() && listed.iter().any(is_alive));
        #[cfg(not(feature = "postgres"))]
        let _ = is_alive;
        Ok(JobQueueStatus { is_worked, jobs: listed.iter().map(JobReport::from_listed_job).collect() })
    }

    /// Lists every job of this project, in files and on the fleet's server; jobs in files are still to be forwarded.
    pub async fn list_jobs(&self) -> Result<Vec<ListedJob>, QueueError> {
        let now = self.now();
        let (queue, lease) = (self.file_queue(), self.config().worker.worker_pace().lease);
        let looked = spawn_blocking(move || queue.list_jobs(lease, now)).await;
        let here = looked.unwrap_or_else(|error| Err(MemoryError::Interrupted(error.to_string()).into()))?;
        #[cfg(feature = "postgres")]
        if let Some(fleet) = self.fleet_queue() {
            let mut listed = fleet.list_jobs(now).await?;
            let is_new = |job: &ListedJob| listed.iter().all(|known| known.name != job.name);
            let mut here: Vec<ListedJob> = here.into_iter().filter(is_new).collect();
            here.append(&mut listed);
            return Ok(here);
        }
        Ok(here)
    }

    /// Returns the project's job queue on the server, if a server is configured.
    #[cfg(feature = "postgres")]
    pub fn fleet_queue(&self) -> Option<FleetQueue> {
        self.server().map(|server| FleetQueue::new(Arc::clone(server), self.bank_key()))
    }
}
