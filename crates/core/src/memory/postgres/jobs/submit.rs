//! Adding jobs to the queue.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use futures_util::FutureExt;

use super::{JobRowState, JobTable, lock_lane, refresh_lane, resolve_subject_jobs, strip_zero_bytes, to_seconds};
use crate::memory::MemoryError;
use crate::memory::postgres::database_error::PostgresFailure;

/// A job to be enqueued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// The unique name of the job within its bank.
    pub name: String,
    /// The subject that jobs about the same thing share.
    pub subject: String,
    /// The urgency; smaller numbers come sooner.
    pub urgency: i16,
    /// The length of the session's log, if known.
    pub log_bytes: Option<i64>,
    /// The time at which it was first enqueued, on any machine.
    pub enqueued_at: DateTime<Utc>,
    /// The time it has to wait before it is due.
    pub delay: Duration,
    /// The number of failed attempts so far.
    pub attempts: i32,
    /// The description of the work.
    pub record: String,
    /// True if a finished job of this name may be enqueued again.
    pub is_repeatable: bool,
}

/// The outcome of enqueueing a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnqueueOutcome {
    /// The job was added to the queue.
    New,
    /// The job is waiting, claimed or done already.
    Known,
}

impl JobTable {
    /// Enqueues a job in a bank. A dead job is queued again; a waiting one takes the higher urgency.
    pub async fn enqueue_job(&self, bank: &str, job: &NewJob) -> Result<EnqueueOutcome, MemoryError> {
        self.server.run_with_retries("ask for a job", || self.try_enqueue_job(bank, job).boxed()).await
    }

    async fn try_enqueue_job(&self, bank: &str, job: &NewJob) -> Result<EnqueueOutcome, PostgresFailure> {
        let mut client = self.server.write_connection().await?;
        let bank = self.server.ensure_bank(&client, bank).await?;
        let transaction = client.transaction().await?;
        if !lock_lane(&transaction, bank).await? {
            let insert = "INSERT INTO archivist.lanes (bank) VALUES ($1) ON CONFLICT (bank) DO NOTHING";
            transaction.execute(insert, &[&bank]).await?;
            lock_lane(&transaction, bank).await?;
        }
        let known = "SELECT place, urgency FROM archivist.jobs WHERE bank = $1 AND name = $2 FOR UPDATE";
        let known = transaction.prepare_cached(known).await?;
        let asked = match transaction.query_opt(&known, &[&bank, &job.name]).await? {
            None => EnqueueOutcome::New,
            Some(row) => match (JobRowState::from_number(row.try_get(0)?), row.try_get::<_, i16>(1)?) {
                (JobRowState::Dead, _) => EnqueueOutcome::New,
                (JobRowState::Done, _) if job.is_repeatable => EnqueueOutcome::New,
                (JobRowState::Waiting, urgency) if job.urgency < urgency => {
                    raise_urgency(&transaction, bank, job).await?;
                    EnqueueOutcome::Known
                }
                _ => return Ok(EnqueueOutcome::Known),
            },
        };
        if asked == EnqueueOutcome::New {
            insert_job(&transaction, bank, job).await?;
            resolve_subject_jobs(&transaction, bank, &job.subject).await?;
        }
        refresh_lane(&transaction, bank).await?;
        transaction.commit().await?;
        Ok(asked)
    }
}

async fn insert_job(client: &impl GenericClient, bank: i64, job: &NewJob) -> Result<(), PostgresFailure> {
    let insert = "INSERT INTO archivist.jobs AS j \
             (bank, name, subject, place, urgency, log_bytes, enqueued_at, due_at, attempts, record) \
         VALUES ($1, $2, $3, 0, $4, $5, $6, statement_timestamp() + make_interval(secs => $7), $8, $9) \
         ON CONFLICT (bank, name) DO UPDATE SET place = 0, is_held = false, urgency = excluded.urgency, \
             log_bytes = excluded.log_bytes, enqueued_at = excluded.enqueued_at, due_at = excluded.due_at, \
             attempts = excluded.attempts, record = excluded.record, note = NULL, call = NULL, worker = NULL, \
             lease_until = NULL, settled_at = NULL, waited = NULL";
    let insert = client.prepare_cached(insert).await?;
    let record = strip_zero_bytes(&job.record);
    client
        .execute(
            &insert,
            &[
                &bank,
                &job.name,
                &job.subject,
                &job.urgency,
                &job.log_bytes,
                &job.enqueued_at,
                &to_seconds(job.delay),
                &job.attempts,
                &record,
            ],
        )
        .await?;
    Ok(())
}

/// Raises the urgency of a waiting job and makes it due now, unless it waits because of a failure.
async fn raise_urgency(client: &impl GenericClient, bank: i64, job: &NewJob) -> Result<(), PostgresFailure> {
    let update = "UPDATE archivist.jobs SET urgency = $3, \
             due_at = CASE WHEN attempts = 0 THEN LEAST(due_at, statement_timestamp()) ELSE due_at END \
         WHERE bank = $1 AND name = $2";
    let update = client.prepare_cached(update).await?;
    client.execute(&update, &[&bank, &job.name, &job.urgency]).await?;
    Ok(())
}
