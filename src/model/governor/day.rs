//! The lines of one day, and what they add up to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::bill::is_too_much;
use super::money::{Amount, Sum, Tokens};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "day_tests.rs"]
mod tests;

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum Entry {
    /// A call is about to be made, and may take this much.
    Reserve(Reserve),
    /// It came back, and took this much.
    Settle(Settle),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Reserve {
    /// Of the call; no other line of the day has it but the one that settles it.
    pub(super) id: String,
    pub(super) at: Timestamp,
    pub(super) project: String,
    pub(super) endpoint: String,
    pub(super) model: String,
    #[serde(flatten)]
    pub(super) amount: Amount,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Settle {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) amount: Amount,
    /// What the endpoint says it was, where that is not what counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claimed: Option<Tokens>,
}

/// What was spent or reserved in a day. Whatever is wrong with a line, it never makes this less.
#[derive(Debug, Default)]
pub(super) struct Day {
    /// How many calls were made.
    pub(super) calls: u64,
    /// By everybody.
    pub(super) total: Sum,
    /// How many lines could not be read.
    pub(super) broken: u64,
    projects: BTreeMap<String, Sum>,
    /// Settled without having been reserved: the other line is broken. It may have been anybody's, so all bear it.
    stray: Sum,
    open: BTreeMap<String, Reserve>,
    /// Endpoint and model of those who claimed too much.
    greedy: BTreeSet<(String, String)>,
}

impl Day {
    /// Takes in one line.
    pub(super) fn read(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(Entry::Reserve(reserve)) => self.reserve(reserve),
            Ok(Entry::Settle(settle)) => self.settle(&settle),
            Err(_) => self.broken += 1,
        }
    }

    /// What one project has spent or reserved.
    pub(super) fn project(&self, project: &str) -> Sum {
        self.projects.get(project).copied().unwrap_or_default().plus(&self.stray)
    }

    /// Whether this model has claimed more than it was sent.
    pub(super) fn is_greedy(&self, endpoint: &str, model: &str) -> bool {
        self.greedy.iter().any(|(e, m)| e == endpoint && m == model)
    }

    fn reserve(&mut self, reserve: Reserve) {
        self.calls += 1;
        self.total.add(&reserve.amount);
        self.projects.entry(reserve.project.clone()).or_default().add(&reserve.amount);
        // If an id comes twice, the first call is never settled.
        self.open.insert(reserve.id.clone(), reserve);
    }

    fn settle(&mut self, settle: &Settle) {
        self.total.add(&settle.amount);
        let Some(reserve) = self.open.remove(&settle.id) else {
            self.stray.add(&settle.amount);
            return;
        };
        self.total.remove(&reserve.amount);
        let project = self.projects.entry(reserve.project).or_default();
        project.remove(&reserve.amount);
        project.add(&settle.amount);
        let Amount { prompt_tokens: prompt, completion_tokens: completion, .. } = reserve.amount;
        if settle.claimed.is_some_and(|claimed| is_too_much(&claimed, &Tokens { prompt, completion })) {
            self.greedy.insert((reserve.endpoint, reserve.model));
        }
    }
}
