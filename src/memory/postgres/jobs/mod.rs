//! Jobs of a fleet, as rows. What a job says is for those above: here it is a text.
//!
//! Every project has a *lane*, a row that says what waits in it. Whoever changes what waits locks the lane first and the
//! job second, always in this order; a sign of life and the taking over of a lost job touch the job alone. The clock is
//! the server's, whatever the machines believe.

mod ask;
mod claim;
mod look;
mod settle;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use deadpool_postgres::GenericClient;

use super::server::Server;
use super::trouble::Trouble;

pub use self::ask::{Ask, NewJob};
pub use self::claim::{Claiming, TakenJob};
pub use self::look::JobRow;
pub use self::settle::{Fate, Fencing};

/// No wait and no lease is longer; what the server can add to a moment is bounded.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The jobs on a server.
#[derive(Debug, Clone)]
pub struct JobTable {
    server: Arc<Server>,
}

/// Whose jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those of one bank.
    Bank(String),
    /// All that this user may see.
    All,
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobPlace {
    /// It waits.
    Waiting,
    /// A worker has it.
    Claimed,
    /// It was put aside.
    Dead,
    /// It is done.
    Done,
}

/// One taking of one job. Of two that hold the same job, the one with the smaller number has lost it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grip {
    bank: i64,
    name: String,
    claim: i64,
}

/// What becomes of the text of a job whose worker died at this moment; `None` where it cannot be read.
pub type Mourning = dyn Fn(&str, DateTime<Utc>) -> Option<String> + Send + Sync;

impl JobTable {
    /// The jobs on this server. Nothing is asked yet.
    pub fn new(server: Arc<Server>) -> Self {
        Self { server }
    }

    /// The same over a connection of its own, for a thread that has a runtime of its own: a connection lives and dies with
    /// the runtime that made it.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { server: self.server.apart() }
    }

    /// The number of the only bank that is looked at; `None` if all are. A bank that is not there has no jobs, and no
    /// number that a bank could have.
    async fn only(&self, client: &impl GenericClient, scope: &Scope) -> Result<Option<i64>, Trouble> {
        match scope {
            Scope::All => Ok(None),
            Scope::Bank(key) => Ok(Some(self.server.bank(client, key).await?.unwrap_or(-1))),
        }
    }
}

impl JobPlace {
    fn of(number: i16) -> Self {
        match number {
            0 => Self::Waiting,
            1 => Self::Claimed,
            2 => Self::Dead,
            _ => Self::Done,
        }
    }
}

/// Locks the lane of a bank; says whether there is one.
async fn lock_lane(client: &impl GenericClient, bank: i64) -> Result<bool, Trouble> {
    let select = client.prepare_cached("SELECT 1 FROM archivist.lanes WHERE bank = $1 FOR UPDATE").await?;
    Ok(client.query_opt(&select, &[&bank]).await?.is_some())
}

/// Settles those waiting jobs of a subject that another one covers, the longer log before the later word, and holds back
/// what is left while a worker has a job about the same. The lane is locked.
async fn sort_out(client: &impl GenericClient, bank: i64, subject: &str) -> Result<(), Trouble> {
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

/// Lets a lane say what waits in it. It is locked. Each number is one look into an index.
async fn tell_lane(client: &impl GenericClient, bank: i64) -> Result<(), Trouble> {
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

/// A time as the server adds it to a moment.
fn seconds(time: Duration) -> f64 {
    time.min(LONGEST).as_secs_f64()
}

/// A text without what the server has no place for.
fn plain(text: &str) -> String {
    text.replace('\0', "")
}
