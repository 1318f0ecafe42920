//! Which hooks an agent gets.

use crate::hooks::Agent;

/// When an agent is given lessons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recall {
    /// When a session starts.
    AtStart,
    /// With every prompt too.
    WithPrompts,
}

/// Which hooks of ours settings are to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Whose settings they are.
    pub agent: Agent,
    /// The program that hooks call, as a shell reads it: see [`Plan::quoted`].
    pub program: String,
    /// When lessons are given.
    pub recall: Recall,
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// The event as the agent names it.
    pub(super) event: &'static str,
    /// What is run.
    pub(super) command: String,
    /// How long it may take, in the agent's own unit.
    pub(super) timeout: u32,
}

/// Event, our word for it, and the time that it may take.
type Row = (&'static str, &'static str, u32);

/// In seconds. The time of `SessionEnd` raises what the agent allows for all of its hooks, which is little by itself.
const CLAUDE: &[Row] = &[
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt-submit", 10),
    ("Stop", "stop", 10),
    ("SubagentStop", "subagent-stop", 10),
    ("PreCompact", "pre-compact", 10),
    ("SessionEnd", "session-end", 10),
];

/// In seconds. More than 3 are not given to `SessionEnd`.
const CODEX: &[Row] = &[
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt-submit", 10),
    ("Stop", "stop", 10),
    ("SubagentStop", "subagent-stop", 10),
    ("PreCompact", "pre-compact", 10),
    ("SessionEnd", "session-end", 3),
];

/// In milliseconds.
const GEMINI: &[Row] = &[
    ("SessionStart", "session-start", 10_000),
    ("BeforeAgent", "before-agent", 10_000),
    ("AfterAgent", "after-agent", 10_000),
    ("PreCompress", "pre-compress", 10_000),
    ("SessionEnd", "session-end", 10_000),
];

impl Plan {
    /// A program's path as a shell reads it; `None` where no shell would read it as one word.
    pub fn quoted(program: &str) -> Option<String> {
        let is_plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '@' | '+' | ',' | '-');
        let is_odd = |c: char| c.is_control() || matches!(c, '"' | '\'' | '$' | '`' | '%' | '!');
        let below_home = program.strip_prefix("~/").unwrap_or(program);
        if program.trim().is_empty() || program.starts_with('-') || program.contains(is_odd) || program.ends_with('\\')
        {
            None
        } else if below_home.chars().all(is_plain) {
            Some(program.to_owned())
        } else {
            Some(format!("\"{program}\""))
        }
    }

    /// The hooks that are to be there; none for those who have no settings of their own.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let is_wanted =
            |row: &&Row| self.recall == Recall::WithPrompts || !matches!(row.1, "prompt-submit" | "before-agent");
        let entry = |&(event, word, timeout): &Row| Entry {
            event,
            command: format!("{} hook {} {word}", self.program, self.agent),
            timeout,
        };
        self.rows().iter().filter(is_wanted).map(entry).collect()
    }

    /// Our word for an event, where it is one that we may have a hook for.
    pub(super) fn word(&self, event: &str) -> Option<&'static str> {
        self.rows().iter().find(|(known, ..)| *known == event).map(|(_, word, _)| *word)
    }

    fn rows(&self) -> &'static [Row] {
        match self.agent {
            Agent::ClaudeCode => CLAUDE,
            Agent::Codex => CODEX,
            Agent::Gemini => GEMINI,
            Agent::Generic | Agent::Healer => &[],
        }
    }
}
