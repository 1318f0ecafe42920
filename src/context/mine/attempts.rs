//! The same command again: loops, fixes and tests that cannot make up their mind.

use std::collections::HashMap;

use super::super::signal::{Signal, SignalKind};
use super::edits::Edits;
use super::{Place, Returned, command_key, one_line, signal, steps};
use crate::domain::ErrorFamily;

/// From how many failures in a row on, with nothing done between, it is a loop.
const LOOP: u32 = 3;

/// Commands and tests remembered. A session that runs more than this loses the thread, not its memory.
const MAX_REMEMBERED: usize = 8192;

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
    /// Failures in a row with no change between, and where.
    row: Vec<u32>,
    /// Failures in a row, whatever was done between.
    failures: u32,
    headline: String,
    family: Option<ErrorFamily>,
    command: String,
    is_check: bool,
    /// The tests that failed in it.
    failing: Vec<String>,
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

    /// A command came back.
    pub(super) fn ran(&mut self, call: &Returned<'_>, command: &str, edits: &Edits, found: &mut Vec<Signal>) {
        let key = command_key(command);
        let passed = call.failure.is_none();
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
            found.extend(self.another_way(call, command));
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
        let attempt = self.noted(call, command, before, found);
        self.commands.insert(key, attempt);
    }

    /// The new last word on a command; a loop that ends here is told.
    fn noted(&self, call: &Returned<'_>, command: &str, before: Option<Attempt>, found: &mut Vec<Signal>) -> Attempt {
        let passed = call.failure.is_none();
        let (headline, family) = match &call.failure {
            Some((failure, family)) => (failure.headline.clone(), Some(family.clone())),
            None => (String::new(), None),
        };
        let mut attempt = Attempt {
            passed,
            at: call.at,
            changes: self.changes,
            row: if passed { Vec::new() } else { vec![call.at.step] },
            failures: u32::from(!passed),
            headline,
            family,
            command: command.to_owned(),
            is_check: call.is_check,
            failing: failing(call).iter().take(MAX_TESTS).cloned().collect(),
        };
        if let Some(mut before) = before.filter(|before| !before.passed) {
            if !passed && before.changes == self.changes {
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
        signal.tool = Some(call.tool.to_owned());
        signal.times = before.failures.max(1);
        signal.quote = (!before.headline.is_empty()).then(|| before.headline.clone());
        signal
    }

    /// A command that differs a little from one that just failed, and passes.
    fn another_way(&mut self, call: &Returned<'_>, command: &str) -> Option<Signal> {
        let near = |at: &Place| call.at.step.saturating_sub(at.step) <= ANOTHER_WAY_WITHIN;
        let position = self.recent_failures.iter().rposition(|(key, at)| {
            near(at)
                && self.commands.get(key).is_some_and(|failed| !failed.passed && is_alike(&failed.command, command))
        })?;
        let (key, _) = self.recent_failures.remove(position);
        let failed = self.commands.get(&key)?;
        let text = format!(
            "`{}` failed ({}); `{}` worked instead",
            one_line(&failed.command),
            failed.headline,
            one_line(command)
        );
        let mut signal = signal(SignalKind::Fixed, call.at, text);
        signal.steps = steps([failed.at.step, call.at.step]);
        signal.error_family.clone_from(&failed.family);
        signal.tool = Some(call.tool.to_owned());
        signal.quote = (!failed.headline.is_empty()).then(|| failed.headline.clone());
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
        signal.times = times;
        signal.quote = (!attempt.headline.is_empty()).then(|| attempt.headline.clone());
        signal
    })
}

/// Whether one command is another way of doing what the other does: the same program, and half of the words.
fn is_alike(failed: &str, passed: &str) -> bool {
    let words = |command: &str| command.split_whitespace().take(64).map(str::to_owned).collect::<Vec<_>>();
    let (failed, passed) = (words(failed), words(passed));
    let program = |words: &[String]| words.iter().find(|word| !word.contains('=')).cloned();
    let shared = failed.iter().filter(|word| passed.contains(word)).count();
    let is_more_than_a_look = program(&failed).is_some_and(|program| !super::is_look(&program));
    is_more_than_a_look && program(&failed) == program(&passed) && shared * 2 >= failed.len().max(passed.len())
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
