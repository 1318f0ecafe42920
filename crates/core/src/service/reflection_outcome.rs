//! The outcome of a reflection, for a program, for the queue and for a person.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::{
    AgentMemory, Alias, ArchivistOutcome, DistillationResult, DroppedCandidate, Engine, EpisodeId, Extra, MemoryId,
    MemoryState, OutcomeStatus, ReflectionTrigger, SessionId, TokenUsage,
};
use crate::ingest::UnreadableLog;
use crate::memory::MemoryError;

/// The reason why there was no reflection. None of these affects the session that triggered it.
#[derive(Debug, thiserror::Error)]
pub enum SkipReason {
    /// Reflecting is switched off.
    #[error("reflecting is switched off (`enabled`)")]
    Disabled,
    /// This kind of event does not trigger a reflection.
    #[error("`{key}` is off")]
    Unwanted {
        /// The setting's key.
        key: &'static str,
    },
    /// The Healer found nothing to do.
    #[error("the Healer did nothing")]
    HealerSkipped,
    /// The logs have not grown since the last reflection.
    #[error("nothing has happened since it was reflected on")]
    Unchanged,
    /// The session was purged, and is not to be learned from again.
    #[error("the session was purged")]
    Purged,
    /// No log of the session was found.
    #[error("no log of session `{0}` was found")]
    NoLog(SessionId),
    /// None of the logs could be read.
    #[error("{path}: {why}")]
    Unreadable {
        /// The first log's path.
        path: String,
        /// The reading error.
        why: UnreadableLog,
    },
    /// The memory returned an error.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The server of the spend ledger is unreachable, so no model was asked. The heuristics do not stand in, because
    /// the server will be back and their wording differs.
    #[error("no model was asked: {0}")]
    LedgerAway(String),
    /// An internal error occurred.
    #[error("internal error: {0}")]
    Broke(String),
}

impl SkipReason {
    /// Returns true if a retry may succeed: a log may still appear, a lock or disk space be freed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NoLog(_) | Self::Memory(_) | Self::LedgerAway(_) | Self::Broke(_) => true,
            Self::Unreadable { why, .. } => !matches!(why, UnreadableLog::UnknownFormat(_)),
            Self::Disabled | Self::Unwanted { .. } | Self::HealerSkipped | Self::Unchanged | Self::Purged => false,
        }
    }

    /// Returns true if there was nothing to do, rather than an obstacle.
    pub fn is_choice(&self) -> bool {
        matches!(self, Self::Disabled | Self::Unwanted { .. } | Self::HealerSkipped | Self::Unchanged | Self::Purged)
    }
}

/// The changes that a reflection made to the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectionReport {
    /// The session's episode.
    pub episode: EpisodeId,
    /// The session reflected on.
    pub session: SessionId,
    /// The new lessons.
    pub created: Vec<AgentMemory>,
    /// The lessons whose content was extended.
    pub updated: Vec<AgentMemory>,
    /// The lessons that were seen again.
    pub seen: Vec<AgentMemory>,
    /// The candidates that did not become lessons.
    pub dropped: Vec<DroppedCandidate>,
    /// The engine that distilled, and its cost.
    pub effort: DistillationEffort,
}

/// The engine that distilled, and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct DistillationEffort {
    /// The engine: a model or the heuristics.
    pub engine: Engine,
    /// The reason why the heuristics stood in for the model.
    pub fallback: Option<String>,
    /// The model that was asked.
    pub model: Option<String>,
    /// The version of the prompts.
    pub prompts: Option<String>,
    /// The tokens and cost used.
    pub usage: TokenUsage,
    /// The number of model calls.
    pub calls: u32,
}

impl From<&DistillationResult> for DistillationEffort {
    fn from(distilled: &DistillationResult) -> Self {
        Self {
            engine: distilled.engine.clone(),
            fallback: distilled.fallback.clone(),
            model: distilled.model.clone(),
            prompts: distilled.prompts.clone(),
            usage: distilled.usage,
            calls: distilled.calls,
        }
    }
}

/// A lesson as listed in an outcome.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeLesson<'m> {
    id: &'m MemoryId,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<&'m Alias>,
    summary: &'m str,
    importance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'m str>,
}

impl<'m> OutcomeLesson<'m> {
    fn from_memories(memories: impl IntoIterator<Item = &'m AgentMemory>) -> Vec<Self> {
        let named = |memory: &'m AgentMemory| Self {
            id: &memory.id,
            alias: memory.alias.as_ref(),
            summary: &memory.summary,
            importance: memory.importance.value(),
            state: memory.state.as_ref().map(MemoryState::as_str),
        };
        memories.into_iter().map(named).collect()
    }
}

/// Builds the published outcome of a trigger.
pub(super) fn build_outcome(
    trigger: &ReflectionTrigger,
    result: &Result<ReflectionReport, SkipReason>,
) -> ArchivistOutcome {
    let mut extra = Extra::new();
    insert_json(&mut extra, "sessionId", &trigger.session_id);
    let (status, created, updated, summary) = match result {
        Ok(learned) => {
            learned.write_extra_fields(&mut extra);
            let updated = learned.updated.len() + learned.seen.len();
            (OutcomeStatus::Reflected, learned.created.len(), updated, learned.summary())
        }
        Err(skip) => (OutcomeStatus::Skipped, 0, 0, skip.to_string()),
    };
    ArchivistOutcome {
        scenario: trigger.scenario.clone(),
        status,
        memories_created: u64::try_from(created).unwrap_or(u64::MAX),
        memories_updated: u64::try_from(updated).unwrap_or(u64::MAX),
        summary,
        extra,
    }
}

impl ReflectionReport {
    /// Returns the number of new or changed lessons.
    pub fn change_count(&self) -> usize {
        self.created.len() + self.updated.len() + self.seen.len()
    }

    /// Returns a summary in one sentence.
    pub fn summary(&self) -> String {
        let of = |lessons: &[AgentMemory], what: &str| match lessons.len() {
            0 => None,
            1 => Some(format!("1 lesson {what}")),
            many => Some(format!("{many} lessons {what}")),
        };
        let parts: Vec<String> =
            [of(&self.created, "learned"), of(&self.updated, "improved"), of(&self.seen, "seen again")]
                .into_iter()
                .flatten()
                .collect();
        let learned = if parts.is_empty() { "nothing to learn".to_owned() } else { parts.join(", ") };
        match &self.effort.fallback {
            Some(why) => format!("{learned}; without the model: {why}"),
            None => learned,
        }
    }

    fn write_extra_fields(&self, extra: &mut Map<String, Value>) {
        insert_json(extra, "episodeId", &self.episode);
        insert_json(extra, "created", &OutcomeLesson::from_memories(&self.created));
        insert_json(extra, "updated", &OutcomeLesson::from_memories(self.updated.iter().chain(&self.seen)));
        insert_json(extra, "dropped", &self.dropped);
        insert_json(extra, "usage", &self.effort.usage);
        insert_json(extra, "engine", &self.effort.engine);
        insert_json(extra, "calls", &self.effort.calls);
        for (key, value) in
            [("fallback", &self.effort.fallback), ("model", &self.effort.model), ("prompts", &self.effort.prompts)]
        {
            value.iter().for_each(|value| insert_json(extra, key, value));
        }
    }
}

/// Inserts a value; one that cannot be written as JSON is left out.
fn insert_json(extra: &mut Map<String, Value>, key: &str, value: &impl Serialize) {
    if let Ok(value) = serde_json::to_value(value) {
        extra.insert(key.to_owned(), value);
    }
}
