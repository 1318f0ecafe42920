//! Taking what was written since into the index.

use super::index::{self, Covered, Index, Item};
use super::layout::{Layout, Part, Place};
use super::state::State;
use crate::domain::{AgentMemory, Counters, Fact};
use crate::memory::MemoryError;
use crate::recall::{Terms, terms_of};
use crate::text::Cutter;

/// The files that the index knows. Episodes are few and are read when asked for.
pub(super) const INDEXED: [Part; 3] = [Part::Archive, Part::Lessons, Part::Ledger];

/// A lesson as it stands now, and where.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) memory: AgentMemory,
    pub(super) place: Place,
    pub(super) version: u64,
    pub(super) counters: Counters,
}

/// What the index does not know.
#[derive(Debug)]
pub(super) struct News {
    pub(super) lessons: Vec<Current>,
    /// In the order of writing.
    pub(super) facts: Vec<(Place, Fact)>,
}

/// Brings the index up to where `state` ends. Does nothing where that is not safe.
pub(super) fn fold(mut state: State, layout: &Layout, line_limit: usize) -> Result<(), MemoryError> {
    let Some(epoch) = state.files.applied.as_ref().map(|applied| applied.epoch) else { return Ok(()) };
    if state.files.has_pending() || (state.uncovered() == 0 && !state.index_is_dated()) {
        return Ok(());
    }
    if state.index.is_some() && !Index::is_sound(&layout.index()) {
        state.forget_what_was_read();
    }
    let mut covered = Covered::at(epoch, line_limit);
    if let Some(index) = &state.index {
        covered.seals.clone_from(&index.covered.seals);
    }
    for part in INDEXED {
        let (start, end) = (state.covered(part), state.files.end(part));
        if end > start {
            if state.files.lacks_newline(part)? {
                // Somebody may be in the middle of this line.
                return Ok(());
            }
            covered.seals.entry(part).or_default().extend(&state.files.bytes(part, start, end)?, end);
        }
        covered.ends.insert(part, end);
    }
    let News { lessons, facts } = state.news()?;
    covered.highest_alias = state.highest_alias()?;
    let mut cutter = Cutter::default();
    let terms: Vec<Terms> = lessons.iter().map(|lesson| terms_of(&mut cutter, &lesson.memory)).collect();
    let lessons = lessons.iter().zip(&terms).map(|(lesson, terms)| Item::Lesson {
        memory: &lesson.memory,
        terms,
        place: lesson.place,
        version: lesson.version,
        counters: &lesson.counters,
    });
    let facts = facts.iter().map(|(place, fact)| Item::Fact { fact, place: *place });
    let items: Vec<Item<'_>> = lessons.chain(facts).collect();
    if let Err(error) = index::fold(&layout.index(), state.index.as_ref(), &items, covered) {
        tracing::debug!(%error, "index left as it is");
    }
    Ok(())
}
