//! Tracks repeated commands: retry loops, fixes and flaky tests.

use std::collections::HashMap;

use super::super::failure::FailureClass;
use super::super::signal::{Signal, SignalKind};
use super::super::tool_action::{command_key, is_read_only_command};
use super::edits::EditTracker;
use super::{ReturnOutcome, ReturnedCall, SHOWN_CHARACTERS, StepPlace, new_signal, shorten_command, sorted_steps};
use crate::domain::ErrorFamily;
use crate::text::shell_lexer::is_assignment;

/// The number of failures in a row, with no change between, that make a loop.
const LOOP: u32 = 3;

/// The number of commands remembered. Beyond this, earlier commands are forgotten.
const MAX_REMEMBERED: usize = 4096;

/// The number of failing tests remembered of one run.
const MAX_TESTS: usize = 32;

/// The number of steps after a failure within which an alternative may pass.
const ANOTHER_WAY_WITHIN: u32 = 4;

/// The last attempt at one command.
#[derive(Debug)]
struct CommandAttempt {
    passed: bool,
    at: StepPlace,
    /// The number of changes before it ran.
    changes: u64,
    /// The number of changes after it ran, including its own.
    changes_after: u64,
    /// The steps of failures of one family in a row, with no change between.
    row: Vec<u32>,
    /// The number of failures in a row, whatever changed between.
    failures: u32,
    headline: String,
    family: Option<ErrorFamily>,
    class: Option<FailureClass>,
    command: String,
    /// The command without a leading `cd`.
    done: String,
    folder: Option<String>,
    is_check: bool,
    /// The tests that failed in it.
    failing: Vec<String>,
}

/// A command that has finished.
#[derive(Debug)]
pub(super) struct CommandRun<'a> {
    /// The command as given.
    pub(super) command: &'a str,
    /// The command without a leading `cd`.
    pub(super) done: &'a str,
    /// The folder, if it is known.
    pub(super) folder: Option<&'a str>,
    /// True if it may have changed what the next command finds.
    pub(super) may_change: bool,
}

/// The last attempts at all commands.
#[derive(Debug, Default)]
pub(super) struct AttemptTracker {
    commands: HashMap<u64, CommandAttempt>,
    /// The number of events that may have changed the outcome of a command.
    changes: u64,
    /// The last commands that failed, newest last.
    recent_failures: Vec<(u64, StepPlace)>,
}

impl AttemptTracker {
    /// Notes that something may have changed the outcome of the next run.
    pub(super) fn note_change(&mut self) {
        self.changes += 1;
    }

    /// Records a command that passed or failed, and the signals that follow from it.
    pub(super) fn record_run(
        &mut self,
        call: &ReturnedCall<'_>,
        run: &CommandRun<'_>,
        edits: &EditTracker,
        found: &mut Vec<Signal>,
    ) {
        let command = run.command;
        let key = command_key(run.done, run.folder);
        let passed = matches!(call.result, ReturnOutcome::Passed);
        let before = self.commands.remove(&key);
        if let Some(before) = &before {
            if passed && !before.passed {
                found.push(self.fixed_signal(call, command, before, edits));
            } else if !passed && before.passed && before.is_check && before.changes == self.changes {
                let what = failed_tests(call)
                    .first()
                    .map_or_else(|| format!("`{}`", shorten_command(command)), |test| format!("test {test}"));
                found.push(flaky_signal(call.at, before.at, &what, "passed, then failed"));
            } else if !passed && !before.passed && before.changes == self.changes {
                found.extend(inconsistent_test_signal(call, before));
            }
        } else if passed {
            found.extend(self.alternative_signal(call, run));
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
        let mut attempt = self.build_attempt(call, run, before, found);
        if run.may_change {
            self.note_change();
        }
        attempt.changes_after = self.changes;
        self.commands.insert(key, attempt);
    }

    /// Builds the attempt of a finished command; reports a loop that ends here.
    fn build_attempt(
        &self,
        call: &ReturnedCall<'_>,
        run: &CommandRun<'_>,
        before: Option<CommandAttempt>,
        found: &mut Vec<Signal>,
    ) -> CommandAttempt {
        let (passed, headline, family, class) = match &call.result {
            ReturnOutcome::Failed(failure, family) => {
                (false, failure.headline.clone(), Some(family.clone()), Some(failure.class))
            }
            ReturnOutcome::Passed | ReturnOutcome::Void => (true, String::new(), None, None),
        };
        let mut attempt = CommandAttempt {
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
            failing: failed_tests(call).iter().take(MAX_TESTS).cloned().collect(),
        };
        if let Some(mut before) = before.filter(|before| !before.passed) {
            if !passed && before.changes_after == self.changes && before.family == attempt.family {
                before.row.push(call.at.step);
                attempt.row = before.row;
            } else {
                found.extend(loop_signal(&before));
            }
            if !passed {
                attempt.failures = before.failures.saturating_add(1);
            }
        }
        attempt
    }

    /// Returns the signals of loops that never ended.
    pub(super) fn into_open_loops(self) -> Vec<Signal> {
        let mut loops: Vec<Signal> = self.commands.values().filter_map(loop_signal).collect();
        loops.sort_by_key(|signal| signal.step);
        loops
    }

    /// Returns the places of failures that are not fixed yet.
    pub(super) fn open_failures(&self) -> impl Iterator<Item = StepPlace> {
        self.commands.values().filter(|attempt| !attempt.passed).map(|attempt| attempt.at)
    }

    /// Builds the signal of a command that failed and now passes: after edits, after other commands, or flaky.
    fn fixed_signal(
        &self,
        call: &ReturnedCall<'_>,
        command: &str,
        before: &CommandAttempt,
        edits: &EditTracker,
    ) -> Signal {
        let shown = format!("`{}`", shorten_command(command));
        if before.changes == self.changes && call.is_check {
            let what = before.failing.first().map_or_else(|| shown.clone(), |test| format!("test {test}"));
            let mut signal = flaky_signal(call.at, before.at, &what, "failed, then passed");
            signal.quote = (!before.headline.is_empty()).then(|| before.headline.clone());
            signal.error_family.clone_from(&before.family);
            signal.error_class = before.class.map(|class| class.as_str().to_owned());
            return signal;
        }
        let changed = edits.files_changed_since(before.at);
        let how = match changed.as_slice() {
            [] => "after other commands".to_owned(),
            changed => format!("after edits to {}", list_names(changed.iter().map(|(path, _)| path.as_str()))),
        };
        let times = if before.failures > 1 { format!(" {} times", before.failures) } else { String::new() };
        let text = format!("{shown} failed{times} ({}) and passed {how}", before.headline);
        let mut signal = new_signal(SignalKind::Fixed, call.at, text);
        signal.steps =
            sorted_steps([before.at.step, call.at.step].into_iter().chain(changed.iter().map(|(_, step)| *step)));
        signal.error_family.clone_from(&before.family);
        signal.error_class = before.class.map(|class| class.as_str().to_owned());
        signal.tool = Some(call.tool.to_owned());
        signal.times = before.failures.max(1);
        signal.quote = (!before.headline.is_empty()).then(|| before.headline.clone());
        signal
    }

    /// Builds the signal of a command that passes and differs only in flags from one that just failed.
    fn alternative_signal(&mut self, call: &ReturnedCall<'_>, run: &CommandRun<'_>) -> Option<Signal> {
        if call.is_check {
            return None;
        }
        let near = |at: &StepPlace| call.at.step.saturating_sub(at.step) <= ANOTHER_WAY_WITHIN;
        let position = self.recent_failures.iter().rposition(|(key, at)| {
            near(at)
                && self.commands.get(key).is_some_and(|failed| {
                    !failed.passed
                        && !failed.is_check
                        && failed.folder.as_deref() == run.folder
                        && differs_only_in_flags(&failed.done, run.done)
                })
        })?;
        let (key, _) = self.recent_failures.remove(position);
        let failed = self.commands.get(&key)?;
        let text = format!(
            "`{}` failed ({}); `{}` worked instead",
            shorten_command(&failed.command),
            failed.headline,
            shorten_command(run.command)
        );
        let mut signal = new_signal(SignalKind::Fixed, call.at, text);
        signal.steps = sorted_steps([failed.at.step, call.at.step]);
        signal.error_family.clone_from(&failed.family);
        signal.error_class = failed.class.map(|class| class.as_str().to_owned());
        signal.tool = Some(call.tool.to_owned());
        signal.quote = (!failed.headline.is_empty()).then(|| failed.headline.clone());
        signal.alternative = true;
        Some(signal)
    }
}

/// Returns the tests that failed in a run.
fn failed_tests<'a>(call: &'a ReturnedCall<'_>) -> &'a [String] {
    call.tests.as_ref().map_or(&[], |tests| tests.names.as_slice())
}

/// Builds the signal of a test that fails in one of two runs with no change between.
fn inconsistent_test_signal(call: &ReturnedCall<'_>, before: &CommandAttempt) -> Option<Signal> {
    let now = failed_tests(call);
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
    Some(flaky_signal(call.at, before.at, &format!("test {test}"), how))
}

fn flaky_signal(at: StepPlace, before: StepPlace, what: &str, how: &str) -> Signal {
    let mut signal = new_signal(SignalKind::FlakyTest, at, format!("{what} {how}, with no edit between"));
    signal.steps = sorted_steps([before.step, at.step]);
    signal.times = 2;
    signal
}

fn loop_signal(attempt: &CommandAttempt) -> Option<Signal> {
    let times = u32::try_from(attempt.row.len()).unwrap_or(u32::MAX);
    (!attempt.passed && times >= LOOP).then(|| {
        let text = format!(
            "`{}` failed {times} times with nothing done between: {}",
            shorten_command(&attempt.command),
            attempt.headline
        );
        let mut signal = new_signal(SignalKind::RetryLoop, attempt.at, text);
        signal.steps = sorted_steps(attempt.row.iter().copied().take(4).chain([attempt.at.step]));
        signal.error_family.clone_from(&attempt.family);
        signal.error_class = attempt.class.map(|class| class.as_str().to_owned());
        signal.times = times;
        signal.quote = (!attempt.headline.is_empty()).then(|| attempt.headline.clone());
        signal
    })
}

/// Returns true if two commands differ in their flags, but in no other word.
fn differs_only_in_flags(failed: &str, passed: &str) -> bool {
    let is_flag = |word: &&str| word.starts_with('-') || is_assignment(word) || matches!(*word, "sudo" | "2>&1");
    let of = |command: &'_ str, flags: bool| -> Vec<String> {
        command.split_whitespace().filter(|word| is_flag(word) == flags).map(str::to_owned).collect()
    };
    !is_read_only_command(failed) && of(failed, false) == of(passed, false) && of(failed, true) != of(passed, true)
}

/// Lists the first few distinct names for a sentence.
fn list_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
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
