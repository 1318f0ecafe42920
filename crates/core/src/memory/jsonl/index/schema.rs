//! The fields that the index stores for a lesson and for a fact.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::columnar::{BytesColumn, Column, ColumnIndex, ColumnValues};
use tantivy::schema::{FAST, Field, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocId, SegmentReader, TantivyDocument, TantivyError};

use super::super::bank_files::{RecordPlace, StoreFile};
use super::IndexItem;
use crate::domain::{Alias, FacetSet, Fact, FactKey, LessonAvailability, LessonCounters, MemoryId};
use crate::memory::lesson_matching::{LessonCard, LessonWorth, short_hash, trait_terms};
use crate::recall::{AgeingClass, LessonTerms};

/// The unique key of a document.
pub(super) enum DocumentKey<'a> {
    Lesson(&'a MemoryId),
    Fact(&'a FactKey),
}

impl DocumentKey<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Lesson(id) => format!("lesson {id}"),
            Self::Fact(key) => format!("fact {}", key.as_str()),
        }
    }
}

/// Returns the unique key of an item.
pub(super) fn item_key(item: &IndexItem<'_>) -> String {
    match item {
        IndexItem::Lesson { memory, .. } => DocumentKey::Lesson(&memory.id).text(),
        IndexItem::Fact { fact, .. } => DocumentKey::Fact(&fact.key()).text(),
    }
}

/// The fields of the index schema.
#[derive(Debug, Clone)]
pub(super) struct IndexFields {
    pub(super) key: Field,
    pub(super) traits: Field,
    pub(super) words: Field,
    start: Field,
    size: Field,
    entry: Field,
    flags: Field,
    length: Field,
    importance: Field,
    last_sign: Field,
    lot: Field,
}

/// The trait that every lesson has and no fact has.
pub(super) const IS_LESSON: &str = "is lesson";
/// Returns the trait that marks lessons of one state; those that may be injected need none.
pub(super) fn state_term(availability: LessonAvailability) -> Option<&'static str> {
    match availability {
        LessonAvailability::Live => None,
        LessonAvailability::Waiting => Some("is waiting"),
        LessonAvailability::Retired => Some("is retired"),
    }
}

impl IndexFields {
    pub(super) fn new() -> (Schema, Self) {
        let mut schema = Schema::builder();
        let fast: NumericOptions = FAST.into();
        let words = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(false);
        let fields = Self {
            key: schema.add_text_field("key", STRING),
            traits: schema.add_text_field("traits", STRING),
            words: schema.add_text_field("words", TextOptions::default().set_indexing_options(words)),
            start: schema.add_u64_field("start", fast.clone()),
            size: schema.add_u64_field("size", fast.clone()),
            entry: schema.add_bytes_field("entry", FAST),
            flags: schema.add_u64_field("flags", fast.clone()),
            length: schema.add_u64_field("length", fast.clone()),
            importance: schema.add_f64_field("importance", fast.clone()),
            last_sign: schema.add_i64_field("last_sign", fast.clone()),
            lot: schema.add_u64_field("lot", fast),
        };
        (schema.build(), fields)
    }

    pub(super) fn build_document(&self, item: &IndexItem<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.key, item_key(item));
        // Every document has every column: a column with gaps has to be searched for each value.
        let (place, sides) = match item {
            IndexItem::Lesson { memory, terms, place, version, counters } => {
                document.add_text(self.traits, IS_LESSON);
                if let Some(term) = state_term(memory.availability()) {
                    document.add_text(self.traits, term);
                }
                for term in trait_terms(memory) {
                    document.add_text(self.traits, term);
                }
                if let Some(alias) = &memory.alias {
                    document.add_text(self.traits, alias_term(alias));
                }
                document.add_text(self.words, repeat_words(terms));
                let (card, worth) =
                    (LessonCard::from_memory(memory, terms.length), LessonWorth::from_memory(memory, counters));
                let known = IndexEntry { id: memory.id.clone(), version: *version, counters: (*counters).clone() };
                document.add_bytes(self.entry, known.to_sealed_json(place, &card, &worth).as_bytes());
                (place, Some((card, worth)))
            }
            IndexItem::Fact { fact, place } => {
                document.add_text(self.traits, format!("of {}", fact.memory_id()));
                if let Fact::Injection { run, .. } | Fact::Effect { run, .. } = fact {
                    document.add_text(self.traits, format!("run {run}"));
                }
                (place, None)
            }
        };
        document.add_u64(self.start, place.start);
        document.add_u64(self.size, place.length);
        let (card, worth) = sides.unzip();
        document.add_u64(self.flags, card.as_ref().map_or(0, encode_flags) | encode_file(place.part));
        document.add_u64(self.length, card.map_or(0, |card| u64::from(card.length)));
        document.add_f64(self.importance, worth.map_or(0.0, |worth| worth.importance));
        document.add_i64(self.last_sign, worth.map_or(0, |worth| worth.last_sign));
        document.add_u64(self.lot, worth.map_or(0, |worth| worth.lot));
        document
    }
}

/// Repeats each word as often as it counts, so that its frequency is its weight.
fn repeat_words(terms: &LessonTerms) -> String {
    let mut text = String::new();
    for (word, &count) in &terms.counts {
        for _ in 0..count {
            text.push_str(word);
            text.push(' ');
        }
    }
    text
}

const LIVE: u64 = 1 << 8;
const GLOBAL: u64 = 1 << 9;
const HAS_REPO: u64 = 1 << 10;
const HAS_ROOT: u64 = 1 << 11;
const AGES_AS_DECISION: u64 = 1 << 12;
const NEVER_AGES: u64 = 1 << 13;
const WAITING: u64 = 1 << 14;
const PART_SHIFT: u32 = 16;

fn encode_flags(card: &LessonCard) -> u64 {
    let bit = |set: bool, bit: u64| if set { bit } else { 0 };
    u64::from(card.binding.to_bits())
        | bit(card.availability == LessonAvailability::Live, LIVE)
        | bit(card.availability == LessonAvailability::Waiting, WAITING)
        | bit(card.global, GLOBAL)
        | bit(card.has_repo, HAS_REPO)
        | bit(card.has_root, HAS_ROOT)
        | bit(card.ageing == AgeingClass::Decision, AGES_AS_DECISION)
        | bit(card.ageing == AgeingClass::Never, NEVER_AGES)
}

fn encode_file(part: StoreFile) -> u64 {
    let code = match part {
        StoreFile::Episodes => 0,
        StoreFile::Ledger => 1,
        StoreFile::Archive => 2,
        StoreFile::Lessons => 3,
    };
    code << PART_SHIFT
}

fn decode_file(flags: u64) -> StoreFile {
    match flags >> PART_SHIFT {
        0 => StoreFile::Episodes,
        1 => StoreFile::Ledger,
        2 => StoreFile::Archive,
        _ => StoreFile::Lessons,
    }
}

/// The columns of one segment.
pub(super) struct SegmentColumns {
    start: Arc<dyn ColumnValues<u64>>,
    size: Arc<dyn ColumnValues<u64>>,
    entry: Option<BytesColumn>,
    flags: Arc<dyn ColumnValues<u64>>,
    length: Arc<dyn ColumnValues<u64>>,
    importance: Arc<dyn ColumnValues<f64>>,
    last_sign: Arc<dyn ColumnValues<i64>>,
    lot: Arc<dyn ColumnValues<u64>>,
}

impl SegmentColumns {
    pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        Ok(Self {
            start: gapless_values(fast.u64("start")?)?,
            size: gapless_values(fast.u64("size")?)?,
            entry: fast.bytes("entry")?,
            flags: gapless_values(fast.u64("flags")?)?,
            length: gapless_values(fast.u64("length")?)?,
            importance: gapless_values(fast.f64("importance")?)?,
            last_sign: gapless_values(fast.i64("last_sign")?)?,
            lot: gapless_values(fast.u64("lot")?)?,
        })
    }

    pub(super) fn read_place(&self, doc: DocId) -> RecordPlace {
        let part = decode_file(self.flags.get_val(doc));
        RecordPlace { part, start: self.start.get_val(doc), length: self.size.get_val(doc) }
    }

    /// Reads the entry of a lesson, and fails if the columns no longer match its checksum.
    pub(super) fn read_entry(&self, doc: DocId) -> tantivy::Result<IndexEntry> {
        let mut sealed = Vec::new();
        if let Some(column) = &self.entry
            && let Some(number) = column.term_ords(doc).next()
        {
            column.ord_to_bytes(number, &mut sealed)?;
        }
        let known =
            IndexEntry::from_sealed_json(&sealed, &self.read_place(doc), &self.read_card(doc), &self.read_worth(doc));
        known.ok_or_else(|| TantivyError::InternalError("the columns of a lesson do not fit together".to_owned()))
    }

    pub(super) fn read_card(&self, doc: DocId) -> LessonCard {
        let flags = self.flags.get_val(doc);
        let ageing = match flags {
            _ if flags & NEVER_AGES != 0 => AgeingClass::Never,
            _ if flags & AGES_AS_DECISION != 0 => AgeingClass::Decision,
            _ => AgeingClass::Lesson,
        };
        LessonCard {
            availability: match flags {
                _ if flags & LIVE != 0 => LessonAvailability::Live,
                _ if flags & WAITING != 0 => LessonAvailability::Waiting,
                _ => LessonAvailability::Retired,
            },
            binding: FacetSet::from_bits(u8::try_from(flags & 0xFF).unwrap_or_default()),
            ageing,
            global: flags & GLOBAL != 0,
            has_repo: flags & HAS_REPO != 0,
            has_root: flags & HAS_ROOT != 0,
            length: u32::try_from(self.length.get_val(doc)).unwrap_or_default(),
        }
    }

    pub(super) fn read_worth(&self, doc: DocId) -> LessonWorth {
        LessonWorth {
            importance: self.importance.get_val(doc),
            last_sign: self.last_sign.get_val(doc),
            lot: self.lot.get_val(doc),
        }
    }
}

/// The parts of an indexed lesson that are not numeric columns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct IndexEntry {
    pub(super) id: MemoryId,
    pub(super) version: u64,
    pub(super) counters: LessonCounters,
}

impl IndexEntry {
    /// Serializes the entry with a checksum over it and over its columns.
    fn to_sealed_json(&self, place: &RecordPlace, card: &LessonCard, worth: &LessonWorth) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{:016x} {json}", entry_checksum(&json, place, card, worth))
    }

    fn from_sealed_json(sealed: &[u8], place: &RecordPlace, card: &LessonCard, worth: &LessonWorth) -> Option<Self> {
        let (sum, json) = std::str::from_utf8(sealed).ok()?.split_once(' ')?;
        let right = u64::from_str_radix(sum, 16).ok()? == entry_checksum(json, place, card, worth);
        if right { serde_json::from_str(json).ok() } else { None }
    }
}

fn entry_checksum(json: &str, place: &RecordPlace, card: &LessonCard, worth: &LessonWorth) -> u64 {
    short_hash(format!("{json} {place:?} {card:?} {worth:?}").as_bytes())
}

/// Returns the values of a column without gaps; [`IndexFields::build_document`] leaves none.
fn gapless_values<T>(column: Column<T>) -> tantivy::Result<Arc<dyn ColumnValues<T>>> {
    match column.index {
        ColumnIndex::Full => Ok(column.values),
        _ => Err(TantivyError::InternalError("a column has gaps".to_owned())),
    }
}

pub(super) fn alias_term(alias: &Alias) -> String {
    format!("alias {alias}")
}
