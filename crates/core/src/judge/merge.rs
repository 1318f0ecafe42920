//! Merges two lessons that say the same into one, and splits them again.

use std::cmp::Reverse;

use super::text_chunks::{ChunkShape, split_chunks};
use crate::domain::{
    AgentMemory, Evidence, EvidenceLevel, Facet, FacetValues, LessonLink, LessonMerge, MemoryScope, Quote, Severity,
    Timestamp,
};

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;

/// The most lessons that may be merged into one; each is kept whole, so that it can be split off again.
pub const MAX_MERGES: usize = 20;

/// The most tags of a merged lesson.
const MAX_TAGS: usize = 12;

/// The most quotes of a merged lesson.
const MAX_QUOTES: usize = 12;

/// The number of words of a summary that says enough and not too much.
const SENSIBLE_WORDS: std::ops::RangeInclusive<usize> = 6..=45;

/// The number of commands, paths and identifiers that make a text specific; more add nothing.
const ENOUGH_MARKS: usize = 3;

/// The quality that a rule adds, compared with one mark.
const RULE_WORTH: usize = 2;

/// Merges one lesson into another. The result has the id and the history of `kept`, and the better text.
pub fn merge_lessons(kept: &AgentMemory, absorbed: AgentMemory, at: Timestamp) -> AgentMemory {
    let mut merged = kept.clone();
    let takes_text = is_better(&absorbed.summary, absorbed.rule.as_deref(), &kept.summary, kept.rule.as_deref());
    let (first, second) = if takes_text { (&absorbed, kept) } else { (kept, &absorbed) };
    merged.summary = first.summary.clone();
    merged.rule = first.rule.clone().or_else(|| second.rule.clone());
    merged.detail = first.detail.clone().or_else(|| second.detail.clone());
    merged.situation = kept.situation.clone().or_else(|| absorbed.situation.clone());
    merged.tags = union_in_order(&kept.tags, &absorbed.tags);
    merged.tags.truncate(MAX_TAGS);
    merged.facets = common_facets(kept, &absorbed);
    if absorbed.importance > kept.importance {
        merged.importance = absorbed.importance;
    }
    merged.severity = worse_severity(kept.severity.as_ref(), absorbed.severity.as_ref()).cloned();
    merged.evidence = merge_evidence(&kept.evidence, &absorbed.evidence);
    merged.evergreen = kept.evergreen || absorbed.evergreen;
    merged.links = union_in_order(&kept.links, &absorbed.links);
    merged.links.retain(|link: &LessonLink| link.to != kept.id && link.to != absorbed.id);
    merged.updated_at = Some(at);
    let before = AgentMemory { merges: Vec::new(), ..kept.clone() };
    merged.merges.push(LessonMerge { absorbed: Box::new(absorbed), kept: Box::new(before), at });
    merged
}

/// Returns a lesson that supersedes one which it refines, with the evidence of both.
pub fn refine_lesson(old: &AgentMemory, new: AgentMemory) -> AgentMemory {
    let mut refined = AgentMemory {
        tags: union_in_order(&new.tags, &old.tags),
        severity: worse_severity(new.severity.as_ref(), old.severity.as_ref()).cloned(),
        evidence: merge_evidence(&new.evidence, &old.evidence),
        evergreen: new.evergreen || old.evergreen,
        situation: new.situation.clone().or_else(|| old.situation.clone()),
        ..new
    };
    refined.tags.truncate(MAX_TAGS);
    if old.importance > refined.importance {
        refined.importance = old.importance;
    }
    refined
}

/// Undoes the last merge: returns the lesson as it was before, and the absorbed one. `None` where nothing was merged.
pub fn unmerge_lesson(merged: &AgentMemory) -> Option<(AgentMemory, AgentMemory)> {
    let (last, before) = merged.merges.split_last()?;
    let kept = AgentMemory { merges: before.to_vec(), ..(*last.kept).clone() };
    Some((kept, (*last.absorbed).clone()))
}

/// Tells whether a new text is better than the old one: it has a rule, it names things, its length is sensible.
pub(super) fn is_better(summary: &str, rule: Option<&str>, old_summary: &str, old_rule: Option<&str>) -> bool {
    text_quality(summary, rule) > text_quality(old_summary, old_rule)
}

/// Tells whether a new text is better than the old one by more than one point.
pub(super) fn is_clearly_better(summary: &str, rule: Option<&str>, old_summary: &str, old_rule: Option<&str>) -> bool {
    text_quality(summary, rule) > text_quality(old_summary, old_rule) + 1
}

fn text_quality(summary: &str, rule: Option<&str>) -> usize {
    let mut marks = split_chunks(summary);
    marks.extend(split_chunks(rule.unwrap_or_default()));
    marks.retain(|chunk| chunk.shape != ChunkShape::Word);
    marks.sort_by(|a, b| a.text.cmp(&b.text));
    marks.dedup_by(|a, b| a.text == b.text);
    let has_rule = rule.is_some_and(|rule| !rule.trim().is_empty());
    let is_sensible = SENSIBLE_WORDS.contains(&summary.split_whitespace().count());
    let rule_worth = if has_rule { RULE_WORTH } else { 0 };
    marks.len().min(ENOUGH_MARKS) + rule_worth + usize::from(is_sensible)
}

/// Returns the items of the first, then those of the second that are not among them.
fn union_in_order<T: Clone + PartialEq>(first: &[T], second: &[T]) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for item in first.iter().chain(second) {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

fn merge_evidence(kept: &Evidence, absorbed: &Evidence) -> Evidence {
    let mut quotes: Vec<Quote> = union_in_order(&kept.quotes, &absorbed.quotes);
    // The sort is stable, so among equals the older one stays first.
    quotes.sort_by_key(|quote| Reverse(level_strength(&quote.level)));
    quotes.truncate(MAX_QUOTES);
    let mut extra = absorbed.extra.clone();
    extra.extend(kept.extra.clone());
    Evidence {
        episode_ids: union_in_order(&kept.episode_ids, &absorbed.episode_ids),
        trajectory_ids: union_in_order(&kept.trajectory_ids, &absorbed.trajectory_ids),
        session_ids: union_in_order(&kept.session_ids, &absorbed.session_ids),
        run_log_paths: union_in_order(&kept.run_log_paths, &absorbed.run_log_paths),
        quotes,
        extra,
    }
}

fn level_strength(level: &EvidenceLevel) -> u8 {
    match level {
        EvidenceLevel::Execution => 3,
        EvidenceLevel::Citation => 2,
        EvidenceLevel::Reasoning => 1,
        EvidenceLevel::Other(_) => 0,
    }
}

fn worse_severity<'a>(one: Option<&'a Severity>, other: Option<&'a Severity>) -> Option<&'a Severity> {
    let badness = |severity: Option<&Severity>| match severity {
        Some(Severity::Bug) => 5,
        Some(Severity::Warning) => 4,
        Some(Severity::Info) => 3,
        Some(Severity::Recommendation) => 2,
        Some(Severity::Other(_)) => 1,
        None => 0,
    };
    if badness(other) > badness(one) { other } else { one }
}

/// Returns the facets that both agree on. Where one has no value, a binding facet is dropped and an informative one
/// stays; a facet that the scope requires is kept.
fn common_facets(kept: &AgentMemory, absorbed: &AgentMemory) -> FacetValues {
    let (bound, also_bound) = (kept.binding_facets(), absorbed.binding_facets());
    let stays = |facet: Facet| match (kept.facets.get(facet), absorbed.facets.get(facet)) {
        (Some(own), Some(other)) => own == other || scope_needs(&kept.scope, facet),
        (Some(_), None) => !bound.contains(facet) || scope_needs(&kept.scope, facet),
        (None, Some(_)) => !also_bound.contains(facet),
        (None, None) => false,
    };
    let text = |facet: Facet, own: &Option<String>, other: &Option<String>| {
        if stays(facet) { own.clone().or_else(|| other.clone()) } else { None }
    };
    let (own, other) = (&kept.facets, &absorbed.facets);
    FacetValues {
        task_id: text(Facet::Task, &own.task_id, &other.task_id),
        provider: text(Facet::Provider, &own.provider, &other.provider),
        tool: text(Facet::Tool, &own.tool, &other.tool),
        component: text(Facet::Component, &own.component, &other.component),
        role: text(Facet::Role, &own.role, &other.role),
        domain: text(Facet::Domain, &own.domain, &other.domain),
        phase: text(Facet::Phase, &own.phase, &other.phase),
        error_family: if stays(Facet::ErrorFamily) {
            own.error_family.clone().or_else(|| other.error_family.clone())
        } else {
            None
        },
    }
}

/// Tells whether a lesson of this scope requires this facet.
fn scope_needs(scope: &MemoryScope, facet: Facet) -> bool {
    matches!(
        (scope, facet),
        (MemoryScope::Task, Facet::Task)
            | (MemoryScope::Tool, Facet::Tool)
            | (MemoryScope::Provider, Facet::Provider)
            | (MemoryScope::Component, Facet::Component)
            | (MemoryScope::Role, Facet::Role)
            | (MemoryScope::Domain, Facet::Domain)
    )
}
