//! Hooks in the settings of an agent. Text in, text out: whatever is not ours keeps every byte.
//!
//! The parser only says where things stand. Whatever is written is spliced in between, so that comments, order,
//! indentation and line endings of everything else cannot change; and what was spliced in can be taken out again.

mod command;
mod document;
mod layout;
mod plan;
mod splice;

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;

use jsonc_parser::common::Ranged;

use self::document::{Document, Hook};
use self::layout::{Layout, Member, Node};
use self::plan::Entry;

pub use self::plan::{Plan, Recall};
pub use self::splice::{Splice, spliced};

/// The key under which all agents keep their hooks.
const HOOKS: &str = "hooks";

/// Settings with our hooks in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The whole text.
    pub text: String,
    /// Whether it is another than before.
    pub changed: bool,
    /// What turns it back into what was there. Nothing of anybody else's stands in it.
    pub undo: Vec<Splice>,
}

/// Settings without our hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The whole text.
    pub text: String,
    /// Whether it is another than before.
    pub changed: bool,
}

/// Why settings are left as they are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotEditable {
    /// It is not JSON, with or without comments.
    #[error("line {line}, column {column} is not JSON: {why}")]
    NotJson {
        /// Which line, from 1.
        line: usize,
        /// Which column, from 1.
        column: usize,
        /// What the parser says; it quotes nothing.
        why: String,
    },
    /// Something else stands where an object or a list of hooks should.
    #[error("line {line}: {what} should be {expected}")]
    Shape {
        /// Which line, from 1.
        line: usize,
        /// What it is.
        what: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A key stands there twice, and agents differ on which of them counts.
    #[error("line {line}: `{key}` is there twice")]
    Twice {
        /// The line of the second, from 1.
        line: usize,
        /// The key.
        key: String,
    },
}

impl NotEditable {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotJson { .. } => "mend the file, or move it away; nothing was written",
            Self::Shape { .. } => "bring it into the form that the agent documents; nothing was written",
            Self::Twice { .. } => "make one of the two; nothing was written",
        }
    }
}

/// Puts our hooks into settings, or brings those that are there up to date. Doing it again changes nothing.
pub fn install(settings: Option<&str>, plan: &Plan) -> Result<Installed, NotEditable> {
    let text = settings.unwrap_or_default();
    let entries = plan.entries();
    if entries.is_empty() {
        return Ok(Installed { text: text.to_owned(), changed: false, undo: Vec::new() });
    }
    let splices = if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let whole = Node::Object(vec![Member::named(HOOKS, hooks(&entries))]);
        let made = Layout::default().rendered(&whole) + "\n";
        vec![Splice { at: 0, bytes: text.len(), text: made }]
    } else {
        let document = Document::parse(text)?;
        additions(&document, &entries, plan)?
    };
    let undo = splice::inverse(text, &splices);
    let text = spliced(text, &splices).unwrap_or_else(|| text.to_owned());
    Ok(Installed { changed: !splices.is_empty(), text, undo })
}

/// Takes our hooks out of settings, and with each the list, event or `hooks` that held nothing else.
pub fn remove(settings: &str, plan: &Plan) -> Result<Removed, NotEditable> {
    let mut text = settings.to_owned();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(Removed { text, changed: false });
    }
    // Each time one less, so that this ends.
    while let Some(splices) = removal(&Document::parse(&text)?, plan) {
        match spliced(&text, &splices) {
            Some(shorter) if shorter.len() < text.len() => text = shorter,
            _ => break,
        }
    }
    Ok(Removed { changed: text != settings, text })
}

/// What brings settings that hold something up to date.
fn additions(document: &Document<'_>, entries: &[Entry], plan: &Plan) -> Result<Vec<Splice>, NotEditable> {
    let root = document.root()?;
    let Some(member) = document.member(root, HOOKS)? else {
        return Ok(document.append(root, &[Member::named(HOOKS, hooks(entries))]));
    };
    let Some(events) = member.value.as_object() else {
        return Err(document.misshaped(member, format!("`{HOOKS}`"), "an object"));
    };
    let known = document.hooks(events);
    let ours = || known.iter().filter(|hook| command::is_ours(&hook.command.value, plan));
    let mut splices: Vec<Splice> = ours().filter_map(|hook| update(document, hook, plan)).collect();
    let mut missing = Vec::new();
    for entry in entries {
        let Some(event) = document.member(events, entry.event)? else {
            missing.push(Member::named(entry.event, Node::List(vec![group(entry)])));
            continue;
        };
        let Some(groups) = event.value.as_array() else {
            return Err(document.misshaped(event, format!("`{HOOKS}.{}`", entry.event), "a list"));
        };
        if !ours().any(|hook| hook.event == entry.event) {
            splices.extend(document.append(groups, &[Member::unnamed(group(entry))]));
        }
    }
    if !missing.is_empty() {
        splices.extend(document.append(events, &missing));
    }
    splices.sort_by_key(|splice| splice.at);
    Ok(splices)
}

/// A hook of ours that calls another program, or says another event than it stands under.
fn update(document: &Document<'_>, hook: &Hook<'_>, plan: &Plan) -> Option<Splice> {
    let wanted = command::updated(&hook.command.value, hook.event, plan)?;
    let range = hook.command.range;
    Some(document.replace(range.start, range.end, serde_json::Value::from(wanted).to_string()))
}

/// What takes the first hook of ours out.
fn removal(document: &Document<'_>, plan: &Plan) -> Option<Vec<Splice>> {
    let root = document.root().ok()?;
    let member = root.properties.iter().filter(|member| member.name.as_str() == HOOKS);
    let (hook, holder, events) =
        member.filter_map(|member| Some((member, member.value.as_object()?))).find_map(|(member, events)| {
            let mut known = document.hooks(events).into_iter();
            let ours = known.find(|hook| command::is_ours(&hook.command.value, plan))?;
            Some((ours, member, events))
        })?;
    // From the inside out: whatever holds nothing but this goes with it, unless somebody wrote a comment there.
    let levels = [
        (hook.list.range, document::ranges(&hook.list.elements), hook.entry.range()),
        (hook.groups.range, document::ranges(&hook.groups.elements), hook.group.range()),
        (events.range, document::ranges(&events.properties), hook.event_range),
        (root.range, document::ranges(&root.properties), holder.range()),
    ];
    let is_kept = |(container, members, _): &&(_, Vec<_>, _)| members.len() > 1 || document.has_comments(*container);
    let (container, members, own) = levels.iter().find(is_kept).or(levels.last())?;
    document.take(*container, members, *own)
}

/// The value of `hooks` where there was none.
fn hooks(entries: &[Entry]) -> Node {
    Node::Object(entries.iter().map(|entry| Member::named(entry.event, Node::List(vec![group(entry)]))).collect())
}

/// One hook, in the group of its own that agents want around it.
fn group(entry: &Entry) -> Node {
    let hook = Node::Object(vec![
        Member::named("type", Node::Text("command".to_owned())),
        Member::named("command", Node::Text(entry.command.clone())),
        Member::named("timeout", Node::Number(entry.timeout)),
    ]);
    Node::Object(vec![Member::named(HOOKS, Node::List(vec![hook]))])
}
