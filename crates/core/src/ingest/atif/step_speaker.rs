//! Detects the speaker of a step that is labelled as a user's.
//!
//! Some producers have no field for terminal output and put it into user steps; harnesses write there as well.

use crate::domain::Speaker;
use crate::ingest::claude::AttributedText;
use crate::ingest::codex;

#[cfg(test)]
#[path = "step_speaker_tests.rs"]
mod tests;

/// The number of bytes of a long text that are examined.
const LOOKED_AT_BYTES: usize = 4096;

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

/// Detects who speaks in user steps, from the conversation so far.
#[derive(Debug, Default)]
pub(super) struct AtifSpeakerDetector {
    /// True if calls or results have their own fields in this log.
    has_tools: bool,
    /// True after the first user step.
    has_user: bool,
    /// True if the agent's last text was commands for a terminal.
    is_commanded: bool,
}

impl AtifSpeakerDetector {
    /// Records that the log has calls or results.
    pub(super) fn note_tools(&mut self) {
        self.has_tools = true;
    }

    /// Records whether the agent's text is commands for a terminal.
    pub(super) fn note_agent_text(&mut self, text: &str) {
        self.is_commanded = is_terminal_command(text);
    }

    /// Returns the speaker of a user step.
    pub(super) fn detect_speaker(&mut self, text: &str) -> Speaker {
        let is_first = !std::mem::replace(&mut self.has_user, true);
        let text = text.trim_start();
        if !is_first && !self.has_tools && is_terminal_screen(text, self.is_commanded) {
            Speaker::Tool
        } else if HARNESS.iter().any(|opening| text.starts_with(opening)) {
            Speaker::System
        } else if text.starts_with(OTHER_AGENT) {
            Speaker::OtherAgent
        } else {
            codex::find_sure_non_user_speaker(text).unwrap_or_else(|| choose_speaker(text))
        }
    }
}

/// Returns the user if any piece of the text is theirs, else the speaker of the first piece.
fn choose_speaker(text: &str) -> Speaker {
    let mut said = AttributedText::default();
    said.add_text(text.to_owned(), &Speaker::User);
    let is_user = text.is_empty() || said.pieces.iter().any(|(speaker, _)| *speaker == Speaker::User);
    if is_user {
        return Speaker::User;
    }
    said.pieces.into_iter().next().map_or(Speaker::System, |(speaker, _)| speaker)
}

/// Returns true if a text is terminal output. A shell prompt alone is enough only in an answer to commands.
fn is_terminal_screen(text: &str, is_answer: bool) -> bool {
    let beginning = leading_text(text);
    if SCREENS.iter().any(|screen| beginning.starts_with(screen)) {
        return true;
    }
    if !is_answer {
        return false;
    }
    let has_screen = SCREENS.iter().any(|screen| beginning.lines().any(|line| line.starts_with(screen)));
    let begins_with_prompt = beginning.lines().find(|line| !line.trim().is_empty()).is_some_and(is_shell_prompt);
    has_screen || begins_with_prompt || ends_with_shell_prompt(text)
}

fn ends_with_shell_prompt(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(is_shell_prompt)
}

/// Returns true for a shell prompt: `root@box:/app# ls` or `(venv) dev@box:~/shop$`.
fn is_shell_prompt(line: &str) -> bool {
    let line = line.trim_start();
    let line = match line.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => rest,
        None => line,
    };
    let Some((user, rest)) = line.split_once('@') else { return false };
    let Some((host, path)) = rest.split_once(':') else { return false };
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|character| character.is_alphanumeric() || "-_.".contains(character))
    };
    let end = path.find(['#', '$', ' ']).and_then(|end| path.get(end..));
    is_name(user) && is_name(host) && end.is_some_and(|end| !end.starts_with(' '))
}

/// Returns true if an agent's text commands a terminal: keystrokes in JSON or XML, or a fenced script.
fn is_terminal_command(text: &str) -> bool {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    has("\"keystrokes\"")
        || has("<keystrokes")
        || (has("\"commands\"") && has("{"))
        || ["```bash", "```sh\n", "```shell", "```console"].iter().any(|fence| has(fence))
}

fn leading_text(text: &str) -> &str {
    let mut end = text.len().min(LOOKED_AT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
