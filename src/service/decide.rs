//! What a person decides about a lesson.

use crate::domain::{AgentMemory, Fact, MemoryId, MemoryState, Timestamp};
use crate::judge;
use crate::memory::{Batch, FactFilter, LessonName, MemoryError, MemoryService};

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;

/// What a person decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// They stand behind it: it is given from now on, and does not grow old.
    Promote,
    /// The same, for one that waits in quarantine.
    Approve,
    /// It is not to be given, and not to be learned again.
    Reject {
        /// In their words.
        reason: Option<String>,
    },
}

/// Why a decision cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Undecidable {
    /// Only a quarantined lesson is approved.
    #[error("lesson `{id}` is not in quarantine")]
    NotQuarantined {
        /// The lesson.
        id: MemoryId,
    },
    /// It is out of use.
    #[error("lesson `{id}` is {state}")]
    Retired {
        /// The lesson.
        id: MemoryId,
        /// How it stands.
        state: MemoryState,
    },
    /// Nothing was merged into it.
    #[error("nothing was merged into lesson `{id}`")]
    NotMerged {
        /// The lesson.
        id: MemoryId,
    },
    /// The memory said no.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Carries out a decision, and gives the lesson as it stands then.
pub async fn decide(
    memory: &dyn MemoryService,
    id: &MemoryId,
    decision: &Decision,
    at: Timestamp,
) -> Result<AgentMemory, Undecidable> {
    let name = LessonName::Id(id.clone());
    let lesson = memory.get(&name).await?.ok_or(MemoryError::NoSuchLesson { name })?;
    let mut decided = lesson.memory;
    let is_quarantined = decided.state == Some(MemoryState::Quarantined);
    match (decision, &decided.state) {
        (Decision::Approve, _) if !is_quarantined => return Err(Undecidable::NotQuarantined { id: id.clone() }),
        (
            Decision::Promote,
            Some(state @ (MemoryState::Archived | MemoryState::Superseded | MemoryState::Quarantined)),
        ) => {
            return Err(Undecidable::Retired { id: id.clone(), state: state.clone() });
        }
        _ => {}
    }
    (decided.state, decided.state_reason) = match decision {
        Decision::Promote | Decision::Approve => (Some(MemoryState::Active), None),
        Decision::Reject { reason } => {
            (Some(MemoryState::Archived), reason.clone().or_else(|| Some("rejected".into())))
        }
    };
    decided.updated_at = Some(at);
    decided.restored_from = None;
    let expected = vec![(id.clone(), lesson.version)];
    memory.commit(Batch { memories: vec![decided.clone()], expected, ..Batch::default() }, at).await?;
    Ok(decided)
}

/// Takes the last merge of a lesson apart again: the lesson as it was, and the one that it took in.
pub async fn unmerge(
    memory: &dyn MemoryService,
    id: &MemoryId,
    at: Timestamp,
) -> Result<(AgentMemory, AgentMemory), Undecidable> {
    let name = LessonName::Id(id.clone());
    let lesson = memory.get(&name).await?.ok_or(MemoryError::NoSuchLesson { name })?;
    let (kept, absorbed) = judge::unmerge(&lesson.memory).ok_or_else(|| Undecidable::NotMerged { id: id.clone() })?;
    // What showed the lesson that was taken in shows it still.
    let shown = memory.facts(&FactFilter { memory: Some(id.clone()), run: None }).await?.into_iter();
    let facts = shown.filter_map(|fact| match fact {
        Fact::Sighting { episode, at, level, context, quotes, extra, .. }
            if absorbed.evidence.episode_ids.contains(&episode) =>
        {
            let memory = absorbed.id.clone();
            Some(Fact::Sighting { memory, episode, at, level, context, quotes, extra })
        }
        _ => None,
    });
    let batch = Batch {
        memories: vec![kept.clone(), absorbed.clone()],
        facts: facts.collect(),
        expected: vec![(id.clone(), lesson.version)],
        ..Batch::default()
    };
    let receipt = memory.commit(batch, at).await?;
    let named = |mut memory: AgentMemory| {
        let alias = receipt.lessons.iter().find(|(id, _)| *id == memory.id).map(|(_, alias)| alias.clone());
        memory.alias = alias.or(memory.alias);
        memory
    };
    Ok((named(kept), named(absorbed)))
}
