//! Counts the tokens of a text.

mod bound;

use tiktoken_rs::CoreBPE;

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;

/// The most bytes that the encoder gets at once: its pattern backtracks, and panics on a very long series of blanks.
const MAX_PIECE_BYTES: usize = 2048;

/// Counts tokens as current models do, within a few per cent: the vocabulary is `o200k_base`.
///
/// The vocabulary is part of the program and is read when something is counted for the first time.
///
/// A text that ends with a line break and one that begins with anything but a blank or a slash cost together what they
/// cost apart. So a text assembled from such parts can be counted part by part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tokenizer;

impl Tokenizer {
    /// Creates a tokenizer; all are equal.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    /// Counts the tokens of a text. Takes time in proportion to its length, whatever it contains.
    pub fn count_tokens(&self, text: &str) -> usize {
        split_pieces(text).map(|piece| encoder().count_ordinary(piece)).sum()
    }

    /// Returns true if a text has at most `max_tokens` tokens. Most of the time that needs no vocabulary, which takes
    /// longer to read than a short-lived process should run.
    pub fn fits_within(&self, text: &str, max_tokens: usize) -> bool {
        text.len() <= max_tokens
            || bound::token_upper_bound(text) <= max_tokens
            || self.count_tokens(text) <= max_tokens
    }

    /// Returns the longest beginning of a text that has at most `max_tokens` tokens.
    pub fn truncate_to_tokens<'t>(&self, text: &'t str, max_tokens: usize) -> &'t str {
        let mut left = max_tokens;
        let mut end = 0;
        for piece in split_pieces(text) {
            let cost = encoder().count_ordinary(piece);
            if cost > left {
                end += fit_piece(piece, left);
                break;
            }
            left -= cost;
            end += piece.len();
        }
        text.get(..end).unwrap_or_default()
    }
}

fn encoder() -> &'static CoreBPE {
    tiktoken_rs::o200k_base_singleton()
}

/// Returns how many bytes of a piece fit into `max_tokens`, in whole tokens.
fn fit_piece(piece: &str, max_tokens: usize) -> usize {
    let tokens = encoder().encode_ordinary(piece);
    for kept in (1..=max_tokens).rev() {
        let bytes =
            tokens.get(..kept).and_then(|kept| encoder().decode_bytes(kept).ok()).map_or(0, |bytes| bytes.len());
        let end = piece.floor_char_boundary(bytes);
        // Cut off from the rest, a text may be split into other tokens, and seldom into more.
        if piece.get(..end).is_some_and(|start| encoder().count_ordinary(start) <= max_tokens) {
            return end;
        }
    }
    0
}

/// Splits a text where the encoder would split it too, and elsewhere only if there is no such place for too long.
fn split_pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at_checked(piece_end(rest)).unwrap_or((rest, ""));
        rest = after;
        Some(piece)
    })
}

fn piece_end(text: &str) -> usize {
    let max = text.floor_char_boundary(MAX_PIECE_BYTES);
    let window = text.get(..max).unwrap_or(text);
    line_end(text, window).unwrap_or_else(|| if max == text.len() { max } else { word_end(window).unwrap_or(max) })
}

/// Returns the end of the first line break that no token crosses: only blanks and slashes join the text before one.
fn line_end(text: &str, window: &str) -> Option<usize> {
    memchr::memchr_iter(b'\n', window.as_bytes()).map(|at| at + 1).find(|end| {
        let next = text.get(*end..).and_then(|rest| rest.chars().next());
        next.is_some_and(|next| !next.is_whitespace() && next != '/')
    })
}

/// Returns the last space that follows a word: a token may begin with a space, but ends before the next.
fn word_end(window: &str) -> Option<usize> {
    memchr::memrchr_iter(b' ', window.as_bytes())
        .find(|at| window.get(..*at).and_then(|before| before.chars().next_back()).is_some_and(|c| !c.is_whitespace()))
}
