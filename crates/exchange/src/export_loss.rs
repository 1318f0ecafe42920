//! Counts the aspects of lessons that a format cannot hold.

use schemars::JsonSchema;
use serde::Serialize;

use super::{LessonOrigin, MemoryFormat, OutgoingLesson};
use archivist_core::domain::{AgentMemory, Importance, LessonAvailability, MemoryKind, MemoryScope, MemoryState};

/// Something that could not be said in another shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Loss")]
pub struct ExportLoss {
    /// The content that is lost.
    pub what: &'static str,
    /// Of how many lessons.
    pub lessons: usize,
}

/// An aspect that a lesson may have besides its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LessonAspect {
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

const ALL: [LessonAspect; 13] = [
    LessonAspect::Rule,
    LessonAspect::Detail,
    LessonAspect::Category,
    LessonAspect::Severity,
    LessonAspect::Importance,
    LessonAspect::Tags,
    LessonAspect::Domain,
    LessonAspect::Circumstances,
    LessonAspect::Evidence,
    LessonAspect::Ties,
    LessonAspect::State,
    LessonAspect::History,
    LessonAspect::Ledger,
];

/// All aspects of the lesson itself, for formats that can carry any additional fields.
pub(super) const THE_LESSON: &[LessonAspect] = &[
    LessonAspect::Rule,
    LessonAspect::Detail,
    LessonAspect::Category,
    LessonAspect::Severity,
    LessonAspect::Importance,
    LessonAspect::Tags,
    LessonAspect::Domain,
    LessonAspect::Circumstances,
    LessonAspect::Evidence,
    LessonAspect::Ties,
    LessonAspect::State,
];

impl LessonAspect {
    fn display_label(self) -> &'static str {
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

    fn is_present(self, shelved: &OutgoingLesson, format: MemoryFormat) -> bool {
        let memory = &shelved.lesson.memory;
        // A lesson that came from this format had nothing more to lose when it came.
        let is_from_there = LessonOrigin::for_format(memory, format).is_some();
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

/// Returns the losses of these lessons in a format that holds only some aspects.
pub(super) fn count_losses(
    lessons: &[&OutgoingLesson],
    format: MemoryFormat,
    held: &[LessonAspect],
) -> Vec<ExportLoss> {
    let lost = ALL.into_iter().filter(|aspect| !held.contains(aspect));
    let counted = lost.map(|aspect| ExportLoss {
        what: aspect.display_label(),
        lessons: lessons.iter().filter(|shelved| aspect.is_present(shelved, format)).count(),
    });
    counted.filter(|loss| loss.lessons > 0).collect()
}

/// Returns the lessons that another program may have. Those out of use and those not reviewed yet by a person are
/// counted as lost.
pub(super) fn select_exportable<'s>(
    lessons: &'s [OutgoingLesson],
    lost: &mut Vec<ExportLoss>,
) -> Vec<&'s OutgoingLesson> {
    let (kept, left): (Vec<&OutgoingLesson>, Vec<&OutgoingLesson>) =
        lessons.iter().partition(|shelved| shelved.lesson.memory.availability() != LessonAvailability::Retired);
    if !left.is_empty() {
        lost.push(ExportLoss { what: "all of it: out of use, or not looked at yet", lessons: left.len() });
    }
    kept
}

/// Returns the whole lesson as JSON, for formats that can carry any fields, without what is valid only in this memory.
pub(super) fn to_portable_json(memory: &AgentMemory) -> Option<serde_json::Value> {
    let mut memory = memory.clone();
    memory.alias = None;
    memory.usage_count = 0;
    memory.last_used_at = None;
    serde_json::to_value(memory).ok()
}
