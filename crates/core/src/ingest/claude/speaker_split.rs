//! Splits a text labelled as the user's into pieces by speaker.
//!
//! The harness writes there too: in tags and in fixed sentences,
//! before, after and instead of what a person typed.

use crate::domain::Speaker;

#[cfg(test)]
#[path = "speaker_split_tests.rs"]
mod tests;

/// A text split by speaker. Each speaker occurs once, in the order of first occurrence.
#[derive(Debug, Default, PartialEq)]
pub(in crate::ingest) struct AttributedText {
    pub(in crate::ingest) pieces: Vec<(Speaker, String)>,
    /// The notice that a person stopped the agent.
    pub(super) interruption: Option<String>,
    /// The objection of a hook.
    pub(super) objection: Option<String>,
}

impl AttributedText {
    /// Splits a text and adds its pieces. The rest is attributed to `voice`.
    pub(in crate::ingest) fn add_text(&mut self, text: String, voice: &Speaker) {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        if let Some((mark, rest)) = split_interruption(trimmed) {
            self.interruption = Some(mark.to_owned());
            self.add_text(rest.to_owned(), voice);
            return;
        }
        match HookRemarkKind::classify(trimmed) {
            Some(hook) => {
                if hook == HookRemarkKind::Objects {
                    self.objection = Some(trimmed.to_owned());
                }
                self.push(&Speaker::System, text);
            }
            None if *voice == Speaker::System || HARNESS_WORDS.iter().any(|words| trimmed.starts_with(words)) => {
                self.push(&Speaker::System, text);
            }
            None if OTHER_AGENTS_WORDS.iter().any(|words| trimmed.starts_with(words)) => {
                self.push(&Speaker::OtherAgent, text);
            }
            None if trimmed.starts_with('<') || text.contains(REMINDER) => self.add_tagged_text(&text, voice),
            None => self.push(voice, text),
        }
    }

    /// Appends a text to the piece of a speaker.
    pub(super) fn push(&mut self, speaker: &Speaker, text: String) {
        match self.pieces.iter_mut().find(|(known, _)| known == speaker) {
            Some((_, said)) => {
                said.push('\n');
                said.push_str(&text);
            }
            None => self.pieces.push((speaker.clone(), text)),
        }
    }

    fn push_trimmed(&mut self, speaker: &Speaker, text: &str) {
        if !text.trim().is_empty() {
            self.push(speaker, text.trim().to_owned());
        }
    }

    fn add_tagged_text(&mut self, text: &str, voice: &Speaker) {
        let mut rest = text;
        let mut message = None;
        let mut is_command = false;
        while let Some(tag) = ClaudeTextTag::parse_at_start(rest) {
            match tag.name {
                "command-name" => {
                    is_command = true;
                    self.push_trimmed(&Speaker::System, tag.inner);
                }
                "command-message" => message = Some(tag.inner),
                "command-args" | "user-memory-input" => self.push_trimmed(voice, tag.inner),
                "bash-input" => self.push_trimmed(&Speaker::System, &format!("! {}", tag.inner.trim())),
                "bash-stdout" | "bash-stderr" | "local-command-stdout" | "local-command-stderr" => {
                    self.push_trimmed(&Speaker::Tool, tag.inner);
                }
                "user-prompt-submit-hook" => {
                    self.push_trimmed(&Speaker::System, tag.inner);
                    self.objection = Some(tag.inner.trim().to_owned());
                }
                // Sentences of the harness follow this tag.
                "task-notification" => {
                    self.push_trimmed(&Speaker::System, rest);
                    return;
                }
                "teammate-message" => {
                    self.push_trimmed(&Speaker::OtherAgent, rest);
                    return;
                }
                "cross-session-message" => self.push_trimmed(&Speaker::OtherAgent, tag.whole),
                "channel" if tag.has_attributes => self.push_trimmed(&Speaker::OtherAgent, tag.whole),
                name if HARNESS_TAGS.contains(&name) => self.push_trimmed(&Speaker::System, tag.inner),
                _ => break,
            }
            rest = tag.after;
        }
        if let Some(message) = message.filter(|_| !is_command) {
            self.push_trimmed(&Speaker::System, message);
        }
        if rest.len() == text.len() {
            self.add_text_with_reminders(rest, voice);
        } else {
            self.add_text_with_reminders(rest.trim(), voice);
        }
    }

    /// Adds a text that has system reminders in it.
    fn add_text_with_reminders(&mut self, text: &str, voice: &Speaker) {
        let mut rest = text;
        let mut looked_at = 0;
        let mut others = 0;
        while let Some((before, tagged)) = split_before_reminder(rest, looked_at).filter(|_| others < MAX_OTHERS) {
            let indented = before.trim_end_matches([' ', '\t']);
            let is_at_line_start = indented.is_empty() || indented.ends_with('\n');
            match ClaudeTextTag::parse_at_start(tagged).filter(|tag| is_at_line_start || tag.inner.starts_with('\n')) {
                Some(tag) => {
                    self.push_trimmed(voice, before);
                    self.push_trimmed(&Speaker::System, tag.inner);
                    rest = tag.after;
                    looked_at = 0;
                }
                // The text only mentions a reminder.
                None => {
                    others += 1;
                    looked_at = before.len() + REMINDER.len();
                }
            }
        }
        if rest.len() == text.len() && !text.trim().is_empty() {
            self.push(voice, text.to_owned());
        } else {
            self.push_trimmed(voice, rest);
        }
    }
}

fn split_before_reminder(text: &str, looked_at: usize) -> Option<(&str, &str)> {
    let (_, unread) = text.split_at_checked(looked_at)?;
    text.split_at_checked(looked_at + unread.find(REMINDER)?)
}

/// The kind of remark that a hook made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookRemarkKind {
    Objects,
    Adds,
}

impl HookRemarkKind {
    fn classify(text: &str) -> Option<Self> {
        let line = text.lines().next().unwrap_or_default();
        let (event, _) = line.split_once([' ', ':'])?;
        if !HOOK_EVENTS.contains(&event) {
            return None;
        }
        let has = |words: &[&str]| words.iter().any(|words| line.contains(words));
        if has(&[" hook feedback:", " hook blocking error", " hook error", " hook stopped ", " blocked by hook"]) {
            Some(Self::Objects)
        } else if has(&[" hook success:", " hook additional context:"]) {
            Some(Self::Adds)
        } else {
            None
        }
    }
}

/// A tag `<name …>inner</name>`, and the text after it.
struct ClaudeTextTag<'t> {
    name: &'t str,
    has_attributes: bool,
    whole: &'t str,
    inner: &'t str,
    after: &'t str,
}

impl<'t> ClaudeTextTag<'t> {
    fn parse_at_start(text: &'t str) -> Option<Self> {
        let (head, rest) = text.trim_start().strip_prefix('<')?.split_once('>')?;
        let (name, attributes) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
        if name.is_empty() || name.len() > 64 {
            return None;
        }
        let (inner, after) = rest.split_once(&format!("</{name}>"))?;
        let (whole, _) = text.split_at_checked(text.len() - after.len())?;
        Some(Self { name, has_attributes: !attributes.is_empty(), whole, inner, after })
    }
}

/// Returns the first interruption mark, and the text after all such marks.
fn split_interruption(text: &str) -> Option<(&str, &str)> {
    let (mark, mut rest) = split_interruption_mark(text)?;
    while let Some((_, next)) = split_interruption_mark(rest.trim()) {
        rest = next;
    }
    Some((mark, rest.trim()))
}

fn split_interruption_mark(text: &str) -> Option<(&str, &str)> {
    let is_mark = text.starts_with("[Request interrupted by user]")
        || text.starts_with("[Request interrupted by user for tool use]");
    let end = text.find(']').filter(|_| is_mark)?;
    text.split_at_checked(end + 1)
}

/// The number of mere mentions of reminders after which a text is searched no further, to bound the time.
const MAX_OTHERS: usize = 64;

const REMINDER: &str = "<system-reminder>";

/// The tags of harness blocks at the beginning of a text.
const HARNESS_TAGS: &[&str] = &[
    "bash-notification",
    "command-contents",
    "ide_diagnostics",
    "ide_opened_file",
    "ide_selection",
    "local-command-caveat",
    "new-diagnostics",
    "session-start-hook",
    "system-reminder",
    "system_instruction",
    "tick",
];

/// The openings of harness texts that stand in no tag.
const HARNESS_WORDS: &[&str] = &[
    "Base directory for this skill:",
    "Caveat: The messages below were generated by the user while running local commands",
    "This session is being continued from a previous conversation",
];

/// The openings of other agents' messages that stand in no tag.
const OTHER_AGENTS_WORDS: &[&str] = &["Another Claude session sent a message"];

/// The hook events whose remarks the harness passes on.
const HOOK_EVENTS: &[&str] = &[
    "Notification",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PreToolUse",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "TaskCompleted",
    "TeammateIdle",
    "UserPromptSubmit",
];
