//! A job and the failed attempts at it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::context::{redact_label, redact_record};
use crate::domain::{Extra, InvalidValue, ReflectionTrigger, StableHash, Timestamp};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;

/// The number of hash digits of project and session in a job's name.
const NAME_DIGITS: usize = 16;

/// The file extension of every job's name.
const ENDING: &str = ".json";

/// One job of the queue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The kind of job, with its parameters. Its name in the queue's files is older than this one.
    #[serde(rename = "errand")]
    pub kind: JobKind,
    /// The agent whose hook submitted it, such as `claude-code`.
    pub agent: String,
    /// The event that caused it, as that agent calls it.
    pub event: String,
    /// The urgency of the job.
    pub urgency: JobUrgency,
    /// The size of the session's log when the job was submitted, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// The time when it was submitted.
    pub enqueued_at: Timestamp,
    /// The time before which it must not be claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// The failed attempts, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<FailedAttempt>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kind of work that a job asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum JobKind {
    /// Reflect on a session.
    Reflect(ReflectionTrigger),
    /// Search for sessions that no hook reported.
    Sweep {
        /// The project's root.
        project_root: String,
    },
}

/// The urgency of a job, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JobUrgency {
    /// The session reported its end.
    Over,
    /// The session may go on.
    Pause,
    /// The job has no deadline.
    Sweep,
}

/// One failed attempt at a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedAttempt {
    /// The time of the failure.
    pub at: Timestamp,
    /// The reason for the failure.
    pub error: String,
}

/// The file name of a job in every folder. Jobs with equal names are the same job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct JobName(String);

impl JobName {
    /// Parses a file name, or returns an error if it cannot be that of a job.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        match text.strip_suffix(ENDING) {
            Some(stem) if !stem.is_empty() && stem.chars().all(is_plain) => Ok(Self(text.to_owned())),
            _ => Err(InvalidValue::new("a job's name", text, "it is letters, digits, `-` and `_`, then `.json`")),
        }
    }

    /// Returns the file name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if it is the name of a job about this subject.
    pub(super) fn is_about(&self, subject: &str) -> bool {
        self.0.strip_prefix(subject).is_some_and(|rest| rest.starts_with(['-', '.']))
    }
}

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl Job {
    /// Returns the name, which is equal for the same session and the same size of its log.
    pub fn name(&self) -> JobName {
        let stem = match &self.kind {
            JobKind::Reflect(_) => format!("{}-{}", self.kind.subject_key(), self.log_bytes.unwrap_or_default()),
            JobKind::Sweep { .. } => self.kind.subject_key(),
        };
        JobName(format!("{stem}{ENDING}"))
    }

    /// Returns the job without secrets in what a hook's payload said. The session, the project and the logs stay as
    /// they are, because the job is done by them.
    pub(super) fn without_secrets(&self) -> Cow<'_, Self> {
        let JobKind::Reflect(trigger) = &self.kind else { return Cow::Borrowed(self) };
        let has_words = trigger.main_task_id.is_some()
            || trigger.subtask_id.is_some()
            || !trigger.extra.is_empty()
            || !self.extra.is_empty();
        if !has_words {
            return Cow::Borrowed(self);
        }
        let redactor = Redactor::new();
        let mut clean = redact_record(trigger.clone(), &redactor).unwrap_or_else(|| {
            ReflectionTrigger::new(trigger.scenario.clone(), trigger.project_root.clone(), trigger.session_id.clone())
        });
        clean.project_root.clone_from(&trigger.project_root);
        clean.session_id.clone_from(&trigger.session_id);
        clean.log_paths.clone_from(&trigger.log_paths);
        for task in [&mut clean.main_task_id, &mut clean.subtask_id].into_iter().flatten() {
            *task = redact_label(std::mem::take(task), &redactor);
        }
        let extra = redact_record(self.extra.clone(), &redactor).unwrap_or_default();
        Cow::Owned(Self { kind: JobKind::Reflect(clean), extra, ..self.clone() })
    }

    /// Returns true if it covers another job of its subject: by the longer log, then by the later submission.
    pub(super) fn covers_job(&self, other: &Self) -> bool {
        (self.log_bytes, self.enqueued_at) >= (other.log_bytes, other.enqueued_at)
    }
}

impl JobKind {
    /// Returns the key that all jobs about the same session, or all sweeps of a project, share.
    pub(super) fn subject_key(&self) -> String {
        let trigger = match self {
            Self::Reflect(trigger) => trigger,
            // Projects that share a memory are swept one by one.
            Self::Sweep { project_root } => {
                return format!("sweep-{}", StableHash::from_text(project_root).to_digits(NAME_DIGITS));
            }
        };
        let hash = StableHash::default().with_part(&trigger.project_root).with_text(trigger.session_id.as_str());
        hash.to_digits(NAME_DIGITS)
    }

    /// Returns the path of the project as it was submitted.
    pub fn project_root(&self) -> &str {
        match self {
            Self::Reflect(trigger) => &trigger.project_root,
            Self::Sweep { project_root } => project_root,
        }
    }

    /// Returns true if the job may be repeated although it was done once.
    pub(super) fn is_repeatable(&self) -> bool {
        matches!(self, Self::Sweep { .. })
    }
}
