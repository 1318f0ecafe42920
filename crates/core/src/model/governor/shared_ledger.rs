//! A spend ledger that machines share: it keeps the same lines as the file ledger, on a server that need not parse
//! them.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;

use super::day_totals::{ChargeEntry, LedgerDay, ReservationEntry, SpendLedgerEntry};
use super::file_ledger::{LedgerError, MAX_LINE_BYTES};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "shared_ledger_tests.rs"]
mod tests;

/// A line and its number; the first of a day is 1, and the numbers have no gaps.
pub type NumberedLine = (u64, String);

/// A call that is about to be made, as a shared ledger stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservedCall {
    /// The time of the reservation.
    pub at: Timestamp,
    /// The project that is charged.
    pub project: String,
    /// The endpoint that is called.
    pub endpoint: String,
    /// The model that is called.
    pub model: String,
    /// The ledger line of the reservation.
    pub line: String,
}

/// The next instruction of a caller that wants to reserve a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerInstruction {
    /// Read the lines from this number on.
    ReadFrom(u64),
    /// Switch to another day, because midnight has passed.
    Day(NaiveDate),
    /// Write this reservation.
    Write(ReservedCall),
    /// Write nothing and stop.
    Leave,
}

/// A callback that decides while nobody else may write. It is called first without lines, then possibly again with
/// lines; its last instruction counts.
pub type Deciding<'d> = dyn Fn(NaiveDate, Option<&[NumberedLine]>) -> LedgerInstruction + Sync + 'd;

/// A ledger that machines share. All methods wait for the network, so they are called only where blocking is allowed.
pub trait SharedLedger: Debug + Send + Sync {
    /// Returns the location of the ledger, for people.
    fn describe_location(&self) -> String;

    /// Returns the read state that everything in this process shares: a day has many lines, and each is read once.
    fn ledger_memo(&self) -> Arc<LedgerMemo>;

    /// Returns every line of a day.
    fn read_day_lines(&self, day: NaiveDate) -> Result<Vec<NumberedLine>, LedgerError>;

    /// Carries out what `decide` returns, and returns once that is on disk. The id makes it one reservation, even if it
    /// has to be written several times. During a decision about a day nobody else writes into it.
    fn reserve_call(&self, id: &str, day: NaiveDate, decide: &Deciding<'_>) -> Result<(), LedgerError>;

    /// Adds the line that charges a reservation, unless it is already charged.
    fn charge_call(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), LedgerError>;
}

/// The shared state of reading a shared ledger.
#[derive(Debug, Default)]
pub struct LedgerMemo(Mutex<SharedReadState>);

/// A shared ledger with its read state.
#[derive(Debug)]
pub(super) struct SharedSpendLedger {
    ledger: Arc<dyn SharedLedger>,
    read: Arc<LedgerMemo>,
}

impl SharedSpendLedger {
    pub(super) fn new(ledger: Arc<dyn SharedLedger>) -> Self {
        Self { read: ledger.ledger_memo(), ledger }
    }

    pub(super) fn describe_location(&self) -> String {
        self.ledger.describe_location()
    }

    /// Returns the totals of a day.
    pub(super) fn read_day(&self, at: Timestamp) -> Result<LedgerDay, LedgerError> {
        read_shared_day(&*self.ledger, at)
    }

    /// Writes a reservation, unless `refusal` returns a reason against it.
    pub(super) fn reserve_call(
        &self,
        clock: &(dyn Fn() -> Timestamp + Sync),
        refusal: &(dyn Fn(Timestamp, &LedgerDay) -> Option<String> + Sync),
        reserve: &(dyn Fn(Timestamp, String) -> ReservationEntry + Sync),
    ) -> Result<Result<(Timestamp, String), String>, LedgerError> {
        let id = fresh_id();
        let outcome = Mutex::new(None);
        let decide = |day: NaiveDate, lines: Option<&[NumberedLine]>| {
            let at = clock();
            if at.date_naive() != day {
                return LedgerInstruction::Day(at.date_naive());
            }
            let mut read = self.lock_read_state();
            let Some(lines) = lines else { return LedgerInstruction::ReadFrom(read.first_line_to_read(day)) };
            if !read.catch_up(day, lines) {
                return LedgerInstruction::ReadFrom(read.first_line_to_read(day));
            }
            let (decided, request) = match refusal(at, &read.day) {
                Some(why) => (Ok(Err(why)), LedgerInstruction::Leave),
                None => match build_reserved_call(reserve(at, id.clone())) {
                    Ok(call) => (Ok(Ok((at, id.clone()))), LedgerInstruction::Write(call)),
                    Err(error) => (Err(error), LedgerInstruction::Leave),
                },
            };
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(decided);
            request
        };
        self.ledger.reserve_call(&id, clock().date_naive(), &decide)?;
        let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.unwrap_or_else(|| Err(LedgerError::Interrupted("nothing was decided".to_owned())))
    }

    /// Adds the line that charges a reservation made at that time.
    pub(super) fn charge_call(&self, at: Timestamp, charge: ChargeEntry) -> Result<(), LedgerError> {
        let id = charge.id.clone();
        self.ledger.charge_call(&id, at.date_naive(), &encode_entry(&SpendLedgerEntry::Charge(charge))?)
    }

    fn lock_read_state(&self) -> MutexGuard<'_, SharedReadState> {
        self.read.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the totals of a day in a shared ledger.
pub(super) fn read_shared_day(ledger: &dyn SharedLedger, at: Timestamp) -> Result<LedgerDay, LedgerError> {
    let mut day = LedgerDay::default();
    ledger.read_day_lines(at.date_naive())?.iter().for_each(|(_, line)| day.read_line(line.as_bytes()));
    Ok(day)
}

/// The position up to which a day was read, and the totals so far.
#[derive(Debug, Default)]
struct SharedReadState {
    date: NaiveDate,
    /// The last line that was read; it must still be there at the next read, or the day is read again.
    last: Option<NumberedLine>,
    day: LedgerDay,
}

impl SharedReadState {
    /// Returns the number of the line from which a day has to be read.
    fn first_line_to_read(&mut self, date: NaiveDate) -> u64 {
        if self.date != date {
            *self = Self { date, ..Self::default() };
        }
        self.last.as_ref().map_or(0, |(number, _)| *number)
    }

    /// Adds the new lines to the totals. Returns false and forgets everything if the lines do not continue what was
    /// read: another server may have taken over that lacks some of it.
    fn catch_up(&mut self, date: NaiveDate, lines: &[NumberedLine]) -> bool {
        let ends_before = |number: u64| lines.last().is_some_and(|(last, _)| *last < number);
        let added = match &self.last {
            _ if self.date != date => None,
            None => Some(lines),
            // Another task in this process has read further meanwhile.
            Some((number, _)) if ends_before(*number) && lines.first().is_some_and(|(first, _)| first < number) => {
                return true;
            }
            Some(last) => {
                let place = lines.iter().position(|line| line == last);
                place.and_then(|place| lines.get(place + 1..))
            }
        };
        let Some(added) = added else {
            *self = Self { date, ..Self::default() };
            return false;
        };
        added.iter().for_each(|(_, line)| self.day.read_line(line.as_bytes()));
        self.last = added.last().cloned().or_else(|| self.last.take());
        true
    }
}

fn build_reserved_call(reserve: ReservationEntry) -> Result<ReservedCall, LedgerError> {
    let (at, project, endpoint, model) =
        (reserve.at, reserve.project.clone(), reserve.endpoint.clone(), reserve.model.clone());
    Ok(ReservedCall { at, project, endpoint, model, line: encode_entry(&SpendLedgerEntry::Reserve(reserve))? })
}

fn encode_entry(entry: &SpendLedgerEntry) -> Result<String, LedgerError> {
    let line = serde_json::to_string(entry).map_err(|error| LedgerError::Interrupted(error.to_string()))?;
    if line.len() >= MAX_LINE_BYTES {
        return Err(LedgerError::LongLine { bytes: line.len() });
    }
    Ok(line)
}

/// Returns an id that is unique across machines.
fn fresh_id() -> String {
    let chance = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", chance(), chance())
}
