//! Whether an entry says what a document of the project says: most of its words stand there, in the same order.

use std::collections::HashSet;

use super::Entry;
use super::copies::fingerprint;
use crate::text::Cutter;

#[cfg(test)]
#[path = "restated_tests.rs"]
mod tests;

/// So many words in a row are held against the documents. Small words are left out and endings do not count.
const IN_A_ROW: usize = 3;

/// So much of an entry must stand in one document.
const MIN_SHARE: f64 = 0.6;

/// Fewer rows than this stand somewhere by chance.
const MIN_ROWS: usize = 3;

/// As much of one document, or of one entry, as is read.
const MAX_BYTES: usize = 1024 * 1024;

/// Documents, each by its rows of words.
pub(super) struct Documents<'a> {
    rows: Vec<(&'a str, HashSet<u64>)>,
    cutter: Cutter,
}

impl<'a> Documents<'a> {
    pub(super) fn new(documents: &'a [(String, String)]) -> Self {
        let mut cutter = Cutter::default();
        let rows = documents.iter().map(|(name, text)| (name.as_str(), rows(text, &mut cutter).into_iter().collect()));
        Self { rows: rows.collect(), cutter }
    }

    /// For each entry the document that says it, if one does: the one with most of it.
    pub(super) fn find(mut self, entries: &[&Entry]) -> Vec<Option<&'a str>> {
        entries.iter().map(|entry| self.says(&entry.text)).collect()
    }

    fn says(&mut self, text: &str) -> Option<&'a str> {
        let own: HashSet<u64> = rows(text, &mut self.cutter).into_iter().collect();
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

/// Every few words in a row, by a fingerprint of theirs.
fn rows(text: &str, cutter: &mut Cutter) -> Vec<u64> {
    let text = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    // "isn't" and "is not" are small words; cut at its sign, the one would leave something behind.
    let words = cutter.words(&text.replace("n't", " not").replace("n’t", " not"));
    words.windows(IN_A_ROW).map(|row| fingerprint(row.iter().map(String::as_str))).collect()
}
