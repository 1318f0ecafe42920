//! The lifecycle state of a lesson, from its facts and from sessions with and without it. It is pure.

use crate::domain::{AgentMemory, Fact};
use crate::judge::{self, LifecycleRules, SessionEnds, StateWithReason};
use crate::recall;

/// Returns the lifecycle state of a lesson, with the reason.
pub fn lifecycle_state<'f>(
    memory: &AgentMemory,
    facts: impl IntoIterator<Item = &'f Fact>,
    runs: &SessionEnds,
    rules: &LifecycleRules,
) -> StateWithReason {
    let facts: Vec<&Fact> = facts.into_iter().collect();
    let stands = judge::derive_state(memory, facts.iter().copied(), runs, rules);
    match recall::find_harm(&memory.id, facts) {
        Some(harm) => stands.deprecate_harmful(&harm.to_string()),
        None => stands,
    }
}
