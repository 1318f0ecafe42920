//! Signals, mined while a log goes by.
//!
//! Every call that comes back is looked at once. What is remembered is small and bounded: the last word on each command,
//! test, file and failure.

mod attempts;
mod checks;
mod corrections;
mod edits;
mod families;
mod outliers;

use std::collections::{HashMap, HashSet, VecDeque};

use super::action::{Action, at_folder, parts};
use super::failure::{Failure, TestOutcome};
use super::signal::{Signal, SignalKind};
use crate::domain::{ErrorFamily, Extra, Usage};

use attempts::{Attempts, Run};
use checks::Checks;
use edits::Edits;
use families::Families;
use outliers::Outliers;

#[cfg(test)]
#[path = "mine_tests.rs"]
mod tests;

/// Of more signals of one kind than this the middle helps nobody; it is counted.
const MAX_OF_A_KIND: usize = 200;

/// How much of somebody's words a signal shows.
const SHOWN_CHARACTERS: usize = 600;

/// A place in what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Place {
    pub(super) trajectory: u32,
    pub(super) step: u32,
}

/// What became of a call.
#[derive(Debug)]
pub(super) enum Came {
    /// It did what it was asked to do.
    Passed,
    /// It failed, in this way and of this family.
    Failed(Failure, ErrorFamily),
    /// It was refused, broken off or never answered: nothing is known, and nothing was done.
    Void,
}

/// A call that came back.
#[derive(Debug)]
pub(super) struct Returned<'a> {
    pub(super) at: Place,
    pub(super) tool: &'a str,
    pub(super) action: &'a Action,
    pub(super) came: Came,
    /// What a test run said about its tests.
    pub(super) tests: Option<TestOutcome>,
    /// Whether the command is a check: tests, build, types, lint.
    pub(super) is_check: bool,
    pub(super) duration_ms: Option<u64>,
    /// Where it ran, if the call says so.
    pub(super) directory: Option<&'a str>,
}

/// The first and the last signals of one kind, each with its number.
#[derive(Debug, Default)]
struct Found {
    first: Vec<(u64, Signal)>,
    last: VecDeque<(u64, Signal)>,
}

/// What was written since the last check, and whether that check failed on fresh tests alone.
#[derive(Debug, Default)]
struct FreshEdits {
    has_tests: bool,
    has_code: bool,
    /// The failure of such a check. It is none if code is written next: the tests asked for it.
    red: Option<(Place, String, Failure, ErrorFamily)>,
}

/// Watches calls, words and costs of a log go by.
#[derive(Debug, Default)]
pub(super) struct Miner {
    families: Families,
    attempts: Attempts,
    edits: Edits,
    outliers: Outliers,
    checks: Checks,
    fresh: FreshEdits,
    /// The folder that a command last went to.
    folder: Option<String>,
    /// The step after which somebody pressed the stop key.
    interrupted: Option<Place>,
    has_agent_spoken: bool,
    found: HashMap<SignalKind, Found>,
    /// How many signals were found, told or not.
    count: u64,
    left_out: u64,
}

impl Miner {
    /// A person spoke. The words hold no secrets any more.
    pub(super) fn user(&mut self, at: Place, words: &str) {
        // People change things too.
        self.attempts.something_changed();
        let interrupted = self.interrupted.take();
        if std::mem::take(&mut self.has_agent_spoken)
            && let Some(correction) = corrections::read(words, interrupted.is_some())
        {
            let mut signal = signal(SignalKind::UserCorrection, at, shortened(correction));
            signal.quote = Some(shortened(correction));
            if let Some(interrupted) = interrupted {
                signal.steps = steps([interrupted.step, at.step]);
            }
            self.push(signal);
        }
    }

    /// The agent spoke, or called a tool.
    pub(super) fn agent(&mut self) {
        self.has_agent_spoken = true;
    }

    /// A person stopped the agent.
    pub(super) fn interrupted(&mut self, at: Place) {
        self.interrupted = Some(at);
        self.has_agent_spoken = true;
    }

    /// A provider's error: it belongs to no call.
    pub(super) fn provider_failed(&mut self, at: Place, failure: Failure, family: ErrorFamily) {
        let fresh = self.families.saw(at, "model", &failure, &family);
        if fresh {
            self.push(failed(at, "model", &failure, family));
        }
    }

    /// A call came back.
    pub(super) fn returned(&mut self, call: &Returned<'_>) {
        let is_red = call.is_check && self.fresh.has_tests && !self.fresh.has_code;
        if call.is_check && !matches!(call.came, Came::Void) {
            self.report_red();
            self.fresh = FreshEdits::default();
        }
        let passed = match &call.came {
            Came::Void => return,
            Came::Passed => true,
            Came::Failed(failure, family) if is_red => {
                self.fresh.red = Some((call.at, call.tool.to_owned(), failure.clone(), family.clone()));
                if let Action::Run { command } = call.action {
                    let folder = call.directory.or(at_folder(command).0).or(self.folder.as_deref());
                    self.checks.ran(call.at, folder, command, false);
                }
                return;
            }
            Came::Failed(failure, family) => {
                if self.families.saw(call.at, call.tool, failure, family) {
                    self.push(failed(call.at, call.tool, failure, family.clone()));
                }
                false
            }
        };
        self.outliers.took(call.at, call.tool, call.action, call.duration_ms);
        let mut fresh = Vec::new();
        match call.action {
            Action::Run { command } if !command.is_empty() => {
                self.edits.ran(call, command, &mut fresh);
                self.ran(call, command, &mut fresh);
            }
            Action::Edit(changes) if passed => {
                let is_code = !changes.iter().all(|change| names_test(&change.path));
                if is_code {
                    self.fresh.red = None;
                }
                self.report_red();
                self.fresh.has_code |= is_code;
                self.fresh.has_tests |= changes.iter().any(|change| names_test(&change.path));
                self.edits.edited(call.at, changes, &mut fresh);
                self.attempts.something_changed();
            }
            action if action.may_change(call.tool, passed) => self.attempts.something_changed(),
            _ => {}
        }
        for signal in fresh {
            self.push(signal);
        }
    }

    /// Tells of a check that failed on fresh tests after all: no code was written for them.
    fn report_red(&mut self) {
        let Some((at, tool, failure, family)) = self.fresh.red.take() else { return };
        if self.families.saw(at, &tool, &failure, &family) {
            self.push(failed(at, &tool, &failure, family));
        }
    }

    /// A command passed or failed.
    fn ran(&mut self, call: &Returned<'_>, command: &str, fresh: &mut Vec<Signal>) {
        let passed = matches!(call.came, Came::Passed);
        let went = parts(command).iter().rev().find_map(|part| part.folder().map(str::to_owned));
        let (first, done) = at_folder(command);
        let folder = call.directory.or(first).or(self.folder.as_deref()).map(str::to_owned);
        // A run that passed but whose tests failed is no pass, and one without tests is nothing at all.
        let tests = call.tests.as_ref().filter(|_| call.is_check && passed);
        let is_doubtful = tests.is_some_and(|tests| tests.failed > 0 || tests.passed == 0);
        if call.is_check && tests.is_none_or(|tests| tests.failed > 0 || tests.passed > 0) {
            self.checks.ran(call.at, folder.as_deref(), command, passed && !is_doubtful);
        }
        let may_change = call.action.may_change(call.tool, passed);
        if !is_doubtful {
            let run = Run { command, done, folder: folder.as_deref(), may_change };
            self.attempts.ran(call, &run, &self.edits, fresh);
        } else if may_change {
            self.attempts.something_changed();
        }
        if call.directory.is_none() && went.is_some() {
            self.folder = went;
        }
    }

    /// What a step cost; said again, the last word counts.
    pub(super) fn spent(&mut self, at: Place, usage: Usage) {
        self.outliers.spent(at, usage);
    }

    /// A trajectory is over: what is open stays open, and the next one starts afresh. Says whether its checks passed: yes
    /// if one did and none failed last.
    pub(super) fn over(&mut self) -> Option<bool> {
        self.report_red();
        self.fresh = FreshEdits::default();
        let verdict = std::mem::take(&mut self.checks).verdict();
        if let Some((passed, at, command)) = &verdict {
            let (kind, word) = match passed {
                true => (SignalKind::VerificationPassed, "passed"),
                false => (SignalKind::VerificationFailed, "failed"),
            };
            self.push(signal(kind, *at, format!("the last check, `{}`, {word}", one_line(command))));
        }
        for signal in std::mem::take(&mut self.attempts).open_loops() {
            self.push(signal);
        }
        for signal in std::mem::take(&mut self.edits).over() {
            self.push(signal);
        }
        for signal in std::mem::take(&mut self.outliers).signals() {
            self.push(signal);
        }
        self.folder = None;
        self.interrupted = None;
        self.has_agent_spoken = false;
        verdict.map(|(passed, ..)| passed)
    }

    /// Everything found, in the order of the log, and how much was left out.
    pub(super) fn finish(mut self) -> (Vec<Signal>, u64) {
        let firsts = [SignalKind::FailedCall, SignalKind::Timeout, SignalKind::RateLimit, SignalKind::ContextWindow];
        for kind in firsts {
            let found = self.found.get_mut(&kind);
            for (_, signal) in found.into_iter().flat_map(|found| found.first.iter_mut().chain(&mut found.last)) {
                self.families.count(signal);
            }
        }
        // Those that came most often are told, wherever they stand.
        let mut repeated = std::mem::take(&mut self.families).repeated();
        let left_out = repeated.len().saturating_sub(MAX_OF_A_KIND);
        repeated.truncate(MAX_OF_A_KIND);
        self.left_out += u64::try_from(left_out).unwrap_or(u64::MAX);
        for signal in repeated {
            self.push(signal);
        }
        let mut found: Vec<(u64, Signal)> =
            self.found.into_values().flat_map(|found| found.first.into_iter().chain(found.last)).collect();
        found.sort_by_key(|(number, signal)| (signal.trajectory, signal.step, *number));
        (found.into_iter().map(|(_, signal)| signal).collect(), self.left_out)
    }

    /// The places that signals rest on so far, or may come to rest on.
    pub(super) fn places(&self) -> HashSet<Place> {
        let signals = self.found.values().flat_map(|found| found.first.iter().chain(&found.last));
        let found = signals.flat_map(|(_, signal)| {
            let trajectory = signal.trajectory;
            signal.steps.iter().map(move |step| Place { trajectory, step: *step })
        });
        found.chain(self.families.places()).chain(self.attempts.open()).collect()
    }

    fn push(&mut self, signal: Signal) {
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

fn failed(at: Place, tool: &str, failure: &Failure, family: ErrorFamily) -> Signal {
    let mut signal = signal(families::kind(failure), at, format!("{tool}: {}", failure.headline));
    signal.error_family = Some(family);
    signal.error_class = Some(failure.class.as_str().to_owned());
    signal.tool = Some(tool.to_owned());
    signal.quote = Some(failure.headline.clone());
    signal
}

/// A signal with nothing but its place and words.
fn signal(kind: SignalKind, at: Place, text: String) -> Signal {
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

/// Says whether a file holds tests by its name or folder: `tests/x.py`, `x_test.go`, `x.spec.ts`.
fn names_test(path: &str) -> bool {
    let is_test = |part: &str| matches!(part, "test" | "tests" | "spec" | "specs" | "__tests__" | "Test" | "Tests");
    path.rsplit('/').take(4).any(|part| part.split(['.', '_', '-']).any(is_test) || part.ends_with("__tests__"))
}

/// Steps in order, each once.
fn steps(steps: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut steps: Vec<u32> = steps.into_iter().collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

fn shortened(words: &str) -> String {
    words.chars().take(SHOWN_CHARACTERS).collect()
}

/// A command as it fits into a sentence.
fn one_line(command: &str) -> String {
    const SHOWN: usize = 160;
    let mut line = String::new();
    for word in command.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > SHOWN {
            line.truncate(line.floor_char_boundary(SHOWN));
            line.push('…');
            break;
        }
    }
    line
}
