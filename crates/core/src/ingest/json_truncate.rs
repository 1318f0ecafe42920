//! Truncates JSON that is too long while it is read.
//!
//! A log may contain an image of twenty megabytes in one string, or a hundred thousand token ids in one array. This
//! lexer copies everything except the middle of such values: a long string keeps its beginning and its end, a long
//! array or a huge object its beginning. Values that are nested too deep for a parser become null. The output is valid
//! JSON if the input is.

use memchr::memchr2;

use crate::domain::TruncationCount;

#[cfg(test)]
#[path = "json_truncate_tests.rs"]
mod tests;

/// The number of bytes that a string keeps of its beginning; of its end it keeps one to two times as much.
const KEPT_BYTES: usize = 64 * 1024;

/// The number of bytes that an array of numbers keeps.
const KEPT_NUMBERS_BYTES: usize = 16 * 1024;

/// The maximum weight of one line, or one step of a document, in memory. An array gets half of what is left of it.
const MAX_WEIGHT: usize = 16 * 1024 * 1024;

/// The minimum weight that every array may have.
const MIN_ARRAY_WEIGHT: usize = 64 * 1024;

/// The weight of an object besides its content, of any other value, and of a byte of text.
const OBJECT_WEIGHT: usize = 600;
const VALUE_WEIGHT: usize = 32;
const BYTE_WEIGHT: usize = 2;

/// The maximum number of keys that an object keeps.
const MAX_KEYS: usize = 4096;

/// The nesting level up to which objects keep their keys whatever they weigh.
const SAFE_LEVEL: usize = 2;

/// The maximum nesting depth; parsers fail a little deeper.
const MAX_DEPTH: usize = 120;

/// The maximum length of keys that are compared.
const MAX_KEY_BYTES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TruncateState {
    /// Between values, or in a value that is not a string.
    Outside,
    /// In a run of numbers that is too long already.
    Numbers,
    /// In a string.
    Text,
    /// In an escape within a string.
    Escape,
    /// In a string, after the first half of a surrogate pair.
    Paired,
    /// In skipped content; the next two are a string and an escape within it.
    Lost,
    LostText,
    LostEscape,
}

/// An array or an object that is open.
#[derive(Debug, Clone, Copy)]
enum OpenContainer {
    /// A document whose parts are read one by one.
    Document,
    /// An array of documents that are read one by one; `Elements` is an array of steps or messages.
    Documents,
    Elements,
    /// An array that is read as a whole: its nesting level, and the total weight at which it is cut.
    Array(usize, usize),
    /// An object that is read as a whole: its nesting level, and the number of its keys.
    Object(usize, usize),
}

impl OpenContainer {
    fn nesting_level(self) -> usize {
        match self {
            Self::Document | Self::Documents | Self::Elements => 0,
            Self::Array(level, _) | Self::Object(level, _) => level,
        }
    }
}

/// Truncates one JSON text that is given in pieces.
#[derive(Debug)]
pub(super) struct JsonTruncator {
    place: TruncateState,
    /// The number of bytes since the last one that cannot be part of a list of numbers.
    numbers: usize,
    /// The number of bytes of the current string that were copied.
    head: usize,
    /// An escape that is not complete yet; a surrogate pair is one escape.
    escape: Vec<u8>,
    /// The last bytes of a long string: `older` is full or empty, `newer` grows.
    older: Vec<u8>,
    newer: Vec<u8>,
    /// The number of bytes that were dropped between head and tail.
    lost: u64,
    cut: TruncationCount,
    /// True if this is a document whose parts are read one by one.
    is_document: bool,
    open: Vec<OpenContainer>,
    /// The weight that was copied since the last line, or part of a document, began.
    weight: usize,
    /// The last key of an object; whether a key comes next; and whether the current string is a key.
    key: Vec<u8>,
    is_key_next: bool,
    is_key: bool,
    /// The number of open arrays and objects in the skipped content, and whether it ends with the last of them.
    lost_depth: usize,
    is_lost_whole: bool,
}

impl JsonTruncator {
    /// Creates a truncator for a text that becomes one value.
    pub(super) fn new() -> Self {
        Self {
            place: TruncateState::Outside,
            numbers: 0,
            head: 0,
            escape: Vec::new(),
            older: Vec::new(),
            newer: Vec::new(),
            lost: 0,
            cut: TruncationCount::default(),
            is_document: false,
            open: Vec::new(),
            weight: 0,
            key: Vec::new(),
            is_key_next: false,
            is_key: false,
            lost_depth: 0,
            is_lost_whole: false,
        }
    }

    /// Creates a truncator for documents whose steps or messages are read one by one: only each of these is bounded.
    pub(super) fn for_document() -> Self {
        Self { is_document: true, ..Self::new() }
    }

    /// Returns the amount that was cut so far.
    pub(super) fn cut_amount(&self) -> TruncationCount {
        self.cut
    }

    /// Reads the next piece and appends what is kept of it to the output.
    pub(super) fn feed_bytes(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some((&first, rest)) = bytes.split_first() {
            match self.place {
                TruncateState::Outside => bytes = self.feed_outside(bytes, out),
                TruncateState::Numbers if is_number_list_byte(first) => {
                    bytes = rest;
                    self.cut.bytes += 1;
                }
                TruncateState::Numbers => {
                    if first != b']' && first != b'}' {
                        out.push(b',');
                    }
                    self.numbers = 0;
                    self.place = TruncateState::Outside;
                }
                TruncateState::Text => bytes = self.feed_string(bytes, out),
                TruncateState::Escape => {
                    bytes = rest;
                    self.feed_escape(first, out);
                }
                TruncateState::Paired if first == b'\\' => {
                    bytes = rest;
                    self.escape.push(first);
                    self.place = TruncateState::Escape;
                }
                TruncateState::Paired => self.finish_escape(out),
                TruncateState::Lost => {
                    let plain = bytes.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'));
                    let (run, rest) = bytes.split_at_checked(plain.unwrap_or(bytes.len())).unwrap_or_default();
                    self.cut.bytes += run.len() as u64;
                    bytes = rest;
                    if let Some((&first, rest)) = bytes.split_first() {
                        self.feed_skipped_byte(first, out);
                        bytes = rest;
                    }
                }
                TruncateState::LostText => {
                    let plain = memchr2(b'"', b'\\', bytes);
                    let end = plain.map_or(bytes.len(), |plain| plain + 1);
                    self.cut.bytes += end as u64;
                    self.place = match plain.and_then(|plain| bytes.get(plain)) {
                        Some(b'"') => TruncateState::Lost,
                        Some(_) => TruncateState::LostEscape,
                        None => TruncateState::LostText,
                    };
                    bytes = bytes.get(end..).unwrap_or_default();
                }
                TruncateState::LostEscape => {
                    bytes = rest;
                    self.cut.bytes += 1;
                    self.place = TruncateState::LostText;
                }
            }
        }
    }

    fn feed_outside<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        for (at, &byte) in bytes.iter().enumerate() {
            let is_number = is_number_list_byte(byte);
            self.numbers = if is_number { self.numbers + 1 } else { 0 };
            let place = match byte {
                b',' if self.numbers > KEPT_NUMBERS_BYTES => TruncateState::Numbers,
                b',' if self.is_full() => TruncateState::Lost,
                b'{' | b'[' if self.open.len() >= MAX_DEPTH => TruncateState::Lost,
                b'"' => TruncateState::Text,
                _ => {
                    self.track_structure(byte);
                    continue;
                }
            };
            out.extend_from_slice(bytes.get(..at).unwrap_or_default());
            self.place = place;
            if place == TruncateState::Text {
                out.push(byte);
                self.head = 0;
                self.weight += VALUE_WEIGHT;
                self.is_key = std::mem::take(&mut self.is_key_next);
                self.key.clear();
            } else {
                self.cut.values += 1;
                self.cut.bytes += 1;
                self.is_lost_whole = byte != b',';
                self.lost_depth = usize::from(self.is_lost_whole);
                if self.is_lost_whole {
                    out.extend_from_slice(b"null");
                }
            }
            return bytes.get(at + 1..).unwrap_or_default();
        }
        out.extend_from_slice(bytes);
        &[]
    }

    /// Updates the open containers after a structural byte outside of strings.
    fn track_structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                let open = self.classify_container(byte);
                self.open.push(open);
                self.weight += if byte == b'{' { OBJECT_WEIGHT } else { VALUE_WEIGHT };
                self.is_key_next = byte == b'{';
            }
            b'}' | b']' => {
                self.open.pop();
                self.is_key_next = false;
            }
            b',' => {
                self.weight += VALUE_WEIGHT;
                match self.open.last_mut() {
                    Some(OpenContainer::Object(_, keys)) => {
                        *keys += 1;
                        self.is_key_next = true;
                    }
                    Some(open @ (OpenContainer::Document | OpenContainer::Documents | OpenContainer::Elements)) => {
                        self.is_key_next = matches!(open, OpenContainer::Document);
                        self.weight = 0;
                    }
                    Some(OpenContainer::Array(..)) | None => {}
                }
            }
            _ => {}
        }
    }

    /// Returns the kind of container that this byte opens.
    fn classify_container(&self, byte: u8) -> OpenContainer {
        let parent = self.open.last().copied();
        let level = parent.map_or(0, OpenContainer::nesting_level) + 1;
        match (byte, parent, self.key.as_slice()) {
            (b'{', None, _) if self.is_document => OpenContainer::Document,
            (_, None, _) if self.is_document => OpenContainer::Documents,
            (b'{', Some(OpenContainer::Documents), _) => OpenContainer::Document,
            (b'{', Some(OpenContainer::Document), b"subagent_trajectories") => OpenContainer::Document,
            (b'[', Some(OpenContainer::Document), b"subagent_trajectories") => OpenContainer::Documents,
            (b'[', Some(OpenContainer::Document), b"steps" | b"messages" | b"items" | b"attempts") => {
                OpenContainer::Elements
            }
            (b'{', ..) => OpenContainer::Object(level, 0),
            _ => {
                let room = (MAX_WEIGHT.saturating_sub(self.weight) / 2).max(MIN_ARRAY_WEIGHT);
                OpenContainer::Array(level, self.weight + room)
            }
        }
    }

    /// Returns true if the innermost container must not grow any more.
    fn is_full(&self) -> bool {
        match self.open.last() {
            Some(OpenContainer::Array(_, limit)) => self.weight > *limit,
            Some(OpenContainer::Object(level, keys)) => {
                *keys > MAX_KEYS || (*level > SAFE_LEVEL && self.weight > MAX_WEIGHT)
            }
            _ => false,
        }
    }

    /// Handles one byte of skipped content outside of its strings.
    fn feed_skipped_byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b'"' => self.place = TruncateState::LostText,
            b'{' | b'[' => self.lost_depth += 1,
            b'}' | b']' if self.lost_depth == 0 => {
                self.track_structure(byte);
                out.push(byte);
                self.place = TruncateState::Outside;
                return;
            }
            b'}' | b']' => {
                self.lost_depth -= 1;
                if self.lost_depth == 0 && self.is_lost_whole {
                    self.place = TruncateState::Outside;
                }
            }
            _ => {}
        }
        self.cut.bytes += 1;
    }

    fn feed_string<'b>(&mut self, mut bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        loop {
            let plain = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
            let (run, rest) = bytes.split_at_checked(plain).unwrap_or((bytes, &[]));
            self.keep_plain_run(run, out);
            match rest {
                [] => return rest,
                [b'"', rest @ ..] => {
                    self.finish_string(out);
                    return rest;
                }
                // Most escapes are short and complete.
                [_, byte, after @ ..] if *byte != b'u' => {
                    self.keep_piece(&[b'\\', *byte], out);
                    bytes = after;
                }
                [_, rest @ ..] => {
                    self.escape.push(b'\\');
                    self.place = TruncateState::Escape;
                    return rest;
                }
            }
        }
    }

    fn feed_escape(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.escape.push(byte);
        match self.escape.as_slice() {
            // `\uD83D\uDE00` is one character, which must not be cut in half.
            [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _] => self.place = TruncateState::Paired,
            [_, b'u', rest @ ..] if rest.len() < 4 => {}
            [_, b'u', _, _, _, _, _, b'u', rest @ ..] if rest.len() < 4 => {}
            [_, b'u', _, _, _, _, _] => {}
            _ => self.finish_escape(out),
        }
    }

    /// Writes a complete escape.
    fn finish_escape(&mut self, out: &mut Vec<u8>) {
        let escape = std::mem::take(&mut self.escape);
        self.place = TruncateState::Text;
        self.keep_piece(&escape, out);
    }

    /// Keeps plain bytes of a string, cutting between characters only.
    fn keep_plain_run(&mut self, mut run: &[u8], out: &mut Vec<u8>) {
        while !run.is_empty() {
            let room = if self.head < KEPT_BYTES {
                KEPT_BYTES - self.head
            } else {
                KEPT_BYTES - self.newer.len().min(KEPT_BYTES)
            };
            let mut at = room.clamp(1, run.len());
            while at < run.len() && run.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000) {
                at += 1;
            }
            let (piece, rest) = run.split_at_checked(at).unwrap_or((run, &[]));
            self.keep_piece(piece, out);
            run = rest;
        }
    }

    /// Keeps a piece that must not be cut itself.
    fn keep_piece(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        if self.head < KEPT_BYTES {
            self.head += piece.len();
            self.weight += BYTE_WEIGHT * piece.len();
            if self.is_key && self.key.len() <= MAX_KEY_BYTES {
                self.key.extend(piece.iter().take(MAX_KEY_BYTES + 1));
            }
            out.extend_from_slice(piece);
            return;
        }
        if self.newer.len() >= KEPT_BYTES {
            self.lost += self.older.len() as u64;
            self.older.clear();
            std::mem::swap(&mut self.older, &mut self.newer);
        }
        self.newer.extend_from_slice(piece);
    }

    /// Ends the string and writes its kept tail.
    fn finish_string(&mut self, out: &mut Vec<u8>) {
        if self.lost > 0 {
            out.extend_from_slice(b"\\n");
            out.extend_from_slice(TruncationCount::truncation_marker(self.lost).as_bytes());
            out.extend_from_slice(b"\\n");
            self.cut.values += 1;
            self.cut.bytes += self.lost;
            self.lost = 0;
        }
        self.weight += BYTE_WEIGHT * (self.older.len() + self.newer.len());
        out.append(&mut self.older);
        out.append(&mut self.newer);
        out.push(b'"');
        self.place = TruncateState::Outside;
    }
}

fn is_number_list_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b',' | b' ' | b'\t' | b'\r' | b'\n')
}
