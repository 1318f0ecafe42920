//! The same failure, however often.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

use super::super::failure::{Class, Failure};
use super::super::signal::{SeenAt, Signal, SignalKind};
use super::{Place, signal, steps};
use crate::domain::ErrorFamily;

#[cfg(test)]
#[path = "families_tests.rs"]
mod tests;

/// From how many times on a failure is a repeated one.
const REPEATED: u32 = 3;

/// The same for limits that others set: nobody mends them by trying again.
const REPEATED_LIMIT: u32 = 2;

/// Families remembered. Beyond this the oldest of those seen once are forgotten.
const MAX_FAMILIES: usize = 4096;

/// How many of the places are remembered.
const PLACES: usize = 32;

/// How many trajectories are remembered, each with its first place.
const MAX_TRAJECTORIES: usize = 128;

#[derive(Debug)]
struct Seen {
    /// Rises in the order in which families came.
    number: u64,
    times: u32,
    /// The first few places, and the last.
    places: Vec<Place>,
    last: Place,
    /// The first step in each trajectory.
    runs: BTreeMap<u32, u32>,
    tool: String,
    class: Class,
    headline: String,
}

impl Seen {
    /// The steps of one trajectory in which it was seen.
    fn steps_in(&self, trajectory: u32) -> Vec<u32> {
        let places = self.places.iter().chain([&self.last]);
        steps(places.filter(|at| at.trajectory == trajectory).map(|at| at.step))
    }

    /// How often it must come to be a repeated one.
    fn least(&self) -> u32 {
        match self.class {
            Class::RateLimit | Class::ContextWindow | Class::Timeout => REPEATED_LIMIT,
            _ => REPEATED,
        }
    }
}

/// The families of failures met so far.
#[derive(Debug, Default)]
pub(super) struct Families {
    seen: HashMap<ErrorFamily, Seen>,
    /// Those that were seen once when they were last looked at, oldest first.
    once: VecDeque<ErrorFamily>,
    count: u64,
}

impl Families {
    /// Notes a failure, and says whether it is the first of its family.
    pub(super) fn saw(&mut self, at: Place, tool: &str, failure: &Failure, family: &ErrorFamily) -> bool {
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
            self.forget_one();
        }
        self.count += 1;
        let (tool, headline) = (tool.to_owned(), failure.headline.clone());
        let runs = BTreeMap::from([(at.trajectory, at.step)]);
        let (places, class) = (vec![at], failure.class);
        let seen = Seen { number: self.count, times: 1, places, last: at, runs, tool, class, headline };
        self.seen.insert(family.clone(), seen);
        self.once.push_back(family.clone());
        true
    }

    /// Forgets the family seen least, the oldest of several.
    fn forget_one(&mut self) {
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

    /// Where failures were seen.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.seen.values().flat_map(|seen| {
            let runs = seen.runs.iter().map(|(&trajectory, &step)| Place { trajectory, step });
            seen.places.iter().copied().chain([seen.last]).chain(runs)
        })
    }

    /// Completes the signal of a family's first failure with all the others of it.
    pub(super) fn count(&self, signal: &mut Signal) {
        let Some(seen) = signal.error_family.as_ref().and_then(|family| self.seen.get(family)) else { return };
        signal.times = seen.times;
        signal.steps = seen.steps_in(signal.trajectory);
    }

    /// One signal for each family that came again and again, those that came most often first.
    pub(super) fn repeated(self) -> Vec<Signal> {
        let mut families: Vec<(ErrorFamily, Seen)> =
            self.seen.into_iter().filter(|(_, seen)| seen.times >= seen.least()).collect();
        families.sort_by_key(|(_, seen)| (Reverse(seen.times), seen.number));
        families
            .into_iter()
            .map(|(family, seen)| {
                let text = format!("{}: {}", seen.tool, seen.headline);
                let mut signal = signal(SignalKind::RepeatedFailure, seen.last, text);
                signal.steps = seen.steps_in(seen.last.trajectory);
                let others = seen.runs.iter().filter(|(trajectory, _)| **trajectory != seen.last.trajectory);
                signal.also = others.map(|(&trajectory, &step)| SeenAt { trajectory, step }).collect();
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

/// What a single failure is called.
pub(super) fn kind(failure: &Failure) -> SignalKind {
    match failure.class {
        Class::Timeout => SignalKind::Timeout,
        Class::RateLimit => SignalKind::RateLimit,
        Class::ContextWindow => SignalKind::ContextWindow,
        _ => SignalKind::FailedCall,
    }
}
