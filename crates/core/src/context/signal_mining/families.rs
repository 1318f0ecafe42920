//! Tracks how often each failure occurred.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

use super::super::failure::{DetectedFailure, FailureClass};
use super::super::signal::{Signal, SignalKind, SignalPlace};
use super::{StepPlace, new_signal, sorted_steps};
use crate::domain::ErrorFamily;

#[cfg(test)]
#[path = "families_tests.rs"]
mod tests;

/// The number of times from which on a failure is a repeated one.
const REPEATED: u32 = 3;

/// The number of times for limits that others set, which trying again does not fix.
const REPEATED_LIMIT: u32 = 2;

/// The number of families remembered. Beyond this the oldest of those seen once are forgotten.
const MAX_FAMILIES: usize = 4096;

/// The number of places remembered for each family.
const PLACES: usize = 32;

/// The number of trajectories remembered for each family, each with its first place.
const MAX_TRAJECTORIES: usize = 128;

#[derive(Debug)]
struct FamilyRecord {
    /// A number that increases in the order in which families were first seen.
    number: u64,
    times: u32,
    /// The first few places; `last` is the last one.
    places: Vec<StepPlace>,
    last: StepPlace,
    /// The first step in each trajectory.
    runs: BTreeMap<u32, u32>,
    tool: String,
    class: FailureClass,
    headline: String,
}

impl FamilyRecord {
    /// Returns the steps of one trajectory in which the family was seen.
    fn steps_in(&self, trajectory: u32) -> Vec<u32> {
        let places = self.places.iter().chain([&self.last]);
        sorted_steps(places.filter(|at| at.trajectory == trajectory).map(|at| at.step))
    }

    /// Returns how often the family must occur to be a repeated failure.
    fn repeat_threshold(&self) -> u32 {
        match self.class {
            FailureClass::RateLimit | FailureClass::ContextWindow | FailureClass::Timeout => REPEATED_LIMIT,
            _ => REPEATED,
        }
    }
}

/// The error families seen so far.
#[derive(Debug, Default)]
pub(super) struct FamilyTracker {
    seen: HashMap<ErrorFamily, FamilyRecord>,
    /// The families that were seen once when last checked, oldest first.
    once: VecDeque<ErrorFamily>,
    count: u64,
}

impl FamilyTracker {
    /// Records a failure, and returns true if it is the first of its family.
    pub(super) fn record_failure(
        &mut self,
        at: StepPlace,
        tool: &str,
        failure: &DetectedFailure,
        family: &ErrorFamily,
    ) -> bool {
        if let Some(seen) = self.seen.get_mut(family) {
            seen.times = seen.times.saturating_add(1);
            seen.last = at;
            if seen.places.len() < PLACES {
                seen.places.push(at);
            }
            if seen.runs.len() < MAX_TRAJECTORIES {
                seen.runs.entry(at.trajectory).or_insert(at.step);
            }
            return false;
        }
        if self.seen.len() >= MAX_FAMILIES {
            self.forget_rarest();
        }
        self.count += 1;
        let (tool, headline) = (tool.to_owned(), failure.headline.clone());
        let runs = BTreeMap::from([(at.trajectory, at.step)]);
        let (places, class) = (vec![at], failure.class);
        let seen = FamilyRecord { number: self.count, times: 1, places, last: at, runs, tool, class, headline };
        self.seen.insert(family.clone(), seen);
        self.once.push_back(family.clone());
        true
    }

    /// Forgets the family seen least, the oldest of several.
    fn forget_rarest(&mut self) {
        while let Some(family) = self.once.pop_front() {
            if self.seen.get(&family).is_some_and(|seen| seen.times == 1) {
                self.seen.remove(&family);
                return;
            }
        }
        let least = self.seen.iter().min_by_key(|(_, seen)| (seen.times, seen.number));
        if let Some(least) = least.map(|(family, _)| family.clone()) {
            self.seen.remove(&least);
        }
    }

    /// Returns the places where failures were seen.
    pub(super) fn failure_places(&self) -> impl Iterator<Item = StepPlace> {
        self.seen.values().flat_map(|seen| {
            let runs = seen.runs.iter().map(|(&trajectory, &step)| StepPlace { trajectory, step });
            seen.places.iter().copied().chain([seen.last]).chain(runs)
        })
    }

    /// Completes the signal of a family's first failure with its count and steps.
    pub(super) fn complete_signal(&self, signal: &mut Signal) {
        let Some(seen) = signal.error_family.as_ref().and_then(|family| self.seen.get(family)) else { return };
        signal.times = seen.times;
        signal.steps = seen.steps_in(signal.trajectory);
    }

    /// Returns one signal for each repeated family, the most frequent first.
    pub(super) fn into_repeated_signals(self) -> Vec<Signal> {
        let mut families: Vec<(ErrorFamily, FamilyRecord)> =
            self.seen.into_iter().filter(|(_, seen)| seen.times >= seen.repeat_threshold()).collect();
        families.sort_by_key(|(_, seen)| (Reverse(seen.times), seen.number));
        families
            .into_iter()
            .map(|(family, seen)| {
                let text = format!("{}: {}", seen.tool, seen.headline);
                let mut signal = new_signal(SignalKind::RepeatedFailure, seen.last, text);
                signal.steps = seen.steps_in(seen.last.trajectory);
                let others = seen.runs.iter().filter(|(trajectory, _)| **trajectory != seen.last.trajectory);
                signal.also = others.map(|(&trajectory, &step)| SignalPlace { trajectory, step }).collect();
                signal.error_family = Some(family);
                signal.error_class = Some(seen.class.as_str().to_owned());
                signal.times = seen.times;
                signal.tool = Some(seen.tool);
                signal.quote = Some(seen.headline);
                signal
            })
            .collect()
    }
}

/// Returns the kind of signal for a single failure.
pub(super) fn signal_kind(failure: &DetectedFailure) -> SignalKind {
    match failure.class {
        FailureClass::Timeout => SignalKind::Timeout,
        FailureClass::RateLimit => SignalKind::RateLimit,
        FailureClass::ContextWindow => SignalKind::ContextWindow,
        _ => SignalKind::FailedCall,
    }
}
