//! Whether something was settled, or only said. Who took part in it decides, not what a model calls it.
//!
//! A decision or a preference is given at once and does not grow old, so somebody must stand behind it: a person by their
//! own words, or an agent and a person who talked it over, the agent saying it and nobody objecting.

use super::injection::About;
use super::pasted;
use super::quotes::Found;
use crate::context::{ReflectionContext, Signal, SignalKind};
use crate::distill::claim::{Claim, Place};
use crate::distill::heuristic::QuotedRemark;
use crate::domain::{EvidenceLevel, MemoryKind, Speaker, Step, TrustClass};

#[cfg(test)]
#[path = "settled_tests.rs"]
mod tests;

/// What a lesson is, by who stands behind it.
///
/// What was agreed in a talk is a decision under every name. For that it must rest on words alone: what ran or what a file
/// says proves itself, or does not.
pub(super) fn kind(claim: &Claim, found: &[Found], context: &ReflectionContext) -> MemoryKind {
    let about = About::of(claim);
    let is_telling = |one: &&Found| about.is_met_by(&one.quote.text) && !is_one_task_remark(one, &claim.kind, context);
    let telling: Vec<&Found> = found.iter().filter(is_telling).collect();
    let is_persons = telling.iter().any(|one| one.quote.trust == TrustClass::User);
    match claim.kind {
        MemoryKind::Preference | MemoryKind::Decision if is_persons => return claim.kind.clone(),
        MemoryKind::Preference | MemoryKind::Decision | MemoryKind::Lesson => {}
        MemoryKind::Fact | MemoryKind::Note | MemoryKind::Other(_) => return claim.kind.clone(),
    }
    let is_by_words = found.iter().all(|one| one.quote.level == EvidenceLevel::Reasoning);
    let is_settled = telling.iter().any(|one| {
        let Some(talk) = Talk::at(context, one.place) else { return false };
        match one.quote.trust {
            TrustClass::User => is_by_words && talk.is_answer(),
            TrustClass::Agent if talk.is_objected_to(context) => false,
            TrustClass::Agent => claim.kind == MemoryKind::Decision || (is_by_words && talk.is_answer()),
            _ => false,
        }
    });
    if is_settled { MemoryKind::Decision } else { MemoryKind::Lesson }
}

/// Tells whether words of a person hold for the task at hand only: they order, ask or correct something, or were said
/// before the agent had done anything, and no wish that lasts is among them.
fn is_one_task_remark(found: &Found, kind: &MemoryKind, context: &ReflectionContext) -> bool {
    let Place { trajectory, step } = found.place;
    let steps = usize::try_from(trajectory).ok().and_then(|at| context.trajectories.get(at)).map(|one| &one.steps);
    let Some(said) = steps.and_then(|steps| steps.iter().find(|one| one.number == step)) else { return false };
    let is_before = |one: &&Step| one.number < step && one.speaker == Speaker::Agent;
    let is_correction = |signal: &Signal| {
        signal.kind == SignalKind::UserCorrection && (signal.trajectory, signal.step) == (trajectory, step)
    };
    let remark = QuotedRemark {
        message: &said.text,
        quoted: &found.quote.text,
        has_agent_acted: steps.is_some_and(|steps| steps.iter().filter(is_before).count() > 0),
        is_correction: context.signals.iter().any(is_correction),
    };
    let is_part_of_task = *kind == MemoryKind::Preference && !remark.has_agent_acted;
    found.quote.trust == TrustClass::User && (is_part_of_task || remark.is_about_task()) && !remark.states_wish()
}

/// Whose turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A person's, with words of their own.
    Person,
    /// The agent's, with words.
    Agent,
    /// The agent's, who only called tools.
    Silent,
}

/// A place in a talk: a person ordered, the agent spoke, and the person answered.
#[derive(Debug)]
struct Talk {
    place: Place,
    /// What went before.
    before: Vec<Turn>,
    this: Turn,
}

impl Talk {
    /// The talk that a step is part of, if it is part of one.
    fn at(context: &ReflectionContext, place: Place) -> Option<Self> {
        let steps = &context.trajectories.get(usize::try_from(place.trajectory).ok()?)?.steps;
        let mut before = Vec::new();
        let mut this = None;
        // A person, then the agent, then a person: as much of it as was seen.
        let mut heard = 0;
        for step in steps.iter().filter(|step| step.subagent.is_none()) {
            let turn = match step.speaker {
                Speaker::User if pasted::own(&step.text, &TrustClass::User).trim().is_empty() => continue,
                Speaker::User => Turn::Person,
                Speaker::Agent if step.text.trim().is_empty() => Turn::Silent,
                Speaker::Agent => Turn::Agent,
                _ => continue,
            };
            heard += usize::from([Turn::Person, Turn::Agent, Turn::Person].get(heard) == Some(&turn));
            if step.number == place.step {
                this = Some(turn);
            } else if this.is_none() {
                before.push(turn);
            }
        }
        this.filter(|_| heard == 3).map(|this| Self { place, before, this })
    }

    /// Whether it was said to the other's face: by the agent right after a person, or by a person after the agent.
    fn is_answer(&self) -> bool {
        match self.this {
            Turn::Person => self.before.contains(&Turn::Agent),
            Turn::Agent | Turn::Silent => self.before.last() == Some(&Turn::Person),
        }
    }

    /// Whether a person set the agent right afterwards, on whatever.
    fn is_objected_to(&self, context: &ReflectionContext) -> bool {
        context.signals.iter().any(|signal| {
            signal.kind == SignalKind::UserCorrection
                && signal.trajectory == self.place.trajectory
                && signal.step > self.place.step
        })
    }
}
