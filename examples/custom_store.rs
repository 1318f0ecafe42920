//! A store of one's own: it keeps lessons in files and tells on stdout what is written. A store from scratch implements
//! the same methods; `tests/it/contract.rs` is the suite that every store must pass.
//!
//! `cargo run --example custom_store`

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;
use std::sync::Arc;

use archivist::{
    AgentMemory, Archivist, Episode, JsonlMemory, Lesson, LessonName, MemoryError, MemoryId, MemoryQuery,
    MemoryService, Timestamp,
};
use archivist_core::domain::Fact;
use archivist_core::memory::{
    BankFinding, BankStatus, CommitBatch, CommitReceipt, CompactionReport, EpisodeFilter, FactFilter, JudgingTurn,
    LessonNeighbour, LessonRevision, LessonStateFilter, MemoryAnswer, MemoryStamp,
};
use archivist_core::recall::RankingSettings;
use async_trait::async_trait;

/// Passes everything on to a store in files.
#[derive(Debug)]
struct TalkingMemory(JsonlMemory);

#[async_trait]
impl MemoryService for TalkingMemory {
    async fn commit_batch(&self, batch: CommitBatch, at: Timestamp) -> Result<CommitReceipt, MemoryError> {
        println!("{} lessons, {} facts", batch.memories.len(), batch.facts.len());
        self.0.commit_batch(batch, at).await
    }

    async fn acquire_turn(&self) -> Result<JudgingTurn, MemoryError> {
        self.0.acquire_turn().await
    }

    async fn query_lessons(
        &self,
        query: &MemoryQuery,
        ranking: &RankingSettings,
        at: Timestamp,
    ) -> Result<MemoryAnswer, MemoryError> {
        self.0.query_lessons(query, ranking, at).await
    }

    async fn find_neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<LessonNeighbour>, MemoryError> {
        self.0.find_neighbours(near, limit).await
    }

    async fn get_lesson(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError> {
        self.0.get_lesson(name).await
    }

    async fn list_lessons(&self, which: LessonStateFilter) -> Result<Vec<Lesson>, MemoryError> {
        self.0.list_lessons(which).await
    }

    async fn lesson_history(&self, id: &MemoryId) -> Result<Vec<LessonRevision>, MemoryError> {
        self.0.lesson_history(id).await
    }

    async fn list_revisions(&self) -> Result<Vec<LessonRevision>, MemoryError> {
        self.0.list_revisions().await
    }

    async fn list_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        self.0.list_episodes(filter).await
    }

    async fn list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        self.0.list_facts(filter).await
    }

    async fn memory_stamp(&self) -> Result<MemoryStamp, MemoryError> {
        self.0.memory_stamp().await
    }

    async fn bank_statuses(&self) -> Result<Vec<BankStatus>, MemoryError> {
        self.0.bank_statuses().await
    }

    async fn find_problems(&self) -> Result<Vec<BankFinding>, MemoryError> {
        self.0.find_problems().await
    }

    async fn repair_problems(&self, at: Timestamp) -> Result<Vec<BankFinding>, MemoryError> {
        self.0.repair_problems(at).await
    }

    async fn compact_banks(&self) -> Result<Vec<CompactionReport>, MemoryError> {
        self.0.compact_banks().await
    }

    async fn run_maintenance(&self) {
        self.0.run_maintenance().await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let configured = Archivist::builder(folder.path()).build()?;
    let files = JsonlMemory::open(configured.config().memory.jsonl_settings(folder.path(), None));
    let archivist = Archivist::builder(folder.path()).memory(Arc::new(TalkingMemory(files))).build()?;
    let (now, text) = (archivist.now(), "Run `make db` before the billing tests");
    let lesson = AgentMemory::new(archivist.id_source().new_memory_id(now, text), now, text);
    archivist.memory.add_memories(vec![lesson], now).await?;
    println!("{}", archivist.recall("the billing tests fail").await?.text());
    Ok(())
}
