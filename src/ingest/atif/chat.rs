//! Who speaks in a step that calls itself a user's.
//!
//! Some producers have no place for what a terminal answers and put it into user steps; harnesses write there as well.

use crate::domain::Speaker;
use crate::ingest::claude::Said;
use crate::ingest::codex;

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;

/// How much of a long text is looked at.
const LOOKED_AT_BYTES: usize = 4096;

/// How terminal screens are announced.
const SCREENS: &[&str] =
    &["New Terminal Output:", "Current terminal state:", "Current Terminal Screen:", "Current terminal screen:"];

/// How texts begin that a harness writes in a user's place. What Claude Code and Codex write is known there.
const HARNESS: &[&str] = &[
    "Previous response had parsing errors:",
    "Previous response had warnings:",
    "You are about to hand off your work to another AI agent",
    "You are picking up work from a previous AI agent",
];

/// How texts begin that another agent wrote.
const OTHER_AGENT: &str = "Here are the answers the other agent provided";

/// What is known of a conversation so far.
#[derive(Debug, Default)]
pub(super) struct Chat {
    /// Calls or results have their own place in this log.
    has_tools: bool,
    /// Somebody has spoken as a user.
    has_user: bool,
    /// The agent's last words were commands for a terminal.
    is_commanded: bool,
}

impl Chat {
    /// Takes note of calls and results.
    pub(super) fn saw_tools(&mut self) {
        self.has_tools = true;
    }

    /// Takes note of what the agent says.
    pub(super) fn saw_agent(&mut self, text: &str) {
        self.is_commanded = is_command(text);
    }

    /// Whose words a user step holds.
    pub(super) fn user(&mut self, text: &str) -> Speaker {
        let is_first = !std::mem::replace(&mut self.has_user, true);
        let text = text.trim_start();
        if !is_first && !self.has_tools && is_screen(text, self.is_commanded) {
            Speaker::Tool
        } else if HARNESS.iter().any(|opening| text.starts_with(opening)) {
            Speaker::System
        } else if text.starts_with(OTHER_AGENT) {
            Speaker::OtherAgent
        } else {
            codex::sure_stranger(text).unwrap_or_else(|| person_or_else(text))
        }
    }
}

/// A person, if one of the words is theirs; else who spoke first.
fn person_or_else(text: &str) -> Speaker {
    let mut said = Said::default();
    said.hear(text.to_owned(), &Speaker::User);
    let is_user = text.is_empty() || said.pieces.iter().any(|(speaker, _)| *speaker == Speaker::User);
    if is_user {
        return Speaker::User;
    }
    said.pieces.into_iter().next().map_or(Speaker::System, |(speaker, _)| speaker)
}

/// Whether a text is what a terminal shows. A prompt alone is enough only as an answer to commands.
fn is_screen(text: &str, is_answer: bool) -> bool {
    let beginning = beginning(text);
    if SCREENS.iter().any(|screen| beginning.starts_with(screen)) {
        return true;
    }
    if !is_answer {
        return false;
    }
    let has_screen = SCREENS.iter().any(|screen| beginning.lines().any(|line| line.starts_with(screen)));
    let begins_with_prompt = beginning.lines().find(|line| !line.trim().is_empty()).is_some_and(is_prompt);
    has_screen || begins_with_prompt || ends_with_prompt(text)
}

fn ends_with_prompt(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(is_prompt)
}

/// `root@box:/app# ls` or `(venv) dev@box:~/shop$`.
fn is_prompt(line: &str) -> bool {
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

/// Whether an agent's words are orders to a terminal: a JSON or XML of keystrokes, or a fenced script.
fn is_command(text: &str) -> bool {
    let has = |needle: &str| memchr::memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    has("\"keystrokes\"")
        || has("<keystrokes")
        || (has("\"commands\"") && has("{"))
        || ["```bash", "```sh\n", "```shell", "```console"].iter().any(|fence| has(fence))
}

fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LOOKED_AT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}
