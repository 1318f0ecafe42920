//! Finds the lessons that were confirmed last by the index's column of times, so that only those are read.

use std::cmp::Reverse;

use super::bank_state::{BankReadError, BankState};
use super::index::DocAddress;
use crate::domain::MemoryId;
use crate::memory::lesson_matching::LessonWorth;
use crate::memory::{Lesson, LessonStateFilter, MemoryError};

/// A lesson that may be among the newest.
enum NewestCandidate {
    Indexed(DocAddress),
    Unindexed(MemoryId),
}

impl BankState {
    /// Returns the lessons in the included states that were confirmed last: at least so many, if there are, and all that
    /// are as new as the oldest of them. In no order.
    pub(super) fn newest_lessons(
        &mut self,
        which: LessonStateFilter,
        count: usize,
    ) -> Result<Vec<Lesson>, MemoryError> {
        self.with_index_fallback(|state| state.find_newest_lessons(which, count))
    }

    fn find_newest_lessons(&self, which: LessonStateFilter, count: usize) -> Result<Vec<Lesson>, BankReadError> {
        let known_better = self.outdated_lessons()?;
        let mut candidates: Vec<(i64, NewestCandidate)> = Vec::new();
        if let Some(index) = &self.index {
            let indexed = index.list_last_signs(which, &known_better)?;
            candidates.extend(indexed.into_iter().map(|(sign, address)| (sign, NewestCandidate::Indexed(address))));
        }
        let moved = known_better.iter().map(|entry| &entry.id).filter(|id| !self.view.lessons.contains_key(*id));
        for id in self.view.lessons.keys().chain(moved) {
            let Some(current) = self.current_lesson(id)? else { continue };
            if which.includes_state(current.memory.availability()) {
                let worth = LessonWorth::from_memory(&current.memory, &current.counters);
                candidates.push((worth.last_sign, NewestCandidate::Unindexed(id.clone())));
            }
        }
        if let Some(last) = count.checked_sub(1).filter(|last| *last < candidates.len()) {
            let (_, (oldest, _), _) = candidates.select_nth_unstable_by_key(last, |(sign, _)| Reverse(*sign));
            let oldest = *oldest;
            candidates.retain(|(sign, _)| *sign >= oldest);
        }
        let mut lessons = Vec::new();
        for (_, candidate) in candidates {
            let id = match (candidate, &self.index) {
                (NewestCandidate::Unindexed(id), _) => id,
                (NewestCandidate::Indexed(address), Some(index)) => index.read_lesson(address)?.id,
                (NewestCandidate::Indexed(_), None) => return Err(BankReadError::Index),
            };
            lessons.extend(self.try_find_lesson(&id)?);
        }
        Ok(lessons)
    }
}
