//! Two lessons that say the same become one, and can become two again.

use std::cmp::Reverse;

use super::chunks::{Shape, chunks};
use crate::domain::{
    AgentMemory, Evidence, EvidenceLevel, Facet, Facets, Link, MemoryScope, Merge, Quote, Severity, Timestamp,
};

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;

/// So many lessons may be merged into one; each is kept whole, so that it can come out again.
pub const MAX_MERGES: usize = 20;

/// More tags than this find everything.
const MAX_TAGS: usize = 12;

/// More quotes than this prove no more.
const MAX_QUOTES: usize = 12;

/// Words of a summary that says enough and not too much.
const SENSIBLE_WORDS: std::ops::RangeInclusive<usize> = 6..=45;

/// So many commands, paths and identifiers make a text specific; more do not make it more so.
const ENOUGH_MARKS: usize = 3;

/// What a rule is worth beside a mark.
const RULE_WORTH: usize = 2;

/// Takes one lesson into another. What comes out has the name and the life of `kept`, and the better text.
pub fn merge(kept: &AgentMemory, absorbed: AgentMemory, at: Timestamp) -> AgentMemory {
    let mut merged = kept.clone();
    let takes_text = is_better(&absorbed.summary, absorbed.rule.as_deref(), &kept.summary, kept.rule.as_deref());
    let (first, second) = if takes_text { (&absorbed, kept) } else { (kept, &absorbed) };
    merged.summary = first.summary.clone();
    merged.rule = first.rule.clone().or_else(|| second.rule.clone());
    merged.detail = first.detail.clone().or_else(|| second.detail.clone());
    merged.situation = kept.situation.clone().or_else(|| absorbed.situation.clone());
    merged.tags = united(&kept.tags, &absorbed.tags);
    merged.tags.truncate(MAX_TAGS);
    merged.facets = common_facets(kept, &absorbed);
    if absorbed.importance > kept.importance {
        merged.importance = absorbed.importance;
    }
    merged.severity = worse(kept.severity.as_ref(), absorbed.severity.as_ref()).cloned();
    merged.evidence = united_evidence(&kept.evidence, &absorbed.evidence);
    merged.evergreen = kept.evergreen || absorbed.evergreen;
    merged.links = united(&kept.links, &absorbed.links);
    merged.links.retain(|link: &Link| link.to != kept.id && link.to != absorbed.id);
    merged.updated_at = Some(at);
    let before = AgentMemory { merges: Vec::new(), ..kept.clone() };
    merged.merges.push(Merge { absorbed: Box::new(absorbed), kept: Box::new(before), at });
    merged
}

/// A lesson that takes the place of one which it refines: it stands on what that one stood on, too.
pub fn refined(old: &AgentMemory, new: AgentMemory) -> AgentMemory {
    let mut refined = AgentMemory {
        tags: united(&new.tags, &old.tags),
        severity: worse(new.severity.as_ref(), old.severity.as_ref()).cloned(),
        evidence: united_evidence(&new.evidence, &old.evidence),
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

/// Undoes the last merge: the lesson that took the other in, as it was, and the other. `None` where nothing was merged.
pub fn unmerge(merged: &AgentMemory) -> Option<(AgentMemory, AgentMemory)> {
    let (last, before) = merged.merges.split_last()?;
    let kept = AgentMemory { merges: before.to_vec(), ..(*last.kept).clone() };
    Some((kept, (*last.absorbed).clone()))
}

/// Whether a new text says it better than the old one: it has a rule, it names things, it is neither a word nor a page.
pub(super) fn is_better(summary: &str, rule: Option<&str>, old_summary: &str, old_rule: Option<&str>) -> bool {
    worth(summary, rule) > worth(old_summary, old_rule)
}

/// The same by more than a mark.
pub(super) fn is_clearly_better(summary: &str, rule: Option<&str>, old_summary: &str, old_rule: Option<&str>) -> bool {
    worth(summary, rule) > worth(old_summary, old_rule) + 1
}

fn worth(summary: &str, rule: Option<&str>) -> usize {
    let mut marks = chunks(summary);
    marks.extend(chunks(rule.unwrap_or_default()));
    marks.retain(|chunk| chunk.shape != Shape::Word);
    marks.sort_by(|a, b| a.text.cmp(&b.text));
    marks.dedup_by(|a, b| a.text == b.text);
    let has_rule = rule.is_some_and(|rule| !rule.trim().is_empty());
    let is_sensible = SENSIBLE_WORDS.contains(&summary.split_whitespace().count());
    let rule_worth = if has_rule { RULE_WORTH } else { 0 };
    marks.len().min(ENOUGH_MARKS) + rule_worth + usize::from(is_sensible)
}

/// Those of the first, then those of the second that are not among them.
fn united<T: Clone + PartialEq>(first: &[T], second: &[T]) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for item in first.iter().chain(second) {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

fn united_evidence(kept: &Evidence, absorbed: &Evidence) -> Evidence {
    let mut quotes: Vec<Quote> = united(&kept.quotes, &absorbed.quotes);
    // The sort is stable: among equals the older stays first.
    quotes.sort_by_key(|quote| Reverse(strength(&quote.level)));
    quotes.truncate(MAX_QUOTES);
    let mut extra = absorbed.extra.clone();
    extra.extend(kept.extra.clone());
    Evidence {
        episode_ids: united(&kept.episode_ids, &absorbed.episode_ids),
        trajectory_ids: united(&kept.trajectory_ids, &absorbed.trajectory_ids),
        session_ids: united(&kept.session_ids, &absorbed.session_ids),
        run_log_paths: united(&kept.run_log_paths, &absorbed.run_log_paths),
        quotes,
        extra,
    }
}

fn strength(level: &EvidenceLevel) -> u8 {
    match level {
        EvidenceLevel::Execution => 3,
        EvidenceLevel::Citation => 2,
        EvidenceLevel::Reasoning => 1,
        EvidenceLevel::Other(_) => 0,
    }
}

fn worse<'a>(one: Option<&'a Severity>, other: Option<&'a Severity>) -> Option<&'a Severity> {
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

/// What both agree on. Where one is silent, what would bind the lesson falls away and what only tells where it came from
/// stays; a lesson whose scope is one tool keeps its tool.
fn common_facets(kept: &AgentMemory, absorbed: &AgentMemory) -> Facets {
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
    Facets {
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

/// Whether a lesson of this scope is nothing without this facet.
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
