//! The same command again: loops, fixes and tests that cannot make up their mind.

use std::collections::HashMap;

use super::super::action::{command_key, is_assignment, is_look};
use super::super::failure::Class;
use super::super::signal::{Signal, SignalKind};
use super::edits::Edits;
use super::{Came, Place, Returned, SHOWN_CHARACTERS, one_line, signal, steps};
use crate::domain::ErrorFamily;

/// From how many failures in a row on, with nothing done between, it is a loop.
const LOOP: u32 = 3;

/// Commands and tests remembered. A session that runs more than this loses the thread, not its memory.
const MAX_REMEMBERED: usize = 4096;

/// Failing tests remembered of one run.
const MAX_TESTS: usize = 32;

/// How far behind a failure another way of doing the same may come.
const ANOTHER_WAY_WITHIN: u32 = 4;

/// What is known about one command.
#[derive(Debug)]
struct Attempt {
    passed: bool,
    at: Place,
    /// How many things had been changed when it ran.
    changes: u64,
    /// The same with what it changed itself.
    changes_after: u64,
    /// Failures of one family in a row with no change between, and where.
    row: Vec<u32>,
    /// Failures in a row, whatever was done between.
    failures: u32,
    headline: String,
    family: Option<ErrorFamily>,
    class: Option<Class>,
    command: String,
    /// The command without the way to its folder.
    done: String,
    folder: Option<String>,
    is_check: bool,
    /// The tests that failed in it.
    failing: Vec<String>,
}

/// A command that came back.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// As it was given.
    pub(super) command: &'a str,
    /// Without the way to its folder.
    pub(super) done: &'a str,
    /// Where, if that is known.
    pub(super) folder: Option<&'a str>,
    /// Whether it may have changed what the next one finds.
    pub(super) may_change: bool,
}

/// The last word on every command and test.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    commands: HashMap<u64, Attempt>,
    /// Rises with everything that may have changed the state of things.
    changes: u64,
    /// The last commands that failed, newest last.
    recent_failures: Vec<(u64, Place)>,
}

impl Attempts {
    /// Something may have changed the outcome of the next run.
    pub(super) fn something_changed(&mut self) {
        self.changes += 1;
    }

    /// A command came back, passed or failed, from a folder.
    pub(super) fn ran(&mut self, call: &Returned<'_>, run: &Run<'_>, edits: &Edits, found: &mut Vec<Signal>) {
        let command = run.command;
        let key = command_key(run.done, run.folder);
        let passed = matches!(call.came, Came::Passed);
        let before = self.commands.remove(&key);
        if let Some(before) = &before {
            if passed && !before.passed {
                found.push(self.fixed(call, command, before, edits));
            } else if !passed && before.passed && before.is_check && before.changes == self.changes {
                let what = failing(call)
                    .first()
                    .map_or_else(|| format!("`{}`", one_line(command)), |test| format!("test {test}"));
                found.push(flaky(call.at, before.at, &what, "passed, then failed"));
            } else if !passed && !before.passed && before.changes == self.changes {
                found.extend(undecided(call, before));
            }
        } else if passed {
            found.extend(self.another_way(call, run));
        }
        if !passed {
            self.recent_failures.push((key, call.at));
            if self.recent_failures.len() > 16 {
                self.recent_failures.remove(0);
            }
        }
        if self.commands.len() >= MAX_REMEMBERED {
            self.commands.retain(|_, attempt| !attempt.passed);
            if self.commands.len() >= MAX_REMEMBERED {
                self.commands.clear();
            }
        }
        let mut attempt = self.noted(call, run, before, found);
        if run.may_change {
            self.something_changed();
        }
        attempt.changes_after = self.changes;
        self.commands.insert(key, attempt);
    }

    /// The new last word on a command; a loop that ends here is told.
    fn noted(&self, call: &Returned<'_>, run: &Run<'_>, before: Option<Attempt>, found: &mut Vec<Signal>) -> Attempt {
        let (passed, headline, family, class) = match &call.came {
            Came::Failed(failure, family) => {
                (false, failure.headline.clone(), Some(family.clone()), Some(failure.class))
            }
            Came::Passed | Came::Void => (true, String::new(), None, None),
        };
        let mut attempt = Attempt {
            passed,
            at: call.at,
            changes: self.changes,
            changes_after: self.changes,
            row: if passed { Vec::new() } else { vec![call.at.step] },
            failures: u32::from(!passed),
            headline,
            family,
            class,
            command: run.command.chars().take(SHOWN_CHARACTERS).collect(),
            done: run.done.chars().take(SHOWN_CHARACTERS).collect(),
            folder: run.folder.map(str::to_owned),
            is_check: call.is_check,
            failing: failing(call).iter().take(MAX_TESTS).cloned().collect(),
        };
        if let Some(mut before) = before.filter(|before| !before.passed) {
            if !passed && before.changes_after == self.changes && before.family == attempt.family {
                before.row.push(call.at.step);
                attempt.row = before.row;
            } else {
                found.extend(looped(&before));
            }
            if !passed {
                attempt.failures = before.failures.saturating_add(1);
            }
        }
        attempt
    }

    /// Loops that never ended.
    pub(super) fn open_loops(self) -> Vec<Signal> {
        let mut loops: Vec<Signal> = self.commands.values().filter_map(looped).collect();
        loops.sort_by_key(|signal| signal.step);
        loops
    }

    /// Failures that wait for their fix.
    pub(super) fn open(&self) -> impl Iterator<Item = Place> {
        self.commands.values().filter(|attempt| !attempt.passed).map(|attempt| attempt.at)
    }

    /// What failed passes now: by an edit, by something else that was run, or by nothing at all.
    fn fixed(&self, call: &Returned<'_>, command: &str, before: &Attempt, edits: &Edits) -> Signal {
        let shown = format!("`{}`", one_line(command));
        if before.changes == self.changes && call.is_check {
            let what = before.failing.first().map_or_else(|| shown.clone(), |test| format!("test {test}"));
            let mut signal = flaky(call.at, before.at, &what, "failed, then passed");
            signal.quote = (!before.headline.is_empty()).then(|| before.headline.clone());
            signal.error_family.clone_from(&before.family);
            signal.error_class = before.class.map(|class| class.as_str().to_owned());
            return signal;
        }
        let changed = edits.since(before.at);
        let how = match changed.as_slice() {
            [] => "after other commands".to_owned(),
            changed => format!("after edits to {}", list(changed.iter().map(|(path, _)| path.as_str()))),
        };
        let times = if before.failures > 1 { format!(" {} times", before.failures) } else { String::new() };
        let text = format!("{shown} failed{times} ({}) and passed {how}", before.headline);
        let mut signal = signal(SignalKind::Fixed, call.at, text);
        signal.steps = steps([before.at.step, call.at.step].into_iter().chain(changed.iter().map(|(_, step)| *step)));
        signal.error_family.clone_from(&before.family);
        signal.error_class = before.class.map(|class| class.as_str().to_owned());
        signal.tool = Some(call.tool.to_owned());
        signal.times = before.failures.max(1);
        signal.quote = (!before.headline.is_empty()).then(|| before.headline.clone());
        signal
    }

    /// A command that differs in its flags from one that just failed, and passes.
    fn another_way(&mut self, call: &Returned<'_>, run: &Run<'_>) -> Option<Signal> {
        if call.is_check {
            return None;
        }
        let near = |at: &Place| call.at.step.saturating_sub(at.step) <= ANOTHER_WAY_WITHIN;
        let position = self.recent_failures.iter().rposition(|(key, at)| {
            near(at)
                && self.commands.get(key).is_some_and(|failed| {
                    !failed.passed
                        && !failed.is_check
                        && failed.folder.as_deref() == run.folder
                        && is_alike(&failed.done, run.done)
                })
        })?;
        let (key, _) = self.recent_failures.remove(position);
        let failed = self.commands.get(&key)?;
        let text = format!(
            "`{}` failed ({}); `{}` worked instead",
            one_line(&failed.command),
            failed.headline,
            one_line(run.command)
        );
        let mut signal = signal(SignalKind::Fixed, call.at, text);
        signal.steps = steps([failed.at.step, call.at.step]);
        signal.error_family.clone_from(&failed.family);
        signal.error_class = failed.class.map(|class| class.as_str().to_owned());
        signal.tool = Some(call.tool.to_owned());
        signal.quote = (!failed.headline.is_empty()).then(|| failed.headline.clone());
        signal.alternative = true;
        Some(signal)
    }
}

/// The tests that failed in a run.
fn failing<'a>(call: &'a Returned<'_>) -> &'a [String] {
    call.tests.as_ref().map_or(&[], |tests| tests.names.as_slice())
}

/// Tests of which one run says that they fail and the next, with nothing changed, does not.
fn undecided(call: &Returned<'_>, before: &Attempt) -> Option<Signal> {
    let now = failing(call);
    if now.is_empty() || before.failing.is_empty() {
        return None;
    }
    let passes_now = before.failing.iter().find(|test| !now.contains(test));
    let fails_now = now.iter().find(|test| !before.failing.contains(test));
    let (test, how) = match (passes_now, fails_now) {
        (Some(test), _) => (test, "failed, then passed"),
        (None, Some(test)) => (test, "passed, then failed"),
        (None, None) => return None,
    };
    Some(flaky(call.at, before.at, &format!("test {test}"), how))
}

fn flaky(at: Place, before: Place, what: &str, how: &str) -> Signal {
    let mut signal = signal(SignalKind::FlakyTest, at, format!("{what} {how}, with no edit between"));
    signal.steps = steps([before.step, at.step]);
    signal.times = 2;
    signal
}

fn looped(attempt: &Attempt) -> Option<Signal> {
    let times = u32::try_from(attempt.row.len()).unwrap_or(u32::MAX);
    (!attempt.passed && times >= LOOP).then(|| {
        let text = format!(
            "`{}` failed {times} times with nothing done between: {}",
            one_line(&attempt.command),
            attempt.headline
        );
        let mut signal = signal(SignalKind::RetryLoop, attempt.at, text);
        signal.steps = steps(attempt.row.iter().copied().take(4).chain([attempt.at.step]));
        signal.error_family.clone_from(&attempt.family);
        signal.error_class = attempt.class.map(|class| class.as_str().to_owned());
        signal.times = times;
        signal.quote = (!attempt.headline.is_empty()).then(|| attempt.headline.clone());
        signal
    })
}

/// Whether one command is another way of doing what the other does: all words but the flags are the same.
fn is_alike(failed: &str, passed: &str) -> bool {
    let is_flag = |word: &&str| word.starts_with('-') || is_assignment(word) || matches!(*word, "sudo" | "2>&1");
    let of = |command: &'_ str, flags: bool| -> Vec<String> {
        command.split_whitespace().filter(|word| is_flag(word) == flags).map(str::to_owned).collect()
    };
    !is_look(failed) && of(failed, false) == of(passed, false) && of(failed, true) != of(passed, true)
}

/// Names in a sentence, the first few of them.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 4;
    let mut unique: Vec<&str> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    let more = unique.len().saturating_sub(SHOWN);
    let shown = unique.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
