//! What models cost, written down by everybody in one place.
//!
//! A day is an account. Whoever writes into it locks its row, so that between what somebody read and what they wrote
//! because of it nobody else wrote. What stands in the lines is none of this file's business.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, NaiveDate, Utc};
use deadpool_postgres::{GenericClient, Transaction};
use futures_util::FutureExt;

use super::server::{DURABLY, Role, Server};
use super::trouble::Trouble;
use crate::memory::MemoryError;

/// So many lines are read at once.
const AT_ONCE: i64 = 10_000;

/// So often somebody may want to read anew before they decide.
const MAX_LOOKS: u32 = 8;

/// The accounts of all banks, and the bank in whose name lines are added.
#[derive(Debug, Clone)]
pub struct SpendLines {
    server: Arc<Server>,
    bank: Arc<str>,
}

/// A line and its number; the first of a day is 1, and none is left out.
pub type Line = (u64, String);

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// When.
    pub at: DateTime<Utc>,
    /// For which project.
    pub project: String,
    /// Where.
    pub endpoint: String,
    /// Who is asked.
    pub model: String,
    /// The line that says so.
    pub line: String,
}

/// What somebody wants whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The lines from this number on.
    ReadFrom(u64),
    /// It is another day by now.
    Day(NaiveDate),
    /// To write this.
    Write(Reservation),
    /// To write nothing.
    Leave,
}

impl SpendLines {
    /// Nothing is asked yet.
    pub fn new(server: Arc<Server>, bank: &str) -> Self {
        Self { server, bank: bank.into() }
    }

    /// Where the lines are, for people.
    pub fn place(&self) -> String {
        format!("archivist.spend at {}", self.server.place())
    }

    /// Everything that was written on a day.
    pub async fn lines(&self, day: NaiveDate) -> Result<Vec<Line>, MemoryError> {
        let read = || {
            async move {
                let client = self.server.reading(Role::Writer).await?;
                lines_from(&client, day, 0).await
            }
            .boxed()
        };
        self.server.persist("read what models cost", read).await
    }

    /// Lets somebody decide about a reservation while nobody else writes into the account of the day, and writes down
    /// what they decide. An id that nothing else has makes it one reservation, however often the connection breaks over
    /// it. They may be asked more than once, first without any lines.
    pub async fn reserve(
        &self,
        id: &str,
        day: NaiveDate,
        decide: &(dyn Fn(NaiveDate, Option<&[Line]>) -> Verdict + Sync),
    ) -> Result<(), MemoryError> {
        let is_again = AtomicBool::new(false);
        let reserve = || {
            async {
                let is_again = is_again.swap(true, Ordering::Relaxed);
                let mut day = day;
                while let Some(other) = self.try_reserve(id, day, is_again, decide).await? {
                    day = other;
                }
                Ok(())
            }
            .boxed()
        };
        self.server.persist("write down what a call may cost", reserve).await
    }

    /// Says which other day it is, where it is one.
    async fn try_reserve(
        &self,
        id: &str,
        day: NaiveDate,
        is_again: bool,
        decide: &(dyn Fn(NaiveDate, Option<&[Line]>) -> Verdict + Sync),
    ) -> Result<Option<NaiveDate>, Trouble> {
        let mut client = self.server.writing().await?;
        let bank = self.server.make_bank(&client, &self.bank).await?;
        // Whoever has much to read reads it before others have to wait; what comes meanwhile is read behind the lock.
        if let Verdict::ReadFrom(number) = decide(day, None) {
            decide(day, Some(&lines_from(&client, day, number).await?));
        }
        let transaction = client.transaction().await?;
        locked(&transaction, day).await?;
        // It may have been written when the connection broke. Only behind the lock that is certain.
        if is_again && is_reserved(&transaction, bank, id).await? {
            return Ok(None);
        }
        let mut lines = None;
        for _ in 0..MAX_LOOKS {
            match decide(day, lines.as_deref()) {
                Verdict::ReadFrom(number) => lines = Some(lines_from(&transaction, day, number).await?),
                Verdict::Day(other) if other != day => return Ok(Some(other)),
                Verdict::Day(_) | Verdict::Leave => return Ok(None),
                Verdict::Write(reservation) => {
                    write(&transaction, bank, id, day, &reservation).await?;
                    transaction.commit().await?;
                    return Ok(None);
                }
            }
        }
        Err(MemoryError::Interrupted("what models cost was read again and again".to_owned()).into())
    }

    /// Writes down what a call did cost. What is settled stays as it is.
    pub async fn settle(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), MemoryError> {
        self.server.persist("write down what a call did cost", || self.try_settle(id, day, line).boxed()).await
    }

    async fn try_settle(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), Trouble> {
        let mut client = self.server.writing().await?;
        let bank = self.server.make_bank(&client, &self.bank).await?;
        let transaction = client.transaction().await?;
        locked(&transaction, day).await?;
        let settle = transaction.prepare_cached(SETTLE).await?;
        transaction.execute(&settle, &[&bank, &id, &day, &line]).await?;
        Ok(transaction.commit().await?)
    }
}

const RESERVE: &str = "
    WITH counted AS (UPDATE archivist.spend_days SET last = last + 1 WHERE day = $3 RETURNING last)
    INSERT INTO archivist.spend (bank, id, day, at, project, endpoint, model, reserved, reserved_as)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, last FROM counted";

const SETTLE: &str = "
    WITH settled AS (
        UPDATE archivist.spend SET settled = $4, settled_as = (SELECT last + 1 FROM archivist.spend_days WHERE day = $3)
        WHERE bank = $1 AND id = $2 AND day = $3 AND settled IS NULL RETURNING 1
    )
    UPDATE archivist.spend_days SET last = last + 1 WHERE day = $3 AND EXISTS (SELECT 1 FROM settled)";

const LINES: &str = "
    SELECT number, line FROM (
        (SELECT reserved_as AS number, reserved AS line FROM archivist.spend
         WHERE day = $1 AND reserved_as >= $2 ORDER BY reserved_as LIMIT $3)
        UNION ALL
        (SELECT settled_as, settled FROM archivist.spend
         WHERE day = $1 AND settled_as IS NOT NULL AND settled_as >= $2 ORDER BY settled_as LIMIT $3)
    ) lines ORDER BY number LIMIT $3";

/// Locks the account of a day until the transaction ends.
async fn locked(client: &impl GenericClient, day: NaiveDate) -> Result<(), Trouble> {
    let lock = format!("SELECT {DURABLY} FROM archivist.spend_days WHERE day = $1 FOR UPDATE");
    let lock = client.prepare_cached(&lock).await?;
    if client.query_opt(&lock, &[&day]).await?.is_none() {
        let insert = "INSERT INTO archivist.spend_days (day) VALUES ($1) ON CONFLICT (day) DO NOTHING";
        client.execute(insert, &[&day]).await?;
        client.query_one(&lock, &[&day]).await?;
    }
    Ok(())
}

async fn is_reserved(client: &impl GenericClient, bank: i64, id: &str) -> Result<bool, Trouble> {
    let select = client.prepare_cached("SELECT 1 FROM archivist.spend WHERE bank = $1 AND id = $2").await?;
    Ok(client.query_opt(&select, &[&bank, &id]).await?.is_some())
}

async fn write(
    transaction: &Transaction<'_>,
    bank: i64,
    id: &str,
    day: NaiveDate,
    reservation: &Reservation,
) -> Result<(), Trouble> {
    let Reservation { at, project, endpoint, model, line } = reservation;
    // The line says what counts; these are for people who ask the server, and it takes no text with a nought in it.
    let plain = |text: &str| text.replace('\0', "");
    let (project, endpoint, model) = (plain(project), plain(endpoint), plain(model));
    let insert = transaction.prepare_cached(RESERVE).await?;
    transaction.execute(&insert, &[&bank, &id, &day, at, &project, &endpoint, &model, line]).await?;
    Ok(())
}

/// The lines of a day from a number on.
async fn lines_from(client: &impl GenericClient, day: NaiveDate, number: u64) -> Result<Vec<Line>, Trouble> {
    let select = client.prepare_cached(LINES).await?;
    let mut from = i64::try_from(number).unwrap_or(i64::MAX);
    let mut lines = Vec::new();
    loop {
        let rows = client.query(&select, &[&day, &from, &AT_ONCE]).await?;
        for row in &rows {
            let number: i64 = row.try_get(0)?;
            from = number.saturating_add(1);
            lines.push((u64::try_from(number).unwrap_or_default(), row.try_get(1)?));
        }
        if i64::try_from(rows.len()).unwrap_or(i64::MAX) < AT_ONCE {
            return Ok(lines);
        }
    }
}
