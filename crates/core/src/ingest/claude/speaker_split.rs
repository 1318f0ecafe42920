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

    /// Adds a text that may begin with blocks of the harness. What a block quotes may contain any tag, so the blocks end
    /// at the last tag of the text that closes one.
    fn add_tagged_text(&mut self, text: &str, voice: &Speaker) {
        let Some((blocks, behind)) = split_harness_blocks(text) else {
            return self.add_text_with_reminders(text, voice);
        };
        let mut rest = blocks;
        let mut message = None;
        let mut has_name = false;
        let mut is_command = true;
        let mut may_prompt_follow = true;
        while let Some((tag, role)) = ClaudeTextTag::parse_harness_tag(rest) {
            is_command &= role.is_of_command();
            may_prompt_follow &= role.may_precede_prompt();
            match role {
                HarnessTagRole::CommandMessage => message = Some(tag.inner),
                HarnessTagRole::Arguments if is_command => self.push_trimmed(voice, tag.inner),
                HarnessTagRole::ShellInput => self.push_trimmed(&Speaker::System, &format!("! {}", tag.inner.trim())),
                HarnessTagRole::Output => self.push_trimmed(&Speaker::Tool, tag.inner),
                HarnessTagRole::HookObjection => {
                    self.push_trimmed(&Speaker::System, tag.inner);
                    self.objection = Some(tag.inner.trim().to_owned());
                }
                HarnessTagRole::ForeignMessage => self.push_trimmed(&Speaker::OtherAgent, tag.whole),
                // Sentences of the harness follow these tags.
                HarnessTagRole::Notification | HarnessTagRole::AgentMessage => {
                    let is_notice = role == HarnessTagRole::Notification;
                    let speaker = if is_notice { Speaker::System } else { Speaker::OtherAgent };
                    return self.push_trimmed(&speaker, text.get(blocks.len() - rest.len()..).unwrap_or(rest));
                }
                HarnessTagRole::CommandName | HarnessTagRole::Arguments | HarnessTagRole::Context => {
                    has_name |= role == HarnessTagRole::CommandName;
                    self.push_trimmed(&Speaker::System, tag.inner);
                }
            }
            rest = tag.after;
        }
        self.push_trimmed(&Speaker::System, message.filter(|_| !has_name).unwrap_or_default());
        self.push_trimmed(&Speaker::System, rest);
        if may_prompt_follow {
            self.add_text_with_reminders(behind.trim(), voice);
        } else {
            self.push_trimmed(&Speaker::System, behind);
        }
    }

    /// Adds a text to which the harness may have appended reminders. They end at the last tag that closes one, or never.
    fn add_text_with_reminders(&mut self, text: &str, voice: &Speaker) {
        let Some((before, reminders)) = split_before_reminder(text) else {
            if !text.trim().is_empty() {
                self.push(voice, text.to_owned());
            }
            return;
        };
        self.push_trimmed(voice, before);
        let (quoted, behind) = reminders.rsplit_once(REMINDER_END).unwrap_or((reminders, ""));
        self.push_trimmed(&Speaker::System, quoted.strip_prefix(REMINDER).unwrap_or(quoted));
        self.push_trimmed(voice, behind);
    }
}

/// Splits a text before its first reminder. A reminder in the middle of a line, or one that never ends, is only a
/// mention, unless the harness's line end follows its tag.
fn split_before_reminder(text: &str) -> Option<(&str, &str)> {
    let is_closed = text.contains(REMINDER_END);
    text.match_indices(REMINDER).find_map(|(at, _)| {
        let (before, reminder) = text.split_at_checked(at)?;
        let line = before.trim_end_matches([' ', '\t']);
        let is_at_line_start = line.is_empty() || line.ends_with('\n');
        let is_block = reminder.strip_prefix(REMINDER).is_some_and(|inside| inside.starts_with('\n'));
        let is_reminder = if is_closed { is_at_line_start || is_block } else { is_at_line_start && is_block };
        is_reminder.then_some((before, reminder))
    })
}

/// Splits a text that begins with a tag of the harness behind the last tag that closes one. An unclosed block is all of
/// the text.
fn split_harness_blocks(text: &str) -> Option<(&str, &str)> {
    ClaudeTextTag::parse_harness_tag(text)?;
    let last = text.rmatch_indices("</").find_map(|(at, _)| {
        let (name, _) = text.get(at + 2..)?.split_once('>')?;
        HarnessTagRole::from_name(name)?;
        Some(at + 2 + name.len() + 1)
    });
    text.split_at_checked(last.unwrap_or(text.len()))
}

/// The meaning of a tag with which the harness begins a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HarnessTagRole {
    /// The name of a command that was called.
    CommandName,
    /// The description of a command that was called.
    CommandMessage,
    /// The words that a person typed behind a command's name, or for the memory.
    Arguments,
    /// A shell command that a person typed.
    ShellInput,
    /// The output of a command.
    Output,
    /// The objection of a hook.
    HookObjection,
    /// The harness's notice that something happened.
    Notification,
    /// A message of an agent of the same team.
    AgentMessage,
    /// A message from another session or from a channel outside.
    ForeignMessage,
    /// Something that the harness adds to a prompt.
    Context,
}

impl HarnessTagRole {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "command-name" => Self::CommandName,
            "command-message" => Self::CommandMessage,
            "command-args" | "user-memory-input" => Self::Arguments,
            "bash-input" => Self::ShellInput,
            "bash-stdout" | "bash-stderr" | "local-command-stdout" | "local-command-stderr" => Self::Output,
            "user-prompt-submit-hook" => Self::HookObjection,
            "task-notification" => Self::Notification,
            "teammate-message" => Self::AgentMessage,
            "cross-session-message" | "channel" => Self::ForeignMessage,
            name if HARNESS_TAGS.contains(&name) => Self::Context,
            _ => return None,
        })
    }

    /// Returns true if the tag says which command a person called, and how.
    fn is_of_command(self) -> bool {
        matches!(self, Self::CommandName | Self::CommandMessage | Self::Arguments)
    }

    /// Returns true if the harness puts the tag before a prompt; behind any other tag nobody says anything.
    fn may_precede_prompt(self) -> bool {
        matches!(self, Self::Context | Self::HookObjection | Self::ForeignMessage)
    }
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

/// A block `<name …>inner</name>` of the harness, and the text after it.
struct ClaudeTextTag<'t> {
    whole: &'t str,
    inner: &'t str,
    after: &'t str,
}

impl<'t> ClaudeTextTag<'t> {
    /// Parses the block with which a text begins. It ends at the last tag that closes it, or never.
    fn parse_harness_tag(text: &'t str) -> Option<(Self, HarnessTagRole)> {
        let (head, rest) = text.trim_start().strip_prefix('<')?.split_once('>')?;
        let (name, attributes) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
        // A person may write of a channel, too; the harness says which one it is.
        let role = HarnessTagRole::from_name(name).filter(|_| name != "channel" || !attributes.is_empty())?;
        let (inner, after) = rest.rsplit_once(&format!("</{name}>")).unwrap_or((rest, ""));
        let (whole, _) = text.split_at_checked(text.len() - after.len())?;
        Some((Self { whole, inner, after }, role))
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

const REMINDER: &str = "<system-reminder>";
const REMINDER_END: &str = "</system-reminder>";

/// The tags of harness blocks at the beginning of a text.
const HARNESS_TAGS: &[&str] = &[
    "bash-notification",
    "command-contents",
    "ide_diagnostics",
    "ide_opened_file",
    "ide_selection",
    "local-command-caveat",
    "mcp-polling-update",
    "mcp-resource-update",
    "new-diagnostics",
    "persisted-output",
    "session-start-hook",
    "system-reminder",
    "system_instruction",
    "tick",
    "tool_use_error",
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
