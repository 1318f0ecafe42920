//! The memory as every caller of [`Archivist`](super::Archivist) writes to it: whatever is stored passes the redactor
//! first, whoever wrote it. What an earlier version stored is redacted when it answers a question.

use std::sync::Arc;

use async_trait::async_trait;

use crate::context::RecordRedactor;
use crate::domain::{Episode, Fact, MemoryId, MemoryQuery, Timestamp};
use crate::memory::{
    BankFinding, BankStatus, CommitBatch, CommitReceipt, CompactionReport, EpisodeFilter, ErasureNote, ErasurePlan,
    ErasureSelection, FactFilter, JudgingTurn, Lesson, LessonName, LessonNeighbour, LessonRevision, LessonStateFilter,
    LessonVectorStore, MemoryAnswer, MemoryError, MemoryService, MemoryStamp,
};
use crate::recall::RankingSettings;

#[cfg(test)]
#[path = "redacting_memory_tests.rs"]
mod tests;

/// A memory that redacts the texts of each batch before another one writes it.
#[derive(Debug)]
pub(super) struct RedactingMemory {
    inner: Arc<dyn MemoryService>,
    redactor: RecordRedactor,
}

impl RedactingMemory {
    /// Returns a memory that redacts what it hands to this one.
    pub(super) fn wrap(inner: Arc<dyn MemoryService>) -> Arc<dyn MemoryService> {
        Arc::new(Self { inner, redactor: RecordRedactor::new() })
    }

    fn redact_batch(&self, batch: CommitBatch) -> Result<CommitBatch, MemoryError> {
        let CommitBatch { episodes, memories, facts, expected, records } = batch;
        Ok(CommitBatch {
            episodes: redact_all(episodes, |one| one.id.to_string(), |one| self.redactor.redact_episode(one))?,
            memories: redact_all(memories, |one| one.id.to_string(), |one| self.redactor.redact_lesson(one))?,
            facts: redact_all(facts, |one| one.memory_id().to_string(), |one| self.redactor.redact_fact(one))?,
            expected,
            records,
        })
    }
}

fn redact_all<T>(
    records: Vec<T>,
    id_of: impl Fn(&T) -> String,
    redact: impl Fn(T) -> Option<T>,
) -> Result<Vec<T>, MemoryError> {
    let redact_one = |record: T| {
        let id = id_of(&record);
        redact(record).ok_or(MemoryError::NotRedactable { id })
    };
    records.into_iter().map(redact_one).collect()
}

#[async_trait]
impl MemoryService for RedactingMemory {
    async fn acquire_turn(&self) -> Result<JudgingTurn, MemoryError> {
        self.inner.acquire_turn().await
    }

    async fn commit_batch(&self, batch: CommitBatch, at: Timestamp) -> Result<CommitReceipt, MemoryError> {
        self.inner.commit_batch(self.redact_batch(batch)?, at).await
    }

    async fn commit_in_turn(
        &self,
        turn: JudgingTurn,
        batch: CommitBatch,
        at: Timestamp,
    ) -> Result<CommitReceipt, MemoryError> {
        self.inner.commit_in_turn(turn, self.redact_batch(batch)?, at).await
    }

    async fn query_lessons(
        &self,
        query: &MemoryQuery,
        ranking: &RankingSettings,
        at: Timestamp,
    ) -> Result<MemoryAnswer, MemoryError> {
        let mut answer = self.inner.query_lessons(query, ranking, at).await?;
        for hit in &mut answer.hits {
            let id = hit.lesson.memory.id.to_string();
            let clean = self.redactor.redact_lesson(hit.lesson.memory.clone());
            hit.lesson.memory = clean.ok_or(MemoryError::NotRedactable { id })?;
        }
        Ok(answer)
    }

    async fn find_neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<LessonNeighbour>, MemoryError> {
        self.inner.find_neighbours(near, limit).await
    }

    async fn get_lesson(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError> {
        self.inner.get_lesson(name).await
    }

    async fn list_lessons(&self, which: LessonStateFilter) -> Result<Vec<Lesson>, MemoryError> {
        self.inner.list_lessons(which).await
    }

    async fn newest_lessons(&self, which: LessonStateFilter, count: usize) -> Result<Vec<Lesson>, MemoryError> {
        self.inner.newest_lessons(which, count).await
    }

    async fn lesson_history(&self, id: &MemoryId) -> Result<Vec<LessonRevision>, MemoryError> {
        self.inner.lesson_history(id).await
    }

    async fn list_revisions(&self) -> Result<Vec<LessonRevision>, MemoryError> {
        self.inner.list_revisions().await
    }

    async fn list_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        self.inner.list_episodes(filter).await
    }

    async fn list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        self.inner.list_facts(filter).await
    }

    async fn memory_stamp(&self) -> Result<MemoryStamp, MemoryError> {
        self.inner.memory_stamp().await
    }

    async fn bank_statuses(&self) -> Result<Vec<BankStatus>, MemoryError> {
        self.inner.bank_statuses().await
    }

    async fn find_problems(&self) -> Result<Vec<BankFinding>, MemoryError> {
        self.inner.find_problems().await
    }

    async fn repair_problems(&self, at: Timestamp) -> Result<Vec<BankFinding>, MemoryError> {
        self.inner.repair_problems(at).await
    }

    async fn compact_banks(&self) -> Result<Vec<CompactionReport>, MemoryError> {
        self.inner.compact_banks().await
    }

    async fn plan_erasure(&self, selection: &ErasureSelection) -> Result<ErasurePlan, MemoryError> {
        self.inner.plan_erasure(selection).await
    }

    async fn erase_records(&self, plan: &ErasurePlan) -> Result<(), MemoryError> {
        self.inner.erase_records(plan).await
    }

    async fn record_erasure(&self, note: &ErasureNote) -> Result<(), MemoryError> {
        self.inner.record_erasure(note).await
    }

    async fn list_erasures(&self) -> Result<Vec<ErasureNote>, MemoryError> {
        self.inner.list_erasures().await
    }

    async fn run_maintenance(&self) {
        self.inner.run_maintenance().await;
    }

    fn vector_store(&self) -> Option<&dyn LessonVectorStore> {
        self.inner.vector_store()
    }
}
