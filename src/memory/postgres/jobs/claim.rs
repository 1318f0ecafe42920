//! Taking a job.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;
use tokio_postgres::Row;

use super::{Grip, JobTable, Mourning, Scope, plain, seconds, tell_lane};
use crate::memory::MemoryError;
use crate::memory::postgres::trouble::Trouble;

/// How many lanes are tried whose jobs are gone when they are looked at.
const LANES: u32 = 8;

/// Where a lane stands: the urgency of its most urgent job that is due.
const MOST_URGENT: &str = "CASE WHEN due_over <= statement_timestamp() THEN 0 \
     WHEN due_pause <= statement_timestamp() THEN 1 ELSE 2 END";

/// Who takes a job, and how.
#[derive(Clone, Copy)]
pub struct Claiming<'a> {
    /// Who.
    pub worker: &'a str,
    /// For how long it is theirs without a sign of life.
    pub lease: Duration,
    /// The most jobs of one bank in workers' hands.
    pub per_bank: u32,
    /// What becomes of a job that was lost by another.
    pub mourning: &'a Mourning,
}

impl std::fmt::Debug for Claiming<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claiming").field("worker", &self.worker).field("lease", &self.lease).finish_non_exhaustive()
    }
}

/// A job that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenJob {
    /// The proof.
    pub grip: Grip,
    /// The key of its bank.
    pub bank: String,
    /// What it is called.
    pub name: String,
    /// How urgent it is by now.
    pub urgency: i16,
    /// What is to be done.
    pub record: String,
}

impl JobTable {
    /// Takes a job whose worker gave no sign of life; else the most urgent one that is due, of the bank that was served
    /// longest ago among those that have one as urgent.
    pub async fn claim(&self, scope: &Scope, claiming: &Claiming<'_>) -> Result<Option<TakenJob>, MemoryError> {
        let call = format!("{}-{:016x}", claiming.worker, RandomState::new().build_hasher().finish());
        let is_again = AtomicBool::new(false);
        let (call, is_again) = (call.as_str(), &is_again);
        self.server.persist("take a job", || self.try_to_claim(scope, claiming, call, is_again).boxed()).await
    }

    async fn try_to_claim(
        &self,
        scope: &Scope,
        claiming: &Claiming<'_>,
        call: &str,
        is_again: &AtomicBool,
    ) -> Result<Option<TakenJob>, Trouble> {
        let mut client = self.server.writing().await?;
        let only = self.only(&client, scope).await?;
        let transaction = client.transaction().await?;
        // The connection may have broken after the job was taken and before anybody heard of it.
        if is_again.swap(true, Ordering::Relaxed) {
            let select = format!("SELECT {TAKEN} FROM archivist.jobs j WHERE place = 1 AND call = $1");
            if let Some(row) = transaction.query_opt(&select, &[&call]).await? {
                return taken(&row).map(Some);
            }
        }
        let by = Taker { claiming, call };
        let found = match take_over(&transaction, only, &by).await? {
            Some(found) => Some(found),
            None => take_new(&transaction, only, &by).await?,
        };
        transaction.commit().await?;
        Ok(found)
    }
}

/// Who takes, in which call.
struct Taker<'a> {
    claiming: &'a Claiming<'a>,
    call: &'a str,
}

const TAKEN: &str = "j.bank, j.name, j.claim, (SELECT b.key FROM archivist.banks b WHERE b.bank = j.bank), \
     j.urgency, j.record";

fn taken(row: &Row) -> Result<TakenJob, Trouble> {
    let name: String = row.try_get(1)?;
    let grip = Grip { bank: row.try_get(0)?, name: name.clone(), claim: row.try_get(2)? };
    Ok(TakenJob { grip, bank: row.try_get(3)?, name, urgency: row.try_get(4)?, record: row.try_get(5)? })
}

/// Takes a job from a worker that gave no sign of life. The lane need not know: a worker had it and a worker has it.
async fn take_over(
    client: &impl GenericClient,
    only: Option<i64>,
    by: &Taker<'_>,
) -> Result<Option<TakenJob>, Trouble> {
    let select = "SELECT bank, name, record, clock_timestamp() FROM archivist.jobs \
         WHERE place = 1 AND lease_until < statement_timestamp() AND ($1::bigint IS NULL OR bank = $1) \
         ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED";
    let select = client.prepare_cached(select).await?;
    let Some(row) = client.query_opt(&select, &[&only]).await? else { return Ok(None) };
    let (bank, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
    let record: String = row.try_get(2)?;
    // A job that kills its workers must come to an end, so that is written down before it is begun.
    let record = (by.claiming.mourning)(&record, row.try_get(3)?).unwrap_or(record);
    give(client, bank, &name, Some(&record), by).await.map(Some)
}

/// Takes a job that waits, from the lane whose turn it is.
async fn take_new(client: &impl GenericClient, only: Option<i64>, by: &Taker<'_>) -> Result<Option<TakenJob>, Trouble> {
    for _ in 0..LANES {
        let Some(bank) = lock_next_lane(client, only, by).await? else { return Ok(None) };
        let select = format!(
            "SELECT name FROM archivist.jobs WHERE bank = $1 AND place = 0 AND NOT is_held \
                 AND urgency = (SELECT {MOST_URGENT} FROM archivist.lanes WHERE bank = $1) \
                 AND due_at <= statement_timestamp() \
             ORDER BY due_at, name LIMIT 1 FOR UPDATE SKIP LOCKED"
        );
        let select = client.prepare_cached(&select).await?;
        let found = match client.query_opt(&select, &[&bank]).await? {
            Some(row) => {
                let name: String = row.try_get(0)?;
                let served = "UPDATE archivist.lanes SET served_at = clock_timestamp() WHERE bank = $1";
                let served = client.prepare_cached(served).await?;
                client.execute(&served, &[&bank]).await?;
                Some(give(client, bank, &name, None, by).await?)
            }
            None => None,
        };
        tell_lane(client, bank).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The lane whose turn it is. One that somebody else is just serving is passed over, but waited for before it is said that
/// there is nothing to do.
async fn lock_next_lane(
    client: &impl GenericClient,
    only: Option<i64>,
    by: &Taker<'_>,
) -> Result<Option<i64>, Trouble> {
    let per_bank = i32::try_from(by.claiming.per_bank).unwrap_or(i32::MAX);
    for locking in ["FOR UPDATE SKIP LOCKED", "FOR UPDATE"] {
        let select = format!(
            "SELECT bank FROM archivist.lanes \
             WHERE due_at <= statement_timestamp() AND busy < $2 AND ($1::bigint IS NULL OR bank = $1) \
             ORDER BY {MOST_URGENT}, served_at, bank LIMIT 1 {locking}"
        );
        let select = client.prepare_cached(&select).await?;
        if let Some(row) = client.query_opt(&select, &[&only, &per_bank]).await? {
            return Ok(Some(row.try_get(0)?));
        }
    }
    Ok(None)
}

/// Puts a job into the taker's hands. With a text of its own it was another's.
async fn give(
    client: &impl GenericClient,
    bank: i64,
    name: &str,
    record: Option<&str>,
    by: &Taker<'_>,
) -> Result<TakenJob, Trouble> {
    let update = format!(
        "UPDATE archivist.jobs j SET place = 1, claim = nextval('archivist.job_claims'), call = $3, worker = $4, \
             lease_until = clock_timestamp() + make_interval(secs => $5), record = coalesce($6::text, record), \
             attempts = attempts + CASE WHEN $6::text IS NULL THEN 0 ELSE 1 END, \
             waited = coalesce(waited, GREATEST(clock_timestamp() - due_at, interval '0')) \
         WHERE bank = $1 AND name = $2 RETURNING {TAKEN}"
    );
    let update = client.prepare_cached(&update).await?;
    let (lease, record) = (seconds(by.claiming.lease), record.map(plain));
    let row = client.query_one(&update, &[&bank, &name, &by.call, &by.claiming.worker, &lease, &record]).await?;
    taken(&row)
}
