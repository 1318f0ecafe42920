//! What was changed, and what was taken back.

use std::collections::VecDeque;

use super::super::action::{Change, git, parts};
use super::super::signal::{Signal, SignalKind};
use super::{Came, Place, Returned, signal, steps};

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;

/// Edits remembered; older ones are history.
const MAX_REMEMBERED: usize = 2048;

/// Stashes remembered.
const MAX_STASHES: usize = 16;

/// What has become of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It stands and can be taken back.
    Open,
    /// It lies in the stash of this number.
    Stashed(u32),
    /// It was taken back or committed.
    Closed,
}

#[derive(Debug)]
struct Edit {
    at: Place,
    change: Change,
    state: State,
}

/// The edits of a trajectory, newest last.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: VecDeque<Edit>,
    /// Stashes that nobody took out again, newest last, and what is to be said of them if nobody does.
    stashes: VecDeque<(u32, Signal)>,
    stashed: u32,
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
                        && edit.state == State::Open
                        && edit.at != at
                        && edit.change.path == change.path
                });
                if let Some(undone) = undone {
                    undone.state = State::Closed;
                    found.push(reverted(undone.at, at, &format!("the edit of {} was taken back", change.path)));
                    continue;
                }
            }
            if self.edits.len() >= MAX_REMEMBERED {
                self.edits.pop_front();
            }
            self.edits.push_back(Edit { at, change: change.clone(), state: State::Open });
        }
    }

    /// A command ran that may take edits back.
    pub(super) fn ran(&mut self, call: &Returned<'_>, command: &str, found: &mut Vec<Signal>) {
        if !matches!(call.came, Came::Passed) || !command.contains("git") {
            return;
        }
        for part in parts(command) {
            let Some(git) = git(part.words()) else { continue };
            let named = || git.operands().map(str::to_owned).collect::<Vec<_>>();
            let separate = || git.rest.iter().skip_while(|word| *word != "--").skip(1).cloned().collect::<Vec<_>>();
            let is_branching = || ["-b", "-B", "--orphan", "-t", "--track"].iter().any(|flag| git.has(flag));
            let is_unstaging = || git.has("--staged") && !git.has("--worktree") && !git.has("-W");
            let scope = match git.verb {
                "checkout" if git.has("--") => Scope::Paths(separate()),
                "checkout" if !is_branching() => Scope::Paths(named()),
                "restore" if !is_unstaging() => Scope::Paths(named()),
                "reset" if git.has("--hard") => Scope::Everything,
                "stash" => match git.operands().next() {
                    Some("pop" | "apply") => {
                        self.unstash();
                        continue;
                    }
                    None | Some("push" | "save") if git.has("--") => Scope::Paths(separate()),
                    None | Some("push" | "save") => Scope::Everything,
                    Some(_) => continue,
                },
                "commit" if !git.has("--dry-run") => {
                    self.close();
                    continue;
                }
                _ => continue,
            };
            let to = if git.verb == "stash" { State::Stashed(self.stashed) } else { State::Closed };
            let Some(signal) = self.take_back(call.at, command, git.folder, &scope, to) else { continue };
            if git.verb == "stash" {
                self.stashes.push_back((self.stashed, signal));
                self.stashed = self.stashed.wrapping_add(1);
                if self.stashes.len() > MAX_STASHES {
                    found.extend(self.stashes.pop_front().map(|(_, signal)| signal));
                }
            } else {
                found.push(signal);
            }
        }
    }

    /// The trajectory is over: what still lies in a stash was taken back.
    pub(super) fn over(self) -> impl Iterator<Item = Signal> {
        self.stashes.into_iter().map(|(_, signal)| signal)
    }

    fn take_back(
        &mut self,
        at: Place,
        command: &str,
        folder: Option<&str>,
        scope: &Scope,
        to: State,
    ) -> Option<Signal> {
        let mut first = None;
        let mut paths: Vec<&str> = Vec::new();
        for edit in &mut self.edits {
            if edit.state == State::Open && is_within(&edit.change.path, folder) && scope.covers(&edit.change.path) {
                edit.state = to;
                first.get_or_insert(edit.at);
                if paths.len() < 4 && !paths.contains(&edit.change.path.as_str()) {
                    paths.push(&edit.change.path);
                }
            }
        }
        let text = format!("edits of {} were taken back with `{}`", paths.join(", "), super::one_line(command));
        Some(reverted(first?, at, &text))
    }

    /// The newest stash is taken out again.
    fn unstash(&mut self) {
        let Some((number, _)) = self.stashes.pop_back() else { return };
        for edit in self.edits.iter_mut().filter(|edit| edit.state == State::Stashed(number)) {
            edit.state = State::Open;
        }
    }

    /// What stands is committed, and no longer at stake.
    fn close(&mut self) {
        for edit in self.edits.iter_mut().filter(|edit| edit.state == State::Open) {
            edit.state = State::Closed;
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
            Self::Paths(paths) => paths.iter().any(|named| is_named(path, named)),
        }
    }
}

/// Whether a path lies in a folder, as far as both are told in full.
fn is_within(path: &str, folder: Option<&str>) -> bool {
    folder.is_none_or(|folder| {
        let (path, folder) = (path.strip_prefix('/'), folder.strip_prefix('/'));
        match (path, folder) {
            (Some(path), Some(folder)) => is_prefix(&names(folder), &names(path)),
            _ => true,
        }
    })
}

/// Whether a path, or a folder that it lies in, is named.
fn is_named(path: &str, named: &str) -> bool {
    let (wanted, given) = (names(named), names(path));
    match (named.starts_with('/'), path.starts_with('/')) {
        _ if wanted.is_empty() => matches!(named, "." | "./" | ":/" | "*"),
        (true, true) => is_prefix(&wanted, &given),
        (true, false) => wanted.ends_with(&given),
        (false, _) => given.windows(wanted.len()).any(|part| is_prefix(&wanted, part)),
    }
}

/// The parts of a path.
fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !matches!(*name, "" | "." | ".." | ":" | "*")).collect()
}

fn is_prefix(wanted: &[&str], given: &[&str]) -> bool {
    wanted.len() <= given.len() && wanted.iter().zip(given).all(|(wanted, given)| is_like(wanted, given))
}

/// Whether a name is meant, with one `*` at most.
fn is_like(wanted: &str, given: &str) -> bool {
    match wanted.split_once('*') {
        Some((start, end)) => given.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => wanted == given,
    }
}
