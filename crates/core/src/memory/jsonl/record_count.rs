//! Counts the records of a bank: what the index has counted, and what was written since.

use super::bank_files::StoreFile;
use super::bank_state::{BankReadError, BankState};
use super::index_update::INDEXED;
use crate::domain::LessonAvailability;
use crate::memory::MemoryError;

/// The number of records in a bank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RecordCount {
    /// The lessons that are not retired.
    pub(super) lessons: usize,
    pub(super) retired: usize,
    pub(super) episodes: usize,
    pub(super) facts: usize,
    /// The lines that cannot be read.
    pub(super) damaged: usize,
}

impl RecordCount {
    fn lessons_of_mut(&mut self, availability: LessonAvailability) -> &mut usize {
        if availability == LessonAvailability::Retired { &mut self.retired } else { &mut self.lessons }
    }
}

impl BankState {
    /// Counts the records. Only what the index does not cover is read.
    pub(super) fn count_records(&mut self) -> Result<RecordCount, MemoryError> {
        let count = self.with_index_fallback(Self::count_lessons_and_facts)?;
        let view = self.load_episodes()?;
        let damaged = count.damaged + view.damaged_in(StoreFile::Episodes);
        Ok(RecordCount { episodes: view.episodes.len(), damaged, ..count })
    }

    fn count_lessons_and_facts(&self) -> Result<RecordCount, BankReadError> {
        let mut count = RecordCount::default();
        if let Some(index) = &self.index {
            let covered = &index.covered;
            count.lessons = to_count(covered.live.documents.saturating_add(covered.waiting.documents));
            count.retired = to_count(covered.retired.documents);
            count.facts = covered.facts;
            count.damaged = covered.damaged;
        }
        for (id, row) in &self.view.lessons {
            if let Some(index) = &self.index
                && let Some((_, card)) = index.find_lesson_and_card(id)?
            {
                let before = count.lessons_of_mut(card.availability);
                *before = before.saturating_sub(1);
            }
            *count.lessons_of_mut(row.memory.availability()) += 1;
        }
        count.facts += self.new_facts()?.len();
        count.damaged += INDEXED.into_iter().map(|part| self.view.damaged_in(part)).sum::<usize>();
        Ok(count)
    }
}

fn to_count(documents: u64) -> usize {
    usize::try_from(documents).unwrap_or(usize::MAX)
}
