//! What sets a reflection off, and what comes of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;
use super::{EpisodeStatus, Extra, SessionId};

/// Asks for a reflection on one session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReflectionTrigger {
    /// What happened.
    pub scenario: ReflectionScenario,
    /// Where.
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
    /// A trigger that says no more than what happened, in which project and in which session.
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

    /// Returns how the session ended in the caller's word: its outcome, else how a rescue ended, else that it failed.
    /// A session that is complete is over, and may have failed all the same.
    pub fn ended_as(&self) -> Option<EpisodeStatus> {
        let rescue = || EpisodeStatus::from_outcome(self.healer_status.as_deref()?).ok();
        let failure = || (self.scenario == ReflectionScenario::SessionFailed).then_some(EpisodeStatus::Failed);
        let outcome = self.outcome.clone();
        let outcome = outcome.map(|told| EpisodeStatus::from_outcome(told.as_str()).unwrap_or(told));
        outcome.or_else(rescue).or_else(failure)
    }
}

words! {
    /// What set a reflection off.
    ReflectionScenario, "a scenario" {
        /// A session ended well.
        SessionComplete = "session_complete",
        /// A session ended badly.
        SessionFailed = "session_failed",
        /// A rescue ended.
        HealerInvocation = "healer_invocation",
        /// The same trouble came up again and again.
        PatternDetected = "pattern_detected",
        /// Somebody asked.
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
    /// New lessons.
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
    /// Whether a reflection was done.
    OutcomeStatus, "an outcome status" {
        /// Not wanted, not possible or not needed.
        Skipped = "skipped",
        /// Done; nothing learned is a good end too.
        Reflected = "reflected",
    }
}
