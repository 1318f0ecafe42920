//! What is to be done, and what came of trying.

use serde::{Deserialize, Serialize};

use crate::domain::{Extra, Invalid, ReflectionTrigger, Timestamp};

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;

/// How many digits of the hash of project and session stand in a job's name.
const NAME_DIGITS: usize = 16;

/// The ending of every job's name.
const ENDING: &str = ".json";

/// One thing to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// What is to be done.
    pub errand: Errand,
    /// Whose hook asked for it, such as `claude-code`.
    pub agent: String,
    /// On which event, as that agent calls it.
    pub event: String,
    /// How soon.
    pub urgency: Urgency,
    /// How long the session's log was, where somebody knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// When it was asked for.
    pub enqueued_at: Timestamp,
    /// Nobody takes it before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// The tries that failed, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a job is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Errand {
    /// A session is to be reflected on.
    Reflect(ReflectionTrigger),
    /// Sessions that nobody told of are to be looked for.
    Sweep {
        /// In which project.
        project_root: String,
    },
}

/// How soon a job is to be done, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Urgency {
    /// The session said that it is over.
    Over,
    /// The session may go on.
    Pause,
    /// Nobody waits for it.
    Sweep,
}

/// One try that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// When.
    pub at: Timestamp,
    /// Why.
    pub error: String,
}

/// What a job's file is called in whichever folder it lies. Two jobs of one name are one job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct JobName(String);

impl JobName {
    /// The name of a file, if it may be that of a job.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        match text.strip_suffix(ENDING) {
            Some(stem) if !stem.is_empty() && stem.chars().all(is_plain) => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new("a job's name", text, "it is letters, digits, `-` and `_`, then `.json`")),
        }
    }

    /// The name as it stands in files.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl Job {
    /// The same for the same session at the same length of its log.
    pub fn name(&self) -> JobName {
        let stem = match &self.errand {
            Errand::Reflect(_) => format!("{}-{}", self.errand.subject(), self.log_bytes.unwrap_or_default()),
            Errand::Sweep { .. } => self.errand.subject(),
        };
        JobName(format!("{stem}{ENDING}"))
    }

    /// Whether it covers what the other job of its subject is about: the longer log, then the later word.
    pub(super) fn covers(&self, other: &Self) -> bool {
        (self.log_bytes, self.enqueued_at) >= (other.log_bytes, other.enqueued_at)
    }
}

impl Errand {
    /// What jobs that are about the same have in common.
    pub(super) fn subject(&self) -> String {
        let trigger = match self {
            Self::Reflect(trigger) => trigger,
            Self::Sweep { .. } => return "sweep".to_owned(),
        };
        let mut hash = blake3::Hasher::new();
        hash.update(trigger.project_root.as_bytes()).update(&[0]).update(trigger.session_id.as_str().as_bytes());
        hash.finalize().to_hex().chars().take(NAME_DIGITS).collect()
    }

    /// The project that it is about, by its path where it was asked for.
    pub fn project_root(&self) -> &str {
        match self {
            Self::Reflect(trigger) => &trigger.project_root,
            Self::Sweep { project_root } => project_root,
        }
    }

    /// Whether having been done once is no reason not to do it again.
    pub(super) fn is_repeatable(&self) -> bool {
        matches!(self, Self::Sweep { .. })
    }
}
