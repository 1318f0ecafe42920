//! What a lesson has that a format cannot say.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Format, Origin, Shelved};
use crate::domain::{AgentMemory, Importance, MemoryKind, MemoryScope, MemoryState, Standing};

/// Something that could not be said in another shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Loss {
    /// What.
    pub what: &'static str,
    /// Of how many lessons.
    pub lessons: usize,
}

/// What a lesson may have beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aspect {
    Rule,
    Detail,
    Category,
    Severity,
    Importance,
    Tags,
    Domain,
    Circumstances,
    Evidence,
    Ties,
    State,
    History,
    Ledger,
}

const ALL: [Aspect; 13] = [
    Aspect::Rule,
    Aspect::Detail,
    Aspect::Category,
    Aspect::Severity,
    Aspect::Importance,
    Aspect::Tags,
    Aspect::Domain,
    Aspect::Circumstances,
    Aspect::Evidence,
    Aspect::Ties,
    Aspect::State,
    Aspect::History,
    Aspect::Ledger,
];

/// All that stands in the lesson itself: for formats that let anything go along.
pub(super) const THE_LESSON: &[Aspect] = &[
    Aspect::Rule,
    Aspect::Detail,
    Aspect::Category,
    Aspect::Severity,
    Aspect::Importance,
    Aspect::Tags,
    Aspect::Domain,
    Aspect::Circumstances,
    Aspect::Evidence,
    Aspect::Ties,
    Aspect::State,
];

impl Aspect {
    fn words(self) -> &'static str {
        match self {
            Self::Rule => "the rule",
            Self::Detail => "the detail",
            Self::Category => "the category",
            Self::Severity => "the severity",
            Self::Importance => "the importance",
            Self::Tags => "the tags",
            Self::Domain => "the domain",
            Self::Circumstances => "task, tool, provider and the like",
            Self::Evidence => "the evidence",
            Self::Ties => "links and merges",
            Self::State => "where it stands",
            Self::History => "earlier versions",
            Self::Ledger => "what happened to it",
        }
    }

    fn is_there(self, shelved: &Shelved, format: Format) -> bool {
        let memory = &shelved.lesson.memory;
        // What came out of such a memory had nothing more to say when it came.
        let is_from_there = Origin::of_format(memory, format).is_some();
        let facets = &memory.facets;
        match self {
            Self::Rule => memory.rule.is_some(),
            Self::Detail => memory.detail.is_some(),
            Self::Category => memory.kind == MemoryKind::Lesson && !is_from_there,
            Self::Severity => memory.severity.is_some(),
            Self::Importance => memory.importance != Importance::MANUAL && !is_from_there,
            Self::Tags => !memory.tags.is_empty(),
            Self::Domain => facets.domain.is_some(),
            Self::Circumstances => {
                let given = [&facets.task_id, &facets.provider, &facets.tool, &facets.component, &facets.phase];
                given.iter().any(|facet| facet.is_some())
                    || facets.role.is_some()
                    || facets.error_family.is_some()
                    || !matches!(memory.scope, MemoryScope::Project | MemoryScope::Repo)
            }
            Self::Evidence => !memory.evidence.is_empty(),
            Self::Ties => !memory.links.is_empty() || !memory.merges.is_empty(),
            Self::State => !matches!(memory.state, None | Some(MemoryState::Observed)),
            Self::History => shelved.lesson.version > 1,
            Self::Ledger => !shelved.facts.is_empty() && !is_from_there,
        }
    }
}

/// What is lost of these lessons in a format that holds only some of it.
pub(super) fn losses(lessons: &[&Shelved], format: Format, held: &[Aspect]) -> Vec<Loss> {
    let lost = ALL.into_iter().filter(|aspect| !held.contains(aspect));
    let counted = lost.map(|aspect| Loss {
        what: aspect.words(),
        lessons: lessons.iter().filter(|shelved| aspect.is_there(shelved, format)).count(),
    });
    counted.filter(|loss| loss.lessons > 0).collect()
}

/// The lessons that another program may have, and how many it may not: those out of use, and those that a person has yet
/// to look at.
pub(super) fn in_use<'s>(lessons: &'s [Shelved], lost: &mut Vec<Loss>) -> Vec<&'s Shelved> {
    let (kept, left): (Vec<&Shelved>, Vec<&Shelved>) =
        lessons.iter().partition(|shelved| shelved.lesson.memory.standing() != Standing::Retired);
    if !left.is_empty() {
        lost.push(Loss { what: "all of it: out of use, or not looked at yet", lessons: left.len() });
    }
    kept
}

/// The whole lesson as JSON, for formats that let anything go along; without what only holds here.
pub(super) fn whole(memory: &AgentMemory) -> Option<serde_json::Value> {
    let mut memory = memory.clone();
    memory.alias = None;
    memory.usage_count = 0;
    memory.last_used_at = None;
    serde_json::to_value(memory).ok()
}
