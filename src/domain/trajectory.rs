//! What an agent did, step by step, whatever log it was read from.
//!
//! A reader tells it as a stream of [`Event`]s, in the order of the log and in bounded memory. Whoever listens keeps
//! what it needs; a [`Trajectory`] is what is left when steps, calls and outputs were put together again.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{Extra, Timestamp, TrustClass};

/// One run of one agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trajectory {
    /// Whose it is, and where it ran.
    #[serde(flatten)]
    pub about: About,
    /// In the order of the log. Steps that were shed to stay within memory are missing; numbers tell.
    pub steps: Vec<Step>,
    /// How it ended, where something beside the log says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
}

/// What a log says about itself. Every part may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The session as the agent names it; several trajectories may share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// This trajectory alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory_id: Option<String>,
    /// The version that the format gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
    /// The agent's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The first model that spoke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where it worked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// On which branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// In which repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The session that started this one, or that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_id: Option<String>,
    /// The task worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_id: Option<String>,
    /// What it was about, in the log's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// First sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Last sign of life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

impl About {
    /// Takes over what is not known yet; of two answers the first stands, except for the last sign of life.
    pub fn learn(&mut self, more: Self) {
        fn fill<T>(known: &mut Option<T>, more: Option<T>) {
            if known.is_none() {
                *known = more;
            }
        }
        fill(&mut self.session_id, more.session_id);
        fill(&mut self.trajectory_id, more.trajectory_id);
        fill(&mut self.schema_version, more.schema_version);
        fill(&mut self.agent, more.agent);
        fill(&mut self.agent_version, more.agent_version);
        fill(&mut self.model, more.model);
        fill(&mut self.directory, more.directory);
        fill(&mut self.branch, more.branch);
        fill(&mut self.repository, more.repository);
        fill(&mut self.parent_session_id, more.parent_session_id);
        fill(&mut self.task_id, more.task_id);
        fill(&mut self.subtask_id, more.subtask_id);
        fill(&mut self.title, more.title);
        self.lived(more.started_at);
        self.lived(more.finished_at);
    }

    /// Widens the time between the first and the last sign of life.
    pub fn lived(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.started_at = Some(self.started_at.map_or(at, |first| first.min(at)));
        self.finished_at = Some(self.finished_at.map_or(at, |last| last.max(at)));
    }
}

/// One turn of somebody, with the calls it made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its place in the log, counted from 1.
    pub number: u32,
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// How far these words are to be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustClass>,
    /// What was thought before it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The model, if it is not the trajectory's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Repeated from an earlier trajectory: to be read, never to be counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
    /// The subagent that speaks, where its words stand among those of the one who called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// What it asked tools to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// What came back that belongs to no single call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    /// What the format knows and this version does not.
    #[serde(default, skip_serializing_if = "Extra::is_empty")]
    pub extra: Extra,
}

/// Something an agent asked a tool to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// What the log calls it; may be empty, need not be unique.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it was given.
    #[serde(default)]
    pub arguments: serde_json::Value,
    /// What came back, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
}

/// What came back from a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// In words.
    pub text: String,
    /// How far these words are to be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustClass>,
    /// Whether it failed, where the log says so; text may still say otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// The exit code, where the log has a place for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Somebody stopped it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

words! {
    /// Who speaks in a step.
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
        /// Another agent, such as the one that ordered this one.
        OtherAgent = "other_agent",
    }
}

/// Tokens and money. What is not known is not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read by the model: new, cached and written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens written by the model, thinking among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// Of the prompt: served from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Of the prompt: written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or_default())))
        }
        Self {
            prompt_tokens: sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: sum(self.completion_tokens, other.completion_tokens),
            cached_tokens: sum(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: sum(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd: self.cost_usd.map_or(other.cost_usd, |a| Some(a + other.cost_usd.unwrap_or_default())),
        }
    }

    /// What is left without the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        fn rest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            a.map(|a| a.saturating_sub(b.unwrap_or_default()))
        }
        Self {
            prompt_tokens: rest(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: rest(self.completion_tokens, other.completion_tokens),
            cached_tokens: rest(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: rest(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd: self.cost_usd.map(|a| a - other.cost_usd.unwrap_or_default()),
        }
    }

    /// These figures, and the other's where there are none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.or(other.prompt_tokens),
            completion_tokens: self.completion_tokens.or(other.completion_tokens),
            cached_tokens: self.cached_tokens.or(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.or(other.cache_write_tokens),
            cost_usd: self.cost_usd.or(other.cost_usd),
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// How a run ended, and who says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// In one of our words.
    pub status: super::EpisodeStatus,
    /// A verifier's reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// What stood in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where this was read: a file's name, or the type of a line.
    pub from: String,
}

/// One thing that a log says.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Another trajectory begins in the same log. The first one needs no announcement.
    Begin,
    /// Something about the trajectory as a whole.
    About(Box<About>),
    /// A step, without its calls and outputs: they follow. Numbers rise by one within a trajectory.
    Step(Box<Step>),
    /// More words, and more thoughts, of a step that was told before.
    More(u32, String, Option<String>),
    /// A call, and the number of the step that makes it. That step may have been told long before.
    Call(u32, Call),
    /// What came back.
    Output(OutputOf, Output),
    /// What a step cost. Said again for the same step, the last word counts.
    Spent(u32, Usage),
    /// What everything cost together, where the log counts for itself. The last word counts, figure by figure, before
    /// the sum over steps.
    Total(Usage),
    /// Something happened to the session, after the step of this number (0 at the beginning).
    Happened(u32, Happening, String),
    /// How it ended.
    Outcome(Outcome),
    /// More of it stands elsewhere.
    Elsewhere(Elsewhere),
    /// A line, or something else of the log, that could not be read.
    Skipped(Skipped),
    /// Something that the format's own rules forbid, though it could be read.
    Breach(Breach),
    /// So many values, of so many bytes together, were too long and lost their middle.
    Cut(Cut),
}

/// Whose output it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputOf {
    /// That of the call with this id.
    Call(String),
    /// That of a whole step.
    Step(u32),
}

words! {
    /// What can happen to a session besides steps.
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
        /// The log lost a part of itself.
        Trimmed = "trimmed",
    }
}

/// A part of the session in another place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Elsewhere {
    /// What stands there.
    pub part: Part,
    /// A file, as the log names it: relative, absolute or a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// An id, where the log gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

words! {
    /// What a reference leads to.
    Part, "a part of a session" {
        /// The work of a subagent.
        Subagent = "subagent",
        /// What came after.
        Continuation = "continuation",
        /// An image or another medium.
        Media = "media",
    }
}

/// What could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Counted from 1; 0 if it has no line.
    pub line: u64,
    /// In words.
    pub why: String,
}

/// What a format's own rules forbid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Breach {
    /// Where, such as `trajectory.steps.3.message`.
    pub path: String,
    /// What is wrong.
    pub problem: String,
}

/// What was too long to keep whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// How many values.
    pub values: u64,
    /// How many bytes of them are missing.
    pub bytes: u64,
}

impl Cut {
    /// What stands in a text where so many bytes are missing.
    pub fn mark(bytes: u64) -> String {
        format!("[… {bytes} bytes cut …]")
    }
}

/// Listens to a reader.
pub trait Sink {
    /// Hears one event.
    fn hear(&mut self, event: Event);
}

impl Sink for Vec<Event> {
    fn hear(&mut self, event: Event) {
        self.push(event);
    }
}
