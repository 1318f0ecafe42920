//! Where spend is written down: in files of this machine, or in one place for all.

use super::day::{Day, Entry, Reserve, Settle};
use super::ledger::{Durability, Ledger, LedgerError};
use super::shared::Shared;
use crate::domain::Timestamp;

/// Where spend is written down.
#[derive(Debug)]
pub(super) enum Books {
    /// By the processes of one machine.
    Files(Box<Ledger>),
    /// By all machines.
    Shared(Shared),
}

impl Books {
    /// Where the account of a moment's day is, for people.
    pub(super) fn place(&self, at: Timestamp) -> String {
        match self {
            Self::Files(ledger) => ledger.path(at).display().to_string(),
            Self::Shared(shared) => shared.place(),
        }
    }

    /// What a day comes to, as far as it is written.
    pub(super) fn look(&self, at: Timestamp) -> Result<Day, LedgerError> {
        match self {
            Self::Files(ledger) => ledger.look(at),
            Self::Shared(shared) => shared.look(at),
        }
    }

    /// Writes a reservation down, unless `refusal` says of the day why not: when and under which id, or that refusal.
    /// Nobody else may reserve from what the refusal is shown until it is on disk. What time it is, is asked only then.
    pub(super) fn reserve(
        &self,
        clock: &(dyn Fn() -> Timestamp + Send + Sync),
        refusal: &(dyn Fn(Timestamp, &Day) -> Option<String> + Sync),
        reserve: &(dyn Fn(Timestamp, String) -> Reserve + Sync),
    ) -> Result<Result<(Timestamp, String), String>, LedgerError> {
        let ledger = match self {
            Self::Shared(shared) => return shared.reserve(&clock, refusal, reserve),
            Self::Files(ledger) => ledger,
        };
        let mut book = ledger.open(clock)?;
        let at = book.at();
        if let Some(why) = refusal(at, book.day()?) {
            return Ok(Err(why));
        }
        let id = book.fresh_id()?;
        book.append(&Entry::Reserve(reserve(at, id.clone())), Durability::Now)?;
        Ok(Ok((at, id)))
    }

    /// Writes down what a call did cost that was reserved at that moment.
    pub(super) fn settle(&self, at: Timestamp, settle: Settle) -> Result<(), LedgerError> {
        match self {
            Self::Files(ledger) => ledger.open(|| at)?.append(&Entry::Settle(settle), Durability::Later),
            Self::Shared(shared) => shared.settle(at, settle),
        }
    }
}
