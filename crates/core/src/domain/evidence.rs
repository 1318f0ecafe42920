//! The evidence of a lesson: quotes and references to sessions.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::word_enum::words;
use super::{EpisodeId, Extra, SessionId};

/// Pointers to what happened, and the words that prove it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Episodes in which the lesson was seen.
    #[serde(default)]
    pub episode_ids: Vec<EpisodeId>,
    /// Trajectories, named as their producers name them.
    #[serde(default)]
    pub trajectory_ids: Vec<String>,
    /// Sessions, named as the agents name them.
    #[serde(default)]
    pub session_ids: Vec<SessionId>,
    /// Files that held the logs when they were read.
    #[serde(default)]
    pub run_log_paths: Vec<String>,
    /// Passages that were found, letter for letter, in the trajectory they name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<Quote>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Evidence {
    /// Returns true if there is neither a reference nor a quote.
    pub fn is_empty(&self) -> bool {
        self.episode_ids.is_empty()
            && self.trajectory_ids.is_empty()
            && self.session_ids.is_empty()
            && self.run_log_paths.is_empty()
            && self.quotes.is_empty()
    }
}

/// A verified passage: `text` stands at `start..end` (bytes) of one step of one trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// The trajectory quoted from.
    pub trajectory_id: String,
    /// Which step of it, counted from 1 as ATIF does.
    pub step: u32,
    /// First byte of the passage in the step's text.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// The quoted words themselves.
    pub text: String,
    /// How strong it is as proof.
    pub level: EvidenceLevel,
    /// Whose words these are.
    pub trust: TrustClass,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Quote {
    /// Makes a quote only if the passage occurs in the text of the step.
    ///
    /// This is the only way from a claim to evidence: a passage that does not occur gives `None`.
    pub fn verify_passage(
        trajectory_id: &str,
        step: u32,
        step_text: &str,
        passage: &str,
        level: EvidenceLevel,
        trust: TrustClass,
    ) -> Option<Self> {
        if passage.trim().is_empty() {
            return None;
        }
        let start = step_text.find(passage)?;
        Some(Self {
            trajectory_id: trajectory_id.to_owned(),
            step,
            start: u64::try_from(start).ok()?,
            end: u64::try_from(start.checked_add(passage.len())?).ok()?,
            text: passage.to_owned(),
            level,
            trust,
            extra: Extra::new(),
        })
    }

    /// Makes a quote from the known range `span` of a passage that begins at byte `base` of the step's text.
    ///
    /// The words are copied from the passage, so a caller cannot supply words of its own.
    pub fn from_span(
        trajectory_id: &str,
        step: u32,
        passage: &str,
        span: Range<usize>,
        base: usize,
        level: EvidenceLevel,
        trust: TrustClass,
    ) -> Option<Self> {
        let text = passage.get(span.clone()).filter(|text| !text.trim().is_empty())?;
        Some(Self {
            trajectory_id: trajectory_id.to_owned(),
            step,
            start: u64::try_from(base.checked_add(span.start)?).ok()?,
            end: u64::try_from(base.checked_add(span.end)?).ok()?,
            text: text.to_owned(),
            level,
            trust,
            extra: Extra::new(),
        })
    }
}

words! {
    /// The strength of a piece of evidence.
    #[derive(Default)]
    EvidenceLevel, "an evidence level" {
        /// Level 1: the printed output of something that ran.
        Execution = "execution",
        /// Level 2: a file and line with a quote.
        Citation = "citation",
        /// Level 3: reasoning without proof.
        #[default]
        Reasoning = "reasoning",
    }
}

words! {
    /// The author of a passage, from the most to the least trusted.
    TrustClass, "a trust class" {
        /// The person who uses the agent.
        User = "user",
        /// The agent itself.
        Agent = "agent",
        /// The output of a build or a test run.
        BuildOutput = "build_output",
        /// A file of the repository.
        RepoFile = "repo_file",
        /// The output of any other tool.
        ToolOutput = "tool_output",
        /// The web, or an MCP server.
        Web = "web",
        /// Another agent than the session's own.
        OtherAgent = "other_agent",
        /// A lesson that Archivist injected: an exposure, never evidence.
        InjectedMemory = "injected_memory",
    }
}
