//! Where an imported lesson came from, and what of it we have no place for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Format;
use crate::domain::{
    AgentMemory, EpisodeId, EvidenceLevel, Extra, Fact, MemoryId, MemorySource, MemoryState, Timestamp,
};

/// Under this key a lesson says where it came from.
const KEY: &str = "imported";

/// Under this key a record of a format that lets anything go along carries the lesson that it was here.
pub(super) const OURS: &str = "archivist";

/// A lesson that was seen more often elsewhere is noted so many times; the number itself goes along.
pub(super) const MAX_SIGHTINGS: u64 = 1000;

/// Where a lesson came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Out of which memory.
    pub format: String,
    /// What it was called there.
    pub name: String,
    /// What we have no place for, as it stood there.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub rest: Map<String, Value>,
}

impl Origin {
    /// A lesson that says where it comes from: always the same one for the same name, so that bringing it twice brings it
    /// once. Nobody here has seen it yet.
    pub(super) fn lesson(
        format: Format,
        name: &str,
        at: Timestamp,
        summary: &str,
        rest: Map<String, Value>,
    ) -> AgentMemory {
        let place = EpisodeId::of_session(format.as_str(), name);
        let mut memory = AgentMemory::new(MemoryId::of_lesson(&place, at, name, None), at, summary);
        memory.source = MemorySource::Import;
        memory.state = Some(MemoryState::Observed);
        let origin = Self { format: format.as_str().to_owned(), name: name.to_owned(), rest };
        origin.write(&mut memory);
        memory
    }

    /// Notes it on a lesson.
    pub fn write(&self, memory: &mut AgentMemory) {
        if let Ok(value) = serde_json::to_value(self) {
            memory.extra.insert(KEY.to_owned(), value);
        }
    }

    /// Where a lesson came from, if it came from elsewhere.
    pub fn of(memory: &AgentMemory) -> Option<Self> {
        serde_json::from_value(memory.extra.get(KEY)?.clone()).ok()
    }

    /// The same, if it came from a memory of this format.
    pub(super) fn of_format(memory: &AgentMemory, format: Format) -> Option<Self> {
        Self::of(memory).filter(|origin| origin.format == format.as_str())
    }
}

/// A lesson of ours that comes back out of another memory, which let it go along whole: as it was, but for what is decided
/// here.
pub(super) fn returned(made: AgentMemory, ours: Option<&Value>) -> AgentMemory {
    let ours: Option<AgentMemory> = ours.and_then(|ours| serde_json::from_value(ours.clone()).ok());
    let Some(ours) = ours else { return made };
    let AgentMemory { id, source, state, state_reason, summary, extra, .. } = made;
    let mut memory = AgentMemory { id, source, state, state_reason, summary, superseded_by: None, ..ours };
    memory.extra.extend(extra);
    memory
}

/// What it is called when it leaves: as it was called where it came from, else by its short name here.
pub(super) fn name_of(memory: &AgentMemory, format: Format) -> String {
    match (Origin::of_format(memory, format), &memory.alias) {
        (Some(origin), _) => origin.name,
        (None, Some(alias)) => alias.to_string(),
        (None, None) => memory.id.to_string(),
    }
}

/// A lesson was seen in a run that another memory tells of.
pub(super) fn sighting(format: Format, memory: &MemoryId, run: &str, at: Timestamp) -> Fact {
    Fact::Sighting {
        memory: memory.clone(),
        episode: EpisodeId::of_session(format.as_str(), run),
        at,
        level: EvidenceLevel::Reasoning,
        // Whatever the circumstances were, nobody here knows that they were different ones.
        context: Some(format.as_str().to_owned()),
        quotes: Vec::new(),
        extra: Extra::new(),
    }
}

/// A point in time as others write it.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    use chrono::{DateTime, NaiveDateTime, Utc};
    let text = text.trim();
    let zoned = DateTime::parse_from_rfc3339(text).map(|at| at.with_timezone(&Utc));
    let plain = || {
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"];
        forms.into_iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).map(|at| at.and_utc())
    };
    zoned.ok().or_else(plain)
}
