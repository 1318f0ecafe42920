//! Mines signals while a log is being read.
//!
//! Every finished call is looked at once. The memory is small and bounded: the last result of each command, test, file
//! and failure.

mod attempts;
mod checks;
mod corrections;
mod edits;
mod families;
mod outliers;

use std::collections::{HashMap, HashSet, VecDeque};

use super::failure::{DetectedFailure, TestOutcome};
use super::signal::{Signal, SignalKind};
use super::tool_action::{ToolAction, parse_shell_commands, split_leading_cd};
use crate::domain::{ErrorFamily, Extra, TokenUsage};

use attempts::{AttemptTracker, CommandRun};
use checks::CheckTracker;
use edits::EditTracker;
use families::FamilyTracker;
use outliers::OutlierTracker;

#[cfg(test)]
#[path = "signal_mining_tests.rs"]
mod tests;

/// The number of signals kept of one kind; those in the middle are only counted.
const MAX_OF_A_KIND: usize = 200;

/// The number of characters of a person's words that a signal shows.
const SHOWN_CHARACTERS: usize = 600;

/// The place of a step among the trajectories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct StepPlace {
    pub(super) trajectory: u32,
    pub(super) step: u32,
}

/// The outcome of a finished call.
#[derive(Debug)]
pub(super) enum ReturnOutcome {
    /// The call did what it was asked to do.
    Passed,
    /// The call failed, with this failure and error family.
    Failed(DetectedFailure, ErrorFamily),
    /// The call was refused, broken off or never answered: nothing is known, and nothing was done.
    Void,
}

/// A call that has finished.
#[derive(Debug)]
pub(super) struct ReturnedCall<'a> {
    pub(super) at: StepPlace,
    pub(super) tool: &'a str,
    pub(super) action: &'a ToolAction,
    pub(super) result: ReturnOutcome,
    /// The outcome that a test run reported.
    pub(super) tests: Option<TestOutcome>,
    /// True if the command is a check: tests, build, types, lint.
    pub(super) is_check: bool,
    pub(super) duration_ms: Option<u64>,
    /// The directory in which it ran, if the call names it.
    pub(super) directory: Option<&'a str>,
}

/// The first and the last signals of one kind, each with its number.
#[derive(Debug, Default)]
struct BoundedSignals {
    first: Vec<(u64, Signal)>,
    last: VecDeque<(u64, Signal)>,
}

/// The kinds of files edited since the last check, and a failure that only new tests caused.
#[derive(Debug, Default)]
struct FreshEdits {
    has_tests: bool,
    has_code: bool,
    /// The failure of such a check. It is dropped if code is edited next, because the tests were written first.
    red: Option<(StepPlace, String, DetectedFailure, ErrorFamily)>,
}

/// Finds signals in the calls, words and usage of a log.
#[derive(Debug, Default)]
pub(super) struct SignalMiner {
    families: FamilyTracker,
    attempts: AttemptTracker,
    edits: EditTracker,
    outliers: OutlierTracker,
    checks: CheckTracker,
    fresh: FreshEdits,
    /// The folder that a command last changed to.
    folder: Option<String>,
    /// The step after which a person interrupted the agent.
    interrupted: Option<StepPlace>,
    has_agent_spoken: bool,
    found: HashMap<SignalKind, BoundedSignals>,
    /// The number of signals found, kept or not.
    count: u64,
    left_out: u64,
}

impl SignalMiner {
    /// Records a person's words, which are already redacted.
    pub(super) fn record_user_words(&mut self, at: StepPlace, words: &str) {
        // People change things too.
        self.attempts.note_change();
        let interrupted = self.interrupted.take();
        if std::mem::take(&mut self.has_agent_spoken)
            && let Some(correction) = corrections::find_correction(words, interrupted.is_some())
        {
            let mut signal = new_signal(SignalKind::UserCorrection, at, shorten_words(correction));
            signal.quote = Some(shorten_words(correction));
            if let Some(interrupted) = interrupted {
                signal.steps = sorted_steps([interrupted.step, at.step]);
            }
            self.push_signal(signal);
        }
    }

    /// Records that the agent spoke or called a tool.
    pub(super) fn record_agent_activity(&mut self) {
        self.has_agent_spoken = true;
    }

    /// Records that a person interrupted the agent.
    pub(super) fn record_interruption(&mut self, at: StepPlace) {
        self.interrupted = Some(at);
        self.has_agent_spoken = true;
    }

    /// Records an error of the model provider, which belongs to no call.
    pub(super) fn record_provider_failure(&mut self, at: StepPlace, failure: DetectedFailure, family: ErrorFamily) {
        let fresh = self.families.record_failure(at, "model", &failure, &family);
        if fresh {
            self.push_signal(failure_signal(at, "model", &failure, family));
        }
    }

    /// Records a finished call.
    pub(super) fn record_returned_call(&mut self, call: &ReturnedCall<'_>) {
        let is_red = call.is_check && self.fresh.has_tests && !self.fresh.has_code;
        if call.is_check && !matches!(call.result, ReturnOutcome::Void) {
            self.report_failed_new_tests();
            self.fresh = FreshEdits::default();
        }
        let passed = match &call.result {
            ReturnOutcome::Void => return,
            ReturnOutcome::Passed => true,
            ReturnOutcome::Failed(failure, family) if is_red => {
                self.fresh.red = Some((call.at, call.tool.to_owned(), failure.clone(), family.clone()));
                if let ToolAction::Run { command } = call.action {
                    let folder = call.directory.or(split_leading_cd(command).0).or(self.folder.as_deref());
                    self.checks.record_check(call.at, folder, command, false);
                }
                return;
            }
            ReturnOutcome::Failed(failure, family) => {
                if self.families.record_failure(call.at, call.tool, failure, family) {
                    self.push_signal(failure_signal(call.at, call.tool, failure, family.clone()));
                }
                false
            }
        };
        self.outliers.record_duration(call.at, call.tool, call.action, call.duration_ms);
        let mut fresh = Vec::new();
        match call.action {
            ToolAction::Run { command } if !command.is_empty() => {
                self.edits.record_command(call, command, &mut fresh);
                self.record_command(call, command, &mut fresh);
            }
            ToolAction::Edit(changes) if passed => {
                let is_code = !changes.iter().all(|change| is_test_path(&change.path));
                if is_code {
                    self.fresh.red = None;
                }
                self.report_failed_new_tests();
                self.fresh.has_code |= is_code;
                self.fresh.has_tests |= changes.iter().any(|change| is_test_path(&change.path));
                self.edits.record_edits(call.at, changes, &mut fresh);
                self.attempts.note_change();
            }
            action if action.may_change(call.tool, passed) => self.attempts.note_change(),
            _ => {}
        }
        for signal in fresh {
            self.push_signal(signal);
        }
    }

    /// Reports a check that failed on new tests, for which no code was written after all.
    fn report_failed_new_tests(&mut self) {
        let Some((at, tool, failure, family)) = self.fresh.red.take() else { return };
        if self.families.record_failure(at, &tool, &failure, &family) {
            self.push_signal(failure_signal(at, &tool, &failure, family));
        }
    }

    /// Records a command that passed or failed.
    fn record_command(&mut self, call: &ReturnedCall<'_>, command: &str, fresh: &mut Vec<Signal>) {
        let passed = matches!(call.result, ReturnOutcome::Passed);
        let went = parse_shell_commands(command).iter().rev().find_map(|part| part.target_folder().map(str::to_owned));
        let (first, done) = split_leading_cd(command);
        let folder = call.directory.or(first).or(self.folder.as_deref()).map(str::to_owned);
        // A passed run with failed tests is no pass, and one without tests says nothing.
        let tests = call.tests.as_ref().filter(|_| call.is_check && passed);
        let is_doubtful = tests.is_some_and(|tests| tests.failed > 0 || tests.passed == 0);
        if call.is_check && tests.is_none_or(|tests| tests.failed > 0 || tests.passed > 0) {
            self.checks.record_check(call.at, folder.as_deref(), command, passed && !is_doubtful);
        }
        let may_change = call.action.may_change(call.tool, passed);
        if !is_doubtful {
            let run = CommandRun { command, done, folder: folder.as_deref(), may_change };
            self.attempts.record_run(call, &run, &self.edits, fresh);
        } else if may_change {
            self.attempts.note_change();
        }
        if call.directory.is_none() && went.is_some() {
            self.folder = went;
        }
    }

    /// Records the usage of a step; a later value replaces an earlier one.
    pub(super) fn record_usage(&mut self, at: StepPlace, usage: TokenUsage) {
        self.outliers.record_usage(at, usage);
    }

    /// Ends a trajectory, reports what is still open, and starts afresh. Returns whether its checks passed: true if one
    /// did and none failed last.
    pub(super) fn end_trajectory(&mut self) -> Option<bool> {
        self.report_failed_new_tests();
        self.fresh = FreshEdits::default();
        let verdict = std::mem::take(&mut self.checks).final_verdict();
        if let Some((passed, at, command)) = &verdict {
            let (kind, word) = match passed {
                true => (SignalKind::VerificationPassed, "passed"),
                false => (SignalKind::VerificationFailed, "failed"),
            };
            self.push_signal(new_signal(kind, *at, format!("the last check, `{}`, {word}", shorten_command(command))));
        }
        for signal in std::mem::take(&mut self.attempts).into_open_loops() {
            self.push_signal(signal);
        }
        for signal in std::mem::take(&mut self.edits).into_stash_signals() {
            self.push_signal(signal);
        }
        for signal in std::mem::take(&mut self.outliers).into_signals() {
            self.push_signal(signal);
        }
        self.folder = None;
        self.interrupted = None;
        self.has_agent_spoken = false;
        verdict.map(|(passed, ..)| passed)
    }

    /// Returns all signals in the order of the log, and how many were left out.
    pub(super) fn finish(mut self) -> (Vec<Signal>, u64) {
        let firsts = [SignalKind::FailedCall, SignalKind::Timeout, SignalKind::RateLimit, SignalKind::ContextWindow];
        for kind in firsts {
            let found = self.found.get_mut(&kind);
            for (_, signal) in found.into_iter().flat_map(|found| found.first.iter_mut().chain(&mut found.last)) {
                self.families.complete_signal(signal);
            }
        }
        // The most frequent failures are kept, wherever they occur.
        let mut repeated = std::mem::take(&mut self.families).into_repeated_signals();
        let left_out = repeated.len().saturating_sub(MAX_OF_A_KIND);
        repeated.truncate(MAX_OF_A_KIND);
        self.left_out += u64::try_from(left_out).unwrap_or(u64::MAX);
        for signal in repeated {
            self.push_signal(signal);
        }
        let mut found: Vec<(u64, Signal)> =
            self.found.into_values().flat_map(|found| found.first.into_iter().chain(found.last)).collect();
        found.sort_by_key(|(number, signal)| (signal.trajectory, signal.step, *number));
        (found.into_iter().map(|(_, signal)| signal).collect(), self.left_out)
    }

    /// Returns the places that signals rest on, or may later rest on.
    pub(super) fn pinned_places(&self) -> HashSet<StepPlace> {
        let signals = self.found.values().flat_map(|found| found.first.iter().chain(&found.last));
        let found = signals.flat_map(|(_, signal)| {
            let trajectory = signal.trajectory;
            signal.steps.iter().map(move |step| StepPlace { trajectory, step: *step })
        });
        found.chain(self.families.failure_places()).chain(self.attempts.open_failures()).collect()
    }

    fn push_signal(&mut self, signal: Signal) {
        self.count += 1;
        let numbered = (self.count, signal);
        let found = self.found.entry(numbered.1.kind.clone()).or_default();
        if found.first.len() < MAX_OF_A_KIND / 2 {
            found.first.push(numbered);
            return;
        }
        found.last.push_back(numbered);
        if found.last.len() > MAX_OF_A_KIND / 2 {
            found.last.pop_front();
            self.left_out += 1;
        }
    }
}

fn failure_signal(at: StepPlace, tool: &str, failure: &DetectedFailure, family: ErrorFamily) -> Signal {
    let mut signal = new_signal(families::signal_kind(failure), at, format!("{tool}: {}", failure.headline));
    signal.error_family = Some(family);
    signal.error_class = Some(failure.class.as_str().to_owned());
    signal.tool = Some(tool.to_owned());
    signal.quote = Some(failure.headline.clone());
    signal
}

/// Creates a signal with only a kind, a place and a text.
fn new_signal(kind: SignalKind, at: StepPlace, text: String) -> Signal {
    Signal {
        kind,
        error_family: None,
        error_class: None,
        trajectory: at.trajectory,
        step: at.step,
        steps: vec![at.step],
        also: Vec::new(),
        times: 1,
        tool: None,
        alternative: false,
        text,
        quote: None,
        extra: Extra::new(),
    }
}

/// Returns true if a path is that of a test by its name or folder: `tests/x.py`, `x_test.go`, `x.spec.ts`.
fn is_test_path(path: &str) -> bool {
    let is_test = |part: &str| matches!(part, "test" | "tests" | "spec" | "specs" | "__tests__" | "Test" | "Tests");
    path.rsplit('/').take(4).any(|part| part.split(['.', '_', '-']).any(is_test) || part.ends_with("__tests__"))
}

/// Returns the steps in order, each once.
fn sorted_steps(steps: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut steps: Vec<u32> = steps.into_iter().collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn shorten_words(words: &str) -> String {
    words.chars().take(SHOWN_CHARACTERS).collect()
}

/// Returns a command on one line, shortened to fit into a sentence.
fn shorten_command(command: &str) -> String {
    const SHOWN: usize = 160;
    let mut line = command.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() > SHOWN {
        line.truncate(line.floor_char_boundary(SHOWN));
        line.push('…');
    }
    line
}
