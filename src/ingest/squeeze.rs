//! JSON that is too long, made shorter while it is read.
//!
//! A log may hold an image of twenty megabytes in one string, or a hundred thousand token ids in one array. This lexer
//! lets everything pass but the middle of such values: a long string keeps its beginning and its end, a long array of
//! numbers its beginning. What comes out is JSON if what went in was.

use memchr::memchr2;

use crate::domain::Cut;

#[cfg(test)]
#[path = "squeeze_tests.rs"]
mod tests;

/// A string keeps this much of its beginning, and of its end between once and twice this much.
const KEPT_BYTES: usize = 64 * 1024;

/// An array of numbers keeps this much.
const KEPT_NUMBERS_BYTES: usize = 16 * 1024;

/// What stands where something is missing.
pub(super) fn mark(bytes: u64) -> String {
    format!("[… {bytes} bytes cut …]")
}

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
}

impl Squeeze {
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
        }
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
                Place::Numbers => {
                    bytes = rest;
                    if is_of_numbers(first) {
                        self.cut.bytes += 1;
                        continue;
                    }
                    if first != b']' && first != b'}' {
                        out.push(b',');
                    }
                    self.place = Place::Outside;
                    self.enter(first, out);
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
            }
        }
    }

    fn outside<'b>(&mut self, bytes: &'b [u8], out: &mut Vec<u8>) -> &'b [u8] {
        for (at, &byte) in bytes.iter().enumerate() {
            if is_of_numbers(byte) {
                self.numbers += 1;
                if self.numbers > KEPT_NUMBERS_BYTES && byte == b',' {
                    self.place = Place::Numbers;
                    self.cut.values += 1;
                    self.cut.bytes += 1;
                    out.extend_from_slice(bytes.get(..at).unwrap_or_default());
                    return bytes.get(at + 1..).unwrap_or_default();
                }
            } else if byte == b'"' {
                out.extend_from_slice(bytes.get(..at).unwrap_or_default());
                self.enter(byte, out);
                return bytes.get(at + 1..).unwrap_or_default();
            } else {
                self.numbers = 0;
            }
        }
        out.extend_from_slice(bytes);
        &[]
    }

    /// A byte outside of strings that is no part of a number.
    fn enter(&mut self, byte: u8, out: &mut Vec<u8>) {
        out.push(byte);
        self.numbers = 0;
        if byte == b'"' {
            self.place = Place::Text;
            self.head = 0;
        }
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
            out.extend_from_slice(mark(self.lost).as_bytes());
            out.extend_from_slice(b"\\n");
            self.cut.values += 1;
            self.cut.bytes += self.lost;
            self.lost = 0;
        }
        out.append(&mut self.older);
        out.append(&mut self.newer);
        out.push(b'"');
        self.place = Place::Outside;
    }
}

fn is_of_numbers(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b',' | b' ' | b'\t' | b'\r' | b'\n')
}
