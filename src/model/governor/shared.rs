//! A ledger that machines share: the lines that stand in files elsewhere, kept by somebody who need not understand them.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::NaiveDate;

use super::day::{Day, Entry, Reserve, Settle};
use super::ledger::{LedgerError, MAX_LINE_BYTES};
use crate::domain::Timestamp;

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;

/// A line and its number; the first of a day is 1, and none is left out.
pub type NumberedLine = (u64, String);

/// A call that is about to be made, as a shared ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReservedCall {
    /// When.
    pub at: Timestamp,
    /// For which project.
    pub project: String,
    /// Where.
    pub endpoint: String,
    /// Who is asked.
    pub model: String,
    /// The line that says so.
    pub line: String,
}

/// What whoever wants to reserve says next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// To read the lines from this number on.
    ReadFrom(u64),
    /// To have the account of another day: midnight went by.
    Day(NaiveDate),
    /// To write this.
    Write(ReservedCall),
    /// To write nothing.
    Leave,
}

/// Decides while nobody else may write. Asked first without lines, and perhaps again with others; the last word counts.
pub type Deciding<'d> = dyn Fn(NaiveDate, Option<&[NumberedLine]>) -> Wish + Sync + 'd;

/// A ledger that machines share. All of it waits for the network, so it is asked where waiting is allowed.
pub trait SharedLedger: Debug + Send + Sync {
    /// Where it is, for people.
    fn place(&self) -> String;

    /// What everybody in this process has read of it together: a day has many lines, and each is read once.
    fn memo(&self) -> Arc<LedgerMemo>;

    /// Every line of a day.
    fn lines(&self, day: NaiveDate) -> Result<Vec<NumberedLine>, LedgerError>;

    /// Carries out what is decided, and returns once that is on disk. The id makes it one reservation, however often it
    /// has to be written. While one decides about a day, nobody else writes into it.
    fn reserve(&self, id: &str, day: NaiveDate, decide: &Deciding<'_>) -> Result<(), LedgerError>;

    /// Adds the line that settles a reservation, unless it is settled.
    fn settle(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), LedgerError>;
}

/// What was read of a shared ledger.
#[derive(Debug, Default)]
pub struct LedgerMemo(Mutex<Reading>);

/// A shared ledger, and what was read of it.
#[derive(Debug)]
pub(super) struct Shared {
    ledger: Arc<dyn SharedLedger>,
    read: Arc<LedgerMemo>,
}

impl Shared {
    pub(super) fn new(ledger: Arc<dyn SharedLedger>) -> Self {
        Self { read: ledger.memo(), ledger }
    }

    pub(super) fn place(&self) -> String {
        self.ledger.place()
    }

    /// What a day comes to.
    pub(super) fn look(&self, at: Timestamp) -> Result<Day, LedgerError> {
        look(&*self.ledger, at)
    }

    /// Writes a reservation down, unless `refusal` says why not.
    pub(super) fn reserve(
        &self,
        clock: &(dyn Fn() -> Timestamp + Sync),
        refusal: &(dyn Fn(Timestamp, &Day) -> Option<String> + Sync),
        reserve: &(dyn Fn(Timestamp, String) -> Reserve + Sync),
    ) -> Result<Result<(Timestamp, String), String>, LedgerError> {
        let id = fresh_id();
        let outcome = Mutex::new(None);
        let decide = |day: NaiveDate, lines: Option<&[NumberedLine]>| {
            let at = clock();
            if at.date_naive() != day {
                return Wish::Day(at.date_naive());
            }
            let mut read = self.read();
            let Some(lines) = lines else { return Wish::ReadFrom(read.begin(day)) };
            if !read.catch_up(day, lines) {
                return Wish::ReadFrom(read.begin(day));
            }
            let (decided, wish) = match refusal(at, &read.day) {
                Some(why) => (Ok(Err(why)), Wish::Leave),
                None => match call(reserve(at, id.clone())) {
                    Ok(call) => (Ok(Ok((at, id.clone()))), Wish::Write(call)),
                    Err(error) => (Err(error), Wish::Leave),
                },
            };
            *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(decided);
            wish
        };
        self.ledger.reserve(&id, clock().date_naive(), &decide)?;
        let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.unwrap_or_else(|| Err(LedgerError::Interrupted("nothing was decided".to_owned())))
    }

    /// Adds the line that settles a reservation of that moment.
    pub(super) fn settle(&self, at: Timestamp, settle: Settle) -> Result<(), LedgerError> {
        let id = settle.id.clone();
        self.ledger.settle(&id, at.date_naive(), &written(&Entry::Settle(settle))?)
    }

    fn read(&self) -> MutexGuard<'_, Reading> {
        self.read.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a day comes to in a shared ledger.
pub(super) fn look(ledger: &dyn SharedLedger, at: Timestamp) -> Result<Day, LedgerError> {
    let mut day = Day::default();
    ledger.lines(at.date_naive())?.iter().for_each(|(_, line)| day.read(line.as_bytes()));
    Ok(day)
}

/// How far a day was read, and what it came to.
#[derive(Debug, Default)]
struct Reading {
    date: NaiveDate,
    /// The last line that was read: it must be there the next time, or the rest is not what it was.
    last: Option<NumberedLine>,
    day: Day,
}

impl Reading {
    /// From which number on the lines of a day are to be read.
    fn begin(&mut self, date: NaiveDate) -> u64 {
        if self.date != date {
            *self = Self { date, ..Self::default() };
        }
        self.last.as_ref().map_or(0, |(number, _)| *number)
    }

    /// Takes in what was added. False, and nothing is known, where the lines do not go on from what was read: another
    /// server may have taken over that lacks some of it.
    fn catch_up(&mut self, date: NaiveDate, lines: &[NumberedLine]) -> bool {
        let ends_before = |number: u64| lines.last().is_some_and(|(last, _)| *last < number);
        let added = match &self.last {
            _ if self.date != date => None,
            None => Some(lines),
            // Somebody else in this process has read further meanwhile.
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
        added.iter().for_each(|(_, line)| self.day.read(line.as_bytes()));
        self.last = added.last().cloned().or_else(|| self.last.take());
        true
    }
}

fn call(reserve: Reserve) -> Result<ReservedCall, LedgerError> {
    let (at, project, endpoint, model) =
        (reserve.at, reserve.project.clone(), reserve.endpoint.clone(), reserve.model.clone());
    Ok(ReservedCall { at, project, endpoint, model, line: written(&Entry::Reserve(reserve))? })
}

fn written(entry: &Entry) -> Result<String, LedgerError> {
    let line = serde_json::to_string(entry).map_err(|error| LedgerError::Interrupted(error.to_string()))?;
    if line.len() >= MAX_LINE_BYTES {
        return Err(LedgerError::LongLine { bytes: line.len() });
    }
    Ok(line)
}

/// An id that nothing else has, on whatever machine.
fn fresh_id() -> String {
    let chance = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", chance(), chance())
}
