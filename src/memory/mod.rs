//! Where episodes, lessons and the ledger are kept. `MemoryService` is the seam; every store passes one contract suite.

mod answers;
mod error;
mod meanings;
mod plan;
mod search;
mod upkeep;

pub mod jsonl;
#[cfg(feature = "postgres")]
pub mod postgres;

use std::any::Any;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{
    AgentMemory, Alias, Counters, Episode, EpisodeId, Exposure, Fact, Invalid, MemoryId, MemoryQuery, MemoryState,
    RunId, SessionId, Standing, Timestamp,
};
use crate::recall::{Ranking, Score};

pub use error::MemoryError;
pub use meanings::{MeaningModel, Meanings, Measured};
pub use upkeep::{BankStatus, Compaction, FileStatus, Finding, IndexStatus, Remedy, Site};

/// How often a read-change-write is tried again when somebody else wrote in between.
const CONFLICT_RETRIES: usize = 8;

/// A memory bank. The clock is always an argument, and every write is one [`commit`](Self::commit).
#[async_trait]
pub trait MemoryService: Send + Sync + std::fmt::Debug {
    /// Waits for one's turn to decide what is new here. While it is held nobody else has it: two who judge the same
    /// lesson at once would both take it for new.
    async fn turn(&self) -> Result<Turn, MemoryError>;

    /// Writes the whole batch or nothing. What is already there is not written again.
    async fn commit(&self, batch: Batch, at: Timestamp) -> Result<Receipt, MemoryError>;

    /// Writes what a turn was taken for, and ends it. Whoever lost the turn meanwhile writes nothing.
    async fn commit_in(&self, turn: Turn, batch: Batch, at: Timestamp) -> Result<Receipt, MemoryError> {
        let receipt = self.commit(batch, at).await;
        drop(turn);
        receipt
    }

    /// The best answers to a question.
    async fn query(&self, query: &MemoryQuery, ranking: &Ranking, at: Timestamp) -> Result<Answer, MemoryError>;

    /// The lessons of the question's project that read most like its text, retired ones included.
    async fn neighbours(&self, near: &MemoryQuery, limit: usize) -> Result<Vec<Neighbour>, MemoryError>;

    /// One lesson as it stands now.
    async fn get(&self, name: &LessonName) -> Result<Option<Lesson>, MemoryError>;

    /// All lessons as they stand now, the one that changed last at the end.
    async fn lessons(&self, which: Which) -> Result<Vec<Lesson>, MemoryError>;

    /// Every version of one lesson, oldest first.
    async fn history(&self, id: &MemoryId) -> Result<Vec<Revision>, MemoryError>;

    /// Every version of every lesson, in the order in which they were written.
    async fn revisions(&self) -> Result<Vec<Revision>, MemoryError>;

    /// Episodes as they stand now, in the order they were last written.
    async fn episodes(&self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError>;

    /// Ledger facts, each once, in the order they were written.
    async fn facts(&self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError>;

    /// Changes whenever anything was written, by whomever, and costs next to nothing to ask for.
    async fn stamp(&self) -> Result<Stamp, MemoryError>;

    /// Counts what is there, bank by bank.
    async fn status(&self) -> Result<Vec<BankStatus>, MemoryError>;

    /// Looks for anything out of order. Changes nothing.
    async fn examine(&self) -> Result<Vec<Finding>, MemoryError>;

    /// Puts right what can be put right without guessing, and says what that was.
    async fn repair(&self, at: Timestamp) -> Result<Vec<Finding>, MemoryError>;

    /// Moves out of the way what is no longer in use.
    async fn compact(&self) -> Result<Vec<Compaction>, MemoryError>;

    /// Lets what is derived catch up if enough has been written since. Never fails: whatever it is, there is another way.
    async fn maintain(&self);

    /// The vectors of its lessons, where it keeps them for everybody. Elsewhere whoever asks reads the lessons and embeds
    /// them.
    fn meanings(&self) -> Option<&dyn Meanings> {
        None
    }

    /// Stores an episode, or its newer form.
    async fn record_episode(&self, episode: Episode, at: Timestamp) -> Result<(), MemoryError> {
        self.commit(Batch { episodes: vec![episode], ..Batch::default() }, at).await.map(drop)
    }

    /// Stores lessons, or newer versions of them.
    async fn add_memories(&self, memories: Vec<AgentMemory>, at: Timestamp) -> Result<Receipt, MemoryError> {
        self.commit(Batch { memories, ..Batch::default() }, at).await
    }

    /// Notes that a run was given these lessons, in this order.
    async fn record_usage(&self, ids: &[MemoryId], usage: &Usage, at: Timestamp) -> Result<(), MemoryError> {
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
        self.commit(Batch { facts, ..Batch::default() }, at).await.map(drop)
    }

    /// Takes a lesson out of use. It is kept, and can be restored.
    async fn archive_memory(&self, id: &MemoryId, removal: Removal, at: Timestamp) -> Result<(), MemoryError> {
        revise(self, id, at, |memory| {
            match &removal {
                Removal::Forgotten { reason } => {
                    memory.state = Some(MemoryState::Archived);
                    memory.state_reason = reason.clone();
                }
                Removal::ReplacedBy(replacement) => {
                    memory.state = Some(MemoryState::Superseded);
                    memory.superseded_by = Some(replacement.clone());
                }
            }
            Ok(())
        })
        .await
    }

    /// Brings back the content of an earlier version, as a new version.
    async fn restore(&self, id: &MemoryId, version: u64, at: Timestamp) -> Result<(), MemoryError> {
        let history = self.history(id).await?;
        let Some(wanted) = history.iter().find(|revision| revision.version == version) else {
            return Err(MemoryError::NoSuchVersion { id: id.clone(), version, known: history.len() });
        };
        let content = wanted.memory.clone();
        revise(self, id, at, |memory| {
            *memory = content.clone();
            memory.restored_from = Some(version);
            Ok(())
        })
        .await
    }
}

/// Reads a lesson, changes it and writes it as a new version; begins again if somebody wrote in between.
async fn revise<S, F>(store: &S, id: &MemoryId, at: Timestamp, change: F) -> Result<(), MemoryError>
where
    S: MemoryService + ?Sized,
    F: Fn(&mut AgentMemory) -> Result<(), MemoryError> + Send + Sync,
{
    let mut tries = 0;
    loop {
        let name = LessonName::Id(id.clone());
        let lesson = store.get(&name).await?.ok_or(MemoryError::NoSuchLesson { name })?;
        let mut memory = lesson.memory;
        memory.restored_from = None;
        change(&mut memory)?;
        memory.updated_at = Some(at);
        let batch = Batch { memories: vec![memory], expected: vec![(id.clone(), lesson.version)], ..Batch::default() };
        match store.commit(batch, at).await {
            Err(error) if error.is_race() && tries < CONFLICT_RETRIES => tries += 1,
            other => return other.map(drop),
        }
    }
}

/// How a memory looks from outside; another one means that something was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Stamp(pub String);

/// The turn to decide what is new. It ends when this is dropped, or when the process dies.
pub struct Turn(Box<dyn Any + Send>);

impl Turn {
    /// A turn that lasts as long as what is handed in.
    pub fn held(by: impl Send + 'static) -> Self {
        Self(Box::new(by))
    }

    /// What it is held by, where that is of this kind.
    pub fn into_held<T: 'static>(self) -> Option<T> {
        self.0.downcast().ok().map(|held| *held)
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Turn")
    }
}

/// Whose lessons a bank holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tenancy {
    /// One project's: whatever lies in it is that project's, even after a fork, a move or a new remote.
    Own,
    /// Several projects': each sees only the lessons that carry its repository or its path.
    Shared,
}

/// What one reflection, or one command, writes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Episodes; a known id is replaced.
    pub episodes: Vec<Episode>,
    /// Lessons; a known id gets a new version.
    pub memories: Vec<AgentMemory>,
    /// Ledger facts; a known key is left alone.
    pub facts: Vec<Fact>,
    /// Lessons that must still be at this version, or nothing is written.
    pub expected: Vec<(MemoryId, u64)>,
    /// Where the records come from.
    pub records: Records,
}

impl Batch {
    /// Whether there is nothing in it to write or to look at.
    pub fn is_empty(&self) -> bool {
        let Self { episodes, memories, facts, expected, records: _ } = self;
        episodes.is_empty() && memories.is_empty() && facts.is_empty() && expected.is_empty()
    }
}

/// Where the records of a batch come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Records {
    /// They are made now: the store gives lessons their short names and says how often they were used.
    #[default]
    New,
    /// They are copied from another memory: they stay as they are.
    Copied,
}

/// What a commit did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The batch's lessons and the names people know them by, in the batch's order.
    pub lessons: Vec<(MemoryId, Alias)>,
    /// Lines that were new.
    pub written: usize,
    /// Lines that were there already.
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
    pub counters: Counters,
}

impl Lesson {
    /// Puts a lesson and its counters together, so that the seed's usage fields tell the truth.
    pub fn new(mut memory: AgentMemory, version: u64, counters: Counters) -> Self {
        memory.usage_count = counters.exposures;
        memory.last_used_at = counters.last_used_at;
        Self { memory, version, counters }
    }
}

/// One version of a lesson.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// From 1; stays the same for ever.
    pub version: u64,
    /// The lesson as it was.
    pub memory: AgentMemory,
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Best first.
    pub hits: Vec<Hit>,
    /// How many more met the question than were let through.
    pub dropped: usize,
    /// How it was found.
    pub method: Method,
}

/// A lesson that meets a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The lesson.
    #[serde(flatten)]
    pub lesson: Lesson,
    /// Why it stands where it does.
    pub score: Score,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Through the index.
    Index,
    /// By reading everything.
    FullRead,
}

/// A lesson that reads like a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Neighbour {
    /// The lesson.
    #[serde(flatten)]
    pub lesson: Lesson,
    /// From 0 to 1.
    pub similarity: f64,
}

/// Which lessons are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that may be given to anybody.
    Given,
    /// Those in use: the same, and those that wait to be seen again.
    Live,
    /// Retired ones too.
    All,
}

impl Which {
    /// Whether a lesson of this standing is meant.
    pub fn includes(self, standing: Standing) -> bool {
        match self {
            Self::Given => standing == Standing::Live,
            Self::Live => standing != Standing::Retired,
            Self::All => true,
        }
    }
}

/// Why a lesson is taken out of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Somebody wants it gone.
    Forgotten {
        /// In their words.
        reason: Option<String>,
    },
    /// Another lesson says it better.
    ReplacedBy(MemoryId),
}

/// Which run was given lessons, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The run.
    pub run: RunId,
    /// `orchestrator`, `subagent` and so on.
    pub point: String,
}

/// What people call a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonName {
    /// Its id.
    Id(MemoryId),
    /// Its short name.
    Alias(Alias),
}

impl LessonName {
    /// Reads either form.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
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

/// Which episodes are wanted; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    /// This one.
    pub id: Option<EpisodeId>,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Of this task.
    pub task: Option<String>,
    /// Finished at this moment or later.
    pub since: Option<Timestamp>,
}

impl EpisodeFilter {
    /// Whether an episode is wanted.
    pub fn admits(&self, episode: &Episode) -> bool {
        self.id.as_ref().is_none_or(|id| *id == episode.id)
            && self.session.as_ref().is_none_or(|session| *session == episode.session_id)
            && self.task.as_ref().is_none_or(|task| Some(task) == episode.task_id.as_ref())
            && self.since.is_none_or(|since| episode.finished_at >= since)
    }
}

/// Which facts are wanted; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactFilter {
    /// About this lesson.
    pub memory: Option<MemoryId>,
    /// Of this run.
    pub run: Option<RunId>,
}

impl FactFilter {
    /// Whether a fact is wanted.
    pub fn admits(&self, fact: &Fact) -> bool {
        let run = match fact {
            Fact::Injection { run, .. } | Fact::Effect { run, .. } => Some(run),
            Fact::Sighting { .. } | Fact::Feedback { .. } => None,
        };
        self.memory.as_ref().is_none_or(|memory| memory == fact.memory())
            && self.run.as_ref().is_none_or(|wanted| Some(wanted) == run)
    }
}
