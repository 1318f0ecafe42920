//! The origin of an imported lesson, and the content that Archivist has no field for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::MemoryFormat;
use archivist_core::domain::{
    AgentMemory, EpisodeId, EvidenceLevel, Extra, Fact, MemoryId, MemorySource, MemoryState, Timestamp,
};

/// The key in a lesson's extra fields that holds its origin.
const KEY: &str = "imported";

/// The key under which an exported record carries the whole lesson, in formats that allow any additional fields.
pub(super) const OURS: &str = "archivist";

/// The most sightings recorded for an imported lesson; the original number is kept in its origin.
pub(super) const MAX_SIGHTINGS: u64 = 1000;

/// The origin of an imported lesson.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LessonOrigin {
    /// The format of the memory that it came from.
    pub format: String,
    /// The name of the lesson in that memory.
    pub name: String,
    /// The content that Archivist has no field for, unchanged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub rest: Map<String, Value>,
}

impl LessonOrigin {
    /// Creates a lesson with its origin. The same name always gives the same lesson, so that importing it twice adds it
    /// once. It starts as observed.
    pub(super) fn new_lesson(
        format: MemoryFormat,
        name: &str,
        at: Timestamp,
        summary: &str,
        rest: Map<String, Value>,
    ) -> AgentMemory {
        let place = EpisodeId::for_session(format.as_str(), name);
        let mut memory = AgentMemory::new(MemoryId::for_lesson(&place, at, name, None), at, summary);
        memory.source = MemorySource::Import;
        memory.state = Some(MemoryState::Observed);
        let origin = Self { format: format.as_str().to_owned(), name: name.to_owned(), rest };
        origin.attach_to(&mut memory);
        memory
    }

    /// Stores the origin in a lesson.
    pub fn attach_to(&self, memory: &mut AgentMemory) {
        if let Ok(value) = serde_json::to_value(self) {
            memory.extra.insert(KEY.to_owned(), value);
        }
    }

    /// Returns the origin of a lesson, if it was imported.
    pub fn from_memory(memory: &AgentMemory) -> Option<Self> {
        serde_json::from_value(memory.extra.get(KEY)?.clone()).ok()
    }

    /// Returns the origin of a lesson, if it was imported from this format.
    pub(super) fn for_format(memory: &AgentMemory, format: MemoryFormat) -> Option<Self> {
        Self::from_memory(memory).filter(|origin| origin.format == format.as_str())
    }
}

/// Restores a lesson of Archivist's own that another memory carried whole: as it was, except for the fields that are
/// decided by this import.
pub(super) fn restore_exported(made: AgentMemory, ours: Option<&Value>) -> AgentMemory {
    let ours: Option<AgentMemory> = ours.and_then(|ours| serde_json::from_value(ours.clone()).ok());
    let Some(ours) = ours else { return made };
    let AgentMemory { id, source, state, state_reason, summary, extra, .. } = made;
    let mut memory = AgentMemory { id, source, state, state_reason, summary, superseded_by: None, ..ours };
    memory.extra.extend(extra);
    memory
}

/// Returns the name of a lesson in an export: its name in the memory that it came from, else its short name here.
pub(super) fn export_name(memory: &AgentMemory, format: MemoryFormat) -> String {
    match (LessonOrigin::for_format(memory, format), &memory.alias) {
        (Some(origin), _) => origin.name,
        (None, Some(alias)) => alias.to_string(),
        (None, None) => memory.id.to_string(),
    }
}

/// Builds the sighting of a lesson in a session of another memory.
pub(super) fn build_sighting(format: MemoryFormat, memory: &MemoryId, run: &str, at: Timestamp) -> Fact {
    Fact::Sighting {
        memory: memory.clone(),
        episode: EpisodeId::for_session(format.as_str(), run),
        at,
        level: EvidenceLevel::Reasoning,
        // The circumstances are unknown, so they count as the same for all sessions of that format.
        context: Some(format.as_str().to_owned()),
        quotes: Vec::new(),
        extra: Extra::new(),
    }
}

/// Parses a timestamp in the forms that other programs use.
pub(super) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    use chrono::{DateTime, NaiveDateTime, Utc};
    let text = text.trim();
    let zoned = DateTime::parse_from_rfc3339(text).map(|at| at.with_timezone(&Utc));
    let plain = || {
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
        forms.into_iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).map(|at| at.and_utc())
    };
    zoned.ok().or_else(plain)
}
