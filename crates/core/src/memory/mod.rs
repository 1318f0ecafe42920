//! Storage of episodes, lessons and the ledger behind `MemoryService`. Every store passes one contract suite.

mod answer_collector;
mod bank_reports;
mod commit_plan;
mod erasure;
mod error;
mod lesson_matching;
mod shared_vectors;

pub mod jsonl;
#[cfg(feature = "postgres")]
pub mod postgres;

use std::any::Any;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentMemory, Alias, Episode, EpisodeId, Exposure, Fact, InvalidValue, LessonAvailability, LessonCounters, MemoryId,
    MemoryQuery, MemoryState, RunId, SessionId, Timestamp,
};
use crate::recall::{RankingSettings, RecallScore};

pub use bank_reports::{BankFinding, BankSite, BankStatus, CompactionReport, FileStatus, FindingRemedy, IndexStatus};
pub use erasure::{ErasureCounts, ErasureNote, ErasurePlan, ErasureSelection, RecordFate, RecordKind, StoredRecord};
pub use error::MemoryError;
pub use shared_vectors::{LessonVectorStore, LessonVectors, VectorModel};

/// The number of retries of a read-change-write when another writer came in between.
const CONFLICT_RETRIES: usize = 8;

/// A memory. The time is always an argument, and every write is one [`commit_batch`](Self::commit_batch).
#[async_trait]
pub trait MemoryService: Send + Sync + std::fmt::Debug {
    /// Waits for the turn to judge candidates here. Only one process holds it at a time: two that judge the same lesson
    /// at once would both take it for new.
    async fn acquire_turn(&self) -> Result<JudgingTurn, MemoryError>;

    /// Writes the whole batch or nothing. Records that are already stored are not written again.
    async fn commit_batch(&self, batch: CommitBatch, at: Timestamp) -> Result<CommitReceipt, MemoryError>;

    /// Writes the batch for which a turn was taken, and ends the turn. Writes nothing if the turn was lost.
    async fn commit_in_turn(
        &self,
        turn: JudgingTurn,
        batch: CommitBatch,
        at: Timestamp,
    ) -> Result<CommitReceipt, MemoryError> {
        let receipt = self.commit_batch(batch, at).await;
        drop(turn);
        receipt
    }

    /// Returns the best answers to a question.
    async fn query_lessons(
        &self,
        query: &MemoryQuery,
        ranking: &RankingSettings,
        at: Timestamp,
    ) -> Result<MemoryAnswer, MemoryError>;

    /// Returns the lessons of the question's project that are most similar to its text, retired ones included.
    async fn find_neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<LessonNeighbour>, MemoryError>;

    /// Returns the current version of one lesson.
    async fn get_lesson(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError>;

    /// Returns the current version of all lessons in the included states, the last changed one at the end.
    async fn list_lessons(&self, which: LessonStateFilter) -> Result<Vec<Lesson>, MemoryError>;

    /// Returns the lessons in the included states that were confirmed last: at least so many, if there are, and all that
    /// are as new as the oldest of them. In no order.
    async fn newest_lessons(&self, which: LessonStateFilter, _count: usize) -> Result<Vec<Lesson>, MemoryError> {
        self.list_lessons(which).await
    }

    /// Returns every version of one lesson, oldest first.
    async fn lesson_history(&self, id: &MemoryId) -> Result<Vec<LessonRevision>, MemoryError>;

    /// Returns every version of every lesson, in the order in which they were written.
    async fn list_revisions(&self) -> Result<Vec<LessonRevision>, MemoryError>;

    /// Returns the current form of episodes, in the order in which they were last written.
    async fn list_episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError>;

    /// Returns ledger facts, each once, in the order in which they were written.
    async fn list_facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError>;

    /// Returns a stamp that changes whenever anything is written, by any process. It is cheap to compute.
    async fn memory_stamp(&self) -> Result<MemoryStamp, MemoryError>;

    /// Counts the stored records, bank by bank.
    async fn bank_statuses(&self) -> Result<Vec<BankStatus>, MemoryError>;

    /// Looks for problems in the stored data. Changes nothing.
    async fn find_problems(&self) -> Result<Vec<BankFinding>, MemoryError>;

    /// Repairs what can be repaired without guessing, and returns the findings that were repaired.
    async fn repair_problems(&self, at: Timestamp) -> Result<Vec<BankFinding>, MemoryError>;

    /// Moves records that are no longer in use to the archive.
    async fn compact_banks(&self) -> Result<Vec<CompactionReport>, MemoryError>;

    /// Plans what a selection erases for good. Changes nothing. A store that cannot erase returns an error.
    async fn plan_erasure(&self, _selection: &ErasureSelection) -> Result<ErasurePlan, MemoryError> {
        Err(MemoryError::Interrupted("this store erases nothing".to_owned()))
    }

    /// Erases what was planned, in every table and file of the store. It may be repeated, and goes on with what an
    /// interrupted try has left.
    async fn erase_records(&self, _plan: &ErasurePlan) -> Result<(), MemoryError> {
        Err(MemoryError::Interrupted("this store erases nothing".to_owned()))
    }

    /// Keeps a note of an erasure. The note is kept once, however often this is called.
    async fn record_erasure(&self, _note: &ErasureNote) -> Result<(), MemoryError> {
        Err(MemoryError::Interrupted("this store erases nothing".to_owned()))
    }

    /// Returns the notes of all erasures, the oldest first.
    async fn list_erasures(&self) -> Result<Vec<ErasureNote>, MemoryError> {
        Ok(Vec::new())
    }

    /// Updates derived data if enough has been written since. Never fails: errors are only logged.
    async fn run_maintenance(&self);

    /// Returns the store of lesson vectors, if there is one. Without one, callers read the lessons and embed them.
    fn vector_store(&self) -> Option<&dyn LessonVectorStore> {
        None
    }

    /// Stores an episode, or its newer form.
    async fn record_episode(&self, episode: Episode, at: Timestamp) -> Result<(), MemoryError> {
        self.commit_batch(CommitBatch { episodes: vec![episode], ..CommitBatch::default() }, at).await.map(drop)
    }

    /// Stores lessons, or newer versions of them.
    async fn add_memories(&self, memories: Vec<AgentMemory>, at: Timestamp) -> Result<CommitReceipt, MemoryError> {
        self.commit_batch(CommitBatch { memories, ..CommitBatch::default() }, at).await
    }

    /// Records that these lessons were injected into a session, in this order.
    async fn record_usage(&self, ids: &[MemoryId], usage: &LessonUsage, at: Timestamp) -> Result<(), MemoryError> {
        let fact = |(rank, memory): (u32, &MemoryId)| Fact::Injection {
            run: usage.run.clone(),
            memory: memory.clone(),
            point: usage.point.clone(),
            rank,
            exposure: Exposure::Exposed,
            at,
            extra: Default::default(),
        };
        let facts = (1..).zip(ids).map(fact).collect();
        self.commit_batch(CommitBatch { facts, ..CommitBatch::default() }, at).await.map(drop)
    }

    /// Takes a lesson out of use. It is kept, and can be restored.
    async fn archive_memory(&self, id: &MemoryId, removal: LessonRemoval, at: Timestamp) -> Result<(), MemoryError> {
        revise_lesson(self, id, at, |memory| {
            match &removal {
                LessonRemoval::Forgotten { reason } => {
                    memory.state = Some(MemoryState::Archived);
                    memory.state_reason = reason.clone();
                }
                LessonRemoval::ReplacedBy(replacement) => {
                    memory.state = Some(MemoryState::Superseded);
                    memory.superseded_by = Some(replacement.clone());
                }
            }
            Ok(())
        })
        .await
    }

    /// Restores the content of an earlier version, as a new version.
    async fn restore_version(&self, id: &MemoryId, version: u64, at: Timestamp) -> Result<(), MemoryError> {
        let history = self.lesson_history(id).await?;
        let Some(wanted) = history.iter().find(|revision| revision.version == version) else {
            return Err(MemoryError::NoSuchVersion { id: id.clone(), version, known: history.len() });
        };
        let content = wanted.memory.clone();
        revise_lesson(self, id, at, |memory| {
            *memory = content.clone();
            memory.restored_from = Some(version);
            Ok(())
        })
        .await
    }
}

/// Reads a lesson, changes it and writes it as a new version; retries if another writer came in between.
async fn revise_lesson<S, F>(store: &S, id: &MemoryId, at: Timestamp, change: F) -> Result<(), MemoryError>
where
    S: MemoryService + ?Sized,
    F: Fn(&mut AgentMemory) -> Result<(), MemoryError> + Send + Sync,
{
    let mut tries = 0;
    loop {
        let name = LessonName::Id(id.clone());
        let lesson = store.get_lesson(&name).await?.ok_or(MemoryError::NoSuchLesson { name })?;
        let mut memory = lesson.memory;
        memory.restored_from = None;
        change(&mut memory)?;
        memory.updated_at = Some(at);
        let batch = CommitBatch {
            memories: vec![memory],
            expected: vec![(id.clone(), lesson.version)],
            ..CommitBatch::default()
        };
        match store.commit_batch(batch, at).await {
            Err(error) if error.is_lost_race() && tries < CONFLICT_RETRIES => tries += 1,
            other => return other.map(drop),
        }
    }
}

/// How a memory looks from outside; another one means that something was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(rename = "Stamp")]
pub struct MemoryStamp(pub String);

/// The exclusive turn to judge candidates. It ends when this is dropped, or when the process dies.
pub struct JudgingTurn(Box<dyn Any + Send>);

impl JudgingTurn {
    /// Creates a turn that lasts as long as the given guard.
    pub fn from_guard(by: impl Send + 'static) -> Self {
        Self(Box::new(by))
    }

    /// Returns the guard, if it is of this type.
    pub fn into_guard<T: 'static>(self) -> Option<T> {
        self.0.downcast().ok().map(|held| *held)
    }
}

impl std::fmt::Debug for JudgingTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Turn")
    }
}

/// The ownership of the lessons in a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankTenancy {
    /// A bank of one project: everything in it belongs to that project, even after a fork, a move or a new remote.
    Own,
    /// A bank of several projects: each sees only the lessons that carry its repository or its path.
    Shared,
}

/// The records that one reflection or one command writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommitBatch {
    /// The episodes to write; a known id is replaced.
    pub episodes: Vec<Episode>,
    /// The lessons to write; a known id gets a new version.
    pub memories: Vec<AgentMemory>,
    /// The ledger facts to write; a known key is left alone.
    pub facts: Vec<Fact>,
    /// The lessons that must still be at this version, or nothing is written.
    pub expected: Vec<(MemoryId, u64)>,
    /// The origin of the records.
    pub records: RecordOrigin,
}

impl CommitBatch {
    /// Returns true if there is nothing to write or to check.
    pub fn is_empty(&self) -> bool {
        let Self { episodes, memories, facts, expected, records: _ } = self;
        episodes.is_empty() && memories.is_empty() && facts.is_empty() && expected.is_empty()
    }
}

/// The origin of the records of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordOrigin {
    /// They are created now: the store assigns short names and keeps the usage fields of lessons.
    #[default]
    New,
    /// They are copied from another memory: they stay as they are.
    Copied,
}

/// The result of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommitReceipt {
    /// The lessons of the batch with their short names, in the batch's order.
    pub lessons: Vec<(MemoryId, Alias)>,
    /// The number of records that were new.
    pub written: usize,
    /// The number of records that were already stored.
    pub known: usize,
}

/// A lesson as it stands now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lesson {
    /// The lesson; its usage fields are counted from the ledger.
    #[serde(flatten)]
    pub memory: AgentMemory,
    /// Which version this is, from 1.
    pub version: u64,
    /// What the ledger says of it.
    pub counters: LessonCounters,
}

impl Lesson {
    /// Combines a lesson with its counters, and sets its usage fields from them.
    pub fn new(mut memory: AgentMemory, version: u64, counters: LessonCounters) -> Self {
        memory.usage_count = counters.exposures;
        memory.last_used_at = counters.last_used_at;
        Self { memory, version, counters }
    }
}

/// One version of a lesson.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Revision")]
pub struct LessonRevision {
    /// From 1; stays the same for ever.
    pub version: u64,
    /// The lesson as it was.
    pub memory: AgentMemory,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryAnswer {
    /// The lessons found, best first.
    pub hits: Vec<LessonHit>,
    /// The number of further lessons that matched the question but were dropped.
    pub dropped: usize,
    /// The way it was found.
    pub method: SearchMethod,
}

/// A lesson that matches a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LessonHit {
    /// The lesson that matches.
    #[serde(flatten)]
    pub lesson: Lesson,
    /// The score that determines its rank.
    pub score: RecallScore,
}

/// The way in which an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// The index was used.
    Index,
    /// All files were read.
    FullRead,
}

/// A lesson that is similar to a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LessonNeighbour {
    /// The lesson that is similar.
    #[serde(flatten)]
    pub lesson: Lesson,
    /// The similarity, from 0 to 1.
    pub similarity: f64,
}

/// A choice of lessons by their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonStateFilter {
    /// Lessons that may be injected.
    Given,
    /// Lessons in use: those that may be injected and those that wait to be observed again.
    Live,
    /// All lessons, retired ones too.
    All,
}

impl LessonStateFilter {
    /// Returns true if lessons of this state are included.
    pub fn includes_state(self, availability: LessonAvailability) -> bool {
        match self {
            Self::Given => availability == LessonAvailability::Live,
            Self::Live => availability != LessonAvailability::Retired,
            Self::All => true,
        }
    }
}

/// The reason why a lesson is taken out of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonRemoval {
    /// A user wants it removed.
    Forgotten {
        /// The reason in the user's words.
        reason: Option<String>,
    },
    /// Another lesson replaces it.
    ReplacedBy(MemoryId),
}

/// The session and the injection point at which lessons were used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonUsage {
    /// The run id of the session.
    pub run: RunId,
    /// The injection point, such as `orchestrator` or `subagent`.
    pub point: String,
}

/// A name by which users refer to a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonName {
    /// The id of the lesson.
    Id(MemoryId),
    /// The short name of the lesson.
    Alias(Alias),
}

impl LessonName {
    /// Parses either form of a name.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        Alias::parse(text).map(Self::Alias).or_else(|_| MemoryId::parse(text).map(Self::Id))
    }
}

impl std::fmt::Display for LessonName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Alias(alias) => alias.fmt(f),
        }
    }
}

/// A filter for episodes; fields that are `None` admit all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    /// The id of the episode.
    pub id: Option<EpisodeId>,
    /// The session of the episode.
    pub session: Option<SessionId>,
    /// The task of the episode.
    pub task: Option<String>,
    /// The earliest time at which it finished.
    pub since: Option<Timestamp>,
    /// The number of episodes, of those that were last written; all if `None`.
    pub newest: Option<usize>,
}

impl EpisodeFilter {
    /// Makes a filter for the episodes that were last written.
    pub fn newest(count: usize) -> Self {
        Self { newest: Some(count), ..Self::default() }
    }

    /// Returns true if the filter admits an episode, whatever its number.
    pub fn admits_episode(&self, episode: &Episode) -> bool {
        self.id.as_ref().is_none_or(|id| *id == episode.id)
            && self.session.as_ref().is_none_or(|session| *session == episode.session_id)
            && self.task.as_ref().is_none_or(|task| Some(task) == episode.task_id.as_ref())
            && self.since.is_none_or(|since| episode.finished_at >= since)
    }
}

/// A filter for facts; fields that are `None` admit all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactFilter {
    /// The lesson that the fact is about.
    pub memory: Option<MemoryId>,
    /// The session that the fact is about.
    pub run: Option<RunId>,
}

impl FactFilter {
    /// Returns true if the filter admits a fact.
    pub fn admits_fact(&self, fact: &Fact) -> bool {
        let run = match fact {
            Fact::Injection { run, .. } | Fact::Effect { run, .. } => Some(run),
            Fact::Sighting { .. } | Fact::Feedback { .. } => None,
        };
        self.memory.as_ref().is_none_or(|memory| memory == fact.memory_id())
            && self.run.as_ref().is_none_or(|wanted| Some(wanted) == run)
    }
}
