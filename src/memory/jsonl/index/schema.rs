//! What the index keeps of a lesson and of a fact.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::columnar::{BytesColumn, Column, ColumnIndex, ColumnValues};
use tantivy::schema::{FAST, Field, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocId, SegmentReader, TantivyDocument, TantivyError};

use super::super::layout::{Part, Place};
use super::Item;
use crate::domain::{Alias, Counters, FacetSet, Fact, FactKey, MemoryId, Standing};
use crate::memory::search::{Card, Worth, short_hash, terms_of_traits};
use crate::recall::{Ageing, Terms};

/// The unique name of a document.
pub(super) enum Key<'a> {
    Lesson(&'a MemoryId),
    Fact(&'a FactKey),
}

impl Key<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Lesson(id) => format!("lesson {id}"),
            Self::Fact(key) => format!("fact {}", key.as_str()),
        }
    }
}

/// The unique name under which the index knows an item.
pub(super) fn key_of(item: &Item<'_>) -> String {
    match item {
        Item::Lesson { memory, .. } => Key::Lesson(&memory.id).text(),
        Item::Fact { fact, .. } => Key::Fact(&fact.key()).text(),
    }
}

/// The schema.
#[derive(Debug, Clone)]
pub(super) struct Fields {
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

/// Every lesson has this trait; facts do not.
pub(super) const IS_LESSON: &str = "is lesson";
/// The trait that tells lessons of one standing from the others; those that may be given need none.
pub(super) fn standing_term(standing: Standing) -> Option<&'static str> {
    match standing {
        Standing::Live => None,
        Standing::Waiting => Some("is waiting"),
        Standing::Retired => Some("is retired"),
    }
}

impl Fields {
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

    pub(super) fn document(&self, item: &Item<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.key, key_of(item));
        // Every document has every column: a column with gaps has to be searched for each value.
        let (place, sides) = match item {
            Item::Lesson { memory, terms, place, version, counters } => {
                document.add_text(self.traits, IS_LESSON);
                if let Some(term) = standing_term(memory.standing()) {
                    document.add_text(self.traits, term);
                }
                for term in terms_of_traits(memory) {
                    document.add_text(self.traits, term);
                }
                if let Some(alias) = &memory.alias {
                    document.add_text(self.traits, alias_term(alias));
                }
                document.add_text(self.words, written_out(terms));
                let (card, worth) = (Card::of(memory, terms.length), Worth::of(memory, counters));
                let known = Known { id: memory.id.clone(), version: *version, counters: (*counters).clone() };
                document.add_bytes(self.entry, known.sealed(place, &card, &worth).as_bytes());
                (place, Some((card, worth)))
            }
            Item::Fact { fact, place } => {
                document.add_text(self.traits, format!("of {}", fact.memory()));
                if let Fact::Injection { run, .. } | Fact::Effect { run, .. } = fact {
                    document.add_text(self.traits, format!("run {run}"));
                }
                (place, None)
            }
        };
        document.add_u64(self.start, place.start);
        document.add_u64(self.size, place.length);
        let (card, worth) = sides.unzip();
        document.add_u64(self.flags, card.as_ref().map_or(0, flags) | part_bits(place.part));
        document.add_u64(self.length, card.map_or(0, |card| u64::from(card.length)));
        document.add_f64(self.importance, worth.map_or(0.0, |worth| worth.importance));
        document.add_i64(self.last_sign, worth.map_or(0, |worth| worth.last_sign));
        document.add_u64(self.lot, worth.map_or(0, |worth| worth.lot));
        document
    }
}

/// A word that counts three times is written three times: its frequency is then its weight.
fn written_out(terms: &Terms) -> String {
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

fn flags(card: &Card) -> u64 {
    let bit = |set: bool, bit: u64| if set { bit } else { 0 };
    u64::from(card.binding.bits())
        | bit(card.standing == Standing::Live, LIVE)
        | bit(card.standing == Standing::Waiting, WAITING)
        | bit(card.global, GLOBAL)
        | bit(card.has_repo, HAS_REPO)
        | bit(card.has_root, HAS_ROOT)
        | bit(card.ageing == Ageing::Decision, AGES_AS_DECISION)
        | bit(card.ageing == Ageing::Never, NEVER_AGES)
}

fn part_bits(part: Part) -> u64 {
    let code = match part {
        Part::Episodes => 0,
        Part::Ledger => 1,
        Part::Archive => 2,
        Part::Lessons => 3,
    };
    code << PART_SHIFT
}

fn part_of(flags: u64) -> Part {
    match flags >> PART_SHIFT {
        0 => Part::Episodes,
        1 => Part::Ledger,
        2 => Part::Archive,
        _ => Part::Lessons,
    }
}

/// The columns of one segment.
pub(super) struct Columns {
    start: Arc<dyn ColumnValues<u64>>,
    size: Arc<dyn ColumnValues<u64>>,
    entry: Option<BytesColumn>,
    flags: Arc<dyn ColumnValues<u64>>,
    length: Arc<dyn ColumnValues<u64>>,
    importance: Arc<dyn ColumnValues<f64>>,
    last_sign: Arc<dyn ColumnValues<i64>>,
    lot: Arc<dyn ColumnValues<u64>>,
}

impl Columns {
    pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        Ok(Self {
            start: whole(fast.u64("start")?)?,
            size: whole(fast.u64("size")?)?,
            entry: fast.bytes("entry")?,
            flags: whole(fast.u64("flags")?)?,
            length: whole(fast.u64("length")?)?,
            importance: whole(fast.f64("importance")?)?,
            last_sign: whole(fast.i64("last_sign")?)?,
            lot: whole(fast.u64("lot")?)?,
        })
    }

    pub(super) fn place(&self, doc: DocId) -> Place {
        let part = part_of(self.flags.get_val(doc));
        Place { part, start: self.start.get_val(doc), length: self.size.get_val(doc) }
    }

    /// What is known of a lesson, if every column still says of it what was written.
    pub(super) fn known(&self, doc: DocId) -> tantivy::Result<Known> {
        let mut sealed = Vec::new();
        if let Some(column) = &self.entry
            && let Some(number) = column.term_ords(doc).next()
        {
            column.ord_to_bytes(number, &mut sealed)?;
        }
        let known = Known::unsealed(&sealed, &self.place(doc), &self.card(doc), &self.worth(doc));
        known.ok_or_else(|| TantivyError::InternalError("the columns of a lesson do not fit together".to_owned()))
    }

    pub(super) fn card(&self, doc: DocId) -> Card {
        let flags = self.flags.get_val(doc);
        let ageing = match flags {
            _ if flags & NEVER_AGES != 0 => Ageing::Never,
            _ if flags & AGES_AS_DECISION != 0 => Ageing::Decision,
            _ => Ageing::Lesson,
        };
        Card {
            standing: match flags {
                _ if flags & LIVE != 0 => Standing::Live,
                _ if flags & WAITING != 0 => Standing::Waiting,
                _ => Standing::Retired,
            },
            binding: FacetSet::from_bits(u8::try_from(flags & 0xFF).unwrap_or_default()),
            ageing,
            global: flags & GLOBAL != 0,
            has_repo: flags & HAS_REPO != 0,
            has_root: flags & HAS_ROOT != 0,
            length: u32::try_from(self.length.get_val(doc)).unwrap_or_default(),
        }
    }

    pub(super) fn worth(&self, doc: DocId) -> Worth {
        Worth {
            importance: self.importance.get_val(doc),
            last_sign: self.last_sign.get_val(doc),
            lot: self.lot.get_val(doc),
        }
    }
}

/// What the index knows of a lesson beside numbers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) id: MemoryId,
    pub(super) version: u64,
    pub(super) counters: Counters,
}

impl Known {
    /// Writes it down with a checksum over it and over the numbers beside it.
    fn sealed(&self, place: &Place, card: &Card, worth: &Worth) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{:016x} {json}", checksum(&json, place, card, worth))
    }

    fn unsealed(sealed: &[u8], place: &Place, card: &Card, worth: &Worth) -> Option<Self> {
        let (sum, json) = std::str::from_utf8(sealed).ok()?.split_once(' ')?;
        let right = u64::from_str_radix(sum, 16).ok()? == checksum(json, place, card, worth);
        if right { serde_json::from_str(json).ok() } else { None }
    }
}

fn checksum(json: &str, place: &Place, card: &Card, worth: &Worth) -> u64 {
    short_hash(format!("{json} {place:?} {card:?} {worth:?}").as_bytes())
}

/// The values of a column without gaps, which every column is: see [`Fields::document`].
fn whole<T>(column: Column<T>) -> tantivy::Result<Arc<dyn ColumnValues<T>>> {
    match column.index {
        ColumnIndex::Full => Ok(column.values),
        _ => Err(TantivyError::InternalError("a column has gaps".to_owned())),
    }
}

pub(super) fn alias_term(alias: &Alias) -> String {
    format!("alias {alias}")
}
