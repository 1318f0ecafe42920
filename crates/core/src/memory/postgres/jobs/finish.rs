//! Finishing a claimed job, and renewing its lease.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;

use super::{
    JobClaimToken, JobRowState, JobTable, lock_lane, refresh_lane, resolve_subject_jobs, strip_zero_bytes, to_seconds,
};
use crate::memory::MemoryError;
use crate::memory::postgres::database_error::PostgresFailure;

/// The new state of a job when its worker lets go of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JobDisposition<'a> {
    /// The job is done, with this result.
    Done(&'a str),
    /// The job failed for good, for this reason.
    Dead(&'a str),
    /// The job is released and waits again, unchanged.
    Back,
    /// The job waits again for this long.
    Later(Duration),
    /// The job failed, gets a new record, and waits again.
    Failed {
        /// The reason of the failure.
        error: &'a str,
        /// The job's record with this failure.
        record: &'a str,
        /// The time it has to wait.
        delay: Duration,
    },
}

/// The outcome of checking that a claim is still valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FencingOutcome {
    /// The claim was valid, and the request was carried out.
    Passed,
    /// Another worker has the job by now.
    Stopped,
}

impl JobTable {
    /// Completes, fails or releases a claimed job.
    pub async fn finish_job(
        &self,
        grip: &JobClaimToken,
        fate: JobDisposition<'_>,
    ) -> Result<FencingOutcome, MemoryError> {
        self.server.run_with_retries("settle a job", || self.try_finish_job(grip, fate).boxed()).await
    }

    /// Renews the lease of a claimed job. A heartbeat that takes longer than `patience` is left to the next one.
    pub async fn renew_lease(
        &self,
        grip: &JobClaimToken,
        lease: Duration,
        patience: Duration,
    ) -> Result<FencingOutcome, MemoryError> {
        self.server
            .run_with_retries_for(patience, "give a sign of life", || self.try_renew_lease(grip, lease).boxed())
            .await
    }

    async fn try_renew_lease(&self, grip: &JobClaimToken, lease: Duration) -> Result<FencingOutcome, PostgresFailure> {
        let client = self.server.write_connection().await?;
        let update = "UPDATE archivist.jobs SET lease_until = clock_timestamp() + make_interval(secs => $4) \
             WHERE bank = $1 AND name = $2 AND claim = $3 AND place = 1";
        let update = client.prepare_cached(update).await?;
        let updated = client.execute(&update, &[&grip.bank, &grip.name, &grip.claim, &to_seconds(lease)]).await?;
        Ok(if updated == 0 { FencingOutcome::Stopped } else { FencingOutcome::Passed })
    }

    async fn try_finish_job(
        &self,
        grip: &JobClaimToken,
        fate: JobDisposition<'_>,
    ) -> Result<FencingOutcome, PostgresFailure> {
        let mut client = self.server.write_connection().await?;
        let transaction = client.transaction().await?;
        lock_lane(&transaction, grip.bank).await?;
        let Some(subject) = update_claimed_job(&transaction, grip, fate).await? else {
            return check_already_finished(&transaction, grip).await;
        };
        resolve_subject_jobs(&transaction, grip.bank, &subject).await?;
        refresh_lane(&transaction, grip.bank).await?;
        transaction.commit().await?;
        Ok(FencingOutcome::Passed)
    }
}

/// Updates the job if the claim is still valid, and returns its subject.
async fn update_claimed_job(
    client: &impl GenericClient,
    grip: &JobClaimToken,
    fate: JobDisposition<'_>,
) -> Result<Option<String>, PostgresFailure> {
    let (place, note, record, delay): (i16, Option<String>, Option<String>, Option<f64>) = match fate {
        JobDisposition::Done(note) => (3, Some(strip_zero_bytes(note)), None, None),
        JobDisposition::Dead(reason) => (2, Some(strip_zero_bytes(reason)), None, None),
        JobDisposition::Back => (0, None, None, None),
        JobDisposition::Later(delay) => (0, None, None, Some(to_seconds(delay))),
        JobDisposition::Failed { error, record, delay } => {
            (0, Some(strip_zero_bytes(error)), Some(strip_zero_bytes(record)), Some(to_seconds(delay)))
        }
    };
    let update = "UPDATE archivist.jobs SET place = $4::smallint, note = coalesce($5::text, note), record = coalesce($6::text, record), \
             due_at = CASE WHEN $7::float8 IS NULL THEN due_at \
                 ELSE statement_timestamp() + make_interval(secs => $7::float8) END, \
             attempts = attempts + CASE WHEN $6::text IS NULL THEN 0 ELSE 1 END, \
             settled_at = CASE WHEN $4::smallint IN (2, 3) THEN statement_timestamp() END, \
             worker = NULL, call = NULL, lease_until = NULL \
         WHERE bank = $1 AND name = $2 AND claim = $3 AND place = 1 RETURNING subject";
    let update = client.prepare_cached(update).await?;
    let sealed =
        client.query_opt(&update, &[&grip.bank, &grip.name, &grip.claim, &place, &note, &record, &delay]).await?;
    Ok(sealed.map(|row| row.try_get(0)).transpose()?)
}

/// Checks if this very claim was finished by an earlier try whose connection broke.
async fn check_already_finished(
    client: &impl GenericClient,
    grip: &JobClaimToken,
) -> Result<FencingOutcome, PostgresFailure> {
    let select = "SELECT claim, place FROM archivist.jobs WHERE bank = $1 AND name = $2";
    let select = client.prepare_cached(select).await?;
    let Some(row) = client.query_opt(&select, &[&grip.bank, &grip.name]).await? else {
        return Ok(FencingOutcome::Stopped);
    };
    let (claim, place): (i64, i16) = (row.try_get(0)?, row.try_get(1)?);
    let is_ours = claim == grip.claim && JobRowState::from_number(place) != JobRowState::Claimed;
    Ok(if is_ours { FencingOutcome::Passed } else { FencingOutcome::Stopped })
}
