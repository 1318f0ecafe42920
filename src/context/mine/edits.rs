//! What was changed, and what was taken back.

use std::collections::VecDeque;

use super::super::action::Change;
use super::super::signal::{Signal, SignalKind};
use super::{Place, Returned, signal, steps};

/// Edits remembered; older ones are history.
const MAX_REMEMBERED: usize = 2048;

#[derive(Debug)]
struct Edit {
    at: Place,
    change: Change,
    is_reverted: bool,
}

/// The edits of a trajectory, newest last.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: VecDeque<Edit>,
}

impl Edits {
    /// Files were changed.
    pub(super) fn edited(&mut self, at: Place, changes: &[Change], found: &mut Vec<Signal>) {
        for change in changes {
            if change.before != 0 && change.after != 0 {
                let undone = self.edits.iter_mut().rev().find(|edit| {
                    // Fingerprints first: they hardly ever agree, and paths of one project are long and alike.
                    edit.change.before == change.after
                        && edit.change.after == change.before
                        && !edit.is_reverted
                        && edit.at != at
                        && edit.change.path == change.path
                });
                if let Some(undone) = undone {
                    undone.is_reverted = true;
                    found.push(reverted(undone.at, at, &format!("the edit of {} was taken back", change.path)));
                    continue;
                }
            }
            if self.edits.len() >= MAX_REMEMBERED {
                self.edits.pop_front();
            }
            self.edits.push_back(Edit { at, change: change.clone(), is_reverted: false });
        }
    }

    /// A command ran that may take edits back.
    pub(super) fn ran(&mut self, call: &Returned<'_>, command: &str, found: &mut Vec<Signal>) {
        if call.failure.is_some() {
            return;
        }
        let Some(scope) = taken_back(command) else { return };
        let mut first = None;
        let mut paths: Vec<String> = Vec::new();
        for edit in self.edits.iter_mut().filter(|edit| !edit.is_reverted && scope.covers(&edit.change.path)) {
            edit.is_reverted = true;
            first.get_or_insert(edit.at);
            if !paths.contains(&edit.change.path) {
                paths.push(edit.change.path.clone());
            }
        }
        if let Some(first) = first {
            let paths = paths.iter().take(4).map(String::as_str).collect::<Vec<_>>().join(", ");
            let text = format!("edits of {paths} were taken back with `{}`", super::one_line(command));
            found.push(reverted(first, call.at, &text));
        }
    }

    /// Files changed after a place, with the step of each.
    pub(super) fn since(&self, place: Place) -> Vec<(String, u32)> {
        const SHOWN: usize = 12;
        let newest = self.edits.iter().rev().take_while(|edit| edit.at > place).take(SHOWN);
        let mut changed: Vec<(String, u32)> =
            newest.map(|edit| (short(&edit.change.path).to_owned(), edit.at.step)).collect();
        changed.reverse();
        changed
    }
}

/// The last two parts of a path: enough to know the file.
fn short(path: &str) -> &str {
    match path.rmatch_indices('/').nth(1) {
        Some((at, _)) => path.get(at + 1..).unwrap_or(path),
        None => path,
    }
}

fn reverted(first: Place, at: Place, text: &str) -> Signal {
    let mut signal = signal(SignalKind::EditReverted, at, text.to_owned());
    signal.steps = steps([first.step, at.step]);
    signal
}

/// What a command takes back.
enum Scope {
    Everything,
    Paths(Vec<String>),
}

impl Scope {
    fn covers(&self, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Paths(paths) => paths.iter().any(|named| {
                let named = named.trim_start_matches("./").trim_end_matches('/');
                named == "."
                    || path == named
                    || path.ends_with(&format!("/{named}"))
                    || path.contains(&format!("{named}/"))
            }),
        }
    }
}

/// Whether a command is one of git's ways back, and how far it goes.
fn taken_back(command: &str) -> Option<Scope> {
    command.split(['\n', ';', '|']).flat_map(|part| part.split("&&")).find_map(|part| {
        let mut words = part.split_whitespace().skip_while(|word| *word != "git").skip(1);
        let verb = words.find(|word| !word.starts_with('-'))?;
        let rest: Vec<&str> = words.collect();
        let paths =
            || rest.iter().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match verb {
            "checkout" if rest.contains(&"--") => Some(Scope::Paths(
                rest.iter().skip_while(|word| **word != "--").skip(1).map(|word| (*word).to_owned()).collect(),
            )),
            "restore" if !rest.contains(&"--staged") => Some(Scope::Paths(paths())),
            "reset" if rest.contains(&"--hard") => Some(Scope::Everything),
            "stash" if !matches!(rest.first(), Some(&"pop" | &"apply" | &"list" | &"show")) => Some(Scope::Everything),
            _ => None,
        }
    })
}
