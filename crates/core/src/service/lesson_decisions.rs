//! Decisions of a person about a lesson.

use crate::domain::{AgentMemory, Fact, MemoryId, MemoryState, Timestamp};
use crate::judge;
use crate::memory::{CommitBatch, FactFilter, LessonName, MemoryError, MemoryService};

#[cfg(test)]
#[path = "lesson_decisions_tests.rs"]
mod tests;

/// The decision of a person about a lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LessonDecision {
    /// The person vouches for it: it becomes active and does not decay.
    Promote,
    /// The person takes it out of quarantine: it becomes active.
    Approve,
    /// It must not be injected or learned again.
    Reject {
        /// The person's reason.
        reason: Option<String>,
    },
}

/// The reason why a decision cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum DecisionError {
    /// Only a quarantined lesson can be approved.
    #[error("lesson `{id}` is not in quarantine")]
    NotQuarantined {
        /// The lesson's id.
        id: MemoryId,
    },
    /// The lesson is not in use.
    #[error("lesson `{id}` is {state}")]
    Retired {
        /// The lesson's id.
        id: MemoryId,
        /// The lesson's state.
        state: MemoryState,
    },
    /// Nothing was merged into the lesson.
    #[error("nothing was merged into lesson `{id}`")]
    NotMerged {
        /// The lesson's id.
        id: MemoryId,
    },
    /// The memory returned an error.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Applies a decision, and returns the lesson in its new state.
pub async fn apply_decision(
    memory: &dyn MemoryService,
    id: &MemoryId,
    decision: &LessonDecision,
    at: Timestamp,
) -> Result<AgentMemory, DecisionError> {
    let name = LessonName::Id(id.clone());
    let lesson = memory.get_lesson(&name).await?.ok_or(MemoryError::NoSuchLesson { name })?;
    let mut decided = lesson.memory;
    let is_quarantined = decided.state == Some(MemoryState::Quarantined);
    match (decision, &decided.state) {
        (LessonDecision::Approve, _) if !is_quarantined => {
            return Err(DecisionError::NotQuarantined { id: id.clone() });
        }
        (
            LessonDecision::Promote,
            Some(state @ (MemoryState::Archived | MemoryState::Superseded | MemoryState::Quarantined)),
        ) => {
            return Err(DecisionError::Retired { id: id.clone(), state: state.clone() });
        }
        _ => {}
    }
    (decided.state, decided.state_reason) = match decision {
        LessonDecision::Promote | LessonDecision::Approve => (Some(MemoryState::Active), None),
        LessonDecision::Reject { reason } => {
            (Some(MemoryState::Archived), reason.clone().or_else(|| Some("rejected".into())))
        }
    };
    decided.updated_at = Some(at);
    decided.restored_from = None;
    let expected = vec![(id.clone(), lesson.version)];
    memory
        .commit_batch(CommitBatch { memories: vec![decided.clone()], expected, ..CommitBatch::default() }, at)
        .await?;
    Ok(decided)
}

/// Undoes the last merge of a lesson, and returns the lesson as it was and the one that it had absorbed.
pub async fn unmerge_lesson(
    memory: &dyn MemoryService,
    id: &MemoryId,
    at: Timestamp,
) -> Result<(AgentMemory, AgentMemory), DecisionError> {
    let name = LessonName::Id(id.clone());
    let lesson = memory.get_lesson(&name).await?.ok_or(MemoryError::NoSuchLesson { name })?;
    let (kept, absorbed) =
        judge::unmerge_lesson(&lesson.memory).ok_or_else(|| DecisionError::NotMerged { id: id.clone() })?;
    // Sightings of the absorbed lesson stay valid for it.
    let shown = memory.list_facts(&FactFilter { memory: Some(id.clone()), run: None }).await?.into_iter();
    let facts = shown.filter_map(|fact| match fact {
        Fact::Sighting { episode, at, level, context, quotes, extra, .. }
            if absorbed.evidence.episode_ids.contains(&episode) =>
        {
            let memory = absorbed.id.clone();
            Some(Fact::Sighting { memory, episode, at, level, context, quotes, extra })
        }
        _ => None,
    });
    let batch = CommitBatch {
        memories: vec![kept.clone(), absorbed.clone()],
        facts: facts.collect(),
        expected: vec![(id.clone(), lesson.version)],
        ..CommitBatch::default()
    };
    let receipt = memory.commit_batch(batch, at).await?;
    let named = |mut memory: AgentMemory| {
        let alias = receipt.lessons.iter().find(|(id, _)| *id == memory.id).map(|(_, alias)| alias.clone());
        memory.alias = alias.or(memory.alias);
        memory
    };
    Ok((named(kept), named(absorbed)))
}
