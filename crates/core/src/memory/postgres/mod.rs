//! A memory on a PostgreSQL server, shared by any number of machines.
//!
//! A *bank* corresponds to a directory of the memory in files: one project's lessons, or the global ones. A commit
//! locks the bank's row in `banks`, so that commits of one bank are serialized and those of two banks do not wait for
//! each other. Records are stored as the same JSON as in the files; what is searched is also stored in columns next to
//! them.

// Connecting to the server.
mod access_control;
mod database_error;
mod migrations;
mod server;
mod transaction;

// Writing.
mod bank;
mod commit;
mod erase;
mod lexemes;
mod row_writer;

// Reading.
mod bank_status;
mod lesson_query;
mod record_reader;
mod row_parser;
mod vectors;

// Other things that machines share.
mod events;
pub mod jobs;
mod notifications;
mod spend;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use deadpool_postgres::Object;
use futures_util::FutureExt;
use tokio::sync::OwnedMutexGuard;

use self::database_error::PostgresFailure;
use self::lesson_query::BankQuery;
use self::record_reader::EpisodeCache;
use self::row_parser::query_cached;
use self::server::ServerRole;
use self::transaction::OpenTransaction;
use super::answer_collector::{join_answers, join_neighbours};
use super::lesson_matching::PreparedQuery;
use super::{
    BankFinding, BankStatus, BankTenancy, CommitBatch, CommitReceipt, CompactionReport, EpisodeFilter, ErasureNote,
    ErasurePlan, ErasureSelection, FactFilter, JudgingTurn, Lesson, LessonName, LessonNeighbour, LessonRevision,
    LessonStateFilter, LessonVectorStore, MemoryAnswer, MemoryError, MemoryService, MemoryStamp,
};
use crate::domain::{Episode, Fact, MemoryId, MemoryQuery, Timestamp};
use crate::recall::RankingSettings;

pub use self::access_control::{RowSecurity, grant_access, revoke_access, set_row_security};
pub use self::bank::GLOBAL;
pub use self::events::{EventFeed, EventPage, NewEvent, StoredEvent};
pub use self::migrations::{MigrationStep, MigrationStepState, list_migration_steps, migrate_schema};
pub use self::notifications::PostgresListener;
pub use self::server::{PostgresServer, PostgresServerSettings};
pub use self::spend::{Line, ReservationDecision, SpendReservation, SpendTable};

/// The probability that one run of maintenance prunes the names of old commits.
const PRUNING_SHARE: f64 = 0.02;

/// The bank of a server that holds a memory.
#[derive(Debug, Clone)]
pub struct PostgresBankSettings {
    /// The key of the project's bank.
    pub bank: String,
    /// The tenancy of the project's bank.
    pub tenancy: BankTenancy,
    /// The key of the global bank, if there is one.
    pub global: Option<String>,
    /// The length of the longest record that is accepted.
    pub max_record_bytes: usize,
}

/// The memory of one project on a server, and the global lessons.
#[derive(Debug, Clone)]
pub struct PostgresMemory {
    server: Arc<PostgresServer>,
    bank: String,
    tenancy: BankTenancy,
    global: Option<String>,
    max_record_bytes: usize,
    /// The lock that tasks of one process wait for, so that only one connection waits for the server's turn.
    turns: Arc<tokio::sync::Mutex<()>>,
    episodes: Arc<Mutex<EpisodeCache>>,
}

/// The judging turn: a transaction that holds the bank's row in `turns`.
struct TurnTransaction {
    work: OpenTransaction,
    _within_process: OwnedMutexGuard<()>,
}

impl PostgresMemory {
    /// Opens the memory without touching anything: it connects when it is used.
    pub fn open(server: Arc<PostgresServer>, settings: PostgresBankSettings) -> Self {
        let PostgresBankSettings { bank, tenancy, global, max_record_bytes } = settings;
        Self { server, bank, tenancy, global, max_record_bytes, turns: Arc::default(), episodes: Arc::default() }
    }

    /// Returns the keys of its banks, the project's first, with their tenancy.
    fn bank_keys(&self) -> impl Iterator<Item = (&str, BankTenancy)> {
        let global = self.global.as_deref().map(|key| (key, BankTenancy::Shared));
        std::iter::once((self.bank.as_str(), self.tenancy)).chain(global)
    }

    async fn try_acquire_turn(&self) -> Result<OpenTransaction, PostgresFailure> {
        let work = OpenTransaction::begin(self.open_banks().await?).await?;
        let client = work.client()?;
        let bank = self.server.find_bank(client, &self.bank).await?;
        query_cached(client, "SELECT bank FROM archivist.turns WHERE bank = $1 FOR UPDATE", &[&bank]).await?;
        Ok(work)
    }

    /// Returns a connection for writing after making sure that the banks exist.
    async fn open_banks(&self) -> Result<Object, PostgresFailure> {
        let client = self.server.write_connection().await?;
        for (key, _) in self.bank_keys() {
            self.server.ensure_bank(&client, key).await?;
        }
        Ok(client)
    }

    async fn try_commit(
        &self,
        name: &str,
        tried: &AtomicBool,
        batch: CommitBatch,
    ) -> Result<CommitReceipt, PostgresFailure> {
        let work = OpenTransaction::begin(self.open_banks().await?).await?;
        let is_repeated = tried.swap(true, Ordering::Relaxed);
        self.write_and_commit(work, name, is_repeated, batch).await
    }

    /// Writes a batch in an open transaction, and ends the transaction.
    async fn write_and_commit(
        &self,
        work: OpenTransaction,
        name: &str,
        is_repeated: bool,
        batch: CommitBatch,
    ) -> Result<CommitReceipt, PostgresFailure> {
        match commit::write_commit(self, &work, name, is_repeated, batch).await {
            Ok(receipt) => work.commit().await.map(|()| receipt),
            // After a refusal of ours the connection can be reused; after any other failure it is closed.
            Err(PostgresFailure::Memory(error)) => work.roll_back().await.and(Err(PostgresFailure::Memory(error))),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl MemoryService for PostgresMemory {
    async fn acquire_turn(&self) -> Result<JudgingTurn, MemoryError> {
        let within_process = Arc::clone(&self.turns).lock_owned().await;
        let work = self.server.run_with_retries("wait for its turn", || self.try_acquire_turn().boxed()).await?;
        Ok(JudgingTurn::from_guard(TurnTransaction { work, _within_process: within_process }))
    }

    async fn commit_batch(&self, batch: CommitBatch, _at: Timestamp) -> Result<CommitReceipt, MemoryError> {
        let (name, tried) = (fresh_commit_name(), AtomicBool::new(false));
        self.server.run_with_retries("commit", || self.try_commit(&name, &tried, batch.clone()).boxed()).await
    }

    /// Commits in the transaction of the turn: if the connection is lost, so is the turn, and nothing is written.
    async fn commit_in_turn(
        &self,
        turn: JudgingTurn,
        batch: CommitBatch,
        at: Timestamp,
    ) -> Result<CommitReceipt, MemoryError> {
        let Some(TurnTransaction { work, _within_process }) = turn.into_guard() else {
            return self.commit_batch(batch, at).await;
        };
        let name = fresh_commit_name();
        match self.write_and_commit(work, &name, false, batch).await {
            Ok(receipt) => Ok(receipt),
            Err(error) if error.is_transient() => {
                let outcome = || commit::find_commit_outcome(self, &name).boxed();
                let found = self.server.run_with_retries("find out what became of a commit", outcome).await?;
                found.ok_or(MemoryError::TurnLost)
            }
            Err(error) => Err(error.into_error("commit", &self.server.display_address())),
        }
    }

    async fn query_lessons(
        &self,
        query: &MemoryQuery,
        ranking: &RankingSettings,
        at: Timestamp,
    ) -> Result<MemoryAnswer, MemoryError> {
        let limit = query.max_results.unwrap_or(ranking.max_results);
        let wanted = BankQuery { query, ask: PreparedQuery::for_query, ranking, limit, at };
        let best = || self.find_best(ServerRole::Reader, &wanted).boxed();
        Ok(join_answers(self.server.run_with_retries("look for lessons", best).await?, query, ranking, limit))
    }

    async fn find_neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<LessonNeighbour>, MemoryError> {
        let ranking = &RankingSettings::BY_RELEVANCE;
        let wanted =
            BankQuery { query: near, ask: PreparedQuery::for_neighbours, ranking, limit, at: Timestamp::default() };
        // Judging needs the current lessons, which a standby may not have yet.
        let best = || self.find_best(ServerRole::Writer, &wanted).boxed();
        Ok(join_neighbours(self.server.run_with_retries("look for lessons", best).await?, limit))
    }

    async fn get_lesson(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError> {
        self.server.run_with_retries("read a lesson", || self.try_get_lesson(name).boxed()).await
    }

    async fn list_lessons(&self, which: LessonStateFilter) -> Result<Vec<Lesson>, MemoryError> {
        self.server.run_with_retries("read lessons", || self.try_list_lessons(which).boxed()).await
    }

    async fn newest_lessons(&self, which: LessonStateFilter, count: usize) -> Result<Vec<Lesson>, MemoryError> {
        self.server.run_with_retries("read lessons", || self.try_newest_lessons(which, count).boxed()).await
    }

    async fn lesson_history(&self, id: &MemoryId) -> Result<Vec<LessonRevision>, MemoryError> {
        self.server.run_with_retries("read the versions of a lesson", || self.try_lesson_history(id).boxed()).await
    }

    async fn list_revisions(&self) -> Result<Vec<LessonRevision>, MemoryError> {
        self.server.run_with_retries("read all versions", || self.try_list_revisions().boxed()).await
    }

    async fn list_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        self.server.run_with_retries("read runs", || self.try_list_episodes(filter).boxed()).await
    }

    async fn list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        self.server.run_with_retries("read facts", || self.try_list_facts(filter).boxed()).await
    }

    async fn memory_stamp(&self) -> Result<MemoryStamp, MemoryError> {
        self.server.run_with_retries("look for news", || self.try_memory_stamp().boxed()).await
    }

    async fn bank_statuses(&self) -> Result<Vec<BankStatus>, MemoryError> {
        self.server.run_with_retries("count what is there", || self.try_bank_statuses().boxed()).await
    }

    async fn find_problems(&self) -> Result<Vec<BankFinding>, MemoryError> {
        self.server.run_with_retries("look for damage", || self.try_find_problems().boxed()).await
    }

    async fn repair_problems(&self, _at: Timestamp) -> Result<Vec<BankFinding>, MemoryError> {
        self.server.run_with_retries("repair", || self.try_repair_problems().boxed()).await
    }

    async fn plan_erasure(&self, selection: &ErasureSelection) -> Result<ErasurePlan, MemoryError> {
        let plan = || self.try_plan_erasure(selection).boxed();
        self.server.run_with_retries("look for what is to be erased", plan).await
    }

    async fn erase_records(&self, plan: &ErasurePlan) -> Result<(), MemoryError> {
        self.server.run_with_retries("erase", || self.try_erase_records(plan).boxed()).await
    }

    async fn record_erasure(&self, note: &ErasureNote) -> Result<(), MemoryError> {
        self.server.run_with_retries("write down an erasure", || self.try_record_erasure(note).boxed()).await
    }

    async fn list_erasures(&self) -> Result<Vec<ErasureNote>, MemoryError> {
        self.server.run_with_retries("read what was erased", || self.try_list_erasures().boxed()).await
    }

    /// Does nothing: old versions cost the server nothing where they are.
    async fn compact_banks(&self) -> Result<Vec<CompactionReport>, MemoryError> {
        Ok(Vec::new())
    }

    fn vector_store(&self) -> Option<&dyn LessonVectorStore> {
        Some(self)
    }

    async fn run_maintenance(&self) {
        // This is called after every operation, so doing it rarely is enough.
        if server::random_fraction() < PRUNING_SHARE
            && let Err(error) = self.try_prune_commits().await
        {
            tracing::debug!(%error, "the names of old commits were not forgotten");
        }
    }
}

/// Returns a random name that no other commit has.
fn fresh_commit_name() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let dice = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", dice(), dice())
}
