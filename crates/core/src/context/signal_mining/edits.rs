//! Tracks which edits were made and which were reverted.

use std::collections::VecDeque;

use super::super::signal::{Signal, SignalKind};
use super::super::tool_action::{EditedFile, parse_git_command, parse_shell_commands};
use super::{ReturnOutcome, ReturnedCall, StepPlace, new_signal, sorted_steps};

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;

/// The number of edits that are remembered.
const MAX_REMEMBERED: usize = 2048;

/// The number of stashes that are remembered.
const MAX_STASHES: usize = 16;

/// The state of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditState {
    /// The edit is in place and can be reverted.
    Open,
    /// The edit is in the stash of this number.
    Stashed(u32),
    /// The edit was reverted or committed.
    Closed,
}

#[derive(Debug)]
struct TrackedEdit {
    at: StepPlace,
    change: EditedFile,
    state: EditState,
}

/// The edits of a trajectory, newest last.
#[derive(Debug, Default)]
pub(super) struct EditTracker {
    edits: VecDeque<TrackedEdit>,
    /// The stashes that were not restored, newest last, each with the signal to report if it never is.
    stashes: VecDeque<(u32, Signal)>,
    stashed: u32,
}

impl EditTracker {
    /// Records changed files, and reports an edit that undoes an earlier one.
    pub(super) fn record_edits(&mut self, at: StepPlace, changes: &[EditedFile], found: &mut Vec<Signal>) {
        for change in changes {
            if change.before != 0 && change.after != 0 {
                let undone = self.edits.iter_mut().rev().find(|edit| {
                    // Fingerprints first: they rarely match, while paths of one project are long and alike.
                    edit.change.before == change.after
                        && edit.change.after == change.before
                        && edit.state == EditState::Open
                        && edit.at != at
                        && edit.change.path == change.path
                });
                if let Some(undone) = undone {
                    undone.state = EditState::Closed;
                    found.push(reverted_signal(undone.at, at, &format!("the edit of {} was taken back", change.path)));
                    continue;
                }
            }
            if self.edits.len() >= MAX_REMEMBERED {
                self.edits.pop_front();
            }
            self.edits.push_back(TrackedEdit { at, change: change.clone(), state: EditState::Open });
        }
    }

    /// Records a command that may revert, stash, restore or commit edits.
    pub(super) fn record_command(&mut self, call: &ReturnedCall<'_>, command: &str, found: &mut Vec<Signal>) {
        if !matches!(call.result, ReturnOutcome::Passed) || !command.contains("git") {
            return;
        }
        for part in parse_shell_commands(command) {
            let Some(git) = parse_git_command(part.command_words()) else { continue };
            let named = || git.operands().map(str::to_owned).collect::<Vec<_>>();
            let separate = || git.rest.iter().skip_while(|word| *word != "--").skip(1).cloned().collect::<Vec<_>>();
            let is_branching = || ["-b", "-B", "--orphan", "-t", "--track"].iter().any(|flag| git.has_flag(flag));
            let is_unstaging = || git.has_flag("--staged") && !git.has_flag("--worktree") && !git.has_flag("-W");
            let scope = match git.verb {
                "checkout" if git.has_flag("--") => RevertScope::Paths(separate()),
                "checkout" if !is_branching() => RevertScope::Paths(named()),
                "restore" if !is_unstaging() => RevertScope::Paths(named()),
                "reset" if git.has_flag("--hard") => RevertScope::Everything,
                "stash" => match git.operands().next() {
                    Some("pop" | "apply") => {
                        self.pop_stash();
                        continue;
                    }
                    None | Some("push" | "save") if git.has_flag("--") => RevertScope::Paths(separate()),
                    None | Some("push" | "save") => RevertScope::Everything,
                    Some(_) => continue,
                },
                "commit" if !git.has_flag("--dry-run") => {
                    self.commit_edits();
                    continue;
                }
                _ => continue,
            };
            let to = if git.verb == "stash" { EditState::Stashed(self.stashed) } else { EditState::Closed };
            let Some(signal) = self.revert_edits(call.at, command, git.folder, &scope, to) else { continue };
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

    /// Ends the trajectory: returns the signals of edits that are still stashed.
    pub(super) fn into_stash_signals(self) -> impl Iterator<Item = Signal> {
        self.stashes.into_iter().map(|(_, signal)| signal)
    }

    fn revert_edits(
        &mut self,
        at: StepPlace,
        command: &str,
        folder: Option<&str>,
        scope: &RevertScope,
        to: EditState,
    ) -> Option<Signal> {
        let mut first = None;
        let mut paths: Vec<&str> = Vec::new();
        for edit in &mut self.edits {
            if edit.state == EditState::Open
                && is_within_folder(&edit.change.path, folder)
                && scope.covers_path(&edit.change.path)
            {
                edit.state = to;
                first.get_or_insert(edit.at);
                if paths.len() < 4 && !paths.contains(&edit.change.path.as_str()) {
                    paths.push(&edit.change.path);
                }
            }
        }
        let text = format!("edits of {} were taken back with `{}`", paths.join(", "), super::shorten_command(command));
        Some(reverted_signal(first?, at, &text))
    }

    /// Restores the edits of the newest stash.
    fn pop_stash(&mut self) {
        let Some((number, _)) = self.stashes.pop_back() else { return };
        for edit in self.edits.iter_mut().filter(|edit| edit.state == EditState::Stashed(number)) {
            edit.state = EditState::Open;
        }
    }

    /// Marks open edits as committed, so that they no longer count as reverted.
    fn commit_edits(&mut self) {
        for edit in self.edits.iter_mut().filter(|edit| edit.state == EditState::Open) {
            edit.state = EditState::Closed;
        }
    }

    /// Returns the files changed after a place, with the step of each.
    pub(super) fn files_changed_since(&self, place: StepPlace) -> Vec<(String, u32)> {
        const SHOWN: usize = 12;
        let newest = self.edits.iter().rev().take_while(|edit| edit.at > place).take(SHOWN);
        let mut changed: Vec<(String, u32)> =
            newest.map(|edit| (shorten_path(&edit.change.path).to_owned(), edit.at.step)).collect();
        changed.reverse();
        changed
    }
}

/// Returns the last two parts of a path, which suffice to recognize the file.
fn shorten_path(path: &str) -> &str {
    match path.rmatch_indices('/').nth(1) {
        Some((at, _)) => path.get(at + 1..).unwrap_or(path),
        None => path,
    }
}

fn reverted_signal(first: StepPlace, at: StepPlace, text: &str) -> Signal {
    let mut signal = new_signal(SignalKind::EditReverted, at, text.to_owned());
    signal.steps = sorted_steps([first.step, at.step]);
    signal
}

/// The edits that a command reverts.
enum RevertScope {
    Everything,
    Paths(Vec<String>),
}

impl RevertScope {
    fn covers_path(&self, path: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Paths(paths) => paths.iter().any(|named| is_path_named(path, named)),
        }
    }
}

/// Returns true if a path is within a folder, or if one of them is relative.
fn is_within_folder(path: &str, folder: Option<&str>) -> bool {
    folder.is_none_or(|folder| {
        let (path, folder) = (path.strip_prefix('/'), folder.strip_prefix('/'));
        match (path, folder) {
            (Some(path), Some(folder)) => is_path_prefix(&path_parts(folder), &path_parts(path)),
            _ => true,
        }
    })
}

/// Returns true if a path, or a folder that contains it, is named.
fn is_path_named(path: &str, named: &str) -> bool {
    let (wanted, given) = (path_parts(named), path_parts(path));
    match (named.starts_with('/'), path.starts_with('/')) {
        _ if wanted.is_empty() => matches!(named, "." | "./" | ":/" | "*"),
        (true, true) => is_path_prefix(&wanted, &given),
        (true, false) => wanted.ends_with(&given),
        (false, _) => given.windows(wanted.len()).any(|part| is_path_prefix(&wanted, part)),
    }
}

/// Returns the parts of a path.
fn path_parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !matches!(*name, "" | "." | ".." | ":" | "*")).collect()
}

fn is_path_prefix(wanted: &[&str], given: &[&str]) -> bool {
    wanted.len() <= given.len() && wanted.iter().zip(given).all(|(wanted, given)| matches_name(wanted, given))
}

/// Returns true if a name matches a pattern with at most one `*`.
fn matches_name(wanted: &str, given: &str) -> bool {
    match wanted.split_once('*') {
        Some((start, end)) => given.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
        None => wanted == given,
    }
}
