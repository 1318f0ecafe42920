//! Where a lesson stands by all that is known of it: its life, and what runs with and without it showed. Pure.

use crate::domain::{AgentMemory, Fact};
use crate::judge::{self, Lifecycle, Runs, Standing};
use crate::recall;

/// Where a lesson stands, and why.
pub(super) fn standing<'f>(
    memory: &AgentMemory,
    facts: impl IntoIterator<Item = &'f Fact>,
    runs: &Runs,
    rules: &Lifecycle,
) -> Standing {
    let facts: Vec<&Fact> = facts.into_iter().collect();
    let stands = judge::state(memory, facts.iter().copied(), runs, rules);
    match recall::harms(&memory.id, facts) {
        Some(harm) => stands.of_harmful(&harm.to_string()),
        None => stands,
    }
}
