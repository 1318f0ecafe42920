//! The words of lessons as the server keeps them: a `tsvector` made of our own terms.
//!
//! The server's own parser never sees a lesson. A lexeme is a term behind the number of its bank, so that one index
//! serves all banks and a search in one never touches another; its position says how much the term counts. Tags and
//! failures stand there too, because they bring a lesson up like words do.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

use tokio_postgres::types::{FromSql, Type};

use crate::memory::search::short_hash;
use crate::recall::Terms;

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;

/// A longer term is known by its hash; lexemes may have 2046 bytes.
const LONGEST: usize = 200;

/// No position is higher than this. A word that is repeated more often than that counts no more.
const HIGHEST: u32 = 16_383;

/// A term as it stands in a column. A text of the server's holds no zero byte.
pub(super) fn kept(term: &str) -> String {
    if term.len() > LONGEST {
        return format!("~{:016x}", short_hash(term.as_bytes()));
    }
    plain(term)
}

/// A text as it stands in a column beside the record, to be looked for.
pub(super) fn plain(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The terms of a lesson and how much each counts, as they are kept.
pub(super) fn counts_of(terms: &Terms) -> BTreeMap<String, u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (term, count) in &terms.counts {
        let kept = counts.entry(kept(term)).or_default();
        *kept = kept.saturating_add(*count).min(HIGHEST);
    }
    counts
}

/// What a lesson is found by, in the words of a `tsvector`.
pub(super) fn vector<'t>(bank: i64, counts: &BTreeMap<String, u32>, topics: impl Iterator<Item = &'t str>) -> String {
    let mut text = String::new();
    for (term, count) in counts {
        // Writing to a string does not fail.
        let _ = write!(text, "{}:{count} ", quoted(&format!("{bank}:{term}")));
    }
    for topic in topics {
        let _ = write!(text, "{}:1 ", quoted(&topic_lexeme(bank, topic)));
    }
    text
}

/// A search for a term, in the words of a `tsquery`.
pub(super) fn search_term(bank: i64, term: &str) -> String {
    quoted(&format!("{bank}:{}", kept(term)))
}

/// The same for a tag or a failure.
pub(super) fn search_topic(bank: i64, topic: &str) -> String {
    quoted(&topic_lexeme(bank, topic))
}

fn topic_lexeme(bank: i64, topic: &str) -> String {
    format!("{bank}#{}", kept(topic))
}

fn quoted(lexeme: &str) -> String {
    format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"))
}

/// A `tsvector` as it comes from the server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vector<'v>(&'v [u8]);

impl<'v> FromSql<'v> for Vector<'v> {
    fn from_sql(_: &Type, raw: &'v [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TS_VECTOR
    }
}

impl<'v> Vector<'v> {
    /// The terms of a bank's lesson, and how much each counts. What is no such thing is passed over.
    pub(super) fn counts(self, bank: i64) -> impl Iterator<Item = (&'v str, u32)> {
        let prefix = format!("{bank}:");
        self.lexemes().filter_map(move |(lexeme, count)| Some((lexeme.strip_prefix(prefix.as_str())?, count)))
    }

    fn lexemes(self) -> impl Iterator<Item = (&'v str, u32)> {
        let mut rest = self.0.get(4..).unwrap_or_default();
        std::iter::from_fn(move || {
            let end = memchr::memchr(0, rest)?;
            let lexeme = std::str::from_utf8(rest.get(..end)?).ok()?;
            let (count, behind) = rest.get(end + 1..)?.split_at_checked(2)?;
            let positions = usize::from(u16::from_be_bytes(count.try_into().ok()?));
            let first = behind.get(..2).filter(|_| positions > 0);
            let position = first.and_then(|first| Some(u16::from_be_bytes(first.try_into().ok()?) & 0x3FFF));
            rest = behind.get(2 * positions..)?;
            Some((lexeme, u32::from(position.unwrap_or(1))))
        })
    }
}
