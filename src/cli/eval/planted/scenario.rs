//! Scenarios: what happens in a session, in outline, as `fixtures/planted/*.toml` tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::context::SignalKind;
use crate::domain::MemoryCategory;
use crate::ingest::Format;

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/planted/", $name, ".toml")))),+]
    };
}

/// One file a stack, and what all of them share.
const FILES: &[(&str, &str)] = files![
    "shared", "python", "node", "rust", "go", "java", "ruby", "cpp", "elixir", "php", "infra", "agents", "anywhere",
];

/// Why the scenarios cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScenarioError {
    /// A file is not what it should be.
    #[error("fixtures/planted/{file}.toml cannot be read: {why}")]
    File {
        /// Its name.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// A scenario is not whole.
    #[error("scenario `{id}` cannot be told: {why}")]
    Scenario {
        /// Its name.
        id: String,
        /// What is missing.
        why: String,
    },
}

impl ScenarioError {
    pub(super) fn of(id: &str, why: impl Into<String>) -> Self {
        Self::Scenario { id: id.to_owned(), why: why.into() }
    }
}

/// Which half of the scenarios: whoever writes a distiller may look at what fails in `dev` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Half {
    /// To develop with.
    Dev,
    /// Held out.
    Held,
    /// Brought along by somebody else.
    Own,
}

impl Half {
    /// Its name in tables and files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Held => "held",
            Self::Own => "own",
        }
    }
}

/// What there is to learn in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A failure, and what mends it.
    Fixed,
    /// A failure that comes back and is never mended.
    Recurring,
    /// A person says how it is to be done from now on.
    Correction,
    /// A test that passes and fails as it likes.
    Flaky,
    /// A habit of a provider or a tool: limits, timeouts.
    Provider,
    /// A command that does not work here, and another that does.
    Alternative,
    /// Something else; sets of others need not say what.
    Other,
    /// Nothing.
    Routine,
}

impl Kind {
    /// Its name in tables and files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Recurring => "recurring",
            Self::Correction => "correction",
            Self::Flaky => "flaky",
            Self::Provider => "provider",
            Self::Alternative => "alternative",
            Self::Other => "other",
            Self::Routine => "routine",
        }
    }
}

/// The agents whose logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Agent {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Atif,
}

impl Agent {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Atif];

    /// The format that its logs are in.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Claude => Format::ClaudeCode,
            Self::Codex => Format::Codex,
            Self::Gemini => Format::Gemini,
            Self::Opencode => Format::OpenCode,
            Self::Atif => Format::Atif,
        }
    }
}

/// All scenarios, and what they share.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// Names and numbers to fill in, where a scenario has none of its own.
    pub(super) slots: BTreeMap<String, Vec<String>>,
    /// Quiet steps that may stand anywhere.
    pub(super) noise: Vec<Noise>,
    pub(super) scenarios: Vec<Scenario>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    slots: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    noise: Vec<Noise>,
    #[serde(default)]
    scenario: Vec<Scenario>,
}

/// A look or a passing check that belongs to no lesson.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Noise {
    /// Where it fits; `any` is everywhere.
    pub(super) stack: String,
    #[serde(flatten)]
    pub(super) line: Line,
}

/// A session in outline.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) id: String,
    pub(super) stack: String,
    pub(super) half: Half,
    pub(super) kind: Kind,
    /// What the person asks for.
    pub(super) order: String,
    #[serde(default)]
    pub(super) slots: BTreeMap<String, Vec<String>>,
    /// The agents that it may happen to; all of them, if none is named.
    #[serde(default)]
    agents: Vec<Agent>,
    /// Signals that are known to show; a test holds the scenario to it.
    #[serde(default)]
    pub(super) shows: Vec<SignalKind>,
    /// Signals that must not show.
    #[serde(default)]
    pub(super) hides: Vec<SignalKind>,
    /// A call of it that did what it should prints so much like a failure that it may be taken for one.
    #[serde(default)]
    pub(super) misleads: bool,
    #[serde(rename = "step")]
    pub(super) lines: Vec<Line>,
    pub(super) expect: Option<Expect>,
}

/// What a distiller should say.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// Of every group one, in any letter case.
    pub(super) mention: Vec<Vec<String>>,
    /// Marks of the steps that prove it.
    #[serde(default)]
    pub(super) proof: Vec<String>,
    /// Categories that fit.
    #[serde(default)]
    pub(super) category: Vec<MemoryCategory>,
    /// Whether it is worth little without a rule.
    #[serde(default)]
    pub(super) rule: bool,
}

/// One step of a scenario: a person's words, or an agent's with at most one call.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    /// A person says this.
    pub(super) user: String,
    /// The agent says this.
    pub(super) say: String,
    /// The agent thinks this.
    pub(super) think: String,
    /// A command.
    pub(super) run: String,
    /// A file that is looked at.
    pub(super) read: String,
    /// A file in which `old` becomes `new`.
    pub(super) edit: String,
    /// A file that is written whole, as `new`.
    pub(super) write: String,
    pub(super) old: String,
    pub(super) new: String,
    /// What comes back.
    pub(super) out: String,
    pub(super) exit: i32,
    /// An edit that does not match, a file that is not there.
    pub(super) fails: bool,
    /// Seconds.
    pub(super) took: u64,
    /// The person presses the stop key.
    pub(super) stop: bool,
    /// The model's provider answers with this status, and with `out`.
    pub(super) provider: u16,
    /// A name to refer to it by.
    pub(super) mark: String,
    /// Nothing may come between this step and the one before it.
    pub(super) close: bool,
}

impl Scenario {
    /// Whose logs it can stand in: ATIF has no place for what a provider says.
    pub(super) fn agents(&self) -> Vec<Agent> {
        let has_provider = self.lines.iter().any(|line| line.provider > 0);
        let named = |agent: &Agent| self.agents.is_empty() || self.agents.contains(agent);
        Agent::ALL.into_iter().filter(named).filter(|agent| !has_provider || *agent != Agent::Atif).collect()
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let refuse = |why: &str| Err(ScenarioError::of(&self.id, why));
        let marks: BTreeSet<&str> = self.lines.iter().map(|line| line.mark.as_str()).collect();
        match &self.expect {
            None if self.kind != Kind::Routine => refuse("it is planted, but expects nothing"),
            Some(_) if self.kind == Kind::Routine => refuse("it is routine, but expects something"),
            Some(expect) if expect.mention.is_empty() || expect.mention.iter().any(Vec::is_empty) => {
                refuse("it expects no words")
            }
            Some(expect) if expect.proof.iter().any(|mark| !marks.contains(mark.as_str())) => {
                refuse("no step bears the mark that should prove it")
            }
            Some(_) if self.misleads => refuse("it is planted, so it must be clear what failed"),
            _ if self.shows.iter().any(|kind| self.hides.contains(kind)) => refuse("it shows what it hides"),
            _ if self.half == Half::Own => refuse("it is neither `dev` nor `held`"),
            _ if self.agents().is_empty() => refuse("no agent's log can hold it"),
            _ => Ok(()),
        }
    }
}

impl Book {
    /// Reads all files.
    pub(super) fn open() -> Result<Self, ScenarioError> {
        let mut book = Self::default();
        for (name, text) in FILES {
            let cannot = |error: toml::de::Error| ScenarioError::File {
                file: (*name).to_owned(),
                why: error.to_string().trim().to_owned(),
            };
            let file: File = toml::from_str(text).map_err(cannot)?;
            book.slots.extend(file.slots);
            book.noise.extend(file.noise);
            book.scenarios.extend(file.scenario);
        }
        let mut ids = BTreeSet::new();
        for scenario in &book.scenarios {
            scenario.check()?;
            if !ids.insert(scenario.id.as_str()) {
                return Err(ScenarioError::of(&scenario.id, "another scenario has its name"));
            }
        }
        Ok(book)
    }
}
