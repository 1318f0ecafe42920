//! The statement of a lesson or a candidate, as far as it can be compared with another.

use crate::domain::{AgentMemory, Candidate, FacetValues, MemoryCategory, MemoryKind};

/// The parts of a lesson or a candidate that say what it is about.
#[derive(Debug, Clone, Copy)]
pub struct LessonStatement<'a> {
    /// The summary of the lesson.
    pub summary: &'a str,
    /// The rule, in the form "IF condition THEN recommendation".
    pub rule: Option<&'a str>,
    /// Words to find it by.
    pub tags: &'a [String],
    /// The facets: task, provider, tool and others.
    pub facets: &'a FacetValues,
    /// The kind of statement.
    pub kind: &'a MemoryKind,
    /// The category of its subject.
    pub category: &'a MemoryCategory,
}

impl<'a> From<&'a AgentMemory> for LessonStatement<'a> {
    fn from(memory: &'a AgentMemory) -> Self {
        Self {
            summary: &memory.summary,
            rule: memory.rule.as_deref(),
            tags: &memory.tags,
            facets: &memory.facets,
            kind: &memory.kind,
            category: &memory.category,
        }
    }
}

impl<'a> From<&'a Candidate> for LessonStatement<'a> {
    fn from(candidate: &'a Candidate) -> Self {
        Self {
            summary: &candidate.summary,
            rule: candidate.rule.as_deref(),
            tags: &candidate.tags,
            facets: &candidate.facets,
            kind: &candidate.kind,
            category: &candidate.category,
        }
    }
}
