//! Lessons to be given, for the tests of this room.

use super::{LessonStaleness, PromptLesson, RecallScore};
use crate::domain::{AgentMemory, Alias, LessonCounters, LessonLink, MemoryId, MemorySource, Relation, Timestamp};

/// A lesson and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Lesson {
    pub(super) memory: AgentMemory,
    pub(super) counters: LessonCounters,
    pub(super) score: f64,
    pub(super) staleness: LessonStaleness,
}

/// A day of January 2026.
pub(super) fn day(number: u64) -> Timestamp {
    "2026-01-01T12:00:00Z".parse::<Timestamp>().unwrap() + chrono::Days::new(number - 1)
}

impl Lesson {
    /// Lesson `number`, made on that day and seen by two runs.
    pub(super) fn new(number: u64, summary: &str) -> Self {
        let mut memory = AgentMemory::new(id(number), day(number.min(1000)), summary);
        memory.alias = Some(Alias::from_number('m', number).unwrap());
        memory.source = MemorySource::Archivist;
        let counters = LessonCounters { sightings: 2, ..LessonCounters::default() };
        Self { memory, counters, score: 0.42, staleness: LessonStaleness::Unknown }
    }

    pub(super) fn linked(mut self, to: u64, relation: Relation) -> Self {
        self.memory.links.push(LessonLink { to: id(to), relation });
        self
    }

    pub(super) fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(super) fn given(&self) -> PromptLesson<'_> {
        let score = RecallScore { score: self.score, importance: 0.5, recency: 0.5, relevance: 0.5, closeness: 0.5 };
        PromptLesson { memory: &self.memory, counters: &self.counters, score, staleness: self.staleness.clone() }
    }
}

pub(super) fn id(number: u64) -> MemoryId {
    MemoryId::parse(&format!("mem-{number:04}")).unwrap()
}

pub(super) fn all(lessons: &[Lesson]) -> Vec<PromptLesson<'_>> {
    lessons.iter().map(Lesson::given).collect()
}
