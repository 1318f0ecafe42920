//! The nouns of Archivist. Their JSON is the published contract: see `docs/formats.md`.
//!
//! Pure values only: nothing here reads a clock, a file or the environment, and nothing here knows another room.

pub(crate) mod words;

mod candidate;
mod episode;
mod evidence;
mod facets;
mod hud;
mod id;
mod importance;
mod ledger;
mod memory;
mod query;
mod reflection;
mod settings;
mod trajectory;

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;

pub use candidate::{Candidate, Distilled, DropReason, Dropped, Engine, Reflection};
pub use episode::{Episode, EpisodeKind, EpisodeStatus, EpisodeUsage, LogStamp, Reflected, StatusBasis};
pub use evidence::{Evidence, EvidenceLevel, Quote, TrustClass};
pub use facets::{Facet, FacetSet, Facets};
pub use hud::HudMessage;
pub use id::{Alias, EpisodeId, ErrorFamily, IdSource, MemoryId, RunId, SessionId};
pub use importance::{Importance, ImportanceScale};
pub use ledger::{Counters, Effect, Exposure, Fact, FactKey, FeedbackVerdict};
pub use memory::{
    AgentMemory, Link, MemoryCategory, MemoryKind, MemoryScope, MemorySource, MemoryState, Merge, Relation, Severity,
};
pub use query::{MemoryQuery, Standing};
pub use reflection::{ArchivistOutcome, OutcomeStatus, ReflectionScenario, ReflectionTrigger};
pub use settings::{ArchivistConfig, ReflectOn};
pub use trajectory::{
    About, Breach, Call, Cut, Elsewhere, Event, Happening, Outcome, Output, OutputOf, Part, Sink, Skipped, Speaker,
    Step, Trajectory, Usage,
};

pub use words::Word;

/// A moment. Every operation that needs one takes it as an argument.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// Fields that this version does not know, kept so that a record survives a round trip.
pub type Extra = serde_json::Map<String, serde_json::Value>;

/// A value that cannot be what it was given as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {what}: {why}")]
pub struct Invalid {
    what: &'static str,
    value: String,
    why: String,
}

impl Invalid {
    /// Values come from outside and may be of any length; a message shows the beginning.
    const SHOWN_CHARACTERS: usize = 80;

    pub(crate) fn new(what: &'static str, value: &str, why: impl Into<String>) -> Self {
        let value = value.chars().take(Self::SHOWN_CHARACTERS).flat_map(char::escape_debug).collect();
        Self { what, value, why: why.into() }
    }
}
