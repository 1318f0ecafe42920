//! What becomes of a job in somebody's hands, and whether it still is.

use std::time::Duration;

use deadpool_postgres::GenericClient;
use futures_util::FutureExt;

use super::{Grip, JobPlace, JobTable, lock_lane, plain, seconds, sort_out, tell_lane};
use crate::memory::MemoryError;
use crate::memory::postgres::trouble::Trouble;

/// What becomes of a job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate<'a> {
    /// It is done, with this result.
    Done(&'a str),
    /// It was put aside, for this reason.
    Dead(&'a str),
    /// It waits again, as it was.
    Back,
    /// It waits again, for so long.
    Later(Duration),
    /// It failed, says this now, and waits for so long.
    Failed {
        /// Why.
        error: &'a str,
        /// The job with this failure.
        record: &'a str,
        /// How long it is to wait.
        delay: Duration,
    },
}

/// Whether a job was still theirs who wanted to settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fencing {
    /// It was, and what was asked for is done.
    Passed,
    /// Somebody else has it by now.
    Stopped,
}

impl JobTable {
    /// Settles a job.
    pub async fn settle(&self, grip: &Grip, fate: Fate<'_>) -> Result<Fencing, MemoryError> {
        self.server.persist("settle a job", || self.try_to_settle(grip, fate).boxed()).await
    }

    /// Shows that the worker of a job lives. What does not get through within this patience is left to the next sign.
    pub async fn beat(&self, grip: &Grip, lease: Duration, patience: Duration) -> Result<Fencing, MemoryError> {
        self.server.persist_for(patience, "give a sign of life", || self.try_to_beat(grip, lease).boxed()).await
    }

    async fn try_to_beat(&self, grip: &Grip, lease: Duration) -> Result<Fencing, Trouble> {
        let client = self.server.writing().await?;
        let update = "UPDATE archivist.jobs SET lease_until = clock_timestamp() + make_interval(secs => $4) \
             WHERE bank = $1 AND name = $2 AND claim = $3 AND place = 1";
        let update = client.prepare_cached(update).await?;
        let updated = client.execute(&update, &[&grip.bank, &grip.name, &grip.claim, &seconds(lease)]).await?;
        Ok(if updated == 0 { Fencing::Stopped } else { Fencing::Passed })
    }

    async fn try_to_settle(&self, grip: &Grip, fate: Fate<'_>) -> Result<Fencing, Trouble> {
        let mut client = self.server.writing().await?;
        let transaction = client.transaction().await?;
        lock_lane(&transaction, grip.bank).await?;
        let Some(subject) = seal(&transaction, grip, fate).await? else {
            return was_settled(&transaction, grip).await;
        };
        sort_out(&transaction, grip.bank, &subject).await?;
        tell_lane(&transaction, grip.bank).await?;
        transaction.commit().await?;
        Ok(Fencing::Passed)
    }
}

/// Changes the job if it is still theirs, and says what it is about.
async fn seal(client: &impl GenericClient, grip: &Grip, fate: Fate<'_>) -> Result<Option<String>, Trouble> {
    let (place, note, record, delay): (i16, Option<String>, Option<String>, Option<f64>) = match fate {
        Fate::Done(note) => (3, Some(plain(note)), None, None),
        Fate::Dead(reason) => (2, Some(plain(reason)), None, None),
        Fate::Back => (0, None, None, None),
        Fate::Later(delay) => (0, None, None, Some(seconds(delay))),
        Fate::Failed { error, record, delay } => (0, Some(plain(error)), Some(plain(record)), Some(seconds(delay))),
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

/// Whether it was this very taking that was settled: a try whose connection broke had gone through.
async fn was_settled(client: &impl GenericClient, grip: &Grip) -> Result<Fencing, Trouble> {
    let select = "SELECT claim, place FROM archivist.jobs WHERE bank = $1 AND name = $2";
    let select = client.prepare_cached(select).await?;
    let Some(row) = client.query_opt(&select, &[&grip.bank, &grip.name]).await? else { return Ok(Fencing::Stopped) };
    let (claim, place): (i64, i16) = (row.try_get(0)?, row.try_get(1)?);
    let is_ours = claim == grip.claim && JobPlace::of(place) != JobPlace::Claimed;
    Ok(if is_ours { Fencing::Passed } else { Fencing::Stopped })
}
