//! JSON that is too long, made shorter while it is read.
//!
//! A log may hold an image of twenty megabytes in one string, or a hundred thousand token ids in one array. This lexer
//! lets everything pass but the middle of such values: a long string keeps its beginning and its end, a long array or
//! a huge object its beginning. What is nested too deep for a parser becomes null. What comes out is JSON if what went
//! in was.

use memchr::memchr2;

use crate::domain::Cut;

#[cfg(test)]
#[path = "squeeze_tests.rs"]
mod tests;

/// A string keeps this much of its beginning, and of its end between once and twice this much.
const KEPT_BYTES: usize = 64 * 1024;

/// An array of numbers keeps this much.
const KEPT_NUMBERS_BYTES: usize = 16 * 1024;

/// One line, or one step of a document, may weigh about so much in memory. An array gets half of what is left of it.
const MAX_WEIGHT: usize = 16 * 1024 * 1024;

/// So much every array gets.
const MIN_ARRAY_WEIGHT: usize = 64 * 1024;

/// What an object weighs beside what is in it, what any other value does, and what a byte of text does.
const OBJECT_WEIGHT: usize = 600;
const VALUE_WEIGHT: usize = 32;
const BYTE_WEIGHT: usize = 2;

/// An object keeps so many keys.
const MAX_KEYS: usize = 4096;

/// Objects that are not nested deeper keep their keys whatever they weigh.
const SAFE_LEVEL: usize = 2;

/// Parsers give up a little deeper.
const MAX_DEPTH: usize = 120;

/// Longer keys are of no interest.
const MAX_KEY_BYTES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between values, or in one that is no string.
    Outside,
    /// In a run of numbers that is too long already.
    Numbers,
    /// In a string.
    Text,
    /// In a string, in an escape.
    Escape,
    /// In a string, behind the first half of a pair of surrogates.
    Paired,
    /// In what is left out, and there in a string, or in an escape.
    Lost,
    LostText,
    LostEscape,
}

/// An array or an object that is open.
#[derive(Debug, Clone, Copy)]
enum Open {
    /// A document whose parts are read one by one.
    Document,
    /// An array of documents, or of other things, that are read one by one.
    Documents,
    Elements,
    /// Anything that is read as a whole: how deep it stands, and how heavy the whole may be when it has to end.
    Array(usize, usize),
    /// The same, and how many keys it has.
    Object(usize, usize),
}

impl Open {
    fn level(self) -> usize {
        match self {
            Self::Document | Self::Documents | Self::Elements => 0,
            Self::Array(level, _) | Self::Object(level, _) => level,
        }
    }
}

/// Shortens one JSON text, given in pieces.
#[derive(Debug)]
pub(super) struct Squeeze {
    place: Place,
    /// Bytes of numbers since the last byte that belongs to none.
    numbers: usize,
    /// Bytes of the current string that were let through.
    head: usize,
    /// An escape that is not whole yet; a pair of surrogates is one.
    escape: Vec<u8>,
    /// The last bytes of a long string: `older` is full or empty, `newer` grows.
    older: Vec<u8>,
    newer: Vec<u8>,
    /// Bytes that fell out between head and tail.
    lost: u64,
    cut: Cut,
    /// Whether this is a document, whose parts are read one by one.
    is_document: bool,
    open: Vec<Open>,
    /// What was let through since the last line, or part of a document, began.
    weight: usize,
    /// The last key, or string, of a document; and whether a key comes next.
    key: Vec<u8>,
    is_key_next: bool,
    is_key: bool,
    /// How many arrays and objects are open in what is left out, and whether it ends with the last of them.
    lost_depth: usize,
    is_lost_whole: bool,
}

impl Squeeze {
    /// For a text that becomes one value.
    pub(super) fn new() -> Self {
        Self {
            place: Place::Outside,
            numbers: 0,
            head: 0,
            escape: Vec::new(),
            older: Vec::new(),
            newer: Vec::new(),
            lost: 0,
            cut: Cut::default(),
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

    /// For a document, or an array of them, whose steps or messages are read one by one: only each of these is bounded.
    pub(super) fn of_document() -> Self {
        Self { is_document: true, ..Self::new() }
    }

    /// What was cut so far.
    pub(super) fn cut(&self) -> Cut {
        self.cut
    }

    /// Takes the next piece and appends what is left of it.
    pub(super) fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some((&first, rest)) = bytes.split_first() {
            match self.place {
                Place::Outside => bytes = self.outside(bytes, out),
                Place::Numbers if is_of_numbers(first) => {
                    bytes = rest;
                    self.cut.bytes += 1;
                }
                Place::Numbers => {
                    if first != b']' && first != b'}' {
                        out.push(b',');
                    }
                    self.numbers = 0;
                    self.place = Place::Outside;
                }
                Place::Text => bytes = self.text(bytes, out),
                Place::Escape => {
                    bytes = rest;
                    self.escaped(first, out);
                }
                Place::Paired if first == b'\\' => {
                    bytes = rest;
                    self.escape.push(first);
                    self.place = Place::Escape;
                }
                Place::Paired => self.unescaped(out),
                Place::Lost => {
                    let plain = bytes.iter().position(|byte| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']'));
                    let (run, rest) = bytes.split_at_checked(plain.unwrap_or(bytes.len())).unwrap_or_default();
                    self.cut.bytes += run.len() as u64;
                    bytes = rest;
                    if let Some((&first, rest)) = bytes.split_first() {
                        self.lost(first, out);
                        bytes = rest;
                    }
                }
                Place::LostText => {
                    let plain = memchr2(b'"', b'\\', bytes);
                    let end = plain.map_or(bytes.len(), |plain| plain + 1);
                    self.cut.bytes += end as u64;
                    self.place = match plain.and_then(|plain| bytes.get(plain)) {
                        Some(b'"') => Place::Lost,
                        Some(_) => Place::LostEscape,
                        None => Place::LostText,
                    };
                    bytes = bytes.get(end..).unwrap_or_default();
                }
                Place::LostEscape => {
                    bytes = rest;
                    self.cut.bytes += 1;
                    self.place = Place::LostText;
                }
            }
        }
    }

    fn outside<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        for (at, &byte) in bytes.iter().enumerate() {
            let is_number = is_of_numbers(byte);
            self.numbers = if is_number { self.numbers + 1 } else { 0 };
            let place = match byte {
                b',' if self.numbers > KEPT_NUMBERS_BYTES => Place::Numbers,
                b',' if self.is_full() => Place::Lost,
                b'{' | b'[' if self.open.len() >= MAX_DEPTH => Place::Lost,
                b'"' => Place::Text,
                _ => {
                    self.pass(byte);
                    continue;
                }
            };
            out.extend_from_slice(bytes.get(..at).unwrap_or_default());
            self.place = place;
            if place == Place::Text {
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

    /// Notes what a byte outside of strings opens, ends or divides.
    fn pass(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                let open = self.opened(byte);
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
                    Some(Open::Object(_, keys)) => {
                        *keys += 1;
                        self.is_key_next = true;
                    }
                    Some(open @ (Open::Document | Open::Documents | Open::Elements)) => {
                        self.is_key_next = matches!(open, Open::Document);
                        self.weight = 0;
                    }
                    Some(Open::Array(..)) | None => {}
                }
            }
            _ => {}
        }
    }

    /// What begins with this byte.
    fn opened(&self, byte: u8) -> Open {
        let parent = self.open.last().copied();
        let level = parent.map_or(0, Open::level) + 1;
        match (byte, parent, self.key.as_slice()) {
            (b'{', None, _) if self.is_document => Open::Document,
            (_, None, _) if self.is_document => Open::Documents,
            (b'{', Some(Open::Documents), _) => Open::Document,
            (b'{', Some(Open::Document), b"subagent_trajectories") => Open::Document,
            (b'[', Some(Open::Document), b"subagent_trajectories") => Open::Documents,
            (b'[', Some(Open::Document), b"steps" | b"messages" | b"items" | b"attempts") => Open::Elements,
            (b'{', ..) => Open::Object(level, 0),
            _ => {
                let room = (MAX_WEIGHT.saturating_sub(self.weight) / 2).max(MIN_ARRAY_WEIGHT);
                Open::Array(level, self.weight + room)
            }
        }
    }

    /// Whether what is open must not grow any more.
    fn is_full(&self) -> bool {
        match self.open.last() {
            Some(Open::Array(_, limit)) => self.weight > *limit,
            Some(Open::Object(level, keys)) => *keys > MAX_KEYS || (*level > SAFE_LEVEL && self.weight > MAX_WEIGHT),
            _ => false,
        }
    }

    /// A byte of what is left out, outside of its strings.
    fn lost(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            b'"' => self.place = Place::LostText,
            b'{' | b'[' => self.lost_depth += 1,
            b'}' | b']' if self.lost_depth == 0 => {
                self.pass(byte);
                out.push(byte);
                self.place = Place::Outside;
                return;
            }
            b'}' | b']' => {
                self.lost_depth -= 1;
                if self.lost_depth == 0 && self.is_lost_whole {
                    self.place = Place::Outside;
                }
            }
            _ => {}
        }
        self.cut.bytes += 1;
    }

    fn text<'b>(&mut self, mut bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        loop {
            let plain = memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
            let (run, rest) = bytes.split_at_checked(plain).unwrap_or((bytes, &[]));
            self.keep_run(run, out);
            match rest {
                [] => return rest,
                [b'"', rest @ ..] => {
                    self.leave(out);
                    return rest;
                }
                // Most escapes are short, and whole.
                [_, byte, after @ ..] if *byte != b'u' => {
                    self.keep(&[b'\\', *byte], out);
                    bytes = after;
                }
                [_, rest @ ..] => {
                    self.escape.push(b'\\');
                    self.place = Place::Escape;
                    return rest;
                }
            }
        }
    }

    fn escaped(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.escape.push(byte);
        match self.escape.as_slice() {
            // `\uD83D\uDE00` is one character: half of it would be none.
            [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _] => self.place = Place::Paired,
            [_, b'u', rest @ ..] if rest.len() < 4 => {}
            [_, b'u', _, _, _, _, _, b'u', rest @ ..] if rest.len() < 4 => {}
            [_, b'u', _, _, _, _, _] => {}
            _ => self.unescaped(out),
        }
    }

    /// An escape is whole.
    fn unescaped(&mut self, out: &mut Vec<u8>) {
        let escape = std::mem::take(&mut self.escape);
        self.place = Place::Text;
        self.keep(&escape, out);
    }

    /// Plain bytes of a string, cut between characters only.
    fn keep_run(&mut self, mut run: &[u8], out: &mut Vec<u8>) {
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
            self.keep(piece, out);
            run = rest;
        }
    }

    /// Something that must not be cut itself.
    fn keep(&mut self, piece: &[u8], out: &mut Vec<u8>) {
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

    /// The string ends.
    fn leave(&mut self, out: &mut Vec<u8>) {
        if self.lost > 0 {
            out.extend_from_slice(b"\\n");
            out.extend_from_slice(Cut::mark(self.lost).as_bytes());
            out.extend_from_slice(b"\\n");
            self.cut.values += 1;
            self.cut.bytes += self.lost;
            self.lost = 0;
        }
        self.weight += BYTE_WEIGHT * (self.older.len() + self.newer.len());
        out.append(&mut self.older);
        out.append(&mut self.newer);
        out.push(b'"');
        self.place = Place::Outside;
    }
}

fn is_of_numbers(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b',' | b' ' | b'\t' | b'\r' | b'\n')
}
