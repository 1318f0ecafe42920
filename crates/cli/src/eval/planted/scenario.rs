//! Scenarios: the outlines of sessions, as written in `fixtures/planted/*.toml`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use archivist_core::context::SignalKind;
use archivist_core::domain::MemoryCategory;
use archivist_core::ingest::LogFormat;

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/planted/", $name, ".toml")))),+]
    };
}

/// The scenario files, one for each stack, and one with what all of them share.
const FILES: &[(&str, &str)] = files![
    "shared", "python", "node", "rust", "go", "java", "ruby", "cpp", "elixir", "php", "infra", "agents", "anywhere",
];

/// The reason that the scenarios cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScenarioError {
    /// A scenario file cannot be parsed.
    #[error("fixtures/planted/{file}.toml cannot be read: {why}")]
    File {
        /// The name of the file.
        file: String,
        /// The error of the parser.
        why: String,
    },
    /// A scenario is incomplete or contradicts itself.
    #[error("scenario `{id}` cannot be told: {why}")]
    Scenario {
        /// The id of the scenario.
        id: String,
        /// A description of the problem.
        why: String,
    },
}

impl ScenarioError {
    pub(super) fn for_scenario(id: &str, why: impl Into<String>) -> Self {
        Self::Scenario { id: id.to_owned(), why: why.into() }
    }
}

/// The half of the scenarios: authors of a distiller may inspect failures in `dev` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScenarioHalf {
    /// The half to develop with.
    Dev,
    /// The half that is a holdout.
    Held,
    /// A set of the user's own.
    Own,
}

impl ScenarioHalf {
    /// Returns its name in tables and files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Held => "held",
            Self::Own => "own",
        }
    }
}

/// The kind of lesson that a session contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlantedLessonKind {
    /// A failure together with its remedy.
    Fixed,
    /// A failure that recurs and is never fixed.
    Recurring,
    /// A user's instruction on how to do something from now on.
    Correction,
    /// A test that passes and fails at random.
    Flaky,
    /// A property of a provider or a tool, such as limits and timeouts.
    Provider,
    /// A command that does not work in the project, and another that does.
    Alternative,
    /// Any other kind, for sets that do not name one.
    Other,
    /// No lesson at all.
    Routine,
}

impl PlantedLessonKind {
    /// Returns its name in tables and files.
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

/// An agent whose logs are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ScenarioAgent {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Atif,
}

impl ScenarioAgent {
    /// All agents, in the order of their turns.
    pub(super) const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Atif];

    /// Returns the format of the agent's logs.
    pub(super) fn log_format(self) -> LogFormat {
        match self {
            Self::Claude => LogFormat::ClaudeCode,
            Self::Codex => LogFormat::Codex,
            Self::Gemini => LogFormat::Gemini,
            Self::Opencode => LogFormat::OpenCode,
            Self::Atif => LogFormat::Atif,
        }
    }
}

/// All scenarios, and what they share.
#[derive(Debug, Default)]
pub(super) struct ScenarioCatalog {
    /// The values of slots that a scenario does not define itself.
    pub(super) slots: BTreeMap<String, Vec<String>>,
    /// The routine steps that may occur anywhere.
    pub(super) noise: Vec<NoiseStep>,
    pub(super) scenarios: Vec<PlantedScenario>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
    #[serde(default)]
    slots: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    noise: Vec<NoiseStep>,
    #[serde(default)]
    scenario: Vec<PlantedScenario>,
}

/// A file read or a passing check that belongs to no lesson.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct NoiseStep {
    /// The stack that it fits; `any` fits all.
    pub(super) stack: String,
    #[serde(flatten)]
    pub(super) line: ScenarioStep,
}

/// The outline of a session.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlantedScenario {
    pub(super) id: String,
    pub(super) stack: String,
    pub(super) half: ScenarioHalf,
    pub(super) kind: PlantedLessonKind,
    /// The request of the user that starts the session.
    pub(super) order: String,
    #[serde(default)]
    pub(super) slots: BTreeMap<String, Vec<String>>,
    /// The agents that it is limited to; if empty, it fits all agents.
    #[serde(default)]
    agents: Vec<ScenarioAgent>,
    /// The signals that must appear, which a test verifies.
    #[serde(default)]
    pub(super) shows: Vec<SignalKind>,
    /// The signals that must not appear.
    #[serde(default)]
    pub(super) hides: Vec<SignalKind>,
    /// True if the output of a successful call looks so much like a failure that it may be taken for one.
    #[serde(default)]
    pub(super) misleads: bool,
    #[serde(rename = "step")]
    pub(super) lines: Vec<ScenarioStep>,
    pub(super) expect: Option<ScenarioExpectation>,
}

/// The lesson that a distiller should find in a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioExpectation {
    /// Groups of words; one of each group must occur, in any letter case.
    pub(super) mention: Vec<Vec<String>>,
    /// The marks of the steps that prove it.
    #[serde(default)]
    pub(super) proof: Vec<String>,
    /// The categories that fit the lesson.
    #[serde(default)]
    pub(super) category: Vec<MemoryCategory>,
    /// True if the lesson should have a rule.
    #[serde(default)]
    pub(super) rule: bool,
}

/// One step of a scenario: a user's message, or an agent's turn with at most one call.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScenarioStep {
    /// The message of the user.
    pub(super) user: String,
    /// The message of the agent.
    pub(super) say: String,
    /// The thought of the agent.
    pub(super) think: String,
    /// The command that is run.
    pub(super) run: String,
    /// The file that is read.
    pub(super) read: String,
    /// The file in which `old` is replaced by `new`.
    pub(super) edit: String,
    /// The file that is written with `new` as its content.
    pub(super) write: String,
    pub(super) old: String,
    pub(super) new: String,
    /// The output of the call.
    pub(super) out: String,
    pub(super) exit: i32,
    /// True if the tool fails: an edit that does not match, or a missing file.
    pub(super) fails: bool,
    /// The duration in seconds, or 0 for a random one.
    pub(super) took: u64,
    /// True if the user interrupts the agent.
    pub(super) stop: bool,
    /// The status of a provider error whose message is `out`, or 0.
    pub(super) provider: u16,
    /// A mark by which the expectation refers to the step.
    pub(super) mark: String,
    /// True if no routine step may be inserted before this step.
    pub(super) close: bool,
}

impl PlantedScenario {
    /// Returns the agents whose logs can contain the scenario; ATIF cannot represent provider errors.
    pub(super) fn possible_agents(&self) -> Vec<ScenarioAgent> {
        let has_provider = self.lines.iter().any(|line| line.provider > 0);
        let named = |agent: &ScenarioAgent| self.agents.is_empty() || self.agents.contains(agent);
        ScenarioAgent::ALL
            .into_iter()
            .filter(named)
            .filter(|agent| !has_provider || *agent != ScenarioAgent::Atif)
            .collect()
    }

    fn check_consistency(&self) -> Result<(), ScenarioError> {
        let refuse = |why: &str| Err(ScenarioError::for_scenario(&self.id, why));
        let marks: BTreeSet<&str> = self.lines.iter().map(|line| line.mark.as_str()).collect();
        match &self.expect {
            None if self.kind != PlantedLessonKind::Routine => refuse("it is planted, but expects nothing"),
            Some(_) if self.kind == PlantedLessonKind::Routine => refuse("it is routine, but expects something"),
            Some(expect) if expect.mention.is_empty() || expect.mention.iter().any(Vec::is_empty) => {
                refuse("it expects no words")
            }
            Some(expect) if expect.proof.iter().any(|mark| !marks.contains(mark.as_str())) => {
                refuse("no step bears the mark that should prove it")
            }
            Some(_) if self.misleads => refuse("it is planted, so it must be clear what failed"),
            _ if self.shows.iter().any(|kind| self.hides.contains(kind)) => refuse("it shows what it hides"),
            _ if self.half == ScenarioHalf::Own => refuse("it is neither `dev` nor `held`"),
            _ if self.possible_agents().is_empty() => refuse("no agent's log can hold it"),
            _ => Ok(()),
        }
    }
}

impl ScenarioCatalog {
    /// Reads and checks all scenario files.
    pub(super) fn open() -> Result<Self, ScenarioError> {
        let mut book = Self::default();
        for (name, text) in FILES {
            let cannot = |error: toml::de::Error| ScenarioError::File {
                file: (*name).to_owned(),
                why: error.to_string().trim().to_owned(),
            };
            let file: ScenarioFile = toml::from_str(text).map_err(cannot)?;
            book.slots.extend(file.slots);
            book.noise.extend(file.noise);
            book.scenarios.extend(file.scenario);
        }
        let mut ids = BTreeSet::new();
        for scenario in &book.scenarios {
            scenario.check_consistency()?;
            if !ids.insert(scenario.id.as_str()) {
                return Err(ScenarioError::for_scenario(&scenario.id, "another scenario has its name"));
            }
        }
        Ok(book)
    }
}
