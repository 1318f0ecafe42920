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
    let text = text.trim_start();
    if HARNESS_BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) {
        return Some(Speaker::System);
    }
    let inside = text.strip_prefix('<')?;
    let tag = inside.split_once('>')?.0;
    let name = tag.split_ascii_whitespace().next()?;
    if name == "user_shell_command" {
        return Some(Speaker::Tool);
    }
    if name == "subagent_notification" {
        return Some(Speaker::OtherAgent);
    }
    let is_known = HARNESS_TAGS.iter().any(|known| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(tag));
    (is_known || is_wrapped(text, name)).then_some(Speaker::System)
}

/// Whether all of it stands in one tag with a name such as no markup has.
fn is_wrapped(text: &str, name: &str) -> bool {
    let is_name = name.contains('_') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let end = text.trim_end().strip_suffix('>').and_then(|text| text.strip_suffix(name));
    is_name && end.is_some_and(|text| text.ends_with("</"))
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
