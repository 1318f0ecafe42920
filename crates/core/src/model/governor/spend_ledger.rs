//! The spend ledger: files of this machine, or one ledger that machines share.

use super::day_totals::{ChargeEntry, LedgerDay, ReservationEntry, SpendLedgerEntry};
use super::file_ledger::{FileLedger, LedgerError, WriteDurability};
use super::shared_ledger::SharedSpendLedger;
use crate::domain::Timestamp;

/// The ledger in which spend is recorded.
#[derive(Debug)]
pub(super) enum SpendLedger {
    /// A ledger in files, shared by the processes of one machine.
    Files(Box<FileLedger>),
    /// A ledger on a server, shared by all machines.
    Shared(SharedSpendLedger),
}

impl SpendLedger {
    /// Returns the location of the ledger for the day of `at`, for people.
    pub(super) fn describe_location(&self, at: Timestamp) -> String {
        match self {
            Self::Files(ledger) => ledger.day_path(at).display().to_string(),
            Self::Shared(shared) => shared.describe_location(),
        }
    }

    /// Returns the totals of a day, as far as they are written.
    pub(super) fn read_day(&self, at: Timestamp) -> Result<LedgerDay, LedgerError> {
        match self {
            Self::Files(ledger) => ledger.read_day(at),
            Self::Shared(shared) => shared.read_day(at),
        }
    }

    /// Writes a reservation, unless `refusal` returns a reason against it for the day. Returns the time and the id of
    /// the reservation, or that reason. Nobody else can reserve between the check and the write. The clock is read only
    /// once the ledger is locked.
    pub(super) fn reserve_call(
        &self,
        clock: &(dyn Fn() -> Timestamp + Send + Sync),
        refusal: &(dyn Fn(Timestamp, &LedgerDay) -> Option<String> + Sync),
        reserve: &(dyn Fn(Timestamp, String) -> ReservationEntry + Sync),
    ) -> Result<Result<(Timestamp, String), String>, LedgerError> {
        let ledger = match self {
            Self::Shared(shared) => return shared.reserve_call(&clock, refusal, reserve),
            Self::Files(ledger) => ledger,
        };
        let mut book = ledger.open_day(clock)?;
        let at = book.opened_at();
        if let Some(why) = refusal(at, book.read_day()?) {
            return Ok(Err(why));
        }
        let id = book.fresh_id()?;
        book.append_entry(&SpendLedgerEntry::Reserve(reserve(at, id.clone())), WriteDurability::Now)?;
        Ok(Ok((at, id)))
    }

    /// Writes the actual cost of a call that was reserved at that time.
    pub(super) fn charge_call(&self, at: Timestamp, charge: ChargeEntry) -> Result<(), LedgerError> {
        match self {
            Self::Files(ledger) => {
                ledger.open_day(|| at)?.append_entry(&SpendLedgerEntry::Charge(charge), WriteDurability::Later)
            }
            Self::Shared(shared) => shared.charge_call(at, charge),
        }
    }
}
