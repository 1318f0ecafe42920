//! Packages that the agent itself brought into the project: their absence teaches nothing about the project.

use serde_json::Value;

use super::action_timeline::{ActionTimeline, AgentAction};
use super::sentence_text::any_listed;
use crate::context::ToolAction;

#[cfg(test)]
#[path = "agent_packages_tests.rs"]
mod tests;

/// The number of earlier actions that are searched for an import.
const LOOKED_BACK: usize = 200;

/// The number of written lines that are searched for an import.
const READ_LINES: usize = 2_000;

/// Words, in lower case, by which a line says that it needs a package.
const IMPORTS: &str = "import|require|from |use |include|extern crate|using |load(|dependencies";

/// Tells whether the agent imported a package, or listed it in a manifest, before an action failed for lack of it.
pub(super) fn is_imported_by_agent(timeline: &ActionTimeline<'_>, failed: usize, name: &str) -> bool {
    let Some(start) = timeline.actions.get(failed) else { return false };
    let earlier = timeline.actions.iter().take(failed).rev().take(LOOKED_BACK);
    earlier
        .take_while(|agent_action| agent_action.place.trajectory == start.place.trajectory)
        .filter(|agent_action| agent_action.has_passed())
        .any(|agent_action| {
            written_texts(agent_action)
                .iter()
                .flat_map(|text| text.lines().take(READ_LINES))
                .any(|line| imports_package(line, name))
        })
}

/// Tells whether a module belongs to the project: an edited folder or file, or the project itself, has its name.
pub(super) fn is_project_module(timeline: &ActionTimeline<'_>, failed: usize, name: &str) -> bool {
    let Some(start) = timeline.actions.get(failed) else { return false };
    let root = timeline.working_folder(start.place.trajectory).trim_end_matches('/');
    let stem = |part: &str| part.split('.').next().unwrap_or(part).replace('-', "_");
    let name = stem(name);
    let in_path = |path: &str| path.strip_prefix(root).unwrap_or(path).split('/').any(|part| stem(part) == name);
    let edited = timeline.actions.iter().filter_map(|agent_action| match &agent_action.action {
        ToolAction::Edit(changes) => Some(changes),
        _ => None,
    });
    !name.is_empty()
        && (root.rsplit('/').next().is_some_and(|last| stem(last) == name)
            || edited.flatten().any(|change| in_path(&change.path)))
}

/// Returns the texts that an action wrote into files.
fn written_texts<'d>(agent_action: &'d AgentAction<'_>) -> Vec<&'d str> {
    let mut texts = Vec::new();
    match (&agent_action.action, agent_action.arguments) {
        (ToolAction::Edit(_), Some(arguments)) => collect_new_texts(arguments, &mut texts, 0),
        (ToolAction::Run { command }, _) if command.contains("<<") => texts.push(command.as_str()),
        _ => {}
    }
    texts
}

/// Collects all texts of a call except those that were to be replaced.
fn collect_new_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>, depth: usize) {
    const DEPTH: usize = 4;
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) if depth < DEPTH => {
            values.iter().for_each(|value| collect_new_texts(value, texts, depth + 1));
        }
        Value::Object(fields) if depth < DEPTH => {
            let new = fields.iter().filter(|(key, _)| !key.starts_with("old"));
            new.for_each(|(_, value)| collect_new_texts(value, texts, depth + 1));
        }
        _ => {}
    }
}

/// Tells whether a line imports or lists a package. In a patch, removed lines do not count.
fn imports_package(line: &str, name: &str) -> bool {
    let is_listed =
        || line.contains(&format!("\"{name}\":")) || line.trim_start_matches('+').starts_with(&format!("{name} ="));
    let has_name = || {
        line.match_indices(name).any(|(at, _)| {
            let is_end = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '@'));
            is_end(line.get(..at).and_then(|before| before.chars().next_back()))
                && is_end(line.get(at + name.len()..).and_then(|after| after.chars().next()))
        })
    };
    if name.is_empty() || line.len() > 1_000 || line.starts_with('-') {
        return false;
    }
    let lower = line.to_lowercase();
    is_listed() || (any_listed(IMPORTS, |word| lower.contains(word)) && has_name())
}
