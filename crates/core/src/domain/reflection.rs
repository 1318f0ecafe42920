//! The trigger of a reflection and its outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{EpisodeStatus, Extra, SessionId};

/// Asks for a reflection on one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReflectionTrigger {
    /// The reason for the reflection.
    pub scenario: ReflectionScenario,
    /// The root of the project.
    pub project_root: String,
    /// In which session.
    pub session_id: SessionId,
    /// On which task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_task_id: Option<String>,
    /// On which part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_id: Option<String>,
    /// The session's logs, where somebody knows them; they are looked for otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log_paths: Vec<String>,
    /// How a rescue ended: `resolved`, `contained`, `unresolved` or `skipped`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healer_status: Option<String>,
    /// How the session ended, where the caller says so; its word counts before what the logs show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<EpisodeStatus>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ReflectionTrigger {
    /// Returns a trigger with the three values that every caller knows.
    pub fn new(scenario: ReflectionScenario, project_root: impl Into<String>, session_id: SessionId) -> Self {
        Self {
            scenario,
            project_root: project_root.into(),
            session_id,
            main_task_id: None,
            subtask_id: None,
            log_paths: Vec::new(),
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        }
    }

    /// Names the logs of the session; without them the session is looked for where agents leave their logs.
    #[must_use]
    pub fn with_logs(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.log_paths = paths.into_iter().map(Into::into).collect();
        self
    }

    /// Names the task that the session worked on.
    #[must_use]
    pub fn with_task(mut self, task: impl Into<String>) -> Self {
        self.main_task_id = Some(task.into());
        self
    }

    /// Says how the session ended. The caller's word counts before what the logs show.
    #[must_use]
    pub fn with_outcome(mut self, outcome: EpisodeStatus) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Says how a rescue ended: `resolved`, `contained`, `unresolved` or `skipped`.
    #[must_use]
    pub fn with_healer_status(mut self, status: impl Into<String>) -> Self {
        self.healer_status = Some(status.into());
        self
    }

    /// Returns the status that the caller reported: the session's outcome, else the outcome of a rescue, else that it
    /// failed. The scenario of a complete session says nothing, because such a session may have failed.
    pub fn reported_status(&self) -> Option<EpisodeStatus> {
        let rescue = || EpisodeStatus::from_outcome(self.healer_status.as_deref()?).ok();
        let failure = || (self.scenario == ReflectionScenario::SessionFailed).then_some(EpisodeStatus::Failed);
        let outcome = self.outcome.clone();
        let outcome = outcome.map(|told| EpisodeStatus::from_outcome(told.as_str()).unwrap_or(told));
        outcome.or_else(rescue).or_else(failure)
    }
}

words! {
    /// The cause of a reflection.
    ReflectionScenario, "a scenario" {
        /// A session ended well.
        SessionComplete = "session_complete",
        /// A session ended badly.
        SessionFailed = "session_failed",
        /// A healer's rescue ended.
        HealerInvocation = "healer_invocation",
        /// Several sessions met one failure.
        PatternDetected = "pattern_detected",
        /// A person or a program requested the reflection.
        Manual = "manual",
    }
}

/// What came of a trigger. There is no error here: a reflection that could not be done was skipped, and says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchivistOutcome {
    /// What set it off.
    pub scenario: ReflectionScenario,
    /// Whether it was done.
    pub status: OutcomeStatus,
    /// The number of new lessons.
    pub memories_created: u64,
    /// Lessons that changed or were seen again.
    pub memories_updated: u64,
    /// In words; the reason, if it was skipped.
    pub summary: String,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

words! {
    /// Tells whether a reflection was done.
    OutcomeStatus, "an outcome status" {
        /// The reflection was not wanted, not possible or not needed.
        Skipped = "skipped",
        /// The reflection was done, possibly without a new lesson.
        Reflected = "reflected",
    }
}
