//! The hooks to install for each agent.

use crate::hooks::HookAgent;

/// The times at which an agent is given lessons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecallTiming {
    /// At the start of a session.
    AtStart,
    /// With every prompt as well.
    WithPrompts,
}

/// The plan of the hooks that settings must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookPlan {
    /// The agent whose settings they are.
    pub agent: HookAgent,
    /// The program that hooks call, quoted for a shell: see [`HookPlan::quote_program`].
    pub program: String,
    /// The times at which lessons are given.
    pub recall: RecallTiming,
}

/// One hook to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedHook {
    /// The agent's name of the event.
    pub(super) event: &'static str,
    /// The command to run.
    pub(super) command: String,
    /// The time limit, in the agent's own unit.
    pub(super) timeout: u32,
}

/// An event, our word for it, and its time limit.
type Row = (&'static str, &'static str, u32);

/// Claude Code's hooks, in seconds. The limit of `SessionEnd` raises the agent's small total limit for its hooks.
const CLAUDE: &[Row] = &[
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt-submit", 10),
    ("Stop", "stop", 10),
    ("SubagentStop", "subagent-stop", 10),
    ("PreCompact", "pre-compact", 10),
    ("SessionEnd", "session-end", 10),
];

/// Codex's hooks, in seconds. `SessionEnd` gets at most 3 seconds.
const CODEX: &[Row] = &[
    ("SessionStart", "session-start", 10),
    ("UserPromptSubmit", "prompt-submit", 10),
    ("Stop", "stop", 10),
    ("SubagentStop", "subagent-stop", 10),
    ("PreCompact", "pre-compact", 10),
    ("SessionEnd", "session-end", 3),
];

/// Gemini CLI's hooks, in milliseconds.
const GEMINI: &[Row] = &[
    ("SessionStart", "session-start", 10_000),
    ("BeforeAgent", "before-agent", 10_000),
    ("AfterAgent", "after-agent", 10_000),
    ("PreCompress", "pre-compress", 10_000),
    ("SessionEnd", "session-end", 10_000),
];

impl HookPlan {
    /// Quotes a program's path for a shell; `None` if no shell would read it as one word.
    pub(crate) fn quote_program(program: &str) -> Option<String> {
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

    /// Returns the hooks to install; none for agents without a settings file.
    pub(super) fn planned_hooks(&self) -> Vec<PlannedHook> {
        let is_wanted =
            |row: &&Row| self.recall == RecallTiming::WithPrompts || !matches!(row.1, "prompt-submit" | "before-agent");
        let entry = |&(event, word, timeout): &Row| PlannedHook {
            event,
            command: format!("{} hook {} {word}", self.program, self.agent),
            timeout,
        };
        self.hook_rows().iter().filter(is_wanted).map(entry).collect()
    }

    /// Returns our word for an event, if we may have a hook for it.
    pub(super) fn event_word(&self, event: &str) -> Option<&'static str> {
        self.hook_rows().iter().find(|(known, ..)| *known == event).map(|(_, word, _)| *word)
    }

    fn hook_rows(&self) -> &'static [Row] {
        match self.agent {
            HookAgent::ClaudeCode => CLAUDE,
            HookAgent::Codex => CODEX,
            HookAgent::Gemini => GEMINI,
            HookAgent::Generic | HookAgent::Healer => &[],
        }
    }
}
