//! Installs and removes our hooks in the text of an agent's settings. Every byte that is not ours is kept.
//!
//! The parser only reports positions. Changes are spliced in, so the comments, order, indentation and line endings of
//! everything else stay the same, and every splice can be undone.

mod command;
mod hook_plan;
mod settings_document;
mod text_layout;
mod text_splice;

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;

use jsonc_parser::common::Ranged;

use self::hook_plan::PlannedHook;
use self::settings_document::{InstalledHook, SettingsDocument};
use self::text_layout::{JsonMember, JsonNode, SettingsFileLayout};

pub(crate) use self::hook_plan::{HookPlan, RecallTiming};
pub(crate) use self::text_splice::{TextSplice, apply_splices};

/// The key under which all agents keep their hooks.
const HOOKS: &str = "hooks";

/// Settings with our hooks installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledSettings {
    /// The whole text.
    pub text: String,
    /// True if the text changed.
    pub changed: bool,
    /// The splices that restore the previous text. They contain no text of other tools.
    pub undo: Vec<TextSplice>,
}

/// Settings without our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CleanedSettings {
    /// The whole text.
    pub text: String,
    /// True if the text changed.
    pub changed: bool,
}

/// The reason why settings cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsEditError {
    /// The file is not JSON, with or without comments.
    #[error("line {line}, column {column} is not JSON: {why}")]
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The parser's message, without any quoted content.
        why: String,
    },
    /// A value is not the expected object or list of hooks.
    #[error("line {line}: {what} should be {expected}")]
    Shape {
        /// The line, from 1.
        line: usize,
        /// The part with the wrong shape.
        what: String,
        /// The expected shape.
        expected: &'static str,
    },
    /// A key occurs twice, and agents differ on which one counts.
    #[error("line {line}: `{key}` is there twice")]
    Twice {
        /// The line of the second occurrence, from 1.
        line: usize,
        /// The repeated key.
        key: String,
    },
}

impl SettingsEditError {
    /// Returns the next step to take.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "mend the file, or move it away; nothing was written",
            Self::Shape { .. } => "bring it into the form that the agent documents; nothing was written",
            Self::Twice { .. } => "make one of the two; nothing was written",
        }
    }
}

/// Installs our hooks in settings, or updates existing ones. Repeating it changes nothing.
pub(crate) fn install_hooks(settings: Option<&str>, plan: &HookPlan) -> Result<InstalledSettings, SettingsEditError> {
    let text = settings.unwrap_or_default();
    let entries = plan.planned_hooks();
    if entries.is_empty() {
        return Ok(InstalledSettings { text: text.to_owned(), changed: false, undo: Vec::new() });
    }
    let splices = if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let whole = JsonNode::Object(vec![JsonMember::new_named(HOOKS, build_hooks_node(&entries))]);
        let made = SettingsFileLayout::default().render_root(&whole) + "\n";
        vec![TextSplice { at: 0, bytes: text.len(), text: made }]
    } else {
        let document = SettingsDocument::parse(text)?;
        plan_additions(&document, &entries, plan)?
    };
    let undo = text_splice::invert_splices(text, &splices);
    let text = apply_splices(text, &splices).unwrap_or_else(|| text.to_owned());
    Ok(InstalledSettings { changed: !splices.is_empty(), text, undo })
}

/// Removes our hooks from settings, along with each list, event or `hooks` object that becomes empty.
pub(crate) fn remove_hooks(settings: &str, plan: &HookPlan) -> Result<CleanedSettings, SettingsEditError> {
    let mut text = settings.to_owned();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(CleanedSettings { text, changed: false });
    }
    // Each round removes one hook, so the loop ends.
    while let Some(splices) = plan_removal(&SettingsDocument::parse(&text)?, plan) {
        match apply_splices(&text, &splices) {
            Some(shorter) if shorter.len() < text.len() => text = shorter,
            _ => break,
        }
    }
    Ok(CleanedSettings { changed: text != settings, text })
}

/// Returns the splices that bring existing settings up to date.
fn plan_additions(
    document: &SettingsDocument<'_>,
    entries: &[PlannedHook],
    plan: &HookPlan,
) -> Result<Vec<TextSplice>, SettingsEditError> {
    let root = document.root_object()?;
    let Some(member) = document.find_member(root, HOOKS)? else {
        return Ok(document.append_members(root, &[JsonMember::new_named(HOOKS, build_hooks_node(entries))]));
    };
    let Some(events) = member.value.as_object() else {
        return Err(document.member_shape_error(member, format!("`{HOOKS}`"), "an object"));
    };
    let known = document.list_hooks(events);
    let ours = || known.iter().filter(|hook| command::is_ours(&hook.command.value, plan));
    let mut splices: Vec<TextSplice> = ours().filter_map(|hook| update_hook(document, hook, plan)).collect();
    let mut missing = Vec::new();
    for entry in entries {
        let Some(event) = document.find_member(events, entry.event)? else {
            missing.push(JsonMember::new_named(entry.event, JsonNode::List(vec![build_hook_group(entry)])));
            continue;
        };
        let Some(groups) = event.value.as_array() else {
            return Err(document.member_shape_error(event, format!("`{HOOKS}.{}`", entry.event), "a list"));
        };
        if !ours().any(|hook| hook.event == entry.event) {
            splices.extend(document.append_members(groups, &[JsonMember::new_unnamed(build_hook_group(entry))]));
        }
    }
    if !missing.is_empty() {
        splices.extend(document.append_members(events, &missing));
    }
    splices.sort_by_key(|splice| splice.at);
    Ok(splices)
}

/// Returns the splice that updates one of our hooks, if its program or event is outdated.
fn update_hook(document: &SettingsDocument<'_>, hook: &InstalledHook<'_>, plan: &HookPlan) -> Option<TextSplice> {
    let wanted = command::update_command(&hook.command.value, hook.event, plan)?;
    let range = hook.command.range;
    Some(document.replace_span(range.start, range.end, serde_json::Value::from(wanted).to_string()))
}

/// Returns the splices that remove our first hook.
fn plan_removal(document: &SettingsDocument<'_>, plan: &HookPlan) -> Option<Vec<TextSplice>> {
    let root = document.root_object().ok()?;
    let member = root.properties.iter().filter(|member| member.name.as_str() == HOOKS);
    let (hook, holder, events) =
        member.filter_map(|member| Some((member, member.value.as_object()?))).find_map(|(member, events)| {
            let mut known = document.list_hooks(events).into_iter();
            let ours = known.find(|hook| command::is_ours(&hook.command.value, plan))?;
            Some((ours, member, events))
        })?;
    // From the inside out: a container that holds nothing else is removed too, unless it contains a comment.
    let levels = [
        (hook.list.range, settings_document::collect_ranges(&hook.list.elements), hook.entry.range()),
        (hook.groups.range, settings_document::collect_ranges(&hook.groups.elements), hook.group.range()),
        (events.range, settings_document::collect_ranges(&events.properties), hook.event_range),
        (root.range, settings_document::collect_ranges(&root.properties), holder.range()),
    ];
    let is_kept = |(container, members, _): &&(_, Vec<_>, _)| members.len() > 1 || document.has_comments(*container);
    let (container, members, own) = levels.iter().find(is_kept).or(levels.last())?;
    document.remove_member(*container, members, *own)
}

/// Builds the value of `hooks` for settings without one.
fn build_hooks_node(entries: &[PlannedHook]) -> JsonNode {
    JsonNode::Object(
        entries
            .iter()
            .map(|entry| JsonMember::new_named(entry.event, JsonNode::List(vec![build_hook_group(entry)])))
            .collect(),
    )
}

/// Builds one hook inside the group that agents expect around it.
fn build_hook_group(entry: &PlannedHook) -> JsonNode {
    let hook = JsonNode::Object(vec![
        JsonMember::new_named("type", JsonNode::Text("command".to_owned())),
        JsonMember::new_named("command", JsonNode::Text(entry.command.clone())),
        JsonMember::new_named("timeout", JsonNode::Number(entry.timeout)),
    ]);
    JsonNode::Object(vec![JsonMember::new_named(HOOKS, JsonNode::List(vec![hook]))])
}
