//! A memory on a PostgreSQL server: one that any number of machines share.
//!
//! A *bank* is what a directory is to the memory in files: one project's lessons, or those that hold everywhere. Its row
//! in `banks` is locked by whoever commits, so that commits of one bank come one after the other and those of two banks
//! do not wait for each other. Records are kept as the JSON that the files would hold; what is looked for stands in
//! columns beside them.

// The way to the server.
mod access;
mod migrate;
mod server;
mod trouble;
mod work;

// Writing.
mod bank;
mod commit;
mod words;
mod write;

// Reading.
mod query;
mod read;
mod rows;
mod upkeep;
mod vectors;

// What else machines share.
mod bell;
mod events;
pub mod jobs;
mod spend;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use deadpool_postgres::Object;
use futures_util::FutureExt;
use tokio::sync::OwnedMutexGuard;

use self::query::Wanted;
use self::read::Episodes;
use self::rows::ask;
use self::server::Role;
use self::trouble::Trouble;
use self::work::Work;
use super::answers::{joined, nearest};
use super::search::Ask;
use super::{
    Answer, BankStatus, Batch, Compaction, EpisodeFilter, FactFilter, Finding, Lesson, LessonName, Meanings,
    MemoryError, MemoryService, Neighbour, Receipt, Revision, Stamp, Tenancy, Turn, Which,
};
use crate::domain::{Episode, Fact, MemoryId, MemoryQuery, Timestamp};
use crate::recall::Ranking;

pub use self::access::{RowSecurity, grant, revoke, set_row_security};
pub use self::bank::GLOBAL;
pub use self::bell::Bell;
pub use self::events::{Events, NewEvent, Page, StoredEvent};
pub use self::migrate::{Step, StepState, migrate, steps};
pub use self::server::{Server, ServerSettings};
pub use self::spend::{Line, Reservation, SpendLines, Verdict};

/// How often whoever has done something forgets the names of old commits.
const PRUNING_SHARE: f64 = 0.02;

/// Which bank of which server.
#[derive(Debug, Clone)]
pub struct PostgresSettings {
    /// The key of the project's bank.
    pub bank: String,
    /// Whose lessons it holds.
    pub tenancy: Tenancy,
    /// The key of the bank of lessons that hold everywhere, if there is to be one.
    pub global: Option<String>,
    /// No record is longer.
    pub max_record_bytes: usize,
}

/// The memory of one project on a server, and the lessons that hold everywhere.
#[derive(Debug, Clone)]
pub struct PostgresMemory {
    server: Arc<Server>,
    bank: String,
    tenancy: Tenancy,
    global: Option<String>,
    max_record_bytes: usize,
    /// Within a process one waits for the other here, so that only one connection waits for the server's turn.
    turns: Arc<tokio::sync::Mutex<()>>,
    episodes: Arc<Mutex<Episodes>>,
}

/// The turn to decide what is new: a transaction that holds the bank's row in `turns`.
struct Held {
    work: Work,
    _within_process: OwnedMutexGuard<()>,
}

impl PostgresMemory {
    /// Touches nothing: the server is called when it is needed.
    pub fn open(server: Arc<Server>, settings: PostgresSettings) -> Self {
        let PostgresSettings { bank, tenancy, global, max_record_bytes } = settings;
        Self { server, bank, tenancy, global, max_record_bytes, turns: Arc::default(), episodes: Arc::default() }
    }

    /// The keys of its banks, the project's first, and whose lessons each holds.
    fn keys(&self) -> impl Iterator<Item = (&str, Tenancy)> {
        let global = self.global.as_deref().map(|key| (key, Tenancy::Shared));
        std::iter::once((self.bank.as_str(), self.tenancy)).chain(global)
    }

    async fn try_turn(&self) -> Result<Work, Trouble> {
        let work = Work::begin(self.open_banks().await?).await?;
        let client = work.client()?;
        let bank = self.server.bank(client, &self.bank).await?;
        ask(client, "SELECT bank FROM archivist.turns WHERE bank = $1 FOR UPDATE", &[&bank]).await?;
        Ok(work)
    }

    /// A connection to write to, once there is something to write to.
    async fn open_banks(&self) -> Result<Object, Trouble> {
        let client = self.server.writing().await?;
        for (key, _) in self.keys() {
            self.server.make_bank(&client, key).await?;
        }
        Ok(client)
    }

    async fn try_commit(&self, name: &str, tried: &AtomicBool, batch: Batch) -> Result<Receipt, Trouble> {
        let work = Work::begin(self.open_banks().await?).await?;
        let is_repeated = tried.swap(true, Ordering::Relaxed);
        self.conclude(work, name, is_repeated, batch).await
    }

    /// Writes a batch in a transaction that has begun, and ends it.
    async fn conclude(&self, work: Work, name: &str, is_repeated: bool, batch: Batch) -> Result<Receipt, Trouble> {
        match commit::carry_out(self, &work, name, is_repeated, batch).await {
            Ok(receipt) => work.commit().await.map(|()| receipt),
            // A refusal of ours leaves the connection as it was; whatever else went wrong takes it along.
            Err(Trouble::Memory(error)) => work.undo().await.and(Err(Trouble::Memory(error))),
            Err(trouble) => Err(trouble),
        }
    }
}

#[async_trait]
impl MemoryService for PostgresMemory {
    async fn turn(&self) -> Result<Turn, MemoryError> {
        let within_process = Arc::clone(&self.turns).lock_owned().await;
        let work = self.server.persist("wait for its turn", || self.try_turn().boxed()).await?;
        Ok(Turn::held(Held { work, _within_process: within_process }))
    }

    async fn commit(&self, batch: Batch, _at: Timestamp) -> Result<Receipt, MemoryError> {
        let (name, tried) = (fresh_name(), AtomicBool::new(false));
        self.server.persist("commit", || self.try_commit(&name, &tried, batch.clone()).boxed()).await
    }

    /// In the transaction that holds the turn: if the connection is lost, so is the turn, and nothing is written.
    async fn commit_in(&self, turn: Turn, batch: Batch, at: Timestamp) -> Result<Receipt, MemoryError> {
        let Some(Held { work, _within_process }) = turn.into_held() else { return self.commit(batch, at).await };
        let name = fresh_name();
        match self.conclude(work, &name, false, batch).await {
            Ok(receipt) => Ok(receipt),
            Err(trouble) if trouble.may_pass() => {
                let outcome = || commit::outcome(self, &name).boxed();
                let found = self.server.persist("find out what became of a commit", outcome).await?;
                found.ok_or(MemoryError::TurnLost)
            }
            Err(trouble) => Err(trouble.into_error("commit", &self.server.place())),
        }
    }

    async fn query(&self, query: &MemoryQuery, ranking: &Ranking, at: Timestamp) -> Result<Answer, MemoryError> {
        let limit = query.max_results.unwrap_or(ranking.max_results);
        let wanted = Wanted { query, ask: Ask::query, ranking, limit, at };
        let best = || self.best(Role::Reader, &wanted).boxed();
        Ok(joined(self.server.persist("look for lessons", best).await?, query, ranking, limit))
    }

    async fn neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<Neighbour>, MemoryError> {
        let ranking = &Ranking::BY_RELEVANCE;
        let wanted = Wanted { query: near, ask: Ask::neighbours, ranking, limit, at: Timestamp::default() };
        // What is new is decided by what is there now, not by what a standby has heard of.
        let best = || self.best(Role::Writer, &wanted).boxed();
        Ok(nearest(self.server.persist("look for lessons", best).await?, limit))
    }

    async fn get(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError> {
        self.server.persist("read a lesson", || self.try_get(name).boxed()).await
    }

    async fn lessons(&self, which: Which) -> Result<Vec<Lesson>, MemoryError> {
        self.server.persist("read lessons", || self.try_lessons(which).boxed()).await
    }

    async fn history(&self, id: &MemoryId) -> Result<Vec<Revision>, MemoryError> {
        self.server.persist("read the versions of a lesson", || self.try_history(id).boxed()).await
    }

    async fn revisions(&self) -> Result<Vec<Revision>, MemoryError> {
        self.server.persist("read all versions", || self.try_revisions().boxed()).await
    }

    async fn episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        self.server.persist("read runs", || self.try_episodes(filter).boxed()).await
    }

    async fn facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        self.server.persist("read facts", || self.try_facts(filter).boxed()).await
    }

    async fn stamp(&self) -> Result<Stamp, MemoryError> {
        self.server.persist("look for news", || self.try_stamp().boxed()).await
    }

    async fn status(&self) -> Result<Vec<BankStatus>, MemoryError> {
        self.server.persist("count what is there", || self.try_status().boxed()).await
    }

    async fn examine(&self) -> Result<Vec<Finding>, MemoryError> {
        self.server.persist("look for damage", || self.try_examine().boxed()).await
    }

    async fn repair(&self, _at: Timestamp) -> Result<Vec<Finding>, MemoryError> {
        self.server.persist("repair", || self.try_repair().boxed()).await
    }

    /// Old versions stay where they are: the server finds them or not, it costs the same.
    async fn compact(&self) -> Result<Vec<Compaction>, MemoryError> {
        Ok(Vec::new())
    }

    fn meanings(&self) -> Option<&dyn Meanings> {
        Some(self)
    }

    async fn maintain(&self) {
        // Everybody does this after everything: it is enough that somebody does it now and then.
        if server::jitter() < PRUNING_SHARE
            && let Err(trouble) = self.try_prune().await
        {
            tracing::debug!(%trouble, "the names of old commits were not forgotten");
        }
    }
}

/// A name that no other commit has.
fn fresh_name() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let dice = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", dice(), dice())
}
