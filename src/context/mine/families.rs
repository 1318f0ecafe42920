//! The same failure, however often.

use std::collections::HashMap;

use super::super::failure::{Class, Failure};
use super::super::signal::{Signal, SignalKind};
use super::{Place, signal, steps};
use crate::domain::ErrorFamily;

/// From how many times on a failure is a repeated one.
const REPEATED: u32 = 3;

/// More families than this are no families.
const MAX_FAMILIES: usize = 4096;

/// How many of the places are remembered.
const PLACES: usize = 8;

#[derive(Debug)]
struct Seen {
    times: u32,
    /// The first few places, and the last.
    places: Vec<Place>,
    last: Place,
    tool: String,
    headline: String,
}

/// Every family of failures met so far.
#[derive(Debug, Default)]
pub(super) struct Families {
    seen: HashMap<ErrorFamily, Seen>,
    /// In the order in which they came.
    order: Vec<ErrorFamily>,
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
            return false;
        }
        if self.seen.len() >= MAX_FAMILIES {
            return false;
        }
        let seen =
            Seen { times: 1, places: vec![at], last: at, tool: tool.to_owned(), headline: failure.headline.clone() };
        self.seen.insert(family.clone(), seen);
        self.order.push(family.clone());
        true
    }

    /// Where failures were seen.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.seen.values().flat_map(|seen| seen.places.iter().copied().chain([seen.last]))
    }

    /// One signal for each family that came again and again.
    pub(super) fn repeated(self) -> Vec<Signal> {
        let Self { mut seen, order } = self;
        let families = order.into_iter().filter_map(|family| seen.remove(&family).map(|seen| (family, seen)));
        families
            .filter(|(_, seen)| seen.times >= REPEATED)
            .map(|(family, seen)| {
                let text = format!("{}: {}", seen.tool, seen.headline);
                let mut signal = signal(SignalKind::RepeatedFailure, seen.last, text);
                signal.steps = steps(
                    seen.places
                        .iter()
                        .chain([&seen.last])
                        .filter(|at| at.trajectory == seen.last.trajectory)
                        .map(|at| at.step),
                );
                signal.error_family = Some(family);
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
