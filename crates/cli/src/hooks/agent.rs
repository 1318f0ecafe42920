//! The agents that call hooks.

use std::fmt;

use super::dialect::HookDialect;
use super::{claude, codex, gemini, generic, healer};
use archivist_core::domain::InvalidValue;

/// An agent that calls hooks, or a program that acts like one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum HookAgent {
    /// The Claude Code agent.
    ClaudeCode,
    /// The Codex CLI.
    Codex,
    /// The Gemini CLI.
    Gemini,
    /// Any program that writes a reflection trigger, or a part of one.
    Generic,
    /// The Healer of an orchestrator.
    Healer,
}

impl HookAgent {
    /// All supported agents.
    pub(crate) const ALL: [Self; 5] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Generic, Self::Healer];

    /// Parses an agent's name; the error suggests the closest name.
    pub(crate) fn parse(word: &str) -> Result<Self, InvalidValue> {
        let known = Self::ALL.into_iter().find(|agent| agent.as_str() == word);
        known.ok_or_else(|| {
            let why = match nearest_agent(word) {
                Some(agent) => format!("did you mean {agent}?"),
                None => format!("it is one of {}", Self::ALL.map(Self::as_str).join(", ")),
            };
            InvalidValue::new("an agent", word, why)
        })
    }

    /// Returns the name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Generic => "generic",
            Self::Healer => "healer",
        }
    }

    /// Returns the name as shown to people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Generic => "the agent",
            Self::Healer => "the Healer",
        }
    }

    pub(super) fn dialect(self) -> &'static HookDialect {
        match self {
            Self::ClaudeCode => &claude::DIALECT,
            Self::Codex => &codex::DIALECT,
            Self::Gemini => &gemini::DIALECT,
            Self::Generic => &generic::DIALECT,
            Self::Healer => &healer::DIALECT,
        }
    }

    /// Returns true if its payloads may contain the outcome of a rescue.
    pub(super) fn reports_rescues(self) -> bool {
        matches!(self, Self::Generic | Self::Healer)
    }
}

impl fmt::Display for HookAgent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Returns the agent that was most likely meant: by a prefix of its name, or with one typo in three letters.
fn nearest_agent(word: &str) -> Option<HookAgent> {
    let word: String = word.to_lowercase().replace('_', "-").chars().take(40).collect();
    let distance = |agent: &HookAgent| match agent.as_str().starts_with(&word) {
        true => 0,
        false => strsim::damerau_levenshtein(&word, agent.as_str()),
    };
    let nearest = HookAgent::ALL.into_iter().min_by_key(distance)?;
    (word.len() > 1 && distance(&nearest) <= word.chars().count() / 3).then_some(nearest)
}
