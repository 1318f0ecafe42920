//! What came of a reflection, for a program, for the queue and for a person.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::{
    AgentMemory, Alias, ArchivistOutcome, Distilled, Dropped, Engine, EpisodeId, Extra, MemoryId, MemoryState,
    OutcomeStatus, ReflectionTrigger, SessionId, Usage,
};
use crate::ingest::Unreadable;
use crate::memory::MemoryError;

/// Why there was no reflection. None of these is anybody's error: the run that set it off goes on.
#[derive(Debug, thiserror::Error)]
pub enum Skip {
    /// Reflecting is switched off.
    #[error("reflecting is switched off (`enabled`)")]
    Disabled,
    /// This sort of event does not start a reflection.
    #[error("`{key}` is off")]
    Unwanted {
        /// The setting.
        key: &'static str,
    },
    /// The Healer found nothing to do.
    #[error("the Healer did nothing")]
    HealerSkipped,
    /// Its logs are as long as they were when it was reflected on.
    #[error("nothing has happened since it was reflected on")]
    Unchanged,
    /// Nobody knows where its log lies.
    #[error("no log of session `{0}` was found")]
    NoLog(SessionId),
    /// Nothing of its logs could be read.
    #[error("{path}: {why}")]
    Unreadable {
        /// The first of them.
        path: String,
        /// Why.
        why: Unreadable,
    },
    /// The memory said no.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The server that keeps the ledger of spend is away, and so no model was asked. What the heuristics would say instead
    /// is worded otherwise, and the server will be back.
    #[error("no model was asked: {0}")]
    LedgerAway(String),
    /// A fault of ours.
    #[error("internal error: {0}")]
    Broke(String),
}

impl Skip {
    /// Whether trying again later may help: a log may still come, a lock be freed, a disk get room.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NoLog(_) | Self::Memory(_) | Self::LedgerAway(_) | Self::Broke(_) => true,
            Self::Unreadable { why, .. } => !matches!(why, Unreadable::UnknownFormat(_)),
            Self::Disabled | Self::Unwanted { .. } | Self::HealerSkipped | Self::Unchanged => false,
        }
    }

    /// Whether there was nothing to do, rather than something in the way.
    pub fn is_choice(&self) -> bool {
        matches!(self, Self::Disabled | Self::Unwanted { .. } | Self::HealerSkipped | Self::Unchanged)
    }
}

/// What a reflection left in the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The run.
    pub episode: EpisodeId,
    /// Its session.
    pub session: SessionId,
    /// New lessons.
    pub created: Vec<AgentMemory>,
    /// Lessons that say more than before.
    pub updated: Vec<AgentMemory>,
    /// Lessons that were seen again.
    pub seen: Vec<AgentMemory>,
    /// What did not become a lesson.
    pub dropped: Vec<Dropped>,
    /// Who distilled, and what it took.
    pub effort: Effort,
}

/// Who distilled, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    /// A model or the heuristics.
    pub engine: Engine,
    /// Why the model's answer was not used, where the heuristics stood in.
    pub fallback: Option<String>,
    /// Which model was asked.
    pub model: Option<String>,
    /// With which prompts.
    pub prompts: Option<String>,
    /// What it cost.
    pub usage: Usage,
    /// How often it was asked.
    pub calls: u32,
}

impl From<&Distilled> for Effort {
    fn from(distilled: &Distilled) -> Self {
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

/// A lesson as an outcome names it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Named<'m> {
    id: &'m MemoryId,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<&'m Alias>,
    summary: &'m str,
    importance: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'m str>,
}

impl<'m> Named<'m> {
    fn all(memories: impl IntoIterator<Item = &'m AgentMemory>) -> Vec<Self> {
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

/// The published outcome of a trigger.
pub(super) fn outcome(trigger: &ReflectionTrigger, came: &Result<Learned, Skip>) -> ArchivistOutcome {
    let mut extra = Extra::new();
    put(&mut extra, "sessionId", &trigger.session_id);
    let (status, created, updated, summary) = match came {
        Ok(learned) => {
            learned.tell(&mut extra);
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

impl Learned {
    /// How many lessons are new or changed.
    pub fn changes(&self) -> usize {
        self.created.len() + self.updated.len() + self.seen.len()
    }

    /// In a sentence.
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

    fn tell(&self, extra: &mut Map<String, Value>) {
        put(extra, "episodeId", &self.episode);
        put(extra, "created", &Named::all(&self.created));
        put(extra, "updated", &Named::all(self.updated.iter().chain(&self.seen)));
        put(extra, "dropped", &self.dropped);
        put(extra, "usage", &self.effort.usage);
        put(extra, "engine", &self.effort.engine);
        put(extra, "calls", &self.effort.calls);
        for (key, value) in
            [("fallback", &self.effort.fallback), ("model", &self.effort.model), ("prompts", &self.effort.prompts)]
        {
            value.iter().for_each(|value| put(extra, key, value));
        }
    }
}

/// A value that cannot be written as JSON is left out.
fn put(extra: &mut Map<String, Value>, key: &str, value: &impl Serialize) {
    if let Ok(value) = serde_json::to_value(value) {
        extra.insert(key.to_owned(), value);
    }
}
