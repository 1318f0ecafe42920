//! JSON as it is found, made fit to be parsed while it is read.
//!
//! Python writes `NaN`, JavaScript cuts strings through the middle of a character, terminals leave control characters
//! and stray bytes. A parser would give up the whole document for any of them. Long values are squeezed on the way.

use std::io::Read;

use memchr::memchr;
use memchr::memchr2;
use memchr::memchr3;
use serde_json::Value;

use super::lines::read_some;
use super::squeeze::Squeeze;
use crate::domain::Cut;

#[cfg(test)]
#[path = "mend_tests.rs"]
mod tests;

const BUFFER_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What stands for `NaN` and `Infinity`, which JSON has no words for: no whole number, and no amount worth a thought.
const NOT_A_NUMBER: &[u8] = b"-5e-324";
const INFINITY: &[u8] = b"5e-324";

/// Half of a pair of surrogates is no character.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// So many numbers that are too large are replaced in one line.
const MAX_HUGE_NUMBERS: usize = 64;

/// One value that a parser refused, mended.
pub(super) fn mended(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(bytes);
    let mut mended = Vec::with_capacity(text.len());
    Mend::default().feed(text.as_bytes(), &mut mended);
    let mut short = Vec::with_capacity(mended.len());
    Squeeze::new().feed(&mended, &mut short);
    for _ in 0..MAX_HUGE_NUMBERS {
        match serde_json::from_slice(&short) {
            Err(error) if is_huge_number(&error) && replace_number(&mut short, &error) => {}
            parsed => return parsed,
        }
    }
    serde_json::from_slice(&short)
}

fn is_huge_number(error: &serde_json::Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("number out of range")
}

/// Puts infinity where a number is that no float can hold.
fn replace_number(text: &mut Vec<u8>, error: &serde_json::Error) -> bool {
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let at = lines.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    let before = text.get(..at).unwrap_or_default();
    let start = before.iter().rposition(|byte| !is_of_number(byte)).map_or(0, |last| last + 1);
    let after = text.get(at..).unwrap_or_default();
    let end = at + after.iter().position(|byte| !is_of_number(byte)).unwrap_or(after.len());
    if start >= end || end > text.len() {
        return false;
    }
    text.splice(start..end, INFINITY.iter().copied());
    true
}

/// A reader of whatever is called JSON, from which JSON can be read.
pub(super) struct Mended<'i> {
    input: &'i mut dyn Read,
    raw: Vec<u8>,
    /// Bytes at the beginning of `raw` that are a character not yet whole.
    kept: usize,
    text: Vec<u8>,
    mend: Mend,
    mended: Vec<u8>,
    squeeze: Squeeze,
    out: Vec<u8>,
    start: usize,
    is_begun: bool,
    flaw: Option<&'static str>,
}

impl<'i> Mended<'i> {
    pub(super) fn new(input: &'i mut dyn Read) -> Self {
        Self {
            input,
            raw: vec![0; BUFFER_BYTES],
            kept: 0,
            text: Vec::new(),
            mend: Mend::default(),
            mended: Vec::new(),
            squeeze: Squeeze::of_document(),
            out: Vec::new(),
            start: 0,
            is_begun: false,
            flaw: None,
        }
    }

    /// What was too long.
    pub(super) fn cut(&self) -> Cut {
        self.squeeze.cut()
    }

    /// Something that was mended though JSON forbids it, if there was anything.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        self.flaw.or(self.mend.flaw)
    }

    fn fill(&mut self) -> std::io::Result<()> {
        self.out.clear();
        self.start = 0;
        while self.out.is_empty() {
            let room = self.raw.get_mut(self.kept..).unwrap_or_default();
            let read = read_some(self.input, room)?;
            let end = self.kept + read;
            if end == 0 {
                return Ok(());
            }
            self.kept = self.take_text(end, read == 0);
            self.mended.clear();
            self.mend.feed(&self.text, &mut self.mended);
            self.squeeze.feed(&self.mended, &mut self.out);
        }
        Ok(())
    }

    /// Moves the first bytes of `raw` to `text`, stray ones replaced. What is left may become a character yet.
    fn take_text(&mut self, end: usize, is_last: bool) -> usize {
        self.text.clear();
        let mut rest = self.raw.get(..end).unwrap_or_default();
        while let Err(error) = std::str::from_utf8(rest) {
            let (valid, invalid) = rest.split_at_checked(error.valid_up_to()).unwrap_or_default();
            self.text.extend_from_slice(valid);
            rest = invalid;
            let length = match error.error_len() {
                Some(length) => length,
                None if is_last => rest.len(),
                None => break,
            };
            self.flaw = Some("not UTF-8");
            self.text.extend_from_slice("\u{fffd}".as_bytes());
            rest = rest.get(length..).unwrap_or_default();
        }
        if std::str::from_utf8(rest).is_ok() {
            self.text.extend_from_slice(rest);
            rest = &[];
        }
        if !self.is_begun && !self.text.is_empty() {
            self.is_begun = true;
            if self.text.starts_with(BYTE_ORDER_MARK) {
                self.text.drain(..BYTE_ORDER_MARK.len());
                self.flaw = Some("begins with a byte order mark");
            }
        }
        let left = rest.len();
        self.raw.copy_within(end - left..end, 0);
        left
    }
}

impl Read for Mended<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.start >= self.out.len() {
            self.fill()?;
        }
        let unread = self.out.get(self.start..).unwrap_or_default();
        let length = unread.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), unread.get(..length)) {
            to.copy_from_slice(from);
        }
        self.start += length;
        Ok(length)
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    /// In a bare word that was replaced.
    Word,
    Text,
    Escape,
}

#[derive(Debug, Default)]
struct Mend {
    place: Place,
    /// An escape that is not whole yet.
    escape: Vec<u8>,
    /// The escaped first half of a pair of surrogates.
    half: Vec<u8>,
    flaw: Option<&'static str>,
}

impl Mend {
    fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some((&first, rest)) = bytes.split_first() {
            match self.place {
                Place::Outside => {
                    let (run, found, rest) = split(bytes, memchr3(b'"', b'N', b'I', bytes));
                    blank(run, out);
                    bytes = rest;
                    match found {
                        Some(b'"') => {
                            out.extend_from_slice(b"\"");
                            self.place = Place::Text;
                        }
                        Some(letter) => {
                            out.extend_from_slice(if letter == b'N' { NOT_A_NUMBER } else { INFINITY });
                            self.place = Place::Word;
                        }
                        None => {}
                    }
                }
                Place::Word if first.is_ascii_alphabetic() => bytes = rest,
                Place::Word => self.place = Place::Outside,
                Place::Text => {
                    let (run, found, rest) = split(bytes, memchr2(b'"', b'\\', bytes));
                    if !run.is_empty() {
                        self.settle(out);
                        self.plain(run, out);
                    }
                    bytes = rest;
                    match found {
                        Some(b'"') => {
                            self.settle(out);
                            out.extend_from_slice(b"\"");
                            self.place = Place::Outside;
                        }
                        Some(_) => {
                            self.escape.push(b'\\');
                            self.place = Place::Escape;
                        }
                        None => {}
                    }
                }
                Place::Escape => {
                    self.escape.push(first);
                    bytes = rest;
                    let is_whole = self.escape.len() == 6 || self.escape.get(1) != Some(&b'u');
                    if is_whole {
                        self.escaped(out);
                    }
                }
            }
        }
    }

    /// A whole escape.
    fn escaped(&mut self, out: &mut Vec<u8>) {
        self.place = Place::Text;
        let escape = std::mem::take(&mut self.escape);
        match escape.as_slice() {
            [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _] => {
                self.settle(out);
                self.half = escape;
            }
            [_, b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', _, _] if self.half.is_empty() => {
                out.extend_from_slice(REPLACEMENT);
            }
            [_, b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F', _, _] => {
                out.extend_from_slice(&std::mem::take(&mut self.half));
                out.extend_from_slice(&escape);
            }
            _ => {
                self.settle(out);
                out.extend_from_slice(&escape);
                self.escape = escape;
                self.escape.clear();
            }
        }
    }

    /// The second half of a pair did not come.
    fn settle(&mut self, out: &mut Vec<u8>) {
        if !self.half.is_empty() {
            self.half.clear();
            out.extend_from_slice(REPLACEMENT);
        }
    }

    /// Bytes of a string; control characters must be escaped there.
    fn plain(&mut self, mut run: &[u8], out: &mut Vec<u8>) {
        while let Some(at) = run.iter().position(|byte| *byte < b' ') {
            let (before, found, rest) = split(run, Some(at));
            out.extend_from_slice(before);
            out.extend_from_slice(format!("\\u{:04x}", found.unwrap_or_default()).as_bytes());
            self.flaw = Some("has a bare control character in a string");
            run = rest;
        }
        out.extend_from_slice(run);
    }
}

/// Bytes outside of strings; zeros, which a crash leaves, are blanks.
fn blank(run: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(run);
    if memchr(0, run).is_some() {
        out.iter_mut().skip(start).filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
    }
}

/// What stands before a byte, the byte, and what stands behind it.
fn split(bytes: &[u8], at: Option<usize>) -> (&[u8], Option<u8>, &[u8]) {
    let (run, rest) = bytes.split_at_checked(at.unwrap_or(bytes.len())).unwrap_or((bytes, &[]));
    match rest.split_first() {
        Some((found, rest)) => (run, Some(*found), rest),
        None => (run, None, &[]),
    }
}
