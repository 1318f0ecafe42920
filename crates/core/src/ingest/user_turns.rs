//! Decides whose words a turn holds that a log labels only as the user's.
//!
//! Some producers have no field for results and put them into user turns; harnesses write there as well. Where the
//! conversation so far does not show that a person speaks, nobody is believed to.

use super::claude::AttributedText;
use super::codex;
use crate::domain::{Extra, Speaker};

#[cfg(test)]
#[path = "user_turns_tests.rs"]
mod tests;

/// The number of bytes of a long text that are examined.
const LOOKED_AT_BYTES: usize = 4096;

/// The field of a step that keeps what a harness wrote around a person's words.
const HARNESS_TEXT: &str = "harness_text";

/// The phrases that announce terminal screens.
const SCREENS: &[&str] =
    &["New Terminal Output:", "Current terminal state:", "Current Terminal Screen:", "Current terminal screen:"];

/// The openings of texts that a harness writes as the user. Those of Claude Code and Codex are detected elsewhere.
const HARNESS: &[&str] = &[
    "Previous response had parsing errors:",
    "Previous response had warnings:",
    "You are about to hand off your work to another AI agent",
    "You are picking up work from a previous AI agent",
];

/// The opening of a text that another agent wrote.
const OTHER_AGENT: &str = "Here are the answers the other agent provided";

/// The marks of a command in an agent's text, where calls have no field of their own.
const COMMAND_MARKS: &[&str] = &[
    "\"keystrokes\"",
    "<keystrokes",
    "```bash",
    "```sh\n",
    "```shell",
    "```console",
    "```mswea",
    "```tool",
    "<bash>",
    "<execute",
    "<function",
    "<invoke",
    "<tool",
    "\nAction:",
];

/// A turn that a log labels as the user's, by the one who speaks in it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct UserTurn {
    pub(super) speaker: Speaker,
    /// The words of the speaker.
    pub(super) text: String,
    /// The words of a harness around them.
    pub(super) harness_text: String,
}

impl UserTurn {
    fn from_speaker(speaker: Speaker, text: String) -> Self {
        Self { speaker, text, harness_text: String::new() }
    }

    /// Moves what a harness wrote to the other fields of the step.
    pub(super) fn keep_harness_text(&mut self, extra: &mut Extra) {
        if !self.harness_text.is_empty() {
            extra.insert(HARNESS_TEXT.to_owned(), std::mem::take(&mut self.harness_text).into());
        }
    }
}

/// Attributes user turns, from the conversation so far.
#[derive(Debug, Default)]
pub(super) struct UserTurnReader {
    /// True if calls or results have their own fields in this log.
    has_tools: bool,
    /// True after the first user turn.
    has_user: bool,
    /// True if the agent's last text held a command.
    is_commanded: bool,
    /// The calls of the agent's last turn that have no result yet.
    waiting_calls: usize,
}

impl UserTurnReader {
    /// Notes a turn of the agent: its text, and how many calls it has.
    pub(super) fn note_agent_turn(&mut self, text: &str, calls: usize) {
        self.is_commanded = holds_command(text);
        self.has_tools |= calls > 0;
        self.waiting_calls = calls;
    }

    /// Notes that results for all calls so far have their own field.
    pub(super) fn note_all_results(&mut self) {
        self.note_results(usize::MAX);
    }

    /// Notes results that have their own field.
    pub(super) fn note_results(&mut self, results: usize) {
        self.has_tools |= results > 0;
        self.waiting_calls = self.waiting_calls.saturating_sub(results);
    }

    /// Attributes a user turn. Behind a call without a result it is taken for that result.
    pub(super) fn attribute_turn(&mut self, text: String) -> UserTurn {
        let is_first = !std::mem::replace(&mut self.has_user, true);
        let is_told_as_text = !is_first && !self.has_tools;
        // A command is answered once, by its output or by a complaint of the harness.
        let is_answer = std::mem::take(&mut self.is_commanded);
        let beginning = text.trim_start();
        if self.waiting_calls > 0 || (is_told_as_text && is_terminal_screen(beginning)) {
            UserTurn::from_speaker(Speaker::Tool, text)
        } else if HARNESS.iter().any(|opening| beginning.starts_with(opening)) {
            UserTurn::from_speaker(Speaker::System, text)
        } else if beginning.starts_with(OTHER_AGENT) {
            UserTurn::from_speaker(Speaker::OtherAgent, text)
        } else if is_told_as_text && is_answer {
            UserTurn::from_speaker(Speaker::Tool, text)
        } else {
            split_harness_text(text)
        }
    }
}

/// Splits what a harness put around a person's words. Without such words the turn is that of whoever wrote first.
fn split_harness_text(text: String) -> UserTurn {
    if let Some(speaker) = codex::find_sure_non_user_speaker(&text) {
        return UserTurn::from_speaker(speaker, text);
    }
    let (request, context) = codex::split_ide_context(text.clone());
    let mut said = AttributedText::default();
    said.add_text(request, &Speaker::User);
    let is_users = |piece: &(Speaker, String)| piece.0 == Speaker::User;
    let Some(at) = said.pieces.iter().position(is_users) else {
        let first = said.pieces.into_iter().next().map_or(Speaker::System, |(speaker, _)| speaker);
        return UserTurn::from_speaker(if text.trim().is_empty() { Speaker::User } else { first }, text);
    };
    let (speaker, own) = said.pieces.remove(at);
    let harness_text: Vec<String> = context.into_iter().chain(said.pieces.into_iter().map(|(_, text)| text)).collect();
    UserTurn { speaker, text: own, harness_text: harness_text.join("\n") }
}

/// Returns true if a text announces a screen of a terminal.
fn is_terminal_screen(text: &str) -> bool {
    let beginning = leading_text(text);
    SCREENS.iter().any(|screen| beginning.lines().any(|line| line.starts_with(screen)))
}

/// Returns true if an agent's text holds a command for a terminal or a tool.
fn holds_command(text: &str) -> bool {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    text.starts_with("Action:") || (has("\"commands\"") && has("{")) || COMMAND_MARKS.iter().any(|mark| has(mark))
}

fn leading_text(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOOKED_AT_BYTES)).unwrap_or(text)
}
