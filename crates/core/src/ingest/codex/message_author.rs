//! Detects who wrote a message that Codex sends in the user's name.

use crate::domain::Speaker;

#[cfg(test)]
#[path = "message_author_tests.rs"]
mod tests;

/// The tags in which the harness wraps what it adds.
const HARNESS_TAGS: &[&str] = &[
    "apps_instructions",
    "collaboration_mode",
    "environment_context",
    "environments",
    "goal_context",
    "hook_prompt",
    "instructions",
    "model_switch",
    "multi_agent_mode",
    "permissions instructions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "skill",
    "skills_instructions",
    "system_reminder",
    "turn_aborted",
    "user_action",
    "user_instructions",
];

/// The harness tags that a person may write as well.
const HUMAN_TAGS: &[&str] = &["environments", "instructions", "skill"];

/// The beginnings of untagged texts that the harness adds.
const HARNESS_BEGINNINGS: &[&str] = &[
    "# AGENTS.md instructions",
    "Another language model started to solve this problem",
    "The following is the Codex agent history",
    "Warning: The maximum number of unified exec processes",
];

const IDE_CONTEXT: &str = "# Context from my IDE setup:";
const IDE_REQUEST: &str = "## My request for Codex:";

/// Returns the author of a text if it is not the user.
pub(super) fn find_non_user_speaker(text: &str) -> Option<Speaker> {
    let mut rest = text.trim();
    loop {
        if HARNESS_BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning)) {
            return Some(Speaker::System);
        }
        if let Some(tag) = CodexTag::find_enclosing(rest) {
            return tag.tag_speaker().or_else(|| tag.is_snake_case().then_some(Speaker::System));
        }
        let (tag, behind) = CodexTag::split_leading(rest)?;
        let speaker = tag.tag_speaker()?;
        if !HUMAN_TAGS.contains(&tag.name) {
            // A tag in what the block quotes may have ended it, so nobody is heard behind it.
            return Some(speaker);
        }
        rest = behind.trim_start();
    }
}

/// Returns the author of a text if no user could have written it.
pub(in crate::ingest) fn find_sure_non_user_speaker(text: &str) -> Option<Speaker> {
    let text = text.trim();
    match CodexTag::find_enclosing(text) {
        Some(tag) => tag.tag_speaker().filter(|_| !HUMAN_TAGS.contains(&tag.name) || is_harness_skill(text)),
        None => find_non_user_speaker(text),
    }
}

/// Returns true if the text is a skill in the form in which the harness adds it.
fn is_harness_skill(text: &str) -> bool {
    text.strip_prefix("<skill>").is_some_and(|inside| inside.trim_start().starts_with("<name>"))
}

/// An XML-like tag that wraps a text or its beginning.
struct CodexTag<'t> {
    name: &'t str,
}

impl<'t> CodexTag<'t> {
    fn find_enclosing(text: &'t str) -> Option<Self> {
        let inside = text.strip_prefix('<')?;
        let tag = inside.split_once('>')?.0;
        let end = text.strip_suffix('>')?;
        let closes = |name: &str| end.strip_suffix(name).is_some_and(|end| end.ends_with("</"));
        let first = tag.split_ascii_whitespace().next()?;
        [tag, first].into_iter().find(|name| closes(name)).map(|name| Self { name })
    }

    /// Returns the tag with which a text begins and the text after its closing tag.
    fn split_leading(text: &'t str) -> Option<(Self, &'t str)> {
        let (tag, inside) = text.strip_prefix('<')?.split_once('>')?;
        let name = tag.split_ascii_whitespace().next()?;
        let (_, behind) = inside.split_once(&format!("</{name}>"))?;
        Some((Self { name }, behind))
    }

    /// Returns the author who is known to use this tag.
    fn tag_speaker(&self) -> Option<Speaker> {
        match self.name {
            "user_shell_command" => Some(Speaker::Tool),
            "subagent_notification" => Some(Speaker::OtherAgent),
            name => HARNESS_TAGS.iter().any(|known| known.eq_ignore_ascii_case(name)).then_some(Speaker::System),
        }
    }

    /// Returns true if the name is in snake case, which no markup language uses.
    fn is_snake_case(&self) -> bool {
        self.name.contains('_') && self.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    }
}

/// Returns true if a part of a message only marks the position of an image.
pub(super) fn is_image_mark(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (text.starts_with("<image") && text.ends_with('>') && !text.contains('\n'))
}

/// Splits a message from an editor into the user's request and the editor's context before it. The context may quote
/// a file with the heading of a request, so the last such heading counts.
pub(in crate::ingest) fn split_ide_context(mut text: String) -> (String, Option<String>) {
    if !text.trim_start().starts_with(IDE_CONTEXT) {
        return (text, None);
    }
    let Some(at) = text.rfind(IDE_REQUEST) else { return (text, None) };
    let request = text.get(at + IDE_REQUEST.len()..).unwrap_or_default().trim().to_owned();
    text.truncate(at);
    (request, Some(text))
}

/// Returns the working directory from the environment context, for logs that state it nowhere else.
pub(super) fn parse_working_directory(text: &str) -> Option<String> {
    let (_, context) = text.split_once("<environment_context>")?;
    let directory = match context.split_once("<cwd>") {
        Some((_, rest)) => rest.split_once("</cwd>")?.0,
        None => context.split_once("Current working directory:")?.1.lines().next()?,
    };
    Some(directory.trim()).filter(|directory| !directory.is_empty()).map(str::to_owned)
}
