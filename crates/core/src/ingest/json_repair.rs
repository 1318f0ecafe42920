//! Repairs invalid JSON while it is read, so that a parser accepts it.
//!
//! Python writes `NaN`, JavaScript cuts strings through the middle of a character, terminals leave control characters
//! and stray bytes. A parser would reject the whole document for any of them. Long values are truncated on the way.

use std::io::Read;

use memchr::memchr;
use memchr::memchr2;
use memchr::memchr3;
use serde_json::Value;

use super::json_lines::read_some;
use super::json_truncate::JsonTruncator;
use crate::domain::TruncationCount;

#[cfg(test)]
#[path = "json_repair_tests.rs"]
mod tests;

const BUFFER_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The replacements for `NaN` and `Infinity`, which JSON lacks: neither a whole number nor a relevant amount.
const NOT_A_NUMBER: &[u8] = b"-5e-324";
const INFINITY: &[u8] = b"5e-324";

/// The replacement for a lone surrogate, which is not a character.
const REPLACEMENT: &[u8] = b"\\ufffd";

/// The maximum number of numbers out of range that are replaced in one line.
const MAX_HUGE_NUMBERS: usize = 64;

/// Repairs and parses one value that the parser rejected.
pub(super) fn repair_value(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let text = String::from_utf8_lossy(bytes);
    let mut mended = Vec::with_capacity(text.len());
    JsonRepair::default().feed_bytes(text.as_bytes(), &mut mended);
    let mut short = Vec::with_capacity(mended.len());
    JsonTruncator::new().feed_bytes(&mended, &mut short);
    for _ in 0..MAX_HUGE_NUMBERS {
        match serde_json::from_slice(&short) {
            Err(error) if is_huge_number(&error) && replace_huge_number(&mut short, &error) => {}
            parsed => return parsed,
        }
    }
    serde_json::from_slice(&short)
}

fn is_huge_number(error: &serde_json::Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("number out of range")
}

/// Replaces a number that no float can represent by the one that stands for infinity; returns false if it fails.
fn replace_huge_number(text: &mut Vec<u8>, error: &serde_json::Error) -> bool {
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

/// A reader that repairs and truncates the JSON of its input.
pub(super) struct JsonRepairReader<'i> {
    input: &'i mut dyn Read,
    raw: Vec<u8>,
    /// The number of bytes at the beginning of `raw` that are an incomplete character.
    kept: usize,
    text: Vec<u8>,
    mend: JsonRepair,
    mended: Vec<u8>,
    squeeze: JsonTruncator,
    out: Vec<u8>,
    start: usize,
    is_begun: bool,
    flaw: Option<&'static str>,
}

impl<'i> JsonRepairReader<'i> {
    pub(super) fn new(input: &'i mut dyn Read) -> Self {
        Self {
            input,
            raw: vec![0; BUFFER_BYTES],
            kept: 0,
            text: Vec::new(),
            mend: JsonRepair::default(),
            mended: Vec::new(),
            squeeze: JsonTruncator::for_document(),
            out: Vec::new(),
            start: 0,
            is_begun: false,
            flaw: None,
        }
    }

    /// Returns the amount of text that was cut because it was too long.
    pub(super) fn cut_amount(&self) -> TruncationCount {
        self.squeeze.cut_amount()
    }

    /// Returns a violation of JSON that was repaired, if there was any.
    pub(super) fn repaired_flaw(&self) -> Option<&'static str> {
        self.flaw.or(self.mend.flaw)
    }

    fn fill_buffer(&mut self) -> std::io::Result<()> {
        self.out.clear();
        self.start = 0;
        while self.out.is_empty() {
            let room = self.raw.get_mut(self.kept..).unwrap_or_default();
            let read = read_some(self.input, room)?;
            let end = self.kept + read;
            if end == 0 {
                return Ok(());
            }
            self.kept = self.decode_text(end, read == 0);
            self.mended.clear();
            self.mend.feed_bytes(&self.text, &mut self.mended);
            self.squeeze.feed_bytes(&self.mended, &mut self.out);
        }
        Ok(())
    }

    /// Decodes the first bytes of `raw` into `text`, replacing invalid ones. Returns the length of an incomplete rest.
    fn decode_text(&mut self, end: usize, is_last: bool) -> usize {
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

impl Read for JsonRepairReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.start >= self.out.len() {
            self.fill_buffer()?;
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
enum RepairState {
    #[default]
    Outside,
    /// Inside a bare word that was replaced.
    Word,
    Text,
    Escape,
}

#[derive(Debug, Default)]
struct JsonRepair {
    place: RepairState,
    /// An escape that is not complete yet.
    escape: Vec<u8>,
    /// The escaped first half of a surrogate pair.
    half: Vec<u8>,
    flaw: Option<&'static str>,
}

impl JsonRepair {
    fn feed_bytes(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some((&first, rest)) = bytes.split_first() {
            match self.place {
                RepairState::Outside => {
                    let (run, found, rest) = split_around(bytes, memchr3(b'"', b'N', b'I', bytes));
                    copy_outside_bytes(run, out);
                    bytes = rest;
                    match found {
                        Some(b'"') => {
                            out.extend_from_slice(b"\"");
                            self.place = RepairState::Text;
                        }
                        Some(letter) => {
                            out.extend_from_slice(if letter == b'N' { NOT_A_NUMBER } else { INFINITY });
                            self.place = RepairState::Word;
                        }
                        None => {}
                    }
                }
                RepairState::Word if first.is_ascii_alphabetic() => bytes = rest,
                RepairState::Word => self.place = RepairState::Outside,
                RepairState::Text => {
                    let (run, found, rest) = split_around(bytes, memchr2(b'"', b'\\', bytes));
                    if !run.is_empty() {
                        self.replace_lone_surrogate(out);
                        self.copy_string_bytes(run, out);
                    }
                    bytes = rest;
                    match found {
                        Some(b'"') => {
                            self.replace_lone_surrogate(out);
                            out.extend_from_slice(b"\"");
                            self.place = RepairState::Outside;
                        }
                        Some(_) => {
                            self.escape.push(b'\\');
                            self.place = RepairState::Escape;
                        }
                        None => {}
                    }
                }
                RepairState::Escape => {
                    self.escape.push(first);
                    bytes = rest;
                    let is_whole = self.escape.len() == 6 || self.escape.get(1) != Some(&b'u');
                    if is_whole {
                        self.finish_escape(out);
                    }
                }
            }
        }
    }

    /// Writes a complete escape, or keeps it if it is the first half of a surrogate pair.
    fn finish_escape(&mut self, out: &mut Vec<u8>) {
        self.place = RepairState::Text;
        let escape = std::mem::take(&mut self.escape);
        match escape.as_slice() {
            [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _] => {
                self.replace_lone_surrogate(out);
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
                self.replace_lone_surrogate(out);
                out.extend_from_slice(&escape);
                self.escape = escape;
                self.escape.clear();
            }
        }
    }

    /// Writes a replacement for a first half of a surrogate pair whose second half is missing.
    fn replace_lone_surrogate(&mut self, out: &mut Vec<u8>) {
        if !self.half.is_empty() {
            self.half.clear();
            out.extend_from_slice(REPLACEMENT);
        }
    }

    /// Copies bytes of a string and escapes control characters.
    fn copy_string_bytes(&mut self, mut run: &[u8], out: &mut Vec<u8>) {
        while let Some(at) = run.iter().position(|byte| *byte < b' ') {
            let (before, found, rest) = split_around(run, Some(at));
            out.extend_from_slice(before);
            out.extend_from_slice(format!("\\u{:04x}", found.unwrap_or_default()).as_bytes());
            self.flaw = Some("has a bare control character in a string");
            run = rest;
        }
        out.extend_from_slice(run);
    }
}

/// Copies bytes outside of strings; null bytes, which a crash leaves, become spaces.
fn copy_outside_bytes(run: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(run);
    if memchr(0, run).is_some() {
        out.iter_mut().skip(start).filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
    }
}

/// Returns the bytes before a position, the byte at it, and the bytes after it.
fn split_around(bytes: &[u8], at: Option<usize>) -> (&[u8], Option<u8>, &[u8]) {
    let (run, rest) = bytes.split_at_checked(at.unwrap_or(bytes.len())).unwrap_or((bytes, &[]));
    match rest.split_first() {
        Some((found, rest)) => (run, Some(*found), rest),
        None => (run, None, &[]),
    }
}
