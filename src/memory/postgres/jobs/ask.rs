//! Asking for a job.

use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;
use futures_util::FutureExt;

use super::{JobPlace, JobTable, lock_lane, plain, seconds, sort_out, tell_lane};
use crate::memory::MemoryError;
use crate::memory::postgres::trouble::Trouble;

/// A job that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Two jobs of one name are one job.
    pub name: String,
    /// What jobs that are about the same have in common.
    pub subject: String,
    /// The smaller, the sooner.
    pub urgency: i16,
    /// How long the session's log was, where somebody knew.
    pub log_bytes: Option<i64>,
    /// When it was first asked for, on whichever machine.
    pub enqueued_at: DateTime<Utc>,
    /// How long it is to wait.
    pub delay: Duration,
    /// How often it was tried in vain.
    pub attempts: i32,
    /// What is to be done.
    pub record: String,
    /// Whether having been done once is no reason not to do it again.
    pub is_repeatable: bool,
}

/// What came of asking for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// It will be done.
    New,
    /// It is waiting, being done, or done already.
    Known,
}

impl JobTable {
    /// Asks for a job in a bank. One that was put aside gets another chance; one that waits becomes more urgent.
    pub async fn ask(&self, bank: &str, job: &NewJob) -> Result<Ask, MemoryError> {
        self.server.persist("ask for a job", || self.try_to_ask(bank, job).boxed()).await
    }

    async fn try_to_ask(&self, bank: &str, job: &NewJob) -> Result<Ask, Trouble> {
        let mut client = self.server.writing().await?;
        let bank = self.server.make_bank(&client, bank).await?;
        let transaction = client.transaction().await?;
        if !lock_lane(&transaction, bank).await? {
            let insert = "INSERT INTO archivist.lanes (bank) VALUES ($1) ON CONFLICT (bank) DO NOTHING";
            transaction.execute(insert, &[&bank]).await?;
            lock_lane(&transaction, bank).await?;
        }
        let known = "SELECT place, urgency FROM archivist.jobs WHERE bank = $1 AND name = $2 FOR UPDATE";
        let known = transaction.prepare_cached(known).await?;
        let asked = match transaction.query_opt(&known, &[&bank, &job.name]).await? {
            None => Ask::New,
            Some(row) => match (JobPlace::of(row.try_get(0)?), row.try_get::<_, i16>(1)?) {
                (JobPlace::Dead, _) => Ask::New,
                (JobPlace::Done, _) if job.is_repeatable => Ask::New,
                (JobPlace::Waiting, urgency) if job.urgency < urgency => {
                    hurry(&transaction, bank, job).await?;
                    Ask::Known
                }
                _ => return Ok(Ask::Known),
            },
        };
        if asked == Ask::New {
            put(&transaction, bank, job).await?;
            sort_out(&transaction, bank, &job.subject).await?;
        }
        tell_lane(&transaction, bank).await?;
        transaction.commit().await?;
        Ok(asked)
    }
}

async fn put(client: &impl GenericClient, bank: i64, job: &NewJob) -> Result<(), Trouble> {
    let insert = "INSERT INTO archivist.jobs AS j \
             (bank, name, subject, place, urgency, log_bytes, enqueued_at, due_at, attempts, record) \
         VALUES ($1, $2, $3, 0, $4, $5, $6, statement_timestamp() + make_interval(secs => $7), $8, $9) \
         ON CONFLICT (bank, name) DO UPDATE SET place = 0, is_held = false, urgency = excluded.urgency, \
             log_bytes = excluded.log_bytes, enqueued_at = excluded.enqueued_at, due_at = excluded.due_at, \
             attempts = excluded.attempts, record = excluded.record, note = NULL, call = NULL, worker = NULL, \
             lease_until = NULL, settled_at = NULL, waited = NULL";
    let insert = client.prepare_cached(insert).await?;
    let record = plain(&job.record);
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
                &seconds(job.delay),
                &job.attempts,
                &record,
            ],
        )
        .await?;
    Ok(())
}

/// What it was put off for has passed; what it failed for may not have.
async fn hurry(client: &impl GenericClient, bank: i64, job: &NewJob) -> Result<(), Trouble> {
    let update = "UPDATE archivist.jobs SET urgency = $3, \
             due_at = CASE WHEN attempts = 0 THEN LEAST(due_at, statement_timestamp()) ELSE due_at END \
         WHERE bank = $1 AND name = $2";
    let update = client.prepare_cached(update).await?;
    client.execute(&update, &[&bank, &job.name, &job.urgency]).await?;
    Ok(())
}
