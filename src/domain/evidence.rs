//! What a lesson rests on.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::words;
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
    /// Whether there is nothing to point to.
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
    /// The passage.
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
    /// Makes a quote only if its words really stand in the step.
    ///
    /// This is the one door from a claim to evidence: a passage that is not there gives `None`.
    pub fn verified(
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

    /// The same where the place is known: `span` of a passage that begins at byte `base` of the step's text.
    ///
    /// The words are taken from the passage, so whoever found the place cannot bring words of their own.
    pub fn at(
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
    /// How strong a piece of evidence is.
    #[derive(Default)]
    EvidenceLevel, "an evidence level" {
        /// Level 1: something ran and this is what it printed.
        Execution = "execution",
        /// Level 2: a file and line with a quote.
        Citation = "citation",
        /// Level 3: somebody's reasoning.
        #[default]
        Reasoning = "reasoning",
    }
}

words! {
    /// Whose words a passage is, from the most to the least trusted.
    TrustClass, "a trust class" {
        /// The person at the keyboard.
        User = "user",
        /// The agent itself.
        Agent = "agent",
        /// A build or a test run.
        BuildOutput = "build_output",
        /// A file of the repository.
        RepoFile = "repo_file",
        /// Any other tool.
        ToolOutput = "tool_output",
        /// The web, or an MCP server.
        Web = "web",
        /// Another agent.
        OtherAgent = "other_agent",
        /// A lesson that Archivist gave back: exposure, never evidence.
        InjectedMemory = "injected_memory",
    }
}
