//! Episodes: the stored records of sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{Engine, EpisodeId, ErrorFamily, Extra, Importance, InvalidValue, ReflectionSummary, SessionId, Timestamp};

/// A single run or subtask: the unit in which recurrence is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Episode {
    /// Its name here.
    pub id: EpisodeId,
    /// Where the project stood when it ran.
    pub project_root: String,
    /// Which repository it belongs to, when that is known apart from a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// The task worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_id: Option<String>,
    /// The session as the agent names it.
    pub session_id: SessionId,
    /// The kind of agent that ran.
    pub kind: EpisodeKind,
    /// First sign of life.
    pub started_at: Timestamp,
    /// Last sign of life.
    pub finished_at: Timestamp,
    /// How it ended.
    pub status: EpisodeStatus,
    /// What the status rests on; records of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_basis: Option<StatusBasis>,
    /// One to three sentences.
    pub summary: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The failures met in it, by which other runs are known to have met them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_families: Vec<ErrorFamily>,
    /// The failures themselves, with what came of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureRecord>,
    /// The beginning of what the session was first asked to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The ids of its ATIF trajectories.
    #[serde(default)]
    pub trajectories: Vec<String>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<EpisodeUsage>,
    /// What reflecting on it left behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reflected: Option<ReflectionRecord>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Episode {
    /// Returns what an episode keeps of a request: its beginning on one line, enough to know the request again.
    pub fn shorten_request(request: &str) -> String {
        const KEPT_CHARACTERS: usize = 400;
        request.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(KEPT_CHARACTERS).collect()
    }
}

/// A failure that a session met, and what came of it there. It counts, and never advises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureRecord {
    /// The error family of the failure.
    pub error_family: ErrorFamily,
    /// The tool that failed, or the program and subcommand: `pip install`.
    pub action: String,
    /// The class of the error, such as `not_found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// The number of times that it failed.
    pub times: u32,
    /// True if the same command passed later in the session.
    #[serde(default)]
    pub fixed: bool,
    /// The fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What reflecting on a run left behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Reflected")]
pub struct ReflectionRecord {
    /// The logs that were read, as long as they were then: longer ones have more to tell.
    pub logs: Vec<LogStamp>,
    /// The engine that distilled it.
    pub engine: Engine,
    /// How much there was to learn from it: the prior of its weightiest signal.
    pub importance: Importance,
    /// What happened, in short.
    pub reflection: ReflectionSummary,
    /// Failures that were reflected on over several runs when this one came to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<ErrorFamily>,
    /// The run that set off a reflection over several runs which this one had its part in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pondered_with: Option<EpisodeId>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A log, and how much of it there was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogStamp {
    /// Where it lay.
    pub path: String,
    /// How long it was.
    pub bytes: u64,
}

/// Tokens and money of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpisodeUsage {
    /// Tokens read by the model, cached ones among them.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Tokens written by the model.
    #[serde(default)]
    pub completion_tokens: u64,
    /// Tokens served from a prompt cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Money, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

words! {
    /// The kind of agent that ran the session.
    EpisodeKind, "an episode kind" {
        /// An orchestrator, the loop that chooses tasks.
        OrchestratorRun = "orchestrator_run",
        /// A coding agent, on its own or for an orchestrator.
        SubagentRun = "subagent_run",
        /// A healer, which rescues a failed session.
        HealerRun = "healer_run",
    }
}

words! {
    /// The way a session ended.
    EpisodeStatus, "an episode status" {
        /// The session reached its goal.
        Success = "success",
        /// The session reached part of its goal.
        Partial = "partial",
        /// The session did not reach its goal.
        Failed = "failed",
        /// The session was stopped.
        Aborted = "aborted",
    }
}

words! {
    /// The basis on which the status of a session was decided.
    StatusBasis, "a status basis" {
        /// The caller that started the session, or its orchestrator in the log, reported the status.
        Caller = "caller",
        /// A verifier graded the result.
        Verifier = "verifier",
        /// The person complained, or continued from the delivered result.
        Person = "person",
        /// A test, build, linter or type check ran after the last change.
        Check = "check",
        /// The session left a visible result: a commit, a push, a pull request.
        Result = "result",
        /// The person only asked for an answer, and the agent gave one.
        Answer = "answer",
        /// Only the agent's own statement supports the status.
        Claim = "claim",
        /// The person interrupted the session, or its log breaks off.
        Interrupted = "interrupted",
        /// There is no basis for a decision.
        Nothing = "nothing",
    }
}

impl EpisodeStatus {
    /// Reads the words that other systems use for the outcome of a session.
    pub fn from_outcome(word: &str) -> Result<Self, InvalidValue> {
        match word.trim().to_lowercase().as_str() {
            "success" | "succeeded" | "passed" | "pass" | "complete" | "completed" | "resolved" => Ok(Self::Success),
            "partial" | "blocked" | "incomplete" | "contained" => Ok(Self::Partial),
            "failed" | "failure" | "fail" | "error" | "timeout" | "timed_out" | "unresolved" => Ok(Self::Failed),
            "aborted" | "abort" | "cancelled" | "canceled" | "interrupted" => Ok(Self::Aborted),
            _ => Err(super::word_enum::unknown_word_error("an outcome", word, Self::WORDS)),
        }
    }
}
