//! Who calls.

use std::fmt;

use super::dialect::Dialect;
use super::{claude, codex, gemini, generic, healer};
use crate::domain::Invalid;

/// An agent that calls hooks, or what stands for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// The Codex CLI.
    Codex,
    /// The Gemini CLI.
    Gemini,
    /// Anybody who can write a reflection trigger, or a part of one.
    Generic,
    /// The Healer of an orchestrator.
    Healer,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Generic, Self::Healer];

    /// The agent of this name, or an error that names the one most likely meant.
    pub fn parse(word: &str) -> Result<Self, Invalid> {
        let known = Self::ALL.into_iter().find(|agent| agent.as_str() == word);
        known.ok_or_else(|| {
            let why = match nearest(word) {
                Some(agent) => format!("did you mean {agent}?"),
                None => format!("it is one of {}", Self::ALL.map(Self::as_str).join(", ")),
            };
            Invalid::new("an agent", word, why)
        })
    }

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Generic => "generic",
            Self::Healer => "healer",
        }
    }

    /// The name that people know it by.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Generic => "the agent",
            Self::Healer => "the Healer",
        }
    }

    pub(super) fn dialect(self) -> &'static Dialect {
        match self {
            Self::ClaudeCode => &claude::DIALECT,
            Self::Codex => &codex::DIALECT,
            Self::Gemini => &gemini::DIALECT,
            Self::Generic => &generic::DIALECT,
            Self::Healer => &healer::DIALECT,
        }
    }

    /// Whether its payloads may tell how a rescue ended.
    pub(super) fn speaks_of_rescues(self) -> bool {
        matches!(self, Self::Generic | Self::Healer)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The agent that somebody most likely meant: its name begun, or with one slip in three letters.
fn nearest(word: &str) -> Option<Agent> {
    let word: String = word.to_lowercase().replace('_', "-").chars().take(40).collect();
    let distance = |agent: &Agent| match agent.as_str().starts_with(&word) {
        true => 0,
        false => strsim::damerau_levenshtein(&word, agent.as_str()),
    };
    let nearest = Agent::ALL.into_iter().min_by_key(distance)?;
    (word.len() > 1 && distance(&nearest) <= word.chars().count() / 3).then_some(nearest)
}
