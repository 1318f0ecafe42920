//! Recognizes entries that restate a document of the project: most of their words appear there in the same order.

use std::collections::HashSet;

use super::AuditEntry;
use super::duplicates::fingerprint_words;
use archivist_core::text::WordSplitter;

#[cfg(test)]
#[path = "restated_documents_tests.rs"]
mod tests;

/// The number of consecutive words compared with the documents. Stop words are left out and word endings are ignored.
const IN_A_ROW: usize = 3;

/// The share of an entry that must appear in one document.
const MIN_SHARE: f64 = 0.6;

/// Fewer word rows than this may appear in a document by chance.
const MIN_ROWS: usize = 3;

/// The number of bytes of a document or an entry that are read.
const MAX_BYTES: usize = 1024 * 1024;

/// An index of documents by their rows of consecutive words.
pub(super) struct DocumentPhraseIndex<'a> {
    rows: Vec<(&'a str, HashSet<u64>)>,
    cutter: WordSplitter,
}

impl<'a> DocumentPhraseIndex<'a> {
    pub(super) fn new(documents: &'a [(String, String)]) -> Self {
        let mut cutter = WordSplitter::default();
        let rows = documents
            .iter()
            .map(|(name, text)| (name.as_str(), fingerprint_rows(text, &mut cutter).into_iter().collect()));
        Self { rows: rows.collect(), cutter }
    }

    /// Returns for each entry the document that contains most of it, if one contains enough.
    pub(super) fn find_restated(mut self, entries: &[&AuditEntry]) -> Vec<Option<&'a str>> {
        entries.iter().map(|entry| self.find_source_document(&entry.text)).collect()
    }

    fn find_source_document(&mut self, text: &str) -> Option<&'a str> {
        let own: HashSet<u64> = fingerprint_rows(text, &mut self.cutter).into_iter().collect();
        if own.len() < MIN_ROWS {
            return None;
        }
        let mut best: Option<(usize, &'a str)> = None;
        for (name, rows) in &self.rows {
            let shared = own.iter().filter(|row| rows.contains(row)).count();
            if shared as f64 >= MIN_SHARE * own.len() as f64 && best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, name));
            }
        }
        best.map(|(_, name)| name)
    }
}

/// Returns a fingerprint of every row of consecutive words.
fn fingerprint_rows(text: &str, cutter: &mut WordSplitter) -> Vec<u64> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    // "isn't" and "is not" are stop words; splitting the former at its apostrophe would leave a fragment.
    let words = cutter.split_words(&text.replace("n't", " not").replace("n’t", " not"));
    words.windows(IN_A_ROW).map(|row| fingerprint_words(row.iter().map(String::as_str))).collect()
}
