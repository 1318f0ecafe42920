//! The domain types of Archivist. Their JSON is the published contract: see `docs/formats.md`.
//!
//! Only pure values belong here: nothing in this module reads a clock, a file or the environment, or uses another
//! module.

pub(crate) mod word_enum;

mod archivist_config;
mod candidate;
mod episode;
mod evidence;
mod facets;
mod hud;
mod id;
mod importance;
mod importance_table;
mod ledger;
mod memory;
mod query;
mod reflection;
mod text_hash;
mod trajectory;

#[cfg(test)]
#[path = "domain_tests.rs"]
mod tests;

pub use archivist_config::{ArchivistConfig, ReflectOnSettings};
pub use candidate::{Candidate, DistillationResult, DropReason, DroppedCandidate, Engine, ReflectionSummary};
pub use episode::{
    Episode, EpisodeKind, EpisodeStatus, EpisodeUsage, FailureRecord, LogStamp, ReflectionRecord, StatusBasis,
};
pub use evidence::{Evidence, EvidenceLevel, Quote, TrustClass};
pub use facets::{Facet, FacetSet, FacetValues};
pub use hud::HudMessage;
pub use id::{Alias, EpisodeId, ErrorFamily, IdSource, MemoryId, RunId, SessionId};
pub use importance::{Importance, ImportanceScale};
pub use importance_table::ImportanceBasis;
pub use ledger::{Effect, Exposure, Fact, FactKey, FeedbackVerdict, LessonCounters};
pub use memory::{
    AgentMemory, LessonLink, LessonMerge, MemoryCategory, MemoryKind, MemoryScope, MemorySource, MemoryState, Relation,
    Severity,
};
pub use query::{LessonAvailability, MemoryQuery};
pub use reflection::{ArchivistOutcome, OutcomeStatus, ReflectionScenario, ReflectionTrigger};
pub use text_hash::{StableHash, fingerprint_text};
pub use trajectory::{
    EventSink, FormatViolation, Happening, LogReference, OutputOwner, Part, SessionDetails, SessionOutcome,
    SkippedLogLine, Speaker, Step, TokenUsage, ToolCall, ToolOutput, Trajectory, TrajectoryEvent, TruncationCount,
};

pub use word_enum::{WordEnum, unknown_word_error};

/// A point in time, in UTC. Every operation that needs one takes it as an argument.
pub type Timestamp = chrono::DateTime<chrono::Utc>;

/// The fields of a record that this version does not know, kept so that they survive a round trip.
pub type Extra = serde_json::Map<String, serde_json::Value>;

/// The error of a value that is not valid for its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {what}: {why}")]
pub struct InvalidValue {
    what: &'static str,
    value: String,
    why: String,
}

impl InvalidValue {
    /// The number of characters of a value that a message shows: values come from outside and may be of any length.
    const SHOWN_CHARACTERS: usize = 80;

    /// Makes the error for a value of `what` that is unusable for the reason `why`.
    pub fn new(what: &'static str, value: &str, why: impl Into<String>) -> Self {
        let value = value.chars().take(Self::SHOWN_CHARACTERS).flat_map(char::escape_debug).collect();
        Self { what, value, why: why.into() }
    }
}
