//! The derived index: a tantivy directory that covers a prefix of the files.
//!
//! It is never the source of truth. If it is missing, damaged, of another version or of files that changed since, the
//! bank reads the files instead and rebuilds it. Records written after the prefix are searched in memory, so no commit
//! waits for the index. Only this file and those below it use tantivy.

mod postings_walk;
mod read_only_directory;
mod schema;

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, IndexSettings, ReloadPolicy, Searcher, SegmentOrdinal, TantivyDocument, TantivyError, Term};

use self::postings_walk::{SegmentWalk, visit_live_documents};
use self::read_only_directory::ReadOnlyDirectory;
use self::schema::{DocumentKey, IndexEntry, IndexFields, SegmentColumns, alias_term, item_key};
use super::bank_files::RecordPlace;
use super::bank_state::LessonLocation;
use super::index_types::{BrokenIndex, FactSubject, IndexCoverage, IndexItem, LessonTotals};
use crate::domain::{Alias, FactKey, LessonAvailability, LessonCounters, MemoryId};
use crate::memory::LessonStateFilter;
use crate::memory::answer_collector::AnswerCollector;
use crate::memory::lesson_matching::{LessonCard, LessonWorth, PreparedQuery, short_hash};
use crate::recall::TermStatistics;
use crate::text;

pub(super) use tantivy::DocAddress;

/// The version of the index format, raised when the same files give another index.
const VERSION: u32 = 4;
/// The memory limit of the index writer: enough to write even a large index in few segments, allocated as needed.
const WRITER_BYTES: usize = 256_000_000;

/// A lesson as the index stores it.
#[derive(Debug, Clone)]
pub(super) struct IndexedLesson {
    pub(super) id: MemoryId,
    pub(super) place: RecordPlace,
    pub(super) version: u64,
    pub(super) counters: LessonCounters,
    address: DocAddress,
}

impl IndexedLesson {
    pub(super) fn doc_address(&self) -> DocAddress {
        self.address
    }
}

/// An index that is open for reading.
pub(super) struct LessonIndex {
    searcher: Searcher,
    /// The columns of each segment.
    columns: Vec<SegmentColumns>,
    fields: IndexFields,
    pub(super) covered: IndexCoverage,
}

impl std::fmt::Debug for LessonIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LessonIndex").field("covered", &self.covered).finish_non_exhaustive()
    }
}

impl LessonIndex {
    /// Opens the index; `None` if there is none that can be used.
    pub(super) fn open(directory: &Path) -> Option<Self> {
        let directory = versioned_directory(directory);
        if !directory.join("meta.json").is_file() {
            return None;
        }
        let opened = run_shielded(|| {
            let index = tantivy::Index::open(ReadOnlyDirectory(MmapDirectory::open(&directory)?))?;
            let covered = read_coverage(&index)?;
            let reader: tantivy::IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
            let searcher = reader.searcher();
            let columns =
                searcher.segment_readers().iter().map(SegmentColumns::open).collect::<tantivy::Result<_>>()?;
            Ok(covered.map(|covered| Self { searcher, columns, fields: IndexFields::new().1, covered }))
        });
        opened.ok().flatten()
    }

    /// Returns true if every byte is as it was written. Reads the whole index.
    pub(super) fn is_sound(directory: &Path) -> bool {
        let checked = run_shielded(|| {
            let directory = MmapDirectory::open(versioned_directory(directory))?;
            Ok(tantivy::Index::open(ReadOnlyDirectory(directory))?.validate_checksum()?.is_empty())
        });
        checked.unwrap_or(false)
    }

    pub(super) fn find_lesson(&self, id: &MemoryId) -> Result<Option<IndexedLesson>, BrokenIndex> {
        let entry = run_shielded(|| match self.find_document(&DocumentKey::Lesson(id))? {
            Some(address) => self.load_lesson(address).map(Some),
            None => Ok(None),
        })?;
        if entry.as_ref().is_some_and(|entry| entry.id != *id) { Err(BrokenIndex) } else { Ok(entry) }
    }

    /// Finds a lesson together with its `LessonCard`.
    pub(super) fn find_lesson_and_card(
        &self,
        id: &MemoryId,
    ) -> Result<Option<(IndexedLesson, LessonCard)>, BrokenIndex> {
        let Some(entry) = self.find_lesson(id)? else { return Ok(None) };
        let card =
            run_shielded(|| Ok(self.segment_columns(entry.address.segment_ord)?.read_card(entry.address.doc_id)))?;
        Ok(Some((entry, card)))
    }

    pub(super) fn find_by_alias(&self, alias: &Alias) -> Result<Vec<IndexedLesson>, BrokenIndex> {
        let term = self.trait_term(&alias_term(alias));
        run_shielded(|| self.find_all_documents(&term)?.into_iter().map(|address| self.load_lesson(address)).collect())
    }

    pub(super) fn has_fact(&self, key: &FactKey) -> Result<bool, BrokenIndex> {
        run_shielded(|| Ok(self.find_document(&DocumentKey::Fact(key))?.is_some()))
    }

    /// Returns where the facts about a lesson or of a session are stored, in the order of writing.
    pub(super) fn find_fact_places(&self, of: FactSubject<'_>) -> Result<Vec<RecordPlace>, BrokenIndex> {
        let term = self.trait_term(&of.trait_term());
        let found = |address: DocAddress| Ok(self.segment_columns(address.segment_ord)?.read_place(address.doc_id));
        let mut places: Vec<RecordPlace> =
            run_shielded(|| self.find_all_documents(&term)?.into_iter().map(found).collect())?;
        places.sort_unstable();
        Ok(places)
    }

    /// Counts the lessons that hold each word of a question, without those for which the caller has newer data.
    pub(super) fn measure_vocabulary(
        &self,
        ask: &PreparedQuery,
        known_better: &[IndexedLesson],
    ) -> Result<TermStatistics, BrokenIndex> {
        run_shielded(|| {
            let mut vocabulary = TermStatistics::empty(&ask.question);
            for availability in LessonAvailability::ALL {
                if ask.which.includes_state(availability) {
                    let totals = self.covered.totals_of(availability);
                    vocabulary.documents += totals.documents;
                    vocabulary.length += totals.length;
                }
            }
            for entry in known_better {
                let card = self.segment_columns(entry.address.segment_ord)?.read_card(entry.address.doc_id);
                if ask.which.includes_state(card.availability) {
                    vocabulary.documents = vocabulary.documents.saturating_sub(1);
                    vocabulary.length = vocabulary.length.saturating_sub(u64::from(card.length));
                }
            }
            for segment in self.iter_segments(known_better) {
                let holders = segment?.count_holders(ask)?;
                vocabulary.holders.iter_mut().zip(holders).for_each(|(all, here)| *all += here);
            }
            Ok(vocabulary)
        })
    }

    /// Offers the lessons that match the question, leaving out those for which the caller has newer data.
    pub(super) fn offer_matches(
        &self,
        ask: &PreparedQuery,
        known_better: &[IndexedLesson],
        answers: &mut AnswerCollector<'_, LessonLocation>,
    ) -> Result<(), BrokenIndex> {
        run_shielded(|| {
            for segment in self.iter_segments(known_better) {
                segment?.offer_lessons(ask, answers)?;
            }
            Ok(())
        })
    }

    /// Lists when the lessons in the included states were last confirmed, without those for which the caller has newer
    /// data.
    pub(super) fn list_last_signs(
        &self,
        which: LessonStateFilter,
        known_better: &[IndexedLesson],
    ) -> Result<Vec<(i64, DocAddress)>, BrokenIndex> {
        run_shielded(|| {
            let mut signs = Vec::new();
            for segment in self.iter_segments(known_better) {
                segment?.visit_lessons(which, |address, sign| signs.push((sign, address)))?;
            }
            Ok(signs)
        })
    }

    /// Reads what ranks a lesson among other answers.
    pub(super) fn read_worth(&self, address: DocAddress) -> Result<LessonWorth, BrokenIndex> {
        run_shielded(|| Ok(self.segment_columns(address.segment_ord)?.read_worth(address.doc_id)))
    }

    /// Reads the indexed lesson at an address.
    pub(super) fn read_lesson(&self, address: DocAddress) -> Result<IndexedLesson, BrokenIndex> {
        run_shielded(|| self.load_lesson(address))
    }

    fn iter_segments(&self, known_better: &[IndexedLesson]) -> impl Iterator<Item = tantivy::Result<SegmentWalk<'_>>> {
        (0..).zip(self.searcher.segment_readers()).map(|(number, reader)| {
            let here = known_better.iter().filter(|entry| entry.address.segment_ord == number);
            let skip: HashSet<DocId> = here.map(|entry| entry.address.doc_id).collect();
            Ok(SegmentWalk { number, reader, fields: &self.fields, columns: self.segment_columns(number)?, skip })
        })
    }

    fn find_document(&self, key: &DocumentKey<'_>) -> tantivy::Result<Option<DocAddress>> {
        Ok(self.find_all_documents(&Term::from_field_text(self.fields.key, &key.text()))?.pop())
    }

    fn find_all_documents(&self, term: &Term) -> tantivy::Result<Vec<DocAddress>> {
        let mut found = Vec::new();
        for (number, reader) in (0..).zip(self.searcher.segment_readers()) {
            let postings = reader.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?;
            visit_live_documents(reader, postings, |doc| found.push(DocAddress::new(number, doc)));
        }
        Ok(found)
    }

    fn load_lesson(&self, address: DocAddress) -> tantivy::Result<IndexedLesson> {
        let columns = self.segment_columns(address.segment_ord)?;
        let IndexEntry { id, version, counters } = columns.read_entry(address.doc_id)?;
        Ok(IndexedLesson { id, place: columns.read_place(address.doc_id), version, counters, address })
    }

    fn segment_columns(&self, segment: SegmentOrdinal) -> tantivy::Result<&SegmentColumns> {
        let columns = usize::try_from(segment).ok().and_then(|segment| self.columns.get(segment));
        columns.ok_or_else(|| TantivyError::InternalError("no such segment".to_owned()))
    }

    fn trait_term(&self, term: &str) -> Term {
        Term::from_field_text(self.fields.traits, term)
    }
}

/// Takes the lock for updating the index without waiting; `None` if another process has it.
pub(super) fn try_lock_index(directory: &Path) -> Option<File> {
    std::fs::create_dir_all(directory).ok()?;
    if directory.symlink_metadata().ok()?.is_symlink() {
        return None;
    }
    let turn = super::disk::open_to_append(&directory.join("turn")).ok()?;
    turn.try_lock().is_ok().then_some(turn)
}

/// Adds `items` to the index, or builds it from scratch if there is no `previous`. The caller must hold the index lock.
pub(super) fn write_index(
    directory: &Path,
    previous: Option<&LessonIndex>,
    items: &[IndexItem<'_>],
    mut covered: IndexCoverage,
) -> Result<(), BrokenIndex> {
    let directory = versioned_directory(directory);
    run_shielded(|| {
        let (schema, fields) = IndexFields::new();
        let index = match previous {
            Some(previous) => {
                // If the index was deleted in the meantime, it must not be rebuilt from the last few lines alone.
                let index = tantivy::Index::open(MmapDirectory::open(&directory)?)?;
                if read_coverage(&index)?.as_ref() != Some(&previous.covered) {
                    return Err(TantivyError::InternalError("it is not the index that was read".to_owned()));
                }
                index
            }
            None => {
                if directory.exists() {
                    std::fs::remove_dir_all(&directory)?;
                }
                std::fs::create_dir_all(&directory)?;
                tantivy::Index::create(MmapDirectory::open(&directory)?, schema, IndexSettings::default())?
            }
        };
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, WRITER_BYTES)?;
        covered.live = previous.map(|index| index.covered.live).unwrap_or_default();
        covered.waiting = previous.map(|index| index.covered.waiting).unwrap_or_default();
        covered.retired = previous.map(|index| index.covered.retired).unwrap_or_default();
        covered.facts = previous.map(|index| index.covered.facts).unwrap_or_default();
        for item in items {
            if let Some(previous) = previous {
                covered.uncount_item(previous, item)?;
                writer.delete_term(Term::from_field_text(fields.key, &item_key(item)));
            }
            covered.count_item(item);
            writer.add_document(fields.build_document(item))?;
        }
        let mut commit = writer.prepare_commit()?;
        let payload = serde_json::to_string(&covered).unwrap_or_default();
        commit.set_payload(&format!("{:016x} {payload}", short_hash(payload.as_bytes())));
        commit.commit()?;
        writer.wait_merging_threads()
    })
}

impl IndexCoverage {
    fn totals_of(&self, availability: LessonAvailability) -> LessonTotals {
        match availability {
            LessonAvailability::Live => self.live,
            LessonAvailability::Waiting => self.waiting,
            LessonAvailability::Retired => self.retired,
        }
    }

    fn totals_of_mut(&mut self, availability: LessonAvailability) -> &mut LessonTotals {
        match availability {
            LessonAvailability::Live => &mut self.live,
            LessonAvailability::Waiting => &mut self.waiting,
            LessonAvailability::Retired => &mut self.retired,
        }
    }

    fn count_item(&mut self, item: &IndexItem<'_>) {
        match item {
            IndexItem::Lesson { memory, terms, .. } => {
                let totals = self.totals_of_mut(memory.availability());
                totals.documents += 1;
                totals.length += u64::from(terms.length);
            }
            IndexItem::Fact { .. } => self.facts += 1,
        }
    }

    fn uncount_item(&mut self, previous: &LessonIndex, item: &IndexItem<'_>) -> tantivy::Result<()> {
        let IndexItem::Lesson { memory, .. } = item else {
            return Ok(());
        };
        let Some(address) = previous.find_document(&DocumentKey::Lesson(&memory.id))? else {
            return Ok(());
        };
        let card = previous.segment_columns(address.segment_ord)?.read_card(address.doc_id);
        let totals = self.totals_of_mut(card.availability);
        totals.documents = totals.documents.saturating_sub(1);
        totals.length = totals.length.saturating_sub(u64::from(card.length));
        Ok(())
    }
}

/// Reads what an index covers; `None` if another version made it or it was changed.
fn read_coverage(index: &tantivy::Index) -> tantivy::Result<Option<IndexCoverage>> {
    let (schema, _) = IndexFields::new();
    let payload = index.load_metas()?.payload.unwrap_or_default();
    let Some((sum, json)) = payload.split_once(' ').filter(|_| index.schema() == schema) else { return Ok(None) };
    let is_whole = u64::from_str_radix(sum, 16) == Ok(short_hash(json.as_bytes()));
    Ok(serde_json::from_str(json).ok().filter(|_| is_whole))
}

/// Runs tantivy code and turns its errors and panics, which damaged files can cause, into `BrokenIndex`.
fn run_shielded<T>(work: impl FnOnce() -> tantivy::Result<T>) -> Result<T, BrokenIndex> {
    SHIELDS.set(SHIELDS.get() + 1);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    SHIELDS.set(SHIELDS.get() - 1);
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            tracing::debug!(%error, "index not used");
            Err(BrokenIndex)
        }
        Err(_) => {
            tracing::debug!("index not used: tantivy gave up");
            Err(BrokenIndex)
        }
    }
}

thread_local! {
    static SHIELDS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Returns true if a panic on this thread is caught and handled. A panic hook may then stay silent.
pub fn is_shielded() -> bool {
    let threads_of_tantivy = ["thrd-tantivy", "merge_thread", "segment_updater"];
    let of_tantivy = |name: &str| threads_of_tantivy.iter().any(|prefix| name.starts_with(prefix));
    SHIELDS.get() > 0 || std::thread::current().name().is_some_and(of_tantivy)
}

fn versioned_directory(directory: &Path) -> PathBuf {
    directory.join(format!("v{VERSION}.{}", text::VERSION))
}
