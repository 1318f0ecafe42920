//! Looking at jobs without taking any, and forgetting those that are long done.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::FutureExt;

use super::{JobPlace, JobTable, Scope, seconds};
use crate::memory::MemoryError;
use crate::memory::postgres::server::Role;
use crate::memory::postgres::trouble::Trouble;

/// The most jobs that are listed: what is to be done first, then what was done last.
const LISTED: i64 = 10_000;

/// So many finished jobs are forgotten at once, and so often in a row: others write meanwhile.
const PIECE: i64 = 1000;
const PIECES: u32 = 100;

/// A job as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub place: JobPlace,
    /// How urgent it is by now.
    pub urgency: i16,
    /// What is to be done.
    pub record: String,
    /// What was last said of it.
    pub note: Option<String>,
    /// Nobody takes it before this moment.
    pub not_before: Option<DateTime<Utc>>,
    /// Who has it.
    pub worker: Option<String>,
    /// Whether its worker gives no sign of life.
    pub is_lost: bool,
}

impl JobTable {
    /// How long until there is something to do: a job is due, or a lease ends. `None` if there is nothing.
    pub async fn next_due(&self, scope: &Scope, per_bank: u32) -> Result<Option<Duration>, MemoryError> {
        self.server.persist("look for jobs", || self.try_next_due(scope, per_bank).boxed()).await
    }

    /// The jobs of a bank, in no order that matters.
    pub async fn list(&self, bank: &str) -> Result<Vec<JobRow>, MemoryError> {
        self.server.persist("list jobs", || self.try_to_list(bank).boxed()).await
    }

    /// Grows whenever a job of this bank comes, goes or is settled.
    pub async fn changes(&self, bank: &str) -> Result<i64, MemoryError> {
        self.server.persist("look for jobs", || self.try_changes(bank).boxed()).await
    }

    /// Forgets jobs that have been done for so long, and says how many.
    pub async fn prune(&self, scope: &Scope, keep_done: Duration) -> Result<u64, MemoryError> {
        let mut forgotten = 0;
        for _ in 0..PIECES {
            let piece = self.server.persist("forget jobs", || self.try_to_prune(scope, keep_done).boxed()).await?;
            forgotten += piece;
            if piece < PIECE.unsigned_abs() {
                break;
            }
        }
        Ok(forgotten)
    }

    async fn try_next_due(&self, scope: &Scope, per_bank: u32) -> Result<Option<Duration>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let only = self.only(&client, scope).await?;
        let select = "SELECT extract(epoch FROM LEAST( \
                 (SELECT min(due_at) FROM archivist.lanes WHERE busy < $2 AND ($1::bigint IS NULL OR bank = $1)), \
                 (SELECT min(lease_until) FROM archivist.jobs \
                  WHERE place = 1 AND ($1::bigint IS NULL OR bank = $1))) - statement_timestamp())::float8";
        let select = client.prepare_cached(select).await?;
        let per_bank = i32::try_from(per_bank).unwrap_or(i32::MAX);
        let wait: Option<f64> = client.query_one(&select, &[&only, &per_bank]).await?.try_get(0)?;
        Ok(wait.map(|wait| Duration::try_from_secs_f64(wait).unwrap_or_default()))
    }

    async fn try_to_list(&self, bank: &str) -> Result<Vec<JobRow>, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let Some(bank) = self.server.bank(&client, bank).await? else { return Ok(Vec::new()) };
        let select = "SELECT name, place, urgency, record, note, \
                 CASE WHEN place = 0 AND due_at > statement_timestamp() THEN due_at END, worker, \
                 coalesce(lease_until < statement_timestamp(), false) \
             FROM archivist.jobs WHERE bank = $1 ORDER BY place, settled_at DESC LIMIT $2";
        let select = client.prepare_cached(select).await?;
        let mut rows = Vec::new();
        for row in client.query(&select, &[&bank, &LISTED]).await? {
            rows.push(JobRow {
                name: row.try_get(0)?,
                place: JobPlace::of(row.try_get(1)?),
                urgency: row.try_get(2)?,
                record: row.try_get(3)?,
                note: row.try_get(4)?,
                not_before: row.try_get(5)?,
                worker: row.try_get(6)?,
                is_lost: row.try_get(7)?,
            });
        }
        Ok(rows)
    }

    async fn try_changes(&self, bank: &str) -> Result<i64, Trouble> {
        let client = self.server.reading(Role::Writer).await?;
        let Some(bank) = self.server.bank(&client, bank).await? else { return Ok(0) };
        let select = client.prepare_cached("SELECT changes FROM archivist.lanes WHERE bank = $1").await?;
        let row = client.query_opt(&select, &[&bank]).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or_default())
    }

    async fn try_to_prune(&self, scope: &Scope, keep_done: Duration) -> Result<u64, Trouble> {
        let client = self.server.writing().await?;
        let only = self.only(&client, scope).await?;
        let delete = "DELETE FROM archivist.jobs WHERE (bank, name) IN (SELECT bank, name FROM archivist.jobs \
             WHERE place = 3 AND settled_at < statement_timestamp() - make_interval(secs => $2) \
                 AND ($1::bigint IS NULL OR bank = $1) \
             ORDER BY settled_at LIMIT $3 FOR UPDATE SKIP LOCKED)";
        let delete = client.prepare_cached(delete).await?;
        Ok(client.execute(&delete, &[&only, &seconds(keep_done), &PIECE]).await?)
    }
}
