//! Decides whether something was agreed or only said, by who took part in it and not by what a model calls it.
//!
//! A decision or a preference is used at once and does not expire, so somebody must stand behind it: a user by their
//! own words, or an agent and a user who discussed it, the agent saying it and nobody objecting.

use super::obeyed_orders::LessonSubject;
use super::pasted_text;
use super::quote_check::FoundQuote;
use crate::context::{ReflectionContext, Signal, SignalKind};
use crate::distill::heuristic::QuotedRemark;
use crate::distill::unchecked_candidate::{StepReference, UncheckedCandidate};
use crate::domain::{EvidenceLevel, MemoryKind, Speaker, Step, TrustClass};

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod tests;

/// Returns the kind of a candidate, by who stands behind it.
///
/// An agreement in a conversation is a decision, whatever it is called. For that it must rest on words alone:
/// executions and files are evidence of their own.
pub(super) fn determine_kind(
    claim: &UncheckedCandidate,
    found: &[FoundQuote],
    context: &ReflectionContext,
) -> MemoryKind {
    let about = LessonSubject::from_candidate(claim);
    let is_telling =
        |one: &&FoundQuote| about.is_mentioned_in(&one.quote.text) && !is_one_task_remark(one, &claim.kind, context);
    let telling: Vec<&FoundQuote> = found.iter().filter(is_telling).collect();
    let is_persons = telling.iter().any(|one| one.quote.trust == TrustClass::User);
    match claim.kind {
        MemoryKind::Preference | MemoryKind::Decision if is_persons => return claim.kind.clone(),
        MemoryKind::Preference | MemoryKind::Decision | MemoryKind::Lesson => {}
        MemoryKind::Fact | MemoryKind::Note | MemoryKind::Other(_) => return claim.kind.clone(),
    }
    let is_by_words = found.iter().all(|one| one.quote.level == EvidenceLevel::Reasoning);
    let is_settled = telling.iter().any(|one| {
        let Some(talk) = ConversationStep::find_at(context, one.place) else { return false };
        match one.quote.trust {
            TrustClass::User => is_by_words && talk.is_answer(),
            TrustClass::Agent if talk.is_objected_to(context) => false,
            TrustClass::Agent => claim.kind == MemoryKind::Decision || (is_by_words && talk.is_answer()),
            _ => false,
        }
    });
    if is_settled { MemoryKind::Decision } else { MemoryKind::Lesson }
}

/// Tells whether a user's words hold for the current task only: they order, ask or correct something, or came before
/// the agent had done anything, and no lasting preference is among them.
fn is_one_task_remark(found: &FoundQuote, kind: &MemoryKind, context: &ReflectionContext) -> bool {
    let StepReference { trajectory, step } = found.place;
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
    found.quote.trust == TrustClass::User && (is_part_of_task || remark.is_about_task()) && !remark.states_preference()
}

/// A turn of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConversationTurn {
    /// A user spoke in their own words.
    Person,
    /// The agent spoke in words.
    Agent,
    /// The agent only called tools.
    Silent,
}

/// A step within a conversation: a user ordered, the agent spoke, and the user answered.
#[derive(Debug)]
struct ConversationStep {
    place: StepReference,
    /// The turns before the step.
    before: Vec<ConversationTurn>,
    this: ConversationTurn,
}

impl ConversationStep {
    /// Returns the conversation around a step, if a user, the agent and a user spoke in turn.
    fn find_at(context: &ReflectionContext, place: StepReference) -> Option<Self> {
        let steps = &context.trajectories.get(usize::try_from(place.trajectory).ok()?)?.steps;
        let mut before = Vec::new();
        let mut this = None;
        // The count of turns seen so far of: a user, then the agent, then a user.
        let mut heard = 0;
        for step in steps.iter().filter(|step| step.subagent.is_none()) {
            let turn = match step.speaker {
                Speaker::User if pasted_text::extract_own_words(&step.text, &TrustClass::User).trim().is_empty() => {
                    continue;
                }
                Speaker::User => ConversationTurn::Person,
                Speaker::Agent if step.text.trim().is_empty() => ConversationTurn::Silent,
                Speaker::Agent => ConversationTurn::Agent,
                _ => continue,
            };
            heard += usize::from(
                [ConversationTurn::Person, ConversationTurn::Agent, ConversationTurn::Person].get(heard) == Some(&turn),
            );
            if step.number == place.step {
                this = Some(turn);
            } else if this.is_none() {
                before.push(turn);
            }
        }
        this.filter(|_| heard == 3).map(|this| Self { place, before, this })
    }

    /// Tells whether it answers the other side: by the agent right after a user, or by a user after the agent.
    fn is_answer(&self) -> bool {
        match self.this {
            ConversationTurn::Person => self.before.contains(&ConversationTurn::Agent),
            ConversationTurn::Agent | ConversationTurn::Silent => self.before.last() == Some(&ConversationTurn::Person),
        }
    }

    /// Tells whether a user corrected the agent afterwards, about anything.
    fn is_objected_to(&self, context: &ReflectionContext) -> bool {
        context.signals.iter().any(|signal| {
            signal.kind == SignalKind::UserCorrection
                && signal.trajectory == self.place.trajectory
                && signal.step > self.place.step
        })
    }
}
