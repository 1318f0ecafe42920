//! Claiming jobs from the queue.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;
use tokio_postgres::Row;

use super::{JobClaimToken, JobScope, JobTable, Mourning, refresh_lane, strip_zero_bytes, to_seconds};
use crate::memory::MemoryError;
use crate::memory::postgres::database_error::PostgresFailure;

/// The number of lanes that are tried when the jobs of a lane are gone by the time it is locked.
const LANES: u32 = 8;

/// The rank of a lane: the urgency of its most urgent job that is due.
const MOST_URGENT: &str = "CASE WHEN due_over <= statement_timestamp() THEN 0 \
     WHEN due_pause <= statement_timestamp() THEN 1 ELSE 2 END";

/// The terms on which a worker claims a job.
#[derive(Clone, Copy)]
pub struct ClaimRequest<'a> {
    /// The name of the worker.
    pub worker: &'a str,
    /// The time for which the job is the worker's without a heartbeat.
    pub lease: Duration,
    /// The most claimed jobs of one bank.
    pub per_bank: u32,
    /// The function that updates the record of a job whose worker was lost.
    pub mourning: &'a Mourning,
}

impl std::fmt::Debug for ClaimRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClaimRequest").field("worker", &self.worker).field("lease", &self.lease).finish_non_exhaustive()
    }
}

/// A job that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedJobRow {
    /// The token that proves the claim.
    pub grip: JobClaimToken,
    /// The key of its bank.
    pub bank: String,
    /// The name of the job.
    pub name: String,
    /// The job's current urgency.
    pub urgency: i16,
    /// The description of the work.
    pub record: String,
}

impl JobTable {
    /// Claims a job whose worker was lost; else the most urgent one that is due, from the bank that was served longest
    /// ago among those with equally urgent jobs.
    pub async fn claim_job(
        &self,
        scope: &JobScope,
        claiming: &ClaimRequest<'_>,
    ) -> Result<Option<ClaimedJobRow>, MemoryError> {
        let call = format!("{}-{:016x}", claiming.worker, RandomState::new().build_hasher().finish());
        let is_again = AtomicBool::new(false);
        let (call, is_again) = (call.as_str(), &is_again);
        self.server.run_with_retries("take a job", || self.try_claim_job(scope, claiming, call, is_again).boxed()).await
    }

    async fn try_claim_job(
        &self,
        scope: &JobScope,
        claiming: &ClaimRequest<'_>,
        call: &str,
        is_again: &AtomicBool,
    ) -> Result<Option<ClaimedJobRow>, PostgresFailure> {
        let mut client = self.server.write_connection().await?;
        let only = self.find_bank_in_scope(&client, scope).await?;
        let transaction = client.transaction().await?;
        // The connection may have broken after the job was claimed and before the answer arrived.
        if is_again.swap(true, Ordering::Relaxed) {
            let select = format!("SELECT {TAKEN} FROM archivist.jobs j WHERE place = 1 AND call = $1");
            if let Some(row) = transaction.query_opt(&select, &[&call]).await? {
                return parse_claimed_job(&row).map(Some);
            }
        }
        let by = ClaimCall { claiming, call };
        let found = match claim_lost_job(&transaction, only, &by).await? {
            Some(found) => Some(found),
            None => claim_waiting_job(&transaction, only, &by).await?,
        };
        transaction.commit().await?;
        Ok(found)
    }
}

/// A claim request together with the id of its call.
struct ClaimCall<'a> {
    claiming: &'a ClaimRequest<'a>,
    call: &'a str,
}

const TAKEN: &str = "j.bank, j.name, j.claim, (SELECT b.key FROM archivist.banks b WHERE b.bank = j.bank), \
     j.urgency, j.record";

fn parse_claimed_job(row: &Row) -> Result<ClaimedJobRow, PostgresFailure> {
    let name: String = row.try_get(1)?;
    let grip = JobClaimToken { bank: row.try_get(0)?, name: name.clone(), claim: row.try_get(2)? };
    Ok(ClaimedJobRow { grip, bank: row.try_get(3)?, name, urgency: row.try_get(4)?, record: row.try_get(5)? })
}

/// Claims a job whose lease has expired. The lane does not change, because the job stays claimed.
async fn claim_lost_job(
    client: &impl GenericClient,
    only: Option<i64>,
    by: &ClaimCall<'_>,
) -> Result<Option<ClaimedJobRow>, PostgresFailure> {
    let select = "SELECT bank, name, record, clock_timestamp() FROM archivist.jobs \
         WHERE place = 1 AND lease_until < statement_timestamp() AND ($1::bigint IS NULL OR bank = $1) \
         ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED";
    let select = client.prepare_cached(select).await?;
    let Some(row) = client.query_opt(&select, &[&only]).await? else { return Ok(None) };
    let (bank, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
    let record: String = row.try_get(2)?;
    // A job that kills its workers must end some time, so the failure is recorded before the next attempt.
    let record = (by.claiming.mourning)(&record, row.try_get(3)?).unwrap_or(record);
    assign_job(client, bank, &name, Some(&record), by).await.map(Some)
}

/// Claims a waiting job from the lane whose turn it is.
async fn claim_waiting_job(
    client: &impl GenericClient,
    only: Option<i64>,
    by: &ClaimCall<'_>,
) -> Result<Option<ClaimedJobRow>, PostgresFailure> {
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
                Some(assign_job(client, bank, &name, None, by).await?)
            }
            None => None,
        };
        refresh_lane(client, bank).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Locks the lane whose turn it is. A lane locked by another worker is skipped at first, but waited for before the
/// answer is that there is no job.
async fn lock_next_lane(
    client: &impl GenericClient,
    only: Option<i64>,
    by: &ClaimCall<'_>,
) -> Result<Option<i64>, PostgresFailure> {
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

/// Marks a job as claimed by this call. A given `record` means that it was taken over from a lost worker.
async fn assign_job(
    client: &impl GenericClient,
    bank: i64,
    name: &str,
    record: Option<&str>,
    by: &ClaimCall<'_>,
) -> Result<ClaimedJobRow, PostgresFailure> {
    let update = format!(
        "UPDATE archivist.jobs j SET place = 1, claim = nextval('archivist.job_claims'), call = $3, worker = $4, \
             lease_until = clock_timestamp() + make_interval(secs => $5), record = coalesce($6::text, record), \
             attempts = attempts + CASE WHEN $6::text IS NULL THEN 0 ELSE 1 END, \
             waited = coalesce(waited, GREATEST(clock_timestamp() - due_at, interval '0')) \
         WHERE bank = $1 AND name = $2 RETURNING {TAKEN}"
    );
    let update = client.prepare_cached(&update).await?;
    let (lease, record) = (to_seconds(by.claiming.lease), record.map(strip_zero_bytes));
    let row = client.query_one(&update, &[&bank, &name, &by.call, &by.claiming.worker, &lease, &record]).await?;
    parse_claimed_job(&row)
}
