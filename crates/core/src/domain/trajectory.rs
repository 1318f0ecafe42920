//! The steps of a session, independent of the format of its log.
//!
//! A reader emits a stream of [`TrajectoryEvent`]s, in the order of the log and in bounded memory. Each sink keeps what
//! it needs; a [`Trajectory`] is the result of putting steps, calls and outputs together again.

use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{Extra, Timestamp, TrustClass};

/// One session of one agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trajectory {
    /// The session's ids, agent and place.
    #[serde(flatten)]
    pub about: SessionDetails,
    /// The steps in the order of the log. Steps that were dropped to limit memory are missing, as the gaps in the
    /// numbers show.
    pub steps: Vec<Step>,
    /// The outcome of the session, if a source besides the log reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SessionOutcome>,
    /// The tokens and money that the session cost.
    #[serde(default)]
    pub usage: TokenUsage,
}

/// The details that a log gives about its session. Every one may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetails {
    /// The session's id, as the agent assigned it; several trajectories may share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The id of this trajectory alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory_id: Option<String>,
    /// The version of the log format, as the log states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The first model that replied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The working directory of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The git branch of the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The repository of the working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The session that started this one, or that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The task that was worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The part of the task that was worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_id: Option<String>,
    /// The title that the log gives the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The time of the first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The time of the last entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

impl SessionDetails {
    /// Adds the details that are missing here; existing values are kept, and the time span is extended.
    pub fn fill_from(&mut self, more: Self) {
        fn fill_missing<T>(known: &mut Option<T>, more: Option<T>) {
            if known.is_none() {
                *known = more;
            }
        }
        fill_missing(&mut self.session_id, more.session_id);
        fill_missing(&mut self.trajectory_id, more.trajectory_id);
        fill_missing(&mut self.schema_version, more.schema_version);
        fill_missing(&mut self.agent, more.agent);
        fill_missing(&mut self.agent_version, more.agent_version);
        fill_missing(&mut self.model, more.model);
        fill_missing(&mut self.directory, more.directory);
        fill_missing(&mut self.branch, more.branch);
        fill_missing(&mut self.repository, more.repository);
        fill_missing(&mut self.parent_session_id, more.parent_session_id);
        fill_missing(&mut self.task_id, more.task_id);
        fill_missing(&mut self.subtask_id, more.subtask_id);
        fill_missing(&mut self.title, more.title);
        self.extend_time_span(more.started_at);
        self.extend_time_span(more.finished_at);
    }

    /// Extends the time span between the first and the last entry so that it includes `at`.
    pub fn extend_time_span(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.started_at = Some(self.started_at.map_or(at, |first| first.min(at)));
        self.finished_at = Some(self.finished_at.map_or(at, |last| last.max(at)));
    }
}

/// One turn of a speaker, with the tool calls it made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// The step's position in the log, counted from 1.
    pub number: u32,
    /// The speaker of the step.
    pub speaker: Speaker,
    /// The text of the step.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The trust class of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustClass>,
    /// The reasoning before the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The model, if it differs from the trajectory's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The time of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// True if the step repeats an earlier trajectory: it is read, but never counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
    /// The subagent that speaks, if its steps are part of its caller's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// The tool calls of the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The outputs that belong to no single call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<ToolOutput>,
    /// The fields of the log that this version does not know.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

/// A call of a tool by an agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id of the call in the log; it may be empty and need not be unique.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    #[serde(default)]
    pub arguments: serde_json::Value,
    /// The output of the call, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ToolOutput>,
}

/// The output of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// The text of the output.
    pub text: String,
    /// The trust class of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustClass>,
    /// Tells whether the call failed, if the log says so; the text may still show something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// The exit code, if the log records one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// True if the call was interrupted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// The time of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The duration of the call in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

words! {
    /// The speaker of a step.
    #[derive(Default)]
    Speaker, "a speaker" {
        /// A person, in their own words.
        User = "user",
        /// The agent whose trajectory this is.
        #[default]
        Agent = "agent",
        /// The harness: prompts, reminders, caveats, summaries, hooks.
        System = "system",
        /// A tool or terminal, in logs that have no other place for its output.
        Tool = "tool",
        /// Another agent, such as the one that started this one.
        OtherAgent = "other_agent",
    }
}

/// Tokens and money. An unknown number is not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// The tokens read by the model: new, cached and written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// The tokens written by the model, including its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// The tokens of the prompt that were served from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// The tokens of the prompt that were written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// The cost in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl TokenUsage {
    /// Returns the sum of both usages.
    #[must_use]
    pub fn add_usage(self, other: Self) -> Self {
        fn sum_counts(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or_default())))
        }
        Self {
            prompt_tokens: sum_counts(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: sum_counts(self.completion_tokens, other.completion_tokens),
            cached_tokens: sum_counts(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: sum_counts(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd: self.cost_usd.map_or(other.cost_usd, |a| Some(a + other.cost_usd.unwrap_or_default())),
        }
    }

    /// Returns this usage minus the other one.
    #[must_use]
    pub fn subtract_usage(self, other: Self) -> Self {
        fn subtract_counts(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            a.map(|a| a.saturating_sub(b.unwrap_or_default()))
        }
        Self {
            prompt_tokens: subtract_counts(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: subtract_counts(self.completion_tokens, other.completion_tokens),
            cached_tokens: subtract_counts(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: subtract_counts(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd: self.cost_usd.map(|a| a - other.cost_usd.unwrap_or_default()),
        }
    }

    /// Returns this usage, with unknown numbers taken from the other one.
    #[must_use]
    pub fn or_usage(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.or(other.prompt_tokens),
            completion_tokens: self.completion_tokens.or(other.completion_tokens),
            cached_tokens: self.cached_tokens.or(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.or(other.cache_write_tokens),
            cost_usd: self.cost_usd.or(other.cost_usd),
        }
    }

    /// Returns true if no number is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// The outcome of a session and the source that reports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionOutcome {
    /// The status of the session.
    pub status: super::EpisodeStatus,
    /// The reward that a verifier gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// The error that prevented success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The source of the outcome: a file's name, or the type of a line.
    pub from: String,
}

/// One event that a reader finds in a log.
#[derive(Debug, Clone, PartialEq)]
pub enum TrajectoryEvent {
    /// Another trajectory begins in the same log. The first trajectory needs no such event.
    Begin,
    /// Details of the trajectory as a whole.
    About(Box<SessionDetails>),
    /// A step without its calls and outputs, which follow. Numbers rise by one within a trajectory.
    Step(Box<Step>),
    /// More text and reasoning of an earlier step.
    More(u32, String, Option<String>),
    /// A tool call, with the number of the step that makes it. That step may be much earlier.
    Call(u32, ToolCall),
    /// The output of a call or of a step.
    Output(OutputOwner, ToolOutput),
    /// The cost of a step. If it is repeated for the same step, the last event counts.
    Spent(u32, TokenUsage),
    /// The total cost, if the log keeps one. The last event counts, and each known number replaces the sum over the
    /// steps.
    Total(TokenUsage),
    /// Something that happened to the session after the step of this number (0 at the beginning).
    Happened(u32, Happening, String),
    /// The outcome of the session.
    Outcome(SessionOutcome),
    /// A reference to a part of the session that is stored in another place.
    Elsewhere(LogReference),
    /// A line, or another part of the log, that could not be read.
    Skipped(SkippedLogLine),
    /// A readable part of the log that violates the rules of its format.
    Breach(FormatViolation),
    /// The number of values that were too long and lost their middle, and of the bytes removed.
    Cut(TruncationCount),
}

/// The owner of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputOwner {
    /// The call with this id.
    Call(String),
    /// The step with this number.
    Step(u32),
}

words! {
    /// The things that can happen to a session besides steps.
    Happening, "a happening" {
        /// The context was summarised to make room.
        Compacted = "compacted",
        /// A person stopped the agent.
        Interrupted = "interrupted",
        /// The model's provider answered with an error.
        ApiError = "api_error",
        /// Turns were taken back.
        RolledBack = "rolled_back",
        /// A hook of the harness objected.
        HookFeedback = "hook_feedback",
        /// The log lost a part of its content.
        Trimmed = "trimmed",
    }
}

/// A reference to a part of the session in another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogReference {
    /// The kind of the part.
    pub part: Part,
    /// The file, as the log names it: relative, absolute or a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id of the part, if the log gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

words! {
    /// The kind of session part that a reference leads to.
    Part, "a part of a session" {
        /// The log of a subagent.
        Subagent = "subagent",
        /// The continuation of the session.
        Continuation = "continuation",
        /// An image or another medium.
        Media = "media",
    }
}

/// A part of a log that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedLogLine {
    /// The number of the line, counted from 1; 0 if it has no line.
    pub line: u64,
    /// The reason in words.
    pub why: String,
}

/// A violation of the rules of a log format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FormatViolation {
    /// The place of the violation, such as `trajectory.steps.3.message`.
    pub path: String,
    /// A description of the violation.
    pub problem: String,
}

/// The amount of content that was too long to keep whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TruncationCount {
    /// The number of shortened values.
    pub values: u64,
    /// The number of bytes removed from them.
    pub bytes: u64,
}

impl TruncationCount {
    /// Returns the text that replaces so many removed bytes.
    pub fn truncation_marker(bytes: u64) -> String {
        format!("[… {bytes} bytes cut …]")
    }
}

/// A receiver of the events of a log reader.
pub trait EventSink {
    /// Receives one event.
    fn receive_event(&mut self, event: TrajectoryEvent);
}

impl EventSink for Vec<TrajectoryEvent> {
    fn receive_event(&mut self, event: TrajectoryEvent) {
        self.push(event);
    }
}
