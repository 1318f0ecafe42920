//! What becomes of candidates, given what is known.

use std::collections::BTreeMap;

use super::background::Background;
use super::features::Features;
use super::merge::{MAX_MERGES, is_clearly_better};
use super::relation::{Kin, Likeness, Thresholds, relate};
use super::saying::Saying;
use crate::domain::{AgentMemory, Candidate, DropReason, Link, MemoryId, MemoryState, Relation, Standing};
use crate::text::Cutter;

#[cfg(test)]
#[path = "dedup_tests.rs"]
mod tests;

/// A new lesson is tied to no more than this many others.
const MAX_LINKS: usize = 5;

/// What becomes of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is a new lesson, tied to those it may have to do with.
    Create {
        /// The ties, the closest first.
        links: Vec<Link>,
    },
    /// It is a known lesson, seen again.
    Sight(MemoryId),
    /// It is a known lesson, said better: both become one.
    Merge(MemoryId),
    /// It says what a known lesson says and more, in words of its own: it takes its place.
    Supersede(MemoryId),
    /// It is a new lesson that cannot hold together with a known one.
    Contradicts {
        /// The known one.
        with: MemoryId,
    },
    /// It is not kept.
    Drop(DropReason),
}

/// A known lesson beside a candidate.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The lesson.
    pub memory: &'a AgentMemory,
    /// The cosine of its embedding and the candidate's, where there are embeddings.
    pub cosine: Option<f64>,
}

/// By what candidates are judged.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Where the same ends and where the different begins.
    pub thresholds: Thresholds,
    /// How rare words are; the empty one will do.
    pub background: Background,
}

/// What a model says about pairs that words alone do not decide: a candidate by its place, and a known lesson.
pub type Opinions = BTreeMap<(usize, MemoryId), Kin>;

/// Judges every candidate of one reflection. `known` holds the neighbours of each, in the order of the candidates.
pub fn judge(candidates: &[Candidate], known: &[Vec<Known<'_>>], rules: &Rules, opinions: &Opinions) -> Vec<Verdict> {
    let mut cutter = Cutter::default();
    let features: Vec<Features> = candidates.iter().map(|one| Features::of(&Saying::from(one), &mut cutter)).collect();
    let mut kept: Vec<(&Candidate, &Features)> = Vec::new();
    let mut verdicts = Vec::new();
    for (index, (candidate, features)) in candidates.iter().zip(&features).enumerate() {
        let neighbours = neighbours(index, features, known, rules, opinions, &mut cutter);
        let is_repeated = kept.iter().any(|(other, others)| {
            other.quarantine.is_some() == candidate.quarantine.is_some()
                && relate(features, others, &rules.background, None, &rules.thresholds).relation == Kin::Same
        });
        let verdict = if is_repeated {
            Verdict::Drop(DropReason::Repeated)
        } else if candidate.quarantine.is_some() {
            judge_quarantined(&neighbours)
        } else {
            judge_one(candidate, &neighbours)
        };
        if !matches!(verdict, Verdict::Drop(_)) {
            kept.push((candidate, features));
        }
        verdicts.push(verdict);
    }
    verdicts
}

/// The pairs that words alone do not decide, the closest first: at most one for each candidate that nothing else decides.
pub fn doubts(candidates: &[Candidate], known: &[Vec<Known<'_>>], rules: &Rules) -> Vec<(usize, MemoryId)> {
    let mut cutter = Cutter::default();
    let mut doubts: Vec<(f64, usize, MemoryId)> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate().filter(|(_, one)| one.quarantine.is_none()) {
        let features = Features::of(&Saying::from(candidate), &mut cutter);
        let neighbours = neighbours(index, &features, known, rules, &Opinions::new(), &mut cutter);
        let is_decided = |kin| matches!(kin, Kin::Same | Kin::Refines | Kin::Contradicts);
        if neighbours.iter().any(|one| is_decided(one.likeness.relation)) {
            continue;
        }
        if let Some(unsure) = neighbours.iter().find(|one| one.likeness.relation == Kin::Unsure) {
            doubts.push((unsure.likeness.similarity, index, unsure.memory.id.clone()));
        }
    }
    doubts.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    doubts.into_iter().map(|(_, index, id)| (index, id)).collect()
}

/// A known lesson and how the candidate relates to it.
#[derive(Debug, Clone, Copy)]
struct Neighbour<'a> {
    memory: &'a AgentMemory,
    likeness: Likeness,
}

/// The neighbours of one candidate, the closest first, whatever order they came in.
fn neighbours<'a>(
    index: usize,
    features: &Features,
    known: &[Vec<Known<'a>>],
    rules: &Rules,
    opinions: &Opinions,
    cutter: &mut Cutter,
) -> Vec<Neighbour<'a>> {
    let mut neighbours: Vec<Neighbour<'a>> = Vec::new();
    for known in known.get(index).into_iter().flatten() {
        let others = Features::of(&Saying::from(known.memory), cutter);
        let mut likeness = relate(features, &others, &rules.background, known.cosine, &rules.thresholds);
        if likeness.relation == Kin::Unsure
            && let Some(opinion) = opinions.get(&(index, known.memory.id.clone()))
        {
            likeness.relation = *opinion;
        }
        neighbours.push(Neighbour { memory: known.memory, likeness });
    }
    neighbours.sort_by(|a, b| {
        let retired = |one: &Neighbour<'_>| one.memory.standing() == Standing::Retired;
        let closer = b.likeness.similarity.total_cmp(&a.likeness.similarity);
        closer.then_with(|| retired(a).cmp(&retired(b))).then_with(|| a.memory.id.cmp(&b.memory.id))
    });
    neighbours.dedup_by(|a, b| a.memory.id == b.memory.id);
    neighbours
}

/// What rests on strangers' words touches no lesson that does not.
fn judge_quarantined(neighbours: &[Neighbour<'_>]) -> Verdict {
    let repeats = |state: MemoryState| {
        let is_same = |one: &&Neighbour<'_>| matches!(one.likeness.relation, Kin::Same | Kin::Refines);
        neighbours.iter().filter(is_same).any(|one| one.memory.state == Some(state.clone()))
    };
    if repeats(MemoryState::Archived) {
        Verdict::Drop(DropReason::Rejected)
    } else if repeats(MemoryState::Quarantined) {
        Verdict::Drop(DropReason::Repeated)
    } else {
        Verdict::Create { links: Vec::new() }
    }
}

fn judge_one(candidate: &Candidate, neighbours: &[Neighbour<'_>]) -> Verdict {
    let is_same = |one: &&Neighbour<'_>| matches!(one.likeness.relation, Kin::Same | Kin::Refines);
    if let Some(same) = neighbours.iter().find(is_same) {
        return judge_same(candidate, same, neighbours);
    }
    let live = || neighbours.iter().filter(|one| one.memory.standing() != Standing::Retired);
    if let Some(other) = live().find(|one| one.likeness.relation == Kin::Contradicts) {
        return Verdict::Contradicts { with: other.memory.id.clone() };
    }
    let related = live().filter(|one| matches!(one.likeness.relation, Kin::Similar | Kin::Unsure));
    let link = |one: &Neighbour<'_>| Link { to: one.memory.id.clone(), relation: Relation::Similar };
    Verdict::Create { links: related.take(MAX_LINKS).map(link).collect() }
}

fn judge_same(candidate: &Candidate, same: &Neighbour<'_>, neighbours: &[Neighbour<'_>]) -> Verdict {
    let id = || same.memory.id.clone();
    match &same.memory.state {
        Some(MemoryState::Archived) => Verdict::Drop(DropReason::Rejected),
        Some(MemoryState::Superseded) => judge_superseded(candidate, same.memory, neighbours),
        _ if same.memory.superseded_by.is_some() => judge_superseded(candidate, same.memory, neighbours),
        // What was given up may come back to life by being seen; what waits for a person waits on.
        Some(MemoryState::Deprecated | MemoryState::Quarantined) => Verdict::Sight(id()),
        _ if same.memory.merges.len() >= MAX_MERGES => Verdict::Sight(id()),
        _ => judge_live(candidate, same),
    }
}

/// What repeats a lesson that gave way is held against the one that took its place.
fn judge_superseded(candidate: &Candidate, old: &AgentMemory, neighbours: &[Neighbour<'_>]) -> Verdict {
    let Some(mut newest) = old.superseded_by.as_ref() else { return Verdict::Sight(old.id.clone()) };
    let mut found = None;
    // A lesson may have given way to one that gave way itself; a circle ends where it began.
    for _ in 0..neighbours.len() {
        let Some(next) = neighbours.iter().find(|one| one.memory.id == *newest) else { break };
        found = Some(next);
        match &next.memory.superseded_by {
            Some(newer) if *newer != old.id => newest = newer,
            _ => break,
        }
    }
    match found.filter(|one| one.memory.id == *newest) {
        Some(one) if one.memory.standing() != Standing::Retired => match one.likeness.relation {
            Kin::Same | Kin::Refines if one.memory.merges.len() < MAX_MERGES => judge_live(candidate, one),
            Kin::Contradicts => Verdict::Contradicts { with: newest.clone() },
            _ => Verdict::Sight(newest.clone()),
        },
        Some(one) if one.memory.state == Some(MemoryState::Archived) => Verdict::Drop(DropReason::Rejected),
        _ => Verdict::Sight(newest.clone()),
    }
}

fn judge_live(candidate: &Candidate, known: &Neighbour<'_>) -> Verdict {
    let (memory, id) = (known.memory, known.memory.id.clone());
    let (summary, rule) = (candidate.summary.as_str(), candidate.rule.as_deref());
    let (old_summary, old_rule) = (memory.summary.as_str(), memory.rule.as_deref());
    let is_clearly_better = is_clearly_better(summary, rule, old_summary, old_rule);
    match known.likeness.relation {
        Kin::Refines => Verdict::Supersede(id),
        _ if is_clearly_better || (rule.is_some() && old_rule.is_none()) => Verdict::Merge(id),
        _ => Verdict::Sight(id),
    }
}
