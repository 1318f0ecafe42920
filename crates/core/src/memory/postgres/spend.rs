//! The shared spend ledger: the cost of model calls, recorded by all machines in one table.
//!
//! Each day is an account. Writing to it locks its row, so that nobody else writes between a read and the write that
//! depends on it. The content of the lines is opaque here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, NaiveDate, Utc};
use deadpool_postgres::{GenericClient, Transaction};
use futures_util::FutureExt;

use super::database_error::PostgresFailure;
use super::server::{DURABLY, PostgresServer, ServerRole};
use crate::memory::MemoryError;

/// The number of lines that are read at once.
const AT_ONCE: i64 = 10_000;

/// The most rounds of reading before a decision must be made.
const MAX_LOOKS: u32 = 8;

/// The accounts of all banks, and the bank on whose behalf lines are added.
#[derive(Debug, Clone)]
pub struct SpendTable {
    server: Arc<PostgresServer>,
    bank: Arc<str>,
}

/// A line and its number; the first of a day is 1, and none is left out.
pub type Line = (u64, String);

/// A reservation for a model call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendReservation {
    /// The time of the call.
    pub at: DateTime<Utc>,
    /// The project it is for.
    pub project: String,
    /// The endpoint that is called.
    pub endpoint: String,
    /// The model that is called.
    pub model: String,
    /// The ledger line of the reservation.
    pub line: String,
}

/// The next step in deciding about a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReservationDecision {
    /// Read the lines from this number on.
    ReadFrom(u64),
    /// Switch to this day's account.
    Day(NaiveDate),
    /// Write this reservation.
    Write(SpendReservation),
    /// Write nothing at all.
    Leave,
}

impl SpendTable {
    /// Creates the table handle. Connects only when it is used.
    pub fn new(server: Arc<PostgresServer>, bank: &str) -> Self {
        Self { server, bank: bank.into() }
    }

    /// Returns where the lines are stored, for display.
    pub fn display_address(&self) -> String {
        format!("archivist.spend at {}", self.server.display_address())
    }

    /// Returns all lines of a day.
    pub async fn read_day_lines(&self, day: NaiveDate) -> Result<Vec<Line>, MemoryError> {
        let read = || {
            async move {
                let client = self.server.read_connection(ServerRole::Writer).await?;
                read_lines_from(&client, day, 0).await
            }
            .boxed()
        };
        self.server.run_with_retries("read what models cost", read).await
    }

    /// Lets `decide` choose about a reservation while the account of the day is locked, and writes what it chooses. The
    /// unique `id` makes it one reservation, however often the connection breaks. `decide` may be called more than
    /// once, first without any lines.
    pub async fn reserve_spend(
        &self,
        id: &str,
        day: NaiveDate,
        decide: &(dyn Fn(NaiveDate, Option<&[Line]>) -> ReservationDecision + Sync),
    ) -> Result<(), MemoryError> {
        let is_again = AtomicBool::new(false);
        let reserve = || {
            async {
                let is_again = is_again.swap(true, Ordering::Relaxed);
                let mut day = day;
                while let Some(other) = self.try_reserve_spend(id, day, is_again, decide).await? {
                    day = other;
                }
                Ok(())
            }
            .boxed()
        };
        self.server.run_with_retries("write down what a call may cost", reserve).await
    }

    /// Tries to reserve on one day; returns the other day if `decide` switches to one.
    async fn try_reserve_spend(
        &self,
        id: &str,
        day: NaiveDate,
        is_again: bool,
        decide: &(dyn Fn(NaiveDate, Option<&[Line]>) -> ReservationDecision + Sync),
    ) -> Result<Option<NaiveDate>, PostgresFailure> {
        let mut client = self.server.write_connection().await?;
        let bank = self.server.ensure_bank(&client, &self.bank).await?;
        // Long reads happen before the lock, so that others do not wait; newer lines are read under the lock.
        if let ReservationDecision::ReadFrom(number) = decide(day, None) {
            decide(day, Some(&read_lines_from(&client, day, number).await?));
        }
        let transaction = client.transaction().await?;
        lock_day(&transaction, day).await?;
        // It may have been written when the connection broke. Only under the lock is that certain.
        if is_again && is_reserved(&transaction, bank, id).await? {
            return Ok(None);
        }
        let mut lines = None;
        for _ in 0..MAX_LOOKS {
            match decide(day, lines.as_deref()) {
                ReservationDecision::ReadFrom(number) => {
                    lines = Some(read_lines_from(&transaction, day, number).await?);
                }
                ReservationDecision::Day(other) if other != day => return Ok(Some(other)),
                ReservationDecision::Day(_) | ReservationDecision::Leave => return Ok(None),
                ReservationDecision::Write(reservation) => {
                    insert_reservation(&transaction, bank, id, day, &reservation).await?;
                    transaction.commit().await?;
                    return Ok(None);
                }
            }
        }
        Err(MemoryError::Interrupted("what models cost was read again and again".to_owned()).into())
    }

    /// Records the actual cost of a call. A call that is already charged stays as it is.
    pub async fn charge_call(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), MemoryError> {
        self.server
            .run_with_retries("write down what a call did cost", || self.try_charge_call(id, day, line).boxed())
            .await
    }

    async fn try_charge_call(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), PostgresFailure> {
        let mut client = self.server.write_connection().await?;
        let bank = self.server.ensure_bank(&client, &self.bank).await?;
        let transaction = client.transaction().await?;
        lock_day(&transaction, day).await?;
        let charge = transaction.prepare_cached(CHARGE).await?;
        transaction.execute(&charge, &[&bank, &id, &day, &line]).await?;
        Ok(transaction.commit().await?)
    }
}

const RESERVE: &str = "
    WITH counted AS (UPDATE archivist.spend_days SET last = last + 1 WHERE day = $3 RETURNING last)
    INSERT INTO archivist.spend (bank, id, day, at, project, endpoint, model, reserved, reserved_as)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, last FROM counted";

const CHARGE: &str = "
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
async fn lock_day(client: &impl GenericClient, day: NaiveDate) -> Result<(), PostgresFailure> {
    let lock = format!("SELECT {DURABLY} FROM archivist.spend_days WHERE day = $1 FOR UPDATE");
    let lock = client.prepare_cached(&lock).await?;
    if client.query_opt(&lock, &[&day]).await?.is_none() {
        let insert = "INSERT INTO archivist.spend_days (day) VALUES ($1) ON CONFLICT (day) DO NOTHING";
        client.execute(insert, &[&day]).await?;
        client.query_one(&lock, &[&day]).await?;
    }
    Ok(())
}

async fn is_reserved(client: &impl GenericClient, bank: i64, id: &str) -> Result<bool, PostgresFailure> {
    let select = client.prepare_cached("SELECT 1 FROM archivist.spend WHERE bank = $1 AND id = $2").await?;
    Ok(client.query_opt(&select, &[&bank, &id]).await?.is_some())
}

async fn insert_reservation(
    transaction: &Transaction<'_>,
    bank: i64,
    id: &str,
    day: NaiveDate,
    reservation: &SpendReservation,
) -> Result<(), PostgresFailure> {
    let SpendReservation { at, project, endpoint, model, line } = reservation;
    // The line is what counts; these columns are for people, and the server accepts no zero bytes.
    let plain = |text: &str| text.replace('\0', "");
    let (project, endpoint, model) = (plain(project), plain(endpoint), plain(model));
    let insert = transaction.prepare_cached(RESERVE).await?;
    transaction.execute(&insert, &[&bank, &id, &day, at, &project, &endpoint, &model, line]).await?;
    Ok(())
}

/// Reads the lines of a day from a number on.
async fn read_lines_from(
    client: &impl GenericClient,
    day: NaiveDate,
    number: u64,
) -> Result<Vec<Line>, PostgresFailure> {
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
