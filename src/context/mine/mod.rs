//! Signals, mined while a log goes by.
//!
//! Every call that comes back is looked at once. What is remembered is small and bounded: the last word on each command,
//! test, file and failure.

mod attempts;
mod corrections;
mod edits;
mod families;
mod outliers;

use std::collections::{HashMap, HashSet};

use super::action::{Action, command_key, is_look};
use super::failure::{Failure, TestOutcome};
use super::signal::{Signal, SignalKind};
use crate::domain::{ErrorFamily, Extra, Usage};

use attempts::Attempts;
use edits::Edits;
use families::Families;
use outliers::Outliers;

#[cfg(test)]
#[path = "mine_tests.rs"]
mod tests;

/// More signals of one kind than this help nobody; the rest is counted.
const MAX_OF_A_KIND: usize = 200;

/// How much of somebody's words a signal shows.
const SHOWN_CHARACTERS: usize = 600;

/// A place in what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Place {
    pub(super) trajectory: u32,
    pub(super) step: u32,
}

/// A call that came back.
#[derive(Debug)]
pub(super) struct Returned<'a> {
    pub(super) at: Place,
    pub(super) tool: &'a str,
    pub(super) action: &'a Action,
    /// How it failed, with its family; harness noise is no failure.
    pub(super) failure: Option<(Failure, ErrorFamily)>,
    /// What a test run said about its tests.
    pub(super) tests: Option<TestOutcome>,
    /// Whether the command is a check: tests, build, types, lint.
    pub(super) is_check: bool,
    pub(super) duration_ms: Option<u64>,
}

/// Watches calls, words and costs of a log go by.
#[derive(Debug, Default)]
pub(super) struct Miner {
    families: Families,
    attempts: Attempts,
    edits: Edits,
    outliers: Outliers,
    /// The last check that ran, and whether it passed.
    last_check: Option<(Place, String, bool)>,
    /// The step after which somebody pressed the stop key.
    interrupted: Option<Place>,
    has_agent_spoken: bool,
    found: Vec<Signal>,
    counts: HashMap<SignalKind, usize>,
    left_out: u64,
}

impl Miner {
    /// A person spoke. The words hold no secrets any more.
    pub(super) fn user(&mut self, at: Place, words: &str) {
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
        if let Some((failure, family)) = &call.failure
            && self.families.saw(call.at, call.tool, failure, family)
        {
            self.push(failed(call.at, call.tool, failure, family.clone()));
        }
        self.outliers.took(call.at, call.tool, call.action, call.duration_ms);
        let mut fresh = Vec::new();
        match call.action {
            Action::Run { command } => {
                self.edits.ran(call, command, &mut fresh);
                self.attempts.ran(call, command, &self.edits, &mut fresh);
                if call.is_check {
                    let passed = call.failure.is_none() && call.tests.as_ref().is_none_or(|tests| tests.failed == 0);
                    self.last_check = Some((call.at, command.clone(), passed));
                }
                // What failed, changed nothing; what only looks or checks, neither.
                if call.failure.is_none() && !is_look(command) && !call.is_check {
                    self.attempts.something_changed();
                }
            }
            Action::Edit(changes) if call.failure.is_none() => {
                self.edits.edited(call.at, changes, &mut fresh);
                self.attempts.something_changed();
            }
            Action::Delegate | Action::Other => self.attempts.something_changed(),
            Action::Edit(_) | Action::Read { .. } | Action::Fetch => {}
        }
        for signal in fresh {
            self.push(signal);
        }
    }

    /// A trajectory is over: what is open stays open, and the next one starts afresh. Says whether its last check passed.
    pub(super) fn over(&mut self, trajectory: u32, spent: &HashMap<u32, Usage>) -> Option<bool> {
        let last_check = self.last_check.take();
        if let Some((at, command, passed)) = &last_check {
            let (kind, word) = match passed {
                true => (SignalKind::VerificationPassed, "passed"),
                false => (SignalKind::VerificationFailed, "failed"),
            };
            self.push(signal(kind, *at, format!("the last check, `{}`, {word}", one_line(command))));
        }
        for signal in std::mem::take(&mut self.attempts).open_loops() {
            self.push(signal);
        }
        for signal in std::mem::take(&mut self.outliers).signals(trajectory, spent) {
            self.push(signal);
        }
        self.edits = Edits::default();
        self.interrupted = None;
        self.has_agent_spoken = false;
        last_check.map(|(_, _, passed)| passed)
    }

    /// Everything found, in the order of the log, and how much was left out.
    pub(super) fn finish(mut self) -> (Vec<Signal>, u64) {
        for signal in std::mem::take(&mut self.families).repeated() {
            self.push(signal);
        }
        self.found.sort_by_key(|signal| (signal.trajectory, signal.step));
        (self.found, self.left_out)
    }

    /// The places that signals rest on so far, or may come to rest on.
    pub(super) fn places(&self) -> HashSet<Place> {
        let found = self.found.iter().flat_map(|signal| {
            let trajectory = signal.trajectory;
            signal.steps.iter().map(move |step| Place { trajectory, step: *step })
        });
        found.chain(self.families.places()).chain(self.attempts.open()).collect()
    }

    fn push(&mut self, signal: Signal) {
        let of_its_kind = self.counts.entry(signal.kind.clone()).or_default();
        if *of_its_kind < MAX_OF_A_KIND {
            *of_its_kind += 1;
            self.found.push(signal);
        } else {
            self.left_out += 1;
        }
    }
}

fn failed(at: Place, tool: &str, failure: &Failure, family: ErrorFamily) -> Signal {
    let mut signal = signal(families::kind(failure), at, format!("{tool}: {}", failure.headline));
    signal.error_family = Some(family);
    signal.tool = Some(tool.to_owned());
    signal.quote = Some(failure.headline.clone());
    signal
}

/// A signal with nothing but its place and words.
fn signal(kind: SignalKind, at: Place, text: String) -> Signal {
    Signal {
        kind,
        error_family: None,
        trajectory: at.trajectory,
        step: at.step,
        steps: vec![at.step],
        times: 1,
        tool: None,
        text,
        quote: None,
        extra: Extra::new(),
    }
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
