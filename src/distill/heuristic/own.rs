//! What the agent itself brought into the project: whoever imports a package learns nothing from its absence.

use serde_json::Value;

use super::scene::{Deed, Scene};
use super::words::any;
use crate::context::Action;

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;

/// How far back an import is looked for, in deeds.
const LOOKED_BACK: usize = 200;

/// How much of what was written is read, in lines.
const READ_LINES: usize = 2_000;

/// How a line says that it needs a package, in lower case.
const IMPORTS: &str = "import|require|from |use |include|extern crate|using |load(|dependencies";

/// Whether the agent had a file import a package, or a manifest list it, before a deed failed for want of it.
pub(super) fn brought_in(scene: &Scene<'_>, failed: usize, name: &str) -> bool {
    let Some(start) = scene.deeds.get(failed) else { return false };
    let earlier = scene.deeds.iter().take(failed).rev().take(LOOKED_BACK);
    earlier
        .take_while(|deed| deed.place.trajectory == start.place.trajectory)
        .filter(|deed| deed.has_passed())
        .any(|deed| written(deed).iter().flat_map(|text| text.lines().take(READ_LINES)).any(|line| imports(line, name)))
}

/// Whether a module is one of the project: a folder or file that was edited has its name, or the project itself.
pub(super) fn is_of_project(scene: &Scene<'_>, failed: usize, name: &str) -> bool {
    let Some(start) = scene.deeds.get(failed) else { return false };
    let root = scene.root(start.place.trajectory).trim_end_matches('/');
    let stem = |part: &str| part.split('.').next().unwrap_or(part).replace('-', "_");
    let name = stem(name);
    let in_path = |path: &str| path.strip_prefix(root).unwrap_or(path).split('/').any(|part| stem(part) == name);
    let edited = scene.deeds.iter().filter_map(|deed| match &deed.action {
        Action::Edit(changes) => Some(changes),
        _ => None,
    });
    !name.is_empty()
        && (root.rsplit('/').next().is_some_and(|last| stem(last) == name)
            || edited.flatten().any(|change| in_path(&change.path)))
}

/// The texts that a deed put into files.
fn written<'d>(deed: &'d Deed<'_>) -> Vec<&'d str> {
    let mut texts = Vec::new();
    match (&deed.action, deed.arguments) {
        (Action::Edit(_), Some(arguments)) => collect(arguments, &mut texts, 0),
        (Action::Run { command }, _) if command.contains("<<") => texts.push(command.as_str()),
        _ => {}
    }
    texts
}

/// All texts of a call but those that were to be replaced.
fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>, depth: usize) {
    const DEPTH: usize = 4;
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) if depth < DEPTH => values.iter().for_each(|value| collect(value, texts, depth + 1)),
        Value::Object(fields) if depth < DEPTH => {
            let new = fields.iter().filter(|(key, _)| !key.starts_with("old"));
            new.for_each(|(_, value)| collect(value, texts, depth + 1));
        }
        _ => {}
    }
}

/// Whether a line needs a package. In a patch, lines that go or stay do not count.
fn imports(line: &str, name: &str) -> bool {
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
    is_listed() || (any(IMPORTS, |word| lower.contains(word)) && has_name())
}
