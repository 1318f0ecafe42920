//! How the memory and its queue are.

#[cfg(feature = "postgres")]
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::{Desk, Refusal};
use crate::domain::Timestamp;
use crate::memory::{BankStatus, MemoryError};
#[cfg(feature = "postgres")]
use crate::service::FleetQueue;
use crate::service::{Errand, Lease, Listed, Place, Queue, QueueError};

/// How the memory and its queue are.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The directories that hold lessons.
    pub banks: Vec<BankStatus>,
    /// What is to be done, and whether anybody does it.
    #[serde(flatten)]
    pub queue: Jobs,
}

/// What is to be done, and whether anybody does it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Jobs {
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
    pub place: Place,
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
    /// Tells of a job.
    fn of(listed: &Listed) -> Self {
        let job = listed.job.as_ref().ok();
        let session = job.and_then(|job| match &job.errand {
            Errand::Reflect(trigger) => Some(trigger.session_id.to_string()),
            Errand::Sweep { .. } => None,
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

    /// What a person calls it.
    pub fn subject(&self) -> &str {
        let otherwise = if self.event.is_some() { "a look for sessions" } else { self.name.as_str() };
        self.session.as_deref().unwrap_or(otherwise)
    }
}

impl Desk {
    /// How the memory and its queue are.
    pub async fn condition(&self, now: Timestamp) -> Result<Condition, Refusal> {
        Ok(Condition { banks: self.memory.status().await?, queue: self.jobs(now).await? })
    }

    /// What is to be done, and whether anybody does it.
    pub async fn jobs(&self, now: Timestamp) -> Result<Jobs, Refusal> {
        let listed = self.listed_jobs(now).await?;
        // Whoever has a job of a fleet and lives is a worker, wherever it runs.
        let is_alive = |job: &Listed| job.lease == Some(Lease::Held);
        let is_worked = Queue::at(self.memory_dir()).is_worked();
        #[cfg(feature = "postgres")]
        let is_worked = is_worked || (self.server().is_some() && listed.iter().any(is_alive));
        #[cfg(not(feature = "postgres"))]
        let _ = is_alive;
        Ok(Jobs { is_worked, jobs: listed.iter().map(JobReport::of).collect() })
    }

    /// Every job of this project, in files and on the server of a fleet: what lies here is on its way there.
    pub async fn listed_jobs(&self, now: Timestamp) -> Result<Vec<Listed>, QueueError> {
        let (queue, lease) = (Queue::at(self.memory_dir()), self.config().worker.pace().lease);
        let looked = spawn_blocking(move || queue.jobs(lease, now)).await;
        let here = looked.unwrap_or_else(|error| Err(MemoryError::Interrupted(error.to_string()).into()))?;
        #[cfg(feature = "postgres")]
        if let Some(fleet) = self.fleet() {
            let mut listed = fleet.jobs(now).await?;
            let is_new = |job: &Listed| listed.iter().all(|known| known.name != job.name);
            let mut here: Vec<Listed> = here.into_iter().filter(is_new).collect();
            here.append(&mut listed);
            return Ok(here);
        }
        Ok(here)
    }

    /// The project's jobs on the server, where there is one.
    #[cfg(feature = "postgres")]
    pub fn fleet(&self) -> Option<FleetQueue> {
        self.server().map(|server| FleetQueue::new(Arc::clone(server), self.bank()))
    }
}
