//! Archivist: the memory that coding agents trust.
//!
//! It turns what agents did into lessons that carry their evidence, and gives a lesson back only where it helps.
//! [`Archivist`] is the front door: [`Archivist::reflect`] after a session, [`Archivist::recall`] before the next.
//! `docs/embedding.md` has examples; those who write a store or an edge of their own also use `archivist-core`.

pub use archivist_core::config::{Config, ConfigError, ProcessEnvironment};
pub use archivist_core::domain::{
    AgentMemory, ArchivistOutcome, Episode, EpisodeId, EpisodeStatus, Evidence, EvidenceLevel, FacetValues,
    FeedbackVerdict, HudMessage, IdSource, Importance, MemoryCategory, MemoryId, MemoryKind, MemoryQuery, MemoryScope,
    MemoryState, OutcomeStatus, Quote, ReflectionScenario, ReflectionTrigger, RunId, SessionId, Timestamp,
};
#[cfg(feature = "hud")]
pub use archivist_core::hud::WebSocketSink;
pub use archivist_core::hud::{HudSink, JsonlSink};
pub use archivist_core::memory::jsonl::{JsonlMemory, JsonlSettings};
pub use archivist_core::memory::{Lesson, LessonName, MemoryError, MemoryService};
pub use archivist_core::model::embed::Embedder;
pub use archivist_core::model::{LanguageModel, ModelError, ModelReply, ModelRequest};
pub use archivist_core::recall::{LessonBlockStyle, Point};
pub use archivist_core::service::{
    Archivist, ArchivistBuilder, ArchivistService, FeedbackEvidence, LessonAuthor, LessonFilter, LessonOpinion,
    NewLesson, QueuedJob, RecallRequest, RecallResult, RecordedFeedback, RequestError, SelectedLesson, ServiceClock,
};

/// The examples of the README are compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// And so are those on embedding.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct Embedding;
