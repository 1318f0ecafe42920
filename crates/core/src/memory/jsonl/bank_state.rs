//! One process's knowledge of a bank: the index for the beginning of the files, and a view of the rest.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::bank_files::{BankLayout, RecordPlace, StoreFile};
use super::index::{DocAddress, IndexedLesson, LessonIndex};
use super::index_types::{BrokenIndex, FactSubject, FileSeal};
use super::index_update::{CurrentLesson, INDEXED, UnindexedRecords};
use super::json_lines;
use super::record_view::{LedgerTally, RecordView};
use super::snapshot::{FileSnapshot, SnapshotChange};
use crate::domain::{AgentMemory, Alias, Episode, EpisodeId, Fact, LessonCounters, MemoryId, Timestamp};
use crate::memory::answer_collector::{AnswerCollector, BankAnswer, SelectedLessons};
use crate::memory::commit_plan::ExistingRecords;
use crate::memory::lesson_matching::{LessonCard, LessonWorth, PreparedQuery, SharedTraits};
use crate::memory::{FactFilter, Lesson, LessonHit, MemoryError, SearchMethod};
use crate::recall::{LessonTerms, RankingSettings, TermStatistics, collect_lesson_terms};
use crate::text::WordSplitter;

/// The state of a bank as one process knows it.
#[derive(Debug, Default)]
pub(super) struct BankState {
    pub(super) files: FileSnapshot,
    pub(super) index: Option<LessonIndex>,
    pub(super) view: RecordView,
    /// The offset up to which each file is known, by the index or the view.
    read: BTreeMap<StoreFile, u64>,
    limit: usize,
}

/// The number of ledger bytes that are added up at once.
const TALLY_BYTES: u64 = 1024 * 1024;

/// The reason why a read failed: an error of the store, or a broken index.
#[derive(Debug)]
pub(super) enum BankReadError {
    Memory(MemoryError),
    Index,
}

impl From<MemoryError> for BankReadError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<BrokenIndex> for BankReadError {
    fn from(_: BrokenIndex) -> Self {
        Self::Index
    }
}

/// The location of a lesson that was selected as an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LessonLocation {
    /// A document of the index, which knows its place and its worth.
    Indexed(DocAddress),
    /// A place in a file, with the lesson's worth.
    Written(RecordPlace, LessonWorth),
}

impl ExistingRecords for BankState {
    fn newest_lesson(&mut self, id: &MemoryId) -> Result<Option<(AgentMemory, u64)>, MemoryError> {
        Ok(Self::find_lesson(self, id)?.map(|lesson| (lesson.memory, lesson.version)))
    }

    fn find_episode(&mut self, id: &EpisodeId) -> Result<Option<Episode>, MemoryError> {
        Self::find_episode(self, id)
    }

    fn has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError> {
        self.ledger_has_fact(fact)
    }
}

/// A lesson outside the index, compared with a question.
struct ComparedLesson {
    spot: LessonLocation,
    card: LessonCard,
    common: SharedTraits,
    counts: Vec<u32>,
}

impl BankState {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Takes in the changes since the last refresh.
    pub(super) fn refresh_from_files(&mut self, layout: &BankLayout) -> Result<(), MemoryError> {
        let change = self.files.refresh_files(layout);
        if change.is_err() {
            // After a partial refresh the view may no longer fit the files.
            self.forget_everything();
        }
        if change? == SnapshotChange::Upheaval {
            self.drop_index_and_view();
            self.index = LessonIndex::open(&layout.index_path()).filter(|index| self.is_index_valid(index));
            self.read = self.index.as_ref().map(|index| index.covered.ends.clone()).unwrap_or_default();
        }
        Ok(())
    }

    /// Discards everything, so that the next refresh reads it again.
    pub(super) fn forget_everything(&mut self) {
        *self = Self::new(self.limit);
    }

    /// Reads whole files, without the index.
    pub(super) fn read_whole_files(&self, parts: &[StoreFile]) -> Result<RecordView, MemoryError> {
        let mut view = RecordView::default();
        for part in parts {
            view.read_lines(*part, &self.file_bytes(*part)?, 0, self.limit);
        }
        Ok(view)
    }

    /// Adds up the ledger for each lesson, piece by piece, so that a long ledger takes little memory.
    pub(super) fn tally_ledger(&self) -> Result<LedgerTally, MemoryError> {
        let mut tally = LedgerTally::default();
        let mut start = 0;
        let end = self.files.file_end(StoreFile::Ledger);
        // A piece is longer than any line that is read.
        let step = TALLY_BYTES.max(json_lines::to_u64(self.limit).saturating_add(1));
        while start < end {
            let piece = self.files.read_bytes(StoreFile::Ledger, start, end.min(start.saturating_add(step)))?;
            // An incomplete line at the end of a piece begins the next one.
            let whole = memchr::memrchr(b'\n', &piece).map_or(piece.len(), |last| last + 1);
            tally.add_lines(piece.get(..whole).unwrap_or(&piece), self.limit);
            start = start.saturating_add(json_lines::to_u64(whole));
        }
        Ok(tally)
    }

    /// Reads the bytes of a whole file.
    pub(super) fn file_bytes(&self, part: StoreFile) -> Result<Vec<u8>, MemoryError> {
        self.files.read_bytes(part, 0, self.files.file_end(part))
    }

    /// Returns the offset up to which the index covers a file.
    pub(super) fn covered_end(&self, part: StoreFile) -> u64 {
        self.index.as_ref().and_then(|index| index.covered.ends.get(&part)).copied().unwrap_or_default()
    }

    /// Returns the number of bytes in the files that the index does not cover.
    pub(super) fn unindexed_bytes(&self) -> u64 {
        INDEXED.into_iter().map(|part| self.files.file_end(part).saturating_sub(self.covered_end(part))).sum()
    }

    /// Returns true if the index is of another epoch, so that it must be verified every time it is opened.
    pub(super) fn is_index_outdated(&self) -> bool {
        let epoch = self.files.applied.as_ref().map(|applied| applied.epoch);
        self.index.as_ref().is_some_and(|index| Some(index.covered.epoch) != epoch)
    }

    /// Returns the highest number of any short name.
    pub(super) fn highest_alias(&mut self) -> Result<u64, MemoryError> {
        self.load_file(StoreFile::Lessons)?;
        let indexed = self.index.as_ref().map_or(0, |index| index.covered.highest_alias);
        Ok(indexed.max(self.view.highest_alias))
    }

    /// Loads all episodes into the view and returns it.
    pub(super) fn load_episodes(&mut self) -> Result<&RecordView, MemoryError> {
        self.load_file(StoreFile::Episodes)?;
        Ok(&self.view)
    }

    /// Returns true if the view holds the episodes, or at least an earlier state of their file.
    pub(super) fn has_read_episodes(&self) -> bool {
        self.read.contains_key(&StoreFile::Episodes)
    }

    pub(super) fn line_limit(&self) -> usize {
        self.limit
    }

    /// Finds the current version of a lesson.
    pub(super) fn find_lesson(&mut self, id: &MemoryId) -> Result<Option<Lesson>, MemoryError> {
        self.with_index_fallback(|state| state.try_find_lesson(id))
    }

    /// Finds the lesson with this short name.
    pub(super) fn find_by_alias(&mut self, alias: &Alias) -> Result<Option<MemoryId>, MemoryError> {
        let mut ids = self.with_index_fallback(|state| {
            let indexed = state.index.as_ref().map_or(Ok(Vec::new()), |index| index.find_by_alias(alias))?;
            let mut ids = BTreeSet::new();
            for entry in indexed {
                // A lesson with a newer version in the view is looked up there.
                if !state.view.lessons.contains_key(&entry.id) {
                    let memory: AgentMemory = state.read_record(entry.place)?;
                    if memory.id != entry.id || memory.alias.as_ref() != Some(alias) {
                        return Err(BankReadError::Index);
                    }
                    ids.insert(memory.id);
                }
            }
            ids.extend(state.view.lessons_with_alias(alias).cloned());
            Ok(ids)
        })?;
        if ids.len() > 1 {
            return Err(MemoryError::Ambiguous { alias: alias.clone(), ids: ids.into_iter().collect() });
        }
        Ok(ids.pop_first())
    }

    /// Returns true if the ledger already has this fact.
    pub(super) fn ledger_has_fact(&mut self, fact: &Fact) -> Result<bool, MemoryError> {
        self.with_index_fallback(|state| Ok(state.view.has_fact(&fact.key()) || !state.is_unindexed(fact)?))
    }

    /// Returns the facts that a filter admits, in the order of writing.
    pub(super) fn find_facts(&mut self, filter: &FactFilter) -> Result<Vec<Fact>, MemoryError> {
        let of = match (&filter.memory, &filter.run) {
            (Some(memory), _) => FactSubject::Lesson(memory),
            (None, Some(run)) => FactSubject::Run(run),
            (None, None) => return Ok(self.read_whole_files(&[StoreFile::Ledger])?.facts.into_values().collect()),
        };
        self.with_index_fallback(|state| {
            let mut facts = state.indexed_facts(of)?;
            facts.extend(state.new_facts()?.into_iter().map(|(_, fact)| fact.clone()));
            facts.retain(|fact| filter.admits_fact(fact));
            Ok(facts)
        })
    }

    /// Finds the best answers to a question, with their lessons.
    pub(super) fn find_answers(
        &mut self,
        ask: &PreparedQuery,
        ranking: &RankingSettings,
        limit: usize,
        at: Timestamp,
    ) -> Result<BankAnswer, MemoryError> {
        self.with_index_fallback(|state| {
            let method = if state.index.is_some() { SearchMethod::Index } else { SearchMethod::FullRead };
            let SelectedLessons { best, met, .. } = state.select_lessons(ask, ranking, limit, at)?;
            let mut hits = Vec::new();
            for (spot, score) in best {
                let id = state.verify_location(spot)?;
                hits.extend(state.try_find_lesson(&id)?.map(|lesson| LessonHit { lesson, score }));
            }
            Ok(BankAnswer { hits, met, method })
        })
    }

    /// Finds what the index does not know: changed lessons, and facts in the order of writing.
    pub(super) fn find_unindexed(&mut self) -> Result<UnindexedRecords, MemoryError> {
        self.with_index_fallback(|state| {
            let facts: Vec<(RecordPlace, Fact)> =
                state.new_facts()?.into_iter().map(|(place, fact)| (place, fact.clone())).collect();
            let about: HashSet<&MemoryId> = facts.iter().map(|(_, fact)| fact.memory_id()).collect();
            let ids: BTreeSet<&MemoryId> = state.view.lessons.keys().chain(about).collect();
            let mut changed = Vec::new();
            for id in ids {
                changed.extend(state.current_lesson(id)?);
            }
            Ok(UnindexedRecords { lessons: changed, facts })
        })
    }

    /// Runs the work with everything loaded; if the index fails, runs it again without the index.
    pub(super) fn with_index_fallback<T>(
        &mut self,
        work: impl Fn(&Self) -> Result<T, BankReadError>,
    ) -> Result<T, MemoryError> {
        loop {
            self.load_file(StoreFile::Lessons)?;
            self.load_file(StoreFile::Ledger)?;
            match work(self) {
                Ok(value) => return Ok(value),
                Err(BankReadError::Memory(error)) => return Err(error),
                Err(BankReadError::Index) if self.index.is_some() => self.drop_index_and_view(),
                Err(BankReadError::Index) => {
                    return Err(MemoryError::Interrupted("the files changed while they were read".to_owned()));
                }
            }
        }
    }

    /// Discards the index and the view, so that only the files are read.
    pub(super) fn drop_index_and_view(&mut self) {
        self.index = None;
        self.view = RecordView::default();
        self.read.clear();
    }

    /// Reads `part` up to the end that the last refresh found.
    fn load_file(&mut self, part: StoreFile) -> Result<(), MemoryError> {
        if part == StoreFile::Lessons {
            self.load_file(StoreFile::Archive)?;
        }
        let (start, end) = (self.read.get(&part).copied().unwrap_or_default(), self.files.file_end(part));
        if start < end {
            self.view.read_lines(part, &self.files.read_bytes(part, start, end)?, start, self.limit);
            self.read.insert(part, end);
        }
        Ok(())
    }

    /// Returns true if the files still begin with what the index covers, as shown by the epoch or else by the seals.
    fn is_index_valid(&self, index: &LessonIndex) -> bool {
        let covered = &index.covered;
        let fits = covered.line_limit == self.limit
            && covered.ends.iter().all(|(part, end)| *end <= self.files.file_end(*part));
        let same_epoch = self.files.applied.as_ref().is_some_and(|applied| applied.epoch == covered.epoch);
        fits && (same_epoch || covered.seals.iter().all(|(part, seal)| self.seal_matches(*part, seal).unwrap_or(false)))
    }

    fn seal_matches(&self, part: StoreFile, seal: &FileSeal) -> Result<bool, MemoryError> {
        let mut again = FileSeal::default();
        let mut start = 0;
        for &end in &seal.links {
            again.add_link(&self.files.read_bytes(part, start, end)?, end);
            start = end;
        }
        Ok(again == *seal)
    }

    pub(super) fn try_find_lesson(&self, id: &MemoryId) -> Result<Option<Lesson>, BankReadError> {
        let current = self.current_lesson(id)?;
        Ok(current.map(|current| Lesson::new(current.memory, current.version, current.counters)))
    }

    /// Returns the current version of a lesson from the index and the view together.
    pub(super) fn current_lesson(&self, id: &MemoryId) -> Result<Option<CurrentLesson>, BankReadError> {
        let entry = self.indexed_lesson(id)?;
        let (memory, place, versions) = match (self.view.lessons.get(id), &entry) {
            (Some(row), _) => (row.memory.clone(), row.place, row.versions),
            (None, Some(entry)) => (self.read_record(entry.place)?, entry.place, 0),
            (None, None) => return Ok(None),
        };
        let version = versions + entry.as_ref().map_or(0, |entry| entry.version);
        Ok(Some(CurrentLesson { memory, place, version, counters: self.lesson_counters(id, entry.as_ref())? }))
    }

    fn select_lessons(
        &self,
        ask: &PreparedQuery,
        ranking: &RankingSettings,
        limit: usize,
        at: Timestamp,
    ) -> Result<SelectedLessons<LessonLocation>, BankReadError> {
        let known_better = self.outdated_lessons()?;
        let rows = self.compare_unindexed(ask, &known_better)?;
        let mut vocabulary = match &self.index {
            Some(index) => index.measure_vocabulary(ask, &known_better)?,
            None => TermStatistics::empty(&ask.question),
        };
        for row in &rows {
            vocabulary.documents += 1;
            vocabulary.length += u64::from(row.card.length);
            let counts = vocabulary.holders.iter_mut().zip(&row.counts);
            counts.for_each(|(holders, count)| *holders += u64::from(*count > 0));
        }
        let broken = Cell::new(false);
        let worth = |spot| match spot {
            LessonLocation::Written(_, worth) => Some(worth),
            LessonLocation::Indexed(address) => {
                let worth = self.index.as_ref().and_then(|index| index.read_worth(address).ok());
                broken.set(broken.get() || worth.is_none());
                worth
            }
        };
        let mut answers = AnswerCollector::new(ask, &vocabulary, ranking, limit, at, &worth);
        if let Some(index) = &self.index {
            index.offer_matches(ask, &known_better, &mut answers)?;
            self.offer_close_lessons(ask, &known_better, index, &mut answers)?;
        }
        for row in &rows {
            answers.offer_lesson(row.spot, &row.card, &row.common, &row.counts);
        }
        let selection = answers.into_selection();
        if broken.get() { Err(BankReadError::Index) } else { Ok(selection) }
    }

    /// Offers the lessons that are close in meaning and that no word retrieved.
    fn offer_close_lessons(
        &self,
        ask: &PreparedQuery,
        known_better: &[IndexedLesson],
        index: &LessonIndex,
        answers: &mut AnswerCollector<'_, LessonLocation>,
    ) -> Result<(), BankReadError> {
        for id in ask.close.iter().filter(|id| !known_better.iter().any(|entry| entry.id == **id)) {
            let Some((entry, card)) = index.find_lesson_and_card(id)? else { continue };
            let memory: AgentMemory = self.read_record(entry.place)?;
            let terms = collect_lesson_terms(&mut WordSplitter::default(), &memory);
            let counts: Vec<u32> = ask.count_terms_in(&terms);
            let common = ask.shared_traits_with(&memory);
            // Lessons that share a word or a topic were offered already.
            if !answers.is_retrieved(&counts, &common) {
                answers.offer_lesson(LessonLocation::Indexed(entry.doc_address()), &card, &common, &counts);
            }
        }
        Ok(())
    }

    /// Returns the id of the lesson at a location, after checking that it is there.
    fn verify_location(&self, spot: LessonLocation) -> Result<MemoryId, BankReadError> {
        let (place, id) = match (spot, &self.index) {
            (LessonLocation::Written(place, _), _) => (place, None),
            (LessonLocation::Indexed(address), Some(index)) => {
                let entry = index.read_lesson(address)?;
                (entry.place, Some(entry.id))
            }
            (LessonLocation::Indexed(_), None) => return Err(BankReadError::Index),
        };
        let memory: AgentMemory = self.read_record(place)?;
        if id.is_none_or(|id| id == memory.id) { Ok(memory.id) } else { Err(BankReadError::Index) }
    }

    /// Returns the index's entries for lessons that have changed since, in text or in rank.
    pub(super) fn outdated_lessons(&self) -> Result<Vec<IndexedLesson>, BankReadError> {
        let moved = |id: &&MemoryId| self.view.facts_about(id).any(Fact::affects_rank);
        let ids: HashSet<&MemoryId> =
            self.view.lessons.keys().chain(self.view.lessons_with_facts().filter(moved)).collect();
        let mut entries = Vec::new();
        for id in ids {
            entries.extend(self.indexed_lesson(id)?);
        }
        Ok(entries)
    }

    /// Compares the lessons that the index lacks or has in an outdated form, if their state is included.
    fn compare_unindexed(
        &self,
        ask: &PreparedQuery,
        known_better: &[IndexedLesson],
    ) -> Result<Vec<ComparedLesson>, BankReadError> {
        let entries: BTreeMap<&MemoryId, &IndexedLesson> =
            known_better.iter().map(|entry| (&entry.id, entry)).collect();
        let mut cutter = WordSplitter::default();
        let mut rows = Vec::new();
        for row in self.view.lessons.values().filter(|row| ask.which.includes_state(row.memory.availability())) {
            let entry = entries.get(&row.memory.id).copied();
            rows.push(self.compare_lesson(ask, &row.memory, row.place, row.lesson_terms(&mut cutter), entry)?);
        }
        for entry in known_better.iter().filter(|entry| !self.view.lessons.contains_key(&entry.id)) {
            let memory: AgentMemory = self.read_record(entry.place)?;
            if ask.which.includes_state(memory.availability()) {
                rows.push(self.compare_lesson(
                    ask,
                    &memory,
                    entry.place,
                    &collect_lesson_terms(&mut cutter, &memory),
                    Some(entry),
                )?);
            }
        }
        Ok(rows)
    }

    fn compare_lesson(
        &self,
        ask: &PreparedQuery,
        memory: &AgentMemory,
        place: RecordPlace,
        terms: &LessonTerms,
        entry: Option<&IndexedLesson>,
    ) -> Result<ComparedLesson, BankReadError> {
        let counters = self.lesson_counters(&memory.id, entry)?;
        Ok(ComparedLesson {
            spot: LessonLocation::Written(place, LessonWorth::from_memory(memory, &counters)),
            card: LessonCard::from_memory(memory, terms.length),
            common: ask.shared_traits_with(memory),
            counts: ask
                .question
                .terms()
                .iter()
                .map(|word| terms.counts.get(word).copied().unwrap_or_default())
                .collect(),
        })
    }

    fn indexed_lesson(&self, id: &MemoryId) -> Result<Option<IndexedLesson>, BankReadError> {
        Ok(self.index.as_ref().map_or(Ok(None), |index| index.find_lesson(id))?)
    }

    /// Counts the ledger's facts about one lesson.
    fn lesson_counters(&self, id: &MemoryId, entry: Option<&IndexedLesson>) -> Result<LessonCounters, BankReadError> {
        let mut counters = match entry {
            Some(entry) => entry.counters.clone(),
            // The facts may be older than the lesson; then they have not been added up yet.
            None => LessonCounters::from_facts(&self.indexed_facts(FactSubject::Lesson(id))?),
        };
        for fact in self.view.facts_about(id) {
            if self.is_unindexed(fact)? {
                counters.add_fact(fact);
            }
        }
        Ok(counters)
    }

    fn indexed_facts(&self, of: FactSubject<'_>) -> Result<Vec<Fact>, BankReadError> {
        let places = self.index.as_ref().map_or(Ok(Vec::new()), |index| index.find_fact_places(of))?;
        places.into_iter().map(|place| self.read_record(place)).collect()
    }

    pub(super) fn new_facts(&self) -> Result<Vec<(RecordPlace, &Fact)>, BankReadError> {
        let mut facts = Vec::new();
        for (place, fact) in &self.view.facts {
            if self.is_unindexed(fact)? {
                facts.push((*place, fact));
            }
        }
        Ok(facts)
    }

    /// Returns true if the index does not know a fact.
    fn is_unindexed(&self, fact: &Fact) -> Result<bool, BankReadError> {
        Ok(!self.index.as_ref().map_or(Ok(false), |index| index.has_fact(&fact.key()))?)
    }

    /// Reads the record at this place. If it cannot be read there, the index was wrong.
    fn read_record<T: serde::de::DeserializeOwned>(&self, place: RecordPlace) -> Result<T, BankReadError> {
        let end = place.start.checked_add(place.length).ok_or(BankReadError::Index)?;
        let bytes = self.files.read_bytes(place.part, place.start, end)?;
        json_lines::parse_line(&bytes, self.limit).map_err(|_| BankReadError::Index)
    }
}
