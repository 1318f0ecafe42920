//! The words of lessons as the server stores them: a `tsvector` made of our own terms.
//!
//! The server's own parser never sees a lesson. A lexeme is a term prefixed with the number of its bank, so that one
//! index serves all banks and a search in one never touches another; its position encodes how much the term counts.
//! Tags and error families are included, because they retrieve lessons like words do.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

use tokio_postgres::types::{FromSql, Type};

use crate::memory::lesson_matching::short_hash;
use crate::recall::LessonTerms;

#[cfg(test)]
#[path = "lexemes_tests.rs"]
mod tests;

/// The length beyond which a term is stored as its hash; lexemes may have 2046 bytes.
const LONGEST: usize = 200;

/// The highest position of a lexeme, which bounds the count of a word.
const HIGHEST: u32 = 16_383;

/// Returns a term as it is stored in a column: a long one as its hash, and without zero bytes.
pub(super) fn to_stored_term(term: &str) -> String {
    if term.len() > LONGEST {
        return format!("~{:016x}", short_hash(term.as_bytes()));
    }
    to_stored_text(term)
}

/// Returns a text as it is stored in a searchable column, with zero bytes replaced.
pub(super) fn to_stored_text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Returns the stored terms of a lesson with their counts.
pub(super) fn count_stored_terms(terms: &LessonTerms) -> BTreeMap<String, u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for (term, count) in &terms.counts {
        let kept = counts.entry(to_stored_term(term)).or_default();
        *kept = kept.saturating_add(*count).min(HIGHEST);
    }
    counts
}

/// Renders the terms and topics of a lesson as a `tsvector`.
pub(super) fn render_tsvector<'t>(
    bank: i64,
    counts: &BTreeMap<String, u32>,
    topics: impl Iterator<Item = &'t str>,
) -> String {
    let mut text = String::new();
    for (term, count) in counts {
        // Writing to a string does not fail.
        let _ = write!(text, "{}:{count} ", quote_lexeme(&format!("{bank}:{term}")));
    }
    for topic in topics {
        let _ = write!(text, "{}:1 ", quote_lexeme(&topic_lexeme(bank, topic)));
    }
    text
}

/// Renders a search for a term as a `tsquery`.
pub(super) fn render_term_query(bank: i64, term: &str) -> String {
    quote_lexeme(&format!("{bank}:{}", to_stored_term(term)))
}

/// Renders a search for a tag or an error family as a `tsquery`.
pub(super) fn render_topic_query(bank: i64, topic: &str) -> String {
    quote_lexeme(&topic_lexeme(bank, topic))
}

fn topic_lexeme(bank: i64, topic: &str) -> String {
    format!("{bank}#{}", to_stored_term(topic))
}

fn quote_lexeme(lexeme: &str) -> String {
    format!("'{}'", lexeme.replace('\\', "\\\\").replace('\'', "''"))
}

/// A `tsvector` as the server returns it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TsVector<'v>(&'v [u8]);

impl<'v> FromSql<'v> for TsVector<'v> {
    fn from_sql(_: &Type, raw: &'v [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TS_VECTOR
    }
}

impl<'v> TsVector<'v> {
    /// Returns the terms of a bank's lesson with their counts. Other lexemes are skipped.
    pub(super) fn term_counts(self, bank: i64) -> impl Iterator<Item = (&'v str, u32)> {
        let prefix = format!("{bank}:");
        self.read_lexemes().filter_map(move |(lexeme, count)| Some((lexeme.strip_prefix(prefix.as_str())?, count)))
    }

    fn read_lexemes(self) -> impl Iterator<Item = (&'v str, u32)> {
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
