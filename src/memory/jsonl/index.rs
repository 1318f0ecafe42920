//! The derived index: a tantivy directory that answers for a prefix of the files.
//!
//! It is never the truth. Whatever is wrong with it (missing, damaged, of another version, of files that changed
//! since), the bank reads the files instead and builds it anew. What was written after the prefix is searched from
//! memory, so no commit waits for it. Only this file and those below it know tantivy.

mod schema;
mod unlocked;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, IndexSettings, ReloadPolicy, Searcher, SegmentOrdinal, TantivyDocument, TantivyError, Term};

use self::schema::{Columns, Fields, Key, Known, alias_term, key_of};
use self::unlocked::Unlocked;
use self::walk::{Segment, each_alive};
use super::layout::{Part, Place};
use super::state::Spot;
use crate::domain::{AgentMemory, Alias, Counters, Fact, FactKey, MemoryId, RunId, Standing};
use crate::memory::answers::Answers;
use crate::memory::search::{Ask, Card, Worth, short_hash};
use crate::recall::{Terms, Vocabulary};
use crate::text;

pub(super) use tantivy::DocAddress;

/// Goes up when the same files give another index.
const VERSION: u32 = 2;
/// Enough that even a large index is written in few segments; taken only as it is needed.
const WRITER_BYTES: usize = 256_000_000;

/// The index cannot be relied on. Whoever meets this reads the files instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged or in the way")]
pub(super) struct Broken;

/// What the index covers and what it knows without looking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Covered {
    /// The files' epoch when it was made.
    pub(super) epoch: u64,
    /// How far into each file it reaches.
    pub(super) ends: BTreeMap<Part, u64>,
    /// Proof that the files still begin with what was read.
    pub(super) seals: BTreeMap<Part, Seal>,
    /// The highest number of any short name.
    pub(super) highest_alias: u64,
    /// Longer lines were not read.
    pub(super) line_limit: usize,
    /// How many lessons there are, and their length.
    live: Totals,
    waiting: Totals,
    retired: Totals,
}

/// A chain of hashes, one link for each time the index caught up, so that catching up does not read everything again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seal {
    pub(super) links: Vec<u64>,
    pub(super) hash: String,
}

impl Seal {
    /// Adds a link for the bytes up to `end`.
    pub(super) fn extend(&mut self, bytes: &[u8], end: u64) {
        let mut hash = blake3::Hasher::new();
        hash.update(self.hash.as_bytes()).update(bytes);
        self.hash = hash.finalize().to_hex().to_string();
        self.links.push(end);
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Totals {
    documents: u64,
    length: u64,
}

/// A lesson as the index knows it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: MemoryId,
    pub(super) place: Place,
    pub(super) version: u64,
    pub(super) counters: Counters,
    address: DocAddress,
}

impl Entry {
    pub(super) fn address(&self) -> DocAddress {
        self.address
    }
}

/// An open index.
pub(super) struct Index {
    searcher: Searcher,
    /// One for each segment.
    columns: Vec<Columns>,
    fields: Fields,
    pub(super) covered: Covered,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("covered", &self.covered).finish_non_exhaustive()
    }
}

/// Something for the index to know. What it knew under the same name is forgotten.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Lesson { memory: &'a AgentMemory, terms: &'a Terms, place: Place, version: u64, counters: &'a Counters },
    Fact { fact: &'a Fact, place: Place },
}

impl Index {
    /// Opens what is there; `None` if there is nothing that can be used.
    pub(super) fn open(directory: &Path) -> Option<Self> {
        let directory = versioned(directory);
        if !directory.join("meta.json").is_file() {
            return None;
        }
        let opened = shielded(|| {
            let index = tantivy::Index::open(Unlocked(MmapDirectory::open(&directory)?))?;
            let covered = covered_by(&index)?;
            let reader: tantivy::IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
            let searcher = reader.searcher();
            let columns = searcher.segment_readers().iter().map(Columns::open).collect::<tantivy::Result<_>>()?;
            Ok(covered.map(|covered| Self { searcher, columns, fields: Fields::new().1, covered }))
        });
        opened.ok().flatten()
    }

    /// Whether every byte is as it was written. Reads all of it.
    pub(super) fn is_sound(directory: &Path) -> bool {
        let checked = shielded(|| {
            let directory = MmapDirectory::open(versioned(directory))?;
            Ok(tantivy::Index::open(Unlocked(directory))?.validate_checksum()?.is_empty())
        });
        checked.unwrap_or(false)
    }

    pub(super) fn lesson(&self, id: &MemoryId) -> Result<Option<Entry>, Broken> {
        let entry = shielded(|| match self.find(&Key::Lesson(id))? {
            Some(address) => self.entry(address).map(Some),
            None => Ok(None),
        })?;
        if entry.as_ref().is_some_and(|entry| entry.id != *id) { Err(Broken) } else { Ok(entry) }
    }

    /// The same, with what decides whether it is an answer.
    pub(super) fn lesson_and_card(&self, id: &MemoryId) -> Result<Option<(Entry, Card)>, Broken> {
        let Some(entry) = self.lesson(id)? else { return Ok(None) };
        let card = shielded(|| Ok(self.columns(entry.address.segment_ord)?.card(entry.address.doc_id)))?;
        Ok(Some((entry, card)))
    }

    pub(super) fn with_alias(&self, alias: &Alias) -> Result<Vec<Entry>, Broken> {
        let term = self.trait_term(&alias_term(alias));
        shielded(|| self.all(&term)?.into_iter().map(|address| self.entry(address)).collect())
    }

    pub(super) fn knows_fact(&self, key: &FactKey) -> Result<bool, Broken> {
        shielded(|| Ok(self.find(&Key::Fact(key))?.is_some()))
    }

    /// Where the facts about a lesson stand, or those of a run, in the order of writing.
    pub(super) fn facts(&self, of: FactsOf<'_>) -> Result<Vec<Place>, Broken> {
        let term = self.trait_term(&of.term());
        let found = |address: DocAddress| Ok(self.columns(address.segment_ord)?.place(address.doc_id));
        let mut places: Vec<Place> = shielded(|| self.all(&term)?.into_iter().map(found).collect())?;
        places.sort_unstable();
        Ok(places)
    }

    /// What the words of a question mean here, leaving out the lessons that the caller knows better.
    pub(super) fn vocabulary(&self, ask: &Ask, known_better: &[Entry]) -> Result<Vocabulary, Broken> {
        shielded(|| {
            let mut vocabulary = Vocabulary::empty(&ask.question);
            for standing in Standing::ALL {
                if ask.which.includes(standing) {
                    let totals = self.covered.totals(standing);
                    vocabulary.documents += totals.documents;
                    vocabulary.length += totals.length;
                }
            }
            for entry in known_better {
                let card = self.columns(entry.address.segment_ord)?.card(entry.address.doc_id);
                if ask.which.includes(card.standing) {
                    vocabulary.documents = vocabulary.documents.saturating_sub(1);
                    vocabulary.length = vocabulary.length.saturating_sub(u64::from(card.length));
                }
            }
            for segment in self.segments(known_better) {
                let holders = segment?.holders(ask)?;
                vocabulary.holders.iter_mut().zip(holders).for_each(|(all, here)| *all += here);
            }
            Ok(vocabulary)
        })
    }

    /// Offers what has to do with the question, leaving out the lessons that the caller knows better.
    pub(super) fn walk(
        &self,
        ask: &Ask,
        known_better: &[Entry],
        answers: &mut Answers<'_, Spot>,
    ) -> Result<(), Broken> {
        shielded(|| {
            for segment in self.segments(known_better) {
                segment?.walk(ask, answers)?;
            }
            Ok(())
        })
    }

    /// What an answer is worth.
    pub(super) fn worth_of(&self, address: DocAddress) -> Result<Worth, Broken> {
        shielded(|| Ok(self.columns(address.segment_ord)?.worth(address.doc_id)))
    }

    /// The lesson of an answer.
    pub(super) fn entry_of(&self, address: DocAddress) -> Result<Entry, Broken> {
        shielded(|| self.entry(address))
    }

    fn segments(&self, known_better: &[Entry]) -> impl Iterator<Item = tantivy::Result<Segment<'_>>> {
        (0..).zip(self.searcher.segment_readers()).map(|(number, reader)| {
            let here = known_better.iter().filter(|entry| entry.address.segment_ord == number);
            let skip: HashSet<DocId> = here.map(|entry| entry.address.doc_id).collect();
            Ok(Segment { number, reader, fields: &self.fields, columns: self.columns(number)?, skip })
        })
    }

    fn find(&self, key: &Key<'_>) -> tantivy::Result<Option<DocAddress>> {
        Ok(self.all(&Term::from_field_text(self.fields.key, &key.text()))?.pop())
    }

    fn all(&self, term: &Term) -> tantivy::Result<Vec<DocAddress>> {
        let mut found = Vec::new();
        for (number, reader) in (0..).zip(self.searcher.segment_readers()) {
            let postings = reader.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?;
            each_alive(reader, postings, |doc| found.push(DocAddress::new(number, doc)));
        }
        Ok(found)
    }

    fn entry(&self, address: DocAddress) -> tantivy::Result<Entry> {
        let columns = self.columns(address.segment_ord)?;
        let Known { id, version, counters } = columns.known(address.doc_id)?;
        Ok(Entry { id, place: columns.place(address.doc_id), version, counters, address })
    }

    fn columns(&self, segment: SegmentOrdinal) -> tantivy::Result<&Columns> {
        let columns = usize::try_from(segment).ok().and_then(|segment| self.columns.get(segment));
        columns.ok_or_else(|| TantivyError::InternalError("no such segment".to_owned()))
    }

    fn trait_term(&self, term: &str) -> Term {
        Term::from_field_text(self.fields.traits, term)
    }
}

/// Whose facts are meant.
#[derive(Debug, Clone, Copy)]
pub(super) enum FactsOf<'a> {
    Lesson(&'a MemoryId),
    Run(&'a RunId),
}

impl FactsOf<'_> {
    fn term(self) -> String {
        match self {
            Self::Lesson(memory) => format!("of {memory}"),
            Self::Run(run) => format!("run {run}"),
        }
    }
}

/// Waits for nobody: whoever gets `None` leaves the work to the process that is at it.
pub(super) fn take_turn(directory: &Path) -> Option<File> {
    std::fs::create_dir_all(directory).ok()?;
    if directory.symlink_metadata().ok()?.is_symlink() {
        return None;
    }
    let turn = super::disk::open_to_append(&directory.join("turn")).ok()?;
    turn.try_lock().is_ok().then_some(turn)
}

/// Catches the index up with `items`, or builds it anew when there is no `previous`. It must be the caller's turn.
pub(super) fn fold(
    directory: &Path,
    previous: Option<&Index>,
    items: &[Item<'_>],
    mut covered: Covered,
) -> Result<(), Broken> {
    let directory = versioned(directory);
    shielded(|| {
        let (schema, fields) = Fields::new();
        let index = match previous {
            Some(previous) => {
                // Whoever deleted it meanwhile must not get an index of the last few lines.
                let index = tantivy::Index::open(MmapDirectory::open(&directory)?)?;
                if covered_by(&index)?.as_ref() != Some(&previous.covered) {
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
        for item in items {
            if let Some(previous) = previous {
                covered.uncount(previous, item)?;
                writer.delete_term(Term::from_field_text(fields.key, &key_of(item)));
            }
            covered.count(item);
            writer.add_document(fields.document(item))?;
        }
        let mut commit = writer.prepare_commit()?;
        let payload = serde_json::to_string(&covered).unwrap_or_default();
        commit.set_payload(&format!("{:016x} {payload}", short_hash(payload.as_bytes())));
        commit.commit()?;
        writer.wait_merging_threads()
    })
}

impl Covered {
    pub(super) fn at(epoch: u64, line_limit: usize) -> Self {
        Self { epoch, line_limit, ..Self::default() }
    }

    fn totals(&self, standing: Standing) -> Totals {
        match standing {
            Standing::Live => self.live,
            Standing::Waiting => self.waiting,
            Standing::Retired => self.retired,
        }
    }

    fn totals_mut(&mut self, standing: Standing) -> &mut Totals {
        match standing {
            Standing::Live => &mut self.live,
            Standing::Waiting => &mut self.waiting,
            Standing::Retired => &mut self.retired,
        }
    }

    fn count(&mut self, item: &Item<'_>) {
        if let Item::Lesson { memory, terms, .. } = item {
            let totals = self.totals_mut(memory.standing());
            totals.documents += 1;
            totals.length += u64::from(terms.length);
        }
    }

    fn uncount(&mut self, previous: &Index, item: &Item<'_>) -> tantivy::Result<()> {
        let Item::Lesson { memory, .. } = item else {
            return Ok(());
        };
        let Some(address) = previous.find(&Key::Lesson(&memory.id))? else {
            return Ok(());
        };
        let card = previous.columns(address.segment_ord)?.card(address.doc_id);
        let totals = self.totals_mut(card.standing);
        totals.documents = totals.documents.saturating_sub(1);
        totals.length = totals.length.saturating_sub(u64::from(card.length));
        Ok(())
    }
}

/// What an index says it covers; `None` if it was not made by this version, or somebody changed it.
fn covered_by(index: &tantivy::Index) -> tantivy::Result<Option<Covered>> {
    let (schema, _) = Fields::new();
    let payload = index.load_metas()?.payload.unwrap_or_default();
    let Some((sum, json)) = payload.split_once(' ').filter(|_| index.schema() == schema) else { return Ok(None) };
    let is_whole = u64::from_str_radix(sum, 16) == Ok(short_hash(json.as_bytes()));
    Ok(serde_json::from_str(json).ok().filter(|_| is_whole))
}

/// Runs a piece of tantivy. Damaged files make it fail or even panic.
fn shielded<T>(work: impl FnOnce() -> tantivy::Result<T>) -> Result<T, Broken> {
    SHIELDS.set(SHIELDS.get() + 1);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    SHIELDS.set(SHIELDS.get() - 1);
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            tracing::debug!(%error, "index not used");
            Err(Broken)
        }
        Err(_) => {
            tracing::debug!("index not used: tantivy gave up");
            Err(Broken)
        }
    }
}

thread_local! {
    static SHIELDS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Whether a panic on this thread would be caught and answered by reading the files. A panic hook may keep quiet then.
pub fn is_shielded() -> bool {
    let threads_of_tantivy = ["thrd-tantivy", "merge_thread", "segment_updater"];
    let of_tantivy = |name: &str| threads_of_tantivy.iter().any(|prefix| name.starts_with(prefix));
    SHIELDS.get() > 0 || std::thread::current().name().is_some_and(of_tantivy)
}

fn versioned(directory: &Path) -> PathBuf {
    directory.join(format!("v{VERSION}.{}", text::VERSION))
}
