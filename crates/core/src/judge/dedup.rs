//! Decides what becomes of candidates, given the known lessons.

use std::collections::BTreeMap;

use super::lesson_features::LessonFeatures;
use super::merge::{MAX_MERGES, is_clearly_better};
use super::relation::{JudgedRelation, LessonLikeness, SimilarityThresholds, relate_lessons};
use super::statement::LessonStatement;
use super::word_rarity::WordFrequencies;
use crate::domain::{
    AgentMemory, Candidate, DropReason, LessonAvailability, LessonLink, MemoryId, MemoryState, Relation,
};
use crate::text::WordSplitter;

#[cfg(test)]
#[path = "dedup_tests.rs"]
mod tests;

/// The most links of a new lesson to others.
const MAX_LINKS: usize = 5;

/// The verdict on a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum CandidateVerdict {
    /// It is a new lesson, linked to those that it may relate to.
    Create {
        /// The links, the closest first.
        links: Vec<LessonLink>,
    },
    /// It is a known lesson, sighted again.
    Sight(MemoryId),
    /// It is a known lesson in better words: both become one.
    Merge(MemoryId),
    /// It says what a known lesson says and more, in words of its own, and supersedes it.
    Supersede(MemoryId),
    /// It is a new lesson that contradicts a known one.
    Contradicts {
        /// The id of the known lesson.
        with: MemoryId,
    },
    /// The candidate is not kept.
    Drop(DropReason),
}

/// A known lesson that a candidate is compared with.
#[derive(Debug, Clone, Copy)]
pub struct KnownNeighbour<'a> {
    /// The known lesson itself.
    pub memory: &'a AgentMemory,
    /// The cosine of its embedding and the candidate's, where there are embeddings.
    pub cosine: Option<f64>,
}

/// The rules by which candidates are judged.
#[derive(Debug, Clone)]
pub struct DedupRules {
    /// The thresholds between the same and the different.
    pub thresholds: SimilarityThresholds,
    /// The frequencies of words; an empty value is valid.
    pub background: WordFrequencies,
}

/// A model's opinions on pairs that words alone do not decide: a candidate by its index, and a known lesson.
pub type Opinions = BTreeMap<(usize, MemoryId), JudgedRelation>;

/// Judges every candidate of one reflection. `known` contains the neighbours of each, in the order of the candidates.
pub fn judge_candidates(
    candidates: &[Candidate],
    known: &[Vec<KnownNeighbour<'_>>],
    rules: &DedupRules,
    opinions: &Opinions,
) -> Vec<CandidateVerdict> {
    let mut cutter = WordSplitter::default();
    let features: Vec<LessonFeatures> =
        candidates.iter().map(|one| LessonFeatures::extract(&LessonStatement::from(one), &mut cutter)).collect();
    let mut kept: Vec<(&Candidate, &LessonFeatures)> = Vec::new();
    let mut verdicts = Vec::new();
    for (index, (candidate, features)) in candidates.iter().zip(&features).enumerate() {
        let neighbours = find_neighbours(index, features, known, rules, opinions, &mut cutter);
        let is_repeated = kept.iter().any(|(other, others)| {
            other.quarantine.is_some() == candidate.quarantine.is_some()
                && relate_lessons(features, others, &rules.background, None, &rules.thresholds).relation
                    == JudgedRelation::Same
        });
        let verdict = if is_repeated {
            CandidateVerdict::Drop(DropReason::Repeated)
        } else if candidate.quarantine.is_some() {
            judge_quarantined(&neighbours)
        } else {
            judge_one(candidate, &neighbours)
        };
        if !matches!(verdict, CandidateVerdict::Drop(_)) {
            kept.push((candidate, features));
        }
        verdicts.push(verdict);
    }
    verdicts
}

/// Returns the pairs that words alone do not decide, the closest first: at most one for each undecided candidate.
pub fn find_doubtful_pairs(
    candidates: &[Candidate],
    known: &[Vec<KnownNeighbour<'_>>],
    rules: &DedupRules,
) -> Vec<(usize, MemoryId)> {
    let mut cutter = WordSplitter::default();
    let mut doubts: Vec<(f64, usize, MemoryId)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate().filter(|(_, one)| one.quarantine.is_none()) {
        let features = LessonFeatures::extract(&LessonStatement::from(candidate), &mut cutter);
        let neighbours = find_neighbours(index, &features, known, rules, &Opinions::new(), &mut cutter);
        let is_decided =
            |kin| matches!(kin, JudgedRelation::Same | JudgedRelation::Refines | JudgedRelation::Contradicts);
        if neighbours.iter().any(|one| is_decided(one.likeness.relation)) {
            continue;
        }
        if let Some(unsure) = neighbours.iter().find(|one| one.likeness.relation == JudgedRelation::Unsure) {
            doubts.push((unsure.likeness.similarity, index, unsure.memory.id.clone()));
        }
    }
    doubts.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    doubts.into_iter().map(|(_, index, id)| (index, id)).collect()
}

/// A known lesson and how the candidate relates to it.
#[derive(Debug, Clone, Copy)]
struct CandidateNeighbour<'a> {
    memory: &'a AgentMemory,
    likeness: LessonLikeness,
}

/// Returns the neighbours of one candidate, the closest first, whatever their order was.
fn find_neighbours<'a>(
    index: usize,
    features: &LessonFeatures,
    known: &[Vec<KnownNeighbour<'a>>],
    rules: &DedupRules,
    opinions: &Opinions,
    cutter: &mut WordSplitter,
) -> Vec<CandidateNeighbour<'a>> {
    let mut neighbours: Vec<CandidateNeighbour<'a>> = Vec::new();
    for known in known.get(index).into_iter().flatten() {
        let others = LessonFeatures::extract(&LessonStatement::from(known.memory), cutter);
        let mut likeness = relate_lessons(features, &others, &rules.background, known.cosine, &rules.thresholds);
        if likeness.relation == JudgedRelation::Unsure
            && let Some(opinion) = opinions.get(&(index, known.memory.id.clone()))
        {
            likeness.relation = *opinion;
        }
        neighbours.push(CandidateNeighbour { memory: known.memory, likeness });
    }
    neighbours.sort_by(|a, b| {
        let retired = |one: &CandidateNeighbour<'_>| one.memory.availability() == LessonAvailability::Retired;
        let closer = b.likeness.similarity.total_cmp(&a.likeness.similarity);
        closer.then_with(|| retired(a).cmp(&retired(b))).then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    neighbours.dedup_by(|a, b| a.memory.id == b.memory.id);
    neighbours
}

/// Judges a quarantined candidate, which affects no lesson that is not quarantined itself.
fn judge_quarantined(neighbours: &[CandidateNeighbour<'_>]) -> CandidateVerdict {
    let repeats = |state: MemoryState| {
        let is_same = |one: &&CandidateNeighbour<'_>| {
            matches!(one.likeness.relation, JudgedRelation::Same | JudgedRelation::Refines)
        };
        neighbours.iter().filter(is_same).any(|one| one.memory.state == Some(state.clone()))
    };
    if repeats(MemoryState::Archived) {
        CandidateVerdict::Drop(DropReason::Rejected)
    } else if repeats(MemoryState::Quarantined) {
        CandidateVerdict::Drop(DropReason::Repeated)
    } else {
        CandidateVerdict::Create { links: Vec::new() }
    }
}

fn judge_one(candidate: &Candidate, neighbours: &[CandidateNeighbour<'_>]) -> CandidateVerdict {
    let is_same =
        |one: &&CandidateNeighbour<'_>| matches!(one.likeness.relation, JudgedRelation::Same | JudgedRelation::Refines);
    if let Some(same) = neighbours.iter().find(is_same) {
        return judge_same(candidate, same, neighbours);
    }
    let live = || neighbours.iter().filter(|one| one.memory.availability() != LessonAvailability::Retired);
    if let Some(other) = live().find(|one| one.likeness.relation == JudgedRelation::Contradicts) {
        return CandidateVerdict::Contradicts { with: other.memory.id.clone() };
    }
    let related =
        live().filter(|one| matches!(one.likeness.relation, JudgedRelation::Similar | JudgedRelation::Unsure));
    let link = |one: &CandidateNeighbour<'_>| LessonLink { to: one.memory.id.clone(), relation: Relation::Similar };
    CandidateVerdict::Create { links: related.take(MAX_LINKS).map(link).collect() }
}

fn judge_same(
    candidate: &Candidate,
    same: &CandidateNeighbour<'_>,
    neighbours: &[CandidateNeighbour<'_>],
) -> CandidateVerdict {
    let id = || same.memory.id.clone();
    match &same.memory.state {
        Some(MemoryState::Archived) => CandidateVerdict::Drop(DropReason::Rejected),
        Some(MemoryState::Superseded) => judge_superseded(candidate, same.memory, neighbours),
        _ if same.memory.superseded_by.is_some() => judge_superseded(candidate, same.memory, neighbours),
        // A deprecated lesson may become usable again by being seen; a quarantined one keeps waiting for a person.
        Some(MemoryState::Deprecated | MemoryState::Quarantined) => CandidateVerdict::Sight(id()),
        _ if same.memory.merges.len() >= MAX_MERGES => CandidateVerdict::Sight(id()),
        _ => judge_live(candidate, same),
    }
}

/// Judges a candidate that repeats a superseded lesson against the lesson that superseded it.
fn judge_superseded(
    candidate: &Candidate,
    old: &AgentMemory,
    neighbours: &[CandidateNeighbour<'_>],
) -> CandidateVerdict {
    let Some(mut newest) = old.superseded_by.as_ref() else { return CandidateVerdict::Sight(old.id.clone()) };
    let mut found = None;
    // A superseding lesson may be superseded itself; a cycle ends where it began.
    for _ in 0..neighbours.len() {
        let Some(next) = neighbours.iter().find(|one| one.memory.id == *newest) else { break };
        found = Some(next);
        match &next.memory.superseded_by {
            Some(newer) if *newer != old.id => newest = newer,
            _ => break,
        }
    }
    match found.filter(|one| one.memory.id == *newest) {
        Some(one) if one.memory.availability() != LessonAvailability::Retired => match one.likeness.relation {
            JudgedRelation::Same | JudgedRelation::Refines if one.memory.merges.len() < MAX_MERGES => {
                judge_live(candidate, one)
            }
            JudgedRelation::Contradicts => CandidateVerdict::Contradicts { with: newest.clone() },
            _ => CandidateVerdict::Sight(newest.clone()),
        },
        Some(one) if one.memory.state == Some(MemoryState::Archived) => CandidateVerdict::Drop(DropReason::Rejected),
        _ => CandidateVerdict::Sight(newest.clone()),
    }
}

fn judge_live(candidate: &Candidate, known: &CandidateNeighbour<'_>) -> CandidateVerdict {
    let (memory, id) = (known.memory, known.memory.id.clone());
    let (summary, rule) = (candidate.summary.as_str(), candidate.rule.as_deref());
    let (old_summary, old_rule) = (memory.summary.as_str(), memory.rule.as_deref());
    let is_clearly_better = is_clearly_better(summary, rule, old_summary, old_rule);
    match known.likeness.relation {
        JudgedRelation::Refines => CandidateVerdict::Supersede(id),
        _ if is_clearly_better || (rule.is_some() && old_rule.is_none()) => CandidateVerdict::Merge(id),
        _ => CandidateVerdict::Sight(id),
    }
}
