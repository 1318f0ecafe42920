//! How the memory and its queue are.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Desk, Refusal};
use crate::domain::Timestamp;
use crate::memory::jsonl::BankStatus;
use crate::service::{Errand, Listed, Place, Queue};

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
        Ok(Condition { banks: self.memory.status().await?, queue: self.jobs(now)? })
    }

    /// What is to be done, and whether anybody does it.
    pub fn jobs(&self, now: Timestamp) -> Result<Jobs, Refusal> {
        let queue = Queue::at(self.memory_dir());
        let listed = queue.jobs(self.config().worker.pace().lease, now)?;
        Ok(Jobs { is_worked: queue.is_worked(), jobs: listed.iter().map(JobReport::of).collect() })
    }
}
