//! Fingerprints of long outputs, taken before their middle is cut out.
//!
//! Whoever wants to know where a word was read first must not lose what stood in the middle of a long output: the word
//! would count as the agent's own. The fingerprint holds hashes alone, is never stored, and cannot be read back.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::signal_mining::StepPlace;
use super::text_clipping::is_clipped_length;
use crate::domain::TrustClass;
use crate::text::{fold_lookalikes, plain_views};

#[cfg(test)]
#[path = "clipped_words_tests.rs"]
mod tests;

/// The number of outputs whose fingerprint is kept.
const MAX_CLIPPED: usize = 256;

/// The number of consecutive words that are no coincidence.
const RUN: usize = 8;

/// The most bytes of one output that are read.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The size of the pieces in which encoded words are looked for.
const PIECE_BYTES: usize = 32 * 1024;

/// The words of an output that is kept only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClippedWords {
    /// The index of the trajectory, counted from 0.
    pub trajectory: u32,
    /// The step whose output it is.
    pub step: u32,
    /// True if it was read from a file of the project.
    pub is_project_file: bool,
    names: HashSet<u64>,
    runs: HashSet<u64>,
}

impl ClippedWords {
    /// Takes the fingerprint of an output whose middle will be cut out, unless many are kept already.
    pub(super) fn of_long_output(at: StepPlace, text: &str, kept: usize) -> Option<Self> {
        let is_taken = is_clipped_length(text) && kept < MAX_CLIPPED;
        is_taken.then(|| Self::new(at.trajectory, at.step, text))
    }

    /// Takes the fingerprint of an output.
    fn new(trajectory: u32, step: u32, text: &str) -> Self {
        let mut words = Self { trajectory, step, is_project_file: false, names: HashSet::new(), runs: HashSet::new() };
        let mut rest = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or(text);
        while !rest.is_empty() {
            let end = rest.floor_char_boundary(PIECE_BYTES);
            let cut = rest.get(..end).and_then(|piece| piece.rfind('\n')).map_or(end, |at| at + 1);
            let (piece, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
            for view in plain_views(piece) {
                words.names.extend(split_names(&view).map(|name| hash_words(&[name])));
            }
            let folded = fold_lookalikes(piece).to_lowercase();
            let plain: Vec<&str> = plain_words(&folded).collect();
            words.runs.extend(plain.windows(RUN).map(hash_words));
            rest = after;
        }
        words
    }

    /// Remembers whether the output was read from a file of the project.
    pub(super) fn with_origin(self, trust: &TrustClass) -> Self {
        Self { is_project_file: *trust == TrustClass::RepoFile, ..self }
    }

    /// Returns true if a name stood in the output: a flag, a package, a host, a path, a setting.
    pub fn contains_name(&self, name: &str) -> bool {
        self.names.contains(&hash_words(&[&name.to_lowercase()]))
    }

    /// Returns true if the output said some consecutive words of a text.
    pub fn shares_words(&self, text: &str) -> bool {
        let folded = fold_lookalikes(text).to_lowercase();
        let words: Vec<&str> = plain_words(&folded).collect();
        words.windows(RUN).any(|run| self.runs.contains(&hash_words(run)))
    }
}

/// Returns the names in a text, whole and without what is joined to them.
fn split_names(view: &str) -> impl Iterator<Item = String> {
    let is_end = |c: char| c.is_whitespace() || "\"'`<>()[]{},;|".contains(c);
    view.split(is_end).flat_map(|word| {
        let bare = word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?')).to_lowercase();
        let parts: Vec<String> =
            bare.split(['=', '@', ':', '/']).filter(|part| *part != bare).map(str::to_owned).collect();
        parts.into_iter().chain([bare.clone()]).filter(|name| name.len() > 2)
    })
}

fn plain_words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn hash_words<W: AsRef<str>>(words: &[W]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.iter().for_each(|word| word.as_ref().hash(&mut hasher));
    hasher.finish()
}
