//! Reading the state of jobs without claiming any, and pruning old finished ones.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::FutureExt;

use super::{JobRowState, JobScope, JobTable, to_seconds};
use crate::memory::MemoryError;
use crate::memory::postgres::database_error::PostgresFailure;
use crate::memory::postgres::server::ServerRole;

/// The most jobs that are listed: unfinished ones first, then those that finished last.
const LISTED: i64 = 10_000;

/// The number of jobs that one delete removes, and the most deletes in a row, because others write meanwhile.
const PIECE: i64 = 1000;
const PIECES: u32 = 100;

/// A job as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// The name of the job.
    pub name: String,
    /// The state of the job.
    pub place: JobRowState,
    /// The job's current urgency.
    pub urgency: i16,
    /// The description of the work.
    pub record: String,
    /// The last note about it.
    pub note: Option<String>,
    /// The time before which it is not claimed.
    pub not_before: Option<DateTime<Utc>>,
    /// The worker that has claimed it.
    pub worker: Option<String>,
    /// True if its worker's lease has expired.
    pub is_lost: bool,
}

impl JobTable {
    /// Returns the time until a job is due or a lease ends; `None` if there is nothing to wait for.
    pub async fn time_until_due(&self, scope: &JobScope, per_bank: u32) -> Result<Option<Duration>, MemoryError> {
        self.server.run_with_retries("look for jobs", || self.try_time_until_due(scope, per_bank).boxed()).await
    }

    /// Returns the jobs of a bank, in no particular order.
    pub async fn list_jobs(&self, bank: &str) -> Result<Vec<JobRow>, MemoryError> {
        self.server.run_with_retries("list jobs", || self.try_list_jobs(bank).boxed()).await
    }

    /// Returns a counter that grows whenever a job of this bank is added, claimed or finished.
    pub async fn change_count(&self, bank: &str) -> Result<i64, MemoryError> {
        self.server.run_with_retries("look for jobs", || self.try_change_count(bank).boxed()).await
    }

    /// Deletes jobs that have been done for longer than `keep_done`, and returns their number.
    pub async fn prune_done_jobs(&self, scope: &JobScope, keep_done: Duration) -> Result<u64, MemoryError> {
        let mut forgotten = 0;
        for _ in 0..PIECES {
            let piece = self
                .server
                .run_with_retries("forget jobs", || self.try_prune_done_jobs(scope, keep_done).boxed())
                .await?;
            forgotten += piece;
            if piece < PIECE.unsigned_abs() {
                break;
            }
        }
        Ok(forgotten)
    }

    async fn try_time_until_due(&self, scope: &JobScope, per_bank: u32) -> Result<Option<Duration>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let only = self.find_bank_in_scope(&client, scope).await?;
        let select = "SELECT extract(epoch FROM LEAST( \
                 (SELECT min(due_at) FROM archivist.lanes WHERE busy < $2 AND ($1::bigint IS NULL OR bank = $1)), \
                 (SELECT min(lease_until) FROM archivist.jobs \
                  WHERE place = 1 AND ($1::bigint IS NULL OR bank = $1))) - statement_timestamp())::float8";
        let select = client.prepare_cached(select).await?;
        let per_bank = i32::try_from(per_bank).unwrap_or(i32::MAX);
        let wait: Option<f64> = client.query_one(&select, &[&only, &per_bank]).await?.try_get(0)?;
        Ok(wait.map(|wait| Duration::try_from_secs_f64(wait).unwrap_or_default()))
    }

    async fn try_list_jobs(&self, bank: &str) -> Result<Vec<JobRow>, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let Some(bank) = self.server.find_bank(&client, bank).await? else { return Ok(Vec::new()) };
        let select = "SELECT name, place, urgency, record, note, \
                 CASE WHEN place = 0 AND due_at > statement_timestamp() THEN due_at END, worker, \
                 coalesce(lease_until < statement_timestamp(), false) \
             FROM archivist.jobs WHERE bank = $1 ORDER BY place, settled_at DESC LIMIT $2";
        let select = client.prepare_cached(select).await?;
        let mut rows = Vec::new();
        for row in client.query(&select, &[&bank, &LISTED]).await? {
            rows.push(JobRow {
                name: row.try_get(0)?,
                place: JobRowState::from_number(row.try_get(1)?),
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

    async fn try_change_count(&self, bank: &str) -> Result<i64, PostgresFailure> {
        let client = self.server.read_connection(ServerRole::Writer).await?;
        let Some(bank) = self.server.find_bank(&client, bank).await? else { return Ok(0) };
        let select = client.prepare_cached("SELECT changes FROM archivist.lanes WHERE bank = $1").await?;
        let row = client.query_opt(&select, &[&bank]).await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?.unwrap_or_default())
    }

    async fn try_prune_done_jobs(&self, scope: &JobScope, keep_done: Duration) -> Result<u64, PostgresFailure> {
        let client = self.server.write_connection().await?;
        let only = self.find_bank_in_scope(&client, scope).await?;
        let delete = "DELETE FROM archivist.jobs WHERE (bank, name) IN (SELECT bank, name FROM archivist.jobs \
             WHERE place = 3 AND settled_at < statement_timestamp() - make_interval(secs => $2) \
                 AND ($1::bigint IS NULL OR bank = $1) \
             ORDER BY settled_at LIMIT $3 FOR UPDATE SKIP LOCKED)";
        let delete = client.prepare_cached(delete).await?;
        Ok(client.execute(&delete, &[&only, &to_seconds(keep_done), &PIECE]).await?)
    }
}
