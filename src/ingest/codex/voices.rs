//! Who speaks in a message that Codex sends as the user's.

use crate::domain::Speaker;

#[cfg(test)]
#[path = "voices_tests.rs"]
mod tests;

/// Tags in which the harness wraps what it adds.
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

/// Those of them that a person may write as well.
const HUMAN_TAGS: &[&str] = &["environments", "instructions", "skill"];

/// How other things begin that the harness adds.
const HARNESS_BEGINNINGS: &[&str] = &[
    "# AGENTS.md instructions",
    "Another language model started to solve this problem",
    "The following is the Codex agent history",
    "Warning: The maximum number of unified exec processes",
];

const IDE_CONTEXT: &str = "# Context from my IDE setup:";
const IDE_REQUEST: &str = "## My request for Codex:";

/// Whose words a text is, if it is not a person's.
pub(super) fn stranger(text: &str) -> Option<Speaker> {
    let mut rest = text.trim();
    loop {
        if HARNESS_BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning)) {
            return Some(Speaker::System);
        }
        if let Some(tag) = Tag::around(rest) {
            return tag.speaker().or_else(|| tag.is_unlike_markup().then_some(Speaker::System));
        }
        let (tag, behind) = Tag::first(rest)?;
        tag.speaker()?;
        rest = behind.trim_start();
    }
}

/// The same, of a text that no person would write.
pub(in crate::ingest) fn sure_stranger(text: &str) -> Option<Speaker> {
    let text = text.trim();
    match Tag::around(text) {
        Some(tag) => tag.speaker().filter(|_| !HUMAN_TAGS.contains(&tag.name) || is_skill(text)),
        None => stranger(text),
    }
}

/// Whether it is a skill as the harness gives it.
fn is_skill(text: &str) -> bool {
    text.strip_prefix("<skill>").is_some_and(|inside| inside.trim_start().starts_with("<name>"))
}

/// A tag in which all of a text stands.
struct Tag<'t> {
    name: &'t str,
}

impl<'t> Tag<'t> {
    fn around(text: &'t str) -> Option<Self> {
        let inside = text.strip_prefix('<')?;
        let tag = inside.split_once('>')?.0;
        let end = text.strip_suffix('>')?;
        let closes = |name: &str| end.strip_suffix(name).is_some_and(|end| end.ends_with("</"));
        let first = tag.split_ascii_whitespace().next()?;
        [tag, first].into_iter().find(|name| closes(name)).map(|name| Self { name })
    }

    /// The tag in which a text begins, and what stands behind it.
    fn first(text: &'t str) -> Option<(Self, &'t str)> {
        let (tag, inside) = text.strip_prefix('<')?.split_once('>')?;
        let name = tag.split_ascii_whitespace().next()?;
        let (_, behind) = inside.split_once(&format!("</{name}>"))?;
        Some((Self { name }, behind))
    }

    /// Who wraps words in this tag, as far as is known.
    fn speaker(&self) -> Option<Speaker> {
        match self.name {
            "user_shell_command" => Some(Speaker::Tool),
            "subagent_notification" => Some(Speaker::OtherAgent),
            name => HARNESS_TAGS.iter().any(|known| known.eq_ignore_ascii_case(name)).then_some(Speaker::System),
        }
    }

    /// Whether it has a name such as no markup has.
    fn is_unlike_markup(&self) -> bool {
        self.name.contains('_') && self.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    }
}

/// Whether a part of a message only marks where an image stands.
pub(super) fn is_image_mark(text: &str) -> bool {
    let text = text.trim();
    text == "</image>" || (text.starts_with("<image") && text.ends_with('>') && !text.contains('\n'))
}

/// Splits what an editor wrote around a request: the request, and what stood before it.
pub(super) fn request(mut text: String) -> (String, Option<String>) {
    if !text.trim_start().starts_with(IDE_CONTEXT) {
        return (text, None);
    }
    let Some(at) = text.find(IDE_REQUEST) else { return (text, None) };
    let request = text.get(at + IDE_REQUEST.len()..).unwrap_or_default().trim().to_owned();
    text.truncate(at);
    (request, Some(text))
}

/// The directory that the harness tells the model of, in logs that have no other place for it.
pub(super) fn directory(text: &str) -> Option<String> {
    let (_, context) = text.split_once("<environment_context>")?;
    let directory = match context.split_once("<cwd>") {
        Some((_, rest)) => rest.split_once("</cwd>")?.0,
        None => context.split_once("Current working directory:")?.1.lines().next()?,
    };
    Some(directory.trim()).filter(|directory| !directory.is_empty()).map(str::to_owned)
}
