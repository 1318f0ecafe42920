//! In place of the index, where the feature `index` is off: there never is one, so the files are read.

use std::fs::File;
use std::path::Path;

use super::bank_files::RecordPlace;
use super::bank_state::LessonLocation;
use super::index_types::{BrokenIndex, FactSubject, IndexCoverage, IndexItem};
use crate::domain::{Alias, FactKey, LessonCounters, MemoryId};
use crate::memory::LessonStateFilter;
use crate::memory::answer_collector::AnswerCollector;
use crate::memory::lesson_matching::{LessonCard, LessonWorth, PreparedQuery};
use crate::recall::TermStatistics;

/// The address of a document in an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DocAddress;

/// A lesson as an index stores it.
#[derive(Debug, Clone)]
pub(super) struct IndexedLesson {
    pub(super) id: MemoryId,
    pub(super) place: RecordPlace,
    pub(super) version: u64,
    pub(super) counters: LessonCounters,
}

impl IndexedLesson {
    pub(super) fn doc_address(&self) -> DocAddress {
        DocAddress
    }
}

/// An index that is open for reading. None ever is.
#[derive(Debug)]
pub(super) struct LessonIndex {
    pub(super) covered: IndexCoverage,
}

impl LessonIndex {
    pub(super) fn open(_directory: &Path) -> Option<Self> {
        None
    }

    pub(super) fn is_sound(_directory: &Path) -> bool {
        true
    }

    pub(super) fn find_lesson(&self, _id: &MemoryId) -> Result<Option<IndexedLesson>, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn find_lesson_and_card(
        &self,
        _id: &MemoryId,
    ) -> Result<Option<(IndexedLesson, LessonCard)>, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn find_by_alias(&self, _alias: &Alias) -> Result<Vec<IndexedLesson>, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn has_fact(&self, _key: &FactKey) -> Result<bool, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn find_fact_places(&self, _of: FactSubject<'_>) -> Result<Vec<RecordPlace>, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn measure_vocabulary(
        &self,
        _ask: &PreparedQuery,
        _known_better: &[IndexedLesson],
    ) -> Result<TermStatistics, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn offer_matches(
        &self,
        _ask: &PreparedQuery,
        _known_better: &[IndexedLesson],
        _answers: &mut AnswerCollector<'_, LessonLocation>,
    ) -> Result<(), BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn list_last_signs(
        &self,
        _which: LessonStateFilter,
        _known_better: &[IndexedLesson],
    ) -> Result<Vec<(i64, DocAddress)>, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn read_worth(&self, _address: DocAddress) -> Result<LessonWorth, BrokenIndex> {
        Err(BrokenIndex)
    }

    pub(super) fn read_lesson(&self, _address: DocAddress) -> Result<IndexedLesson, BrokenIndex> {
        Err(BrokenIndex)
    }
}

/// Refuses the lock for updating the index, so that nobody prepares an update.
pub(super) fn try_lock_index(_directory: &Path) -> Option<File> {
    None
}

pub(super) fn write_index(
    _directory: &Path,
    _previous: Option<&LessonIndex>,
    _items: &[IndexItem<'_>],
    _covered: IndexCoverage,
) -> Result<(), BrokenIndex> {
    Err(BrokenIndex)
}

/// Returns true if a panic on this thread is caught and handled. Without an index none is.
pub fn is_shielded() -> bool {
    false
}
