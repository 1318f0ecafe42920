//! A text as a sequence of chunks: plain words, and marks such as commands, paths, flags, versions and identifiers.

#[cfg(test)]
#[path = "text_chunks_tests.rs"]
mod tests;

/// A sequence of letters, digits and the signs that join them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LessonChunk {
    /// The text in lower case, without the signs around it.
    pub(super) text: String,
    /// The shape of the chunk.
    pub(super) shape: ChunkShape,
    /// True if a clause begins with it.
    pub(super) begins: bool,
}

/// The shape of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkShape {
    /// A word as it appears in prose.
    Word,
    /// A number, a version, or an amount with its unit.
    Number,
    /// A command, a path, a flag, an identifier: something with a name of its own.
    Mark,
}

/// Splits a text into its chunks, in order.
pub(super) fn split_chunks(text: &str) -> Vec<LessonChunk> {
    let mut chunks = Vec::new();
    let mut quoted = false;
    let mut begins = true;
    for piece in text.split_whitespace() {
        for part in piece.split(['(', ')', '[', ']', '{', '}', '"', '“', '”', '<', '>', '|', ',', ';', '!', '?', '…'])
        {
            let ticks = part.matches('`').count();
            let opens = part.starts_with('`');
            let inside = quoted || opens;
            if ticks % 2 == 1 {
                quoted = !quoted;
            }
            let ends = part.ends_with(['.', ':']) && !inside;
            let bare = part.trim_matches(|c: char| matches!(c, '`' | '\'' | '.' | ':' | '’' | '/' | '*' | '#' | '='));
            if bare.chars().any(char::is_alphanumeric) {
                chunks.push(LessonChunk { text: normalize_chunk(bare), shape: classify_shape(bare, inside), begins });
                begins = false;
            }
            begins |= ends;
        }
        begins |= piece.ends_with([',', ';', '!', '?', ')']) || piece == "-" || piece == "–" || piece == "—";
    }
    chunks
}

/// Returns the text in lower case and without apostrophes, so that "Don't" is `dont`.
fn normalize_chunk(bare: &str) -> String {
    bare.chars().filter(|c| !matches!(c, '\'' | '’' | '`')).flat_map(char::to_lowercase).collect()
}

fn classify_shape(bare: &str, quoted: bool) -> ChunkShape {
    let digits = bare.chars().filter(char::is_ascii_digit).count();
    let letters = bare.chars().filter(|c| c.is_alphabetic()).count();
    let first_digit = bare.trim_start_matches(['v', 'V', '~', '^', '+', '-']).starts_with(|c: char| c.is_ascii_digit());
    if first_digit && digits > 0 && letters <= 3 {
        return ChunkShape::Number;
    }
    let inner_capital = bare.chars().skip(1).any(char::is_uppercase) && !bare.ends_with("'s");
    let tied = bare.contains(['_', '/', '=', '@', '$', '\\', ':', '.']) || bare.starts_with('-');
    if quoted || digits > 0 || inner_capital || tied { ChunkShape::Mark } else { ChunkShape::Word }
}
