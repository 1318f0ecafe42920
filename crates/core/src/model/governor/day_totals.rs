//! The entries of one day in the ledger, and their totals.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::call_cost::exceeds_maximum;
use super::money::{CallAmount, CallTokens, SpendTotal};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "day_totals_tests.rs"]
mod tests;

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub(super) enum SpendLedgerEntry {
    /// A call is about to be made and may take this much.
    Reserve(ReservationEntry),
    /// A call has returned and took this much. Its name in the ledger is older than this one.
    #[serde(rename = "settle")]
    Charge(ChargeEntry),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReservationEntry {
    /// The id of the call; on the same day, only the charge of the same call has it too.
    pub(super) id: String,
    pub(super) at: Timestamp,
    pub(super) project: String,
    pub(super) endpoint: String,
    pub(super) model: String,
    #[serde(flatten)]
    pub(super) amount: CallAmount,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChargeEntry {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) amount: CallAmount,
    /// The tokens that the endpoint reports, if something else was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) claimed: Option<CallTokens>,
}

/// The amounts spent or reserved in a day. A broken line never makes them smaller.
#[derive(Debug, Default)]
pub(super) struct LedgerDay {
    /// The number of calls made.
    pub(super) calls: u64,
    /// The amount of all projects.
    pub(super) total: SpendTotal,
    /// The number of lines that could not be read.
    pub(super) broken: u64,
    projects: BTreeMap<String, SpendTotal>,
    /// The charges without a reservation, because its line is broken. They may belong to any project, so they count for
    /// all.
    stray: SpendTotal,
    open: BTreeMap<String, ReservationEntry>,
    /// The endpoint and model of those that claimed too much.
    greedy: BTreeSet<(String, String)>,
}

impl LedgerDay {
    /// Adds one line to the totals.
    pub(super) fn read_line(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(SpendLedgerEntry::Reserve(reserve)) => self.apply_reservation(reserve),
            Ok(SpendLedgerEntry::Charge(charge)) => self.apply_charge(&charge),
            Err(_) => self.broken += 1,
        }
    }

    /// Returns the amount that one project has spent or reserved.
    pub(super) fn project_total(&self, project: &str) -> SpendTotal {
        self.projects.get(project).copied().unwrap_or_default().combined_with(&self.stray)
    }

    /// Returns true if this model has claimed more tokens than a call could take.
    pub(super) fn has_overcharged(&self, endpoint: &str, model: &str) -> bool {
        self.greedy.iter().any(|(e, m)| e == endpoint && m == model)
    }

    fn apply_reservation(&mut self, reserve: ReservationEntry) {
        self.calls += 1;
        self.total.add_amount(&reserve.amount);
        self.projects.entry(reserve.project.clone()).or_default().add_amount(&reserve.amount);
        // If an id comes twice, the first call is never charged.
        self.open.insert(reserve.id.clone(), reserve);
    }

    fn apply_charge(&mut self, charge: &ChargeEntry) {
        self.total.add_amount(&charge.amount);
        let Some(reserve) = self.open.remove(&charge.id) else {
            self.stray.add_amount(&charge.amount);
            return;
        };
        self.total.remove_amount(&reserve.amount);
        let project = self.projects.entry(reserve.project).or_default();
        project.remove_amount(&reserve.amount);
        project.add_amount(&charge.amount);
        let CallAmount { prompt_tokens: prompt, completion_tokens: completion, .. } = reserve.amount;
        if charge.claimed.is_some_and(|claimed| exceeds_maximum(&claimed, &CallTokens { prompt, completion })) {
            self.greedy.insert((reserve.endpoint, reserve.model));
        }
    }
}
