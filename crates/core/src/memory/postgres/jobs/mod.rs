//! Jobs of a fleet, stored as rows. The content of a job is an opaque text here.
//!
//! Every project has a *lane*, a row that sums up its waiting jobs. A change of waiting jobs locks the lane first and
//! the job second, always in this order; heartbeats and the taking over of lost jobs touch the job alone. All times are
//! the server's, whatever the clocks of the machines say.

mod claim;
mod finish;
mod status;
mod submit;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;

use super::database_error::PostgresFailure;
use super::server::PostgresServer;

pub use self::claim::{ClaimRequest, ClaimedJobRow};
pub use self::finish::{FencingOutcome, JobDisposition};
pub use self::status::JobRow;
pub use self::submit::{EnqueueOutcome, NewJob};

/// The longest delay or lease; the range of the server's timestamps is bounded.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The jobs on a server.
#[derive(Debug, Clone)]
pub struct JobTable {
    server: Arc<PostgresServer>,
}

/// The banks whose jobs are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobScope {
    /// The jobs of one bank.
    Bank(String),
    /// All jobs that this user may see.
    All,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobRowState {
    /// The job waits to be claimed.
    Waiting,
    /// A worker has claimed it.
    Claimed,
    /// The job failed for good.
    Dead,
    /// The job is done.
    Done,
}

/// The proof of one claim of a job. Of two claims of the same job, the one with the smaller number has lost it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobClaimToken {
    bank: i64,
    name: String,
    claim: i64,
}

/// A function that returns the new text of a job whose worker was lost at this time; `None` if the text cannot be read.
pub type Mourning = dyn Fn(&str, DateTime<Utc>) -> Option<String> + Send + Sync;

impl JobTable {
    /// Creates the table handle for a server. Connects only when it is used.
    pub fn new(server: Arc<PostgresServer>) -> Self {
        Self { server }
    }

    /// Returns a handle with a connection of its own, for a thread with its own runtime: a connection must not outlive
    /// the runtime that made it.
    #[must_use]
    pub fn with_own_connection(&self) -> Self {
        Self { server: self.server.with_own_connection() }
    }

    /// Returns the number of the bank in scope; `None` if all are. A missing bank gets -1, which no bank has.
    async fn find_bank_in_scope(
        &self,
        client: &impl GenericClient,
        scope: &JobScope,
    ) -> Result<Option<i64>, PostgresFailure> {
        match scope {
            JobScope::All => Ok(None),
            JobScope::Bank(key) => Ok(Some(self.server.find_bank(client, key).await?.unwrap_or(-1))),
        }
    }
}

impl JobRowState {
    fn from_number(number: i16) -> Self {
        match number {
            0 => Self::Waiting,
            1 => Self::Claimed,
            2 => Self::Dead,
            _ => Self::Done,
        }
    }
}

/// Locks the lane of a bank; returns true if there is one.
pub(super) async fn lock_lane(client: &impl GenericClient, bank: i64) -> Result<bool, PostgresFailure> {
    let select = client.prepare_cached("SELECT 1 FROM archivist.lanes WHERE bank = $1 FOR UPDATE").await?;
    Ok(client.query_opt(&select, &[&bank]).await?.is_some())
}

/// Marks waiting jobs of a subject as done if another one covers them, preferring the longest log and then the latest,
/// and blocks the remaining one while a worker has a job of the same subject. The lane must be locked.
pub(super) async fn resolve_subject_jobs(
    client: &impl GenericClient,
    bank: i64,
    subject: &str,
) -> Result<(), PostgresFailure> {
    let cover = "UPDATE archivist.jobs j \
         SET place = 3, note = 'covered by ' || latest.name, settled_at = statement_timestamp(), is_held = false \
         FROM (SELECT name FROM archivist.jobs WHERE bank = $1 AND subject = $2 AND place = 0 \
               ORDER BY coalesce(log_bytes, -1) DESC, enqueued_at DESC, name DESC LIMIT 1) latest \
         WHERE j.bank = $1 AND j.subject = $2 AND j.place = 0 AND j.name <> latest.name";
    let hold = "UPDATE archivist.jobs j SET is_held = NOT is_held \
         WHERE bank = $1 AND subject = $2 AND place = 0 AND is_held <> EXISTS \
               (SELECT 1 FROM archivist.jobs c WHERE c.bank = $1 AND c.subject = $2 AND c.place = 1)";
    for sql in [cover, hold] {
        let statement = client.prepare_cached(sql).await?;
        client.execute(&statement, &[&bank, &subject]).await?;
    }
    Ok(())
}

/// Updates a lane's summary of its jobs. The lane must be locked. Each number is one index lookup.
pub(super) async fn refresh_lane(client: &impl GenericClient, bank: i64) -> Result<(), PostgresFailure> {
    let first = |urgency: i16| {
        format!(
            "(SELECT min(due_at) FROM archivist.jobs \
              WHERE bank = $1 AND place = 0 AND NOT is_held AND urgency = {urgency})"
        )
    };
    let update = format!(
        "UPDATE archivist.lanes SET due_over = {}, due_pause = {}, due_sweep = {}, \
         busy = (SELECT count(*) FROM archivist.jobs WHERE bank = $1 AND place = 1), changes = changes + 1 \
         WHERE bank = $1",
        first(0),
        first(1),
        first(2)
    );
    let update = client.prepare_cached(&update).await?;
    client.execute(&update, &[&bank]).await?;
    Ok(())
}

/// Converts a duration to seconds, bounded by what the server accepts.
fn to_seconds(time: Duration) -> f64 {
    time.min(LONGEST).as_secs_f64()
}

/// Removes zero bytes, which the server cannot store.
fn strip_zero_bytes(text: &str) -> String {
    text.replace('\0', "")
}
