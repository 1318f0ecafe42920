//! What a lesson or a candidate says, as far as it can be held against another.

use crate::domain::{AgentMemory, Candidate, Facets, MemoryCategory, MemoryKind};

/// The parts of a lesson or a candidate that say what it is about.
#[derive(Debug, Clone, Copy)]
pub struct Saying<'a> {
    /// The takeaway.
    pub summary: &'a str,
    /// "IF condition THEN recommendation".
    pub rule: Option<&'a str>,
    /// Words to find it by.
    pub tags: &'a [String],
    /// Task, provider, tool and the other circumstances.
    pub facets: &'a Facets,
    /// What sort of statement it is.
    pub kind: &'a MemoryKind,
    /// What it is about.
    pub category: &'a MemoryCategory,
}

impl<'a> From<&'a AgentMemory> for Saying<'a> {
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

impl<'a> From<&'a Candidate> for Saying<'a> {
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
