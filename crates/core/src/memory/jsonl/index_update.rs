//! Updates the index with the records that were written since.

use super::bank_files::{BankLayout, RecordPlace, StoreFile};
use super::bank_state::BankState;
use super::index::{self, LessonIndex};
use super::index_types::{IndexCoverage, IndexItem};
use crate::domain::{AgentMemory, Fact, LessonCounters};
use crate::memory::MemoryError;
use crate::recall::{LessonTerms, collect_lesson_terms};
use crate::text::WordSplitter;

/// The files that the index covers. Episodes are few and are read when needed.
pub(super) const INDEXED: [StoreFile; 3] = [StoreFile::Archive, StoreFile::Lessons, StoreFile::Ledger];

/// The current version of a lesson, and where it is stored.
#[derive(Debug)]
pub(super) struct CurrentLesson {
    pub(super) memory: AgentMemory,
    pub(super) place: RecordPlace,
    pub(super) version: u64,
    pub(super) counters: LessonCounters,
}

/// The records that the index does not know.
#[derive(Debug)]
pub(super) struct UnindexedRecords {
    pub(super) lessons: Vec<CurrentLesson>,
    /// The facts in the order of writing.
    pub(super) facts: Vec<(RecordPlace, Fact)>,
}

/// Brings the index up to where `state` ends. Does nothing where that is not safe.
pub(super) fn update_index(mut state: BankState, layout: &BankLayout, line_limit: usize) -> Result<(), MemoryError> {
    let Some(epoch) = state.files.applied.as_ref().map(|applied| applied.epoch) else { return Ok(()) };
    if state.files.has_pending() || (state.unindexed_bytes() == 0 && !state.is_index_outdated()) {
        return Ok(());
    }
    if state.index.is_some() && !LessonIndex::is_sound(&layout.index_path()) {
        state.drop_index_and_view();
    }
    let mut covered = IndexCoverage::at_epoch(epoch, line_limit);
    if let Some(index) = &state.index {
        covered.seals.clone_from(&index.covered.seals);
        covered.damaged = index.covered.damaged;
    }
    for part in INDEXED {
        let (start, end) = (state.covered_end(part), state.files.file_end(part));
        if end > start {
            if state.files.lacks_newline(part)? {
                // Another program may be in the middle of writing this line.
                return Ok(());
            }
            covered.seals.entry(part).or_default().add_link(&state.files.read_bytes(part, start, end)?, end);
        }
        covered.ends.insert(part, end);
    }
    let UnindexedRecords { lessons, facts } = state.find_unindexed()?;
    covered.highest_alias = state.highest_alias()?;
    covered.damaged += INDEXED.into_iter().map(|part| state.view.damaged_in(part)).sum::<usize>();
    let mut cutter = WordSplitter::default();
    let terms: Vec<LessonTerms> =
        lessons.iter().map(|lesson| collect_lesson_terms(&mut cutter, &lesson.memory)).collect();
    let lessons = lessons.iter().zip(&terms).map(|(lesson, terms)| IndexItem::Lesson {
        memory: &lesson.memory,
        terms,
        place: lesson.place,
        version: lesson.version,
        counters: &lesson.counters,
    });
    let facts = facts.iter().map(|(place, fact)| IndexItem::Fact { fact, place: *place });
    let items: Vec<IndexItem<'_>> = lessons.chain(facts).collect();
    if let Err(error) = index::write_index(&layout.index_path(), state.index.as_ref(), &items, covered) {
        tracing::debug!(%error, "index left as it is");
    }
    Ok(())
}
