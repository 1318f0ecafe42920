//! ATIF, the Agent Trajectory Interchange Format, of every version and with every liberty that producers take.
//!
//! Read leniently always; held against Harbor's own rules as well where that is asked for. The events come in the order
//! of the document. Trajectories that are embedded in another one come behind it: after [`Event::Begin`], and with
//! [`About::parent_session_id`](crate::domain::About) set if the parent has an id.

mod chat;
mod document;
mod result;
mod spent;
mod step;
mod stream;
mod strict;
mod told;

#[cfg(test)]
#[path = "atif_tests.rs"]
mod tests;

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;

use memchr::memchr;
use serde::de::DeserializeSeed;

use super::Rules;
use super::mend::Mended;
use crate::domain::Cut;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Skipped;
use document::Documents;
use strict::Strict;

pub(super) use stream::Stream;

/// The parser takes byte by byte, which is quick only out of a buffer of the standard library.
const BUFFER_BYTES: usize = 64 * 1024;

/// Tells one document, an array of them, or several one after the other.
pub(super) fn documents(input: &mut dyn Read, rules: Rules, sink: &mut dyn Sink) -> std::io::Result<()> {
    let mut telling = Telling::new(rules, sink);
    let read = telling.read(input, 1);
    telling.end();
    read
}

/// Tells documents that stand each on a line of its own. One that is broken costs nothing but itself.
pub(super) fn lines(input: &mut dyn Read, rules: Rules, sink: &mut dyn Sink) -> std::io::Result<()> {
    let mut telling = Telling::new(rules, sink);
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut number = 1;
    let read = loop {
        match skip_blank(&mut input) {
            Ok(None) => break Ok(()),
            Ok(Some(newlines)) => number += newlines,
            Err(error) => break Err(error),
        }
        let mut line = Line { input: &mut input, is_over: false };
        if let Err(error) =
            telling.read(&mut line, number).and_then(|()| std::io::copy(&mut line, &mut std::io::sink()))
        {
            break Err(error);
        }
        number += 1;
    };
    telling.end();
    read
}

/// Passes over what is blank, and counts the ends of lines in it; nothing if nothing follows.
fn skip_blank(input: &mut dyn BufRead) -> std::io::Result<Option<u64>> {
    let mut newlines = 0;
    loop {
        let bytes = input.fill_buf()?;
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let blank = bytes.get(..start.unwrap_or(bytes.len())).unwrap_or_default();
        newlines += blank.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        let (length, is_end) = (blank.len(), bytes.is_empty());
        input.consume(length);
        if start.is_some() || is_end {
            return Ok(start.map(|_| newlines));
        }
    }
}

/// One line, and the newline behind it.
struct Line<'i> {
    input: &'i mut dyn BufRead,
    is_over: bool,
}

impl Read for Line<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.is_over || buffer.is_empty() {
            return Ok(0);
        }
        let bytes = self.input.fill_buf()?;
        let bytes = bytes.get(..buffer.len()).unwrap_or(bytes);
        let newline = memchr(b'\n', bytes);
        let piece = bytes.get(..newline.unwrap_or(bytes.len())).unwrap_or_default();
        let length = piece.len();
        if let Some(to) = buffer.get_mut(..length) {
            to.copy_from_slice(piece);
        }
        self.is_over = newline.is_some() || bytes.is_empty();
        self.input.consume(length + usize::from(newline.is_some()));
        Ok(length)
    }
}

/// What is told of one log, and what was wrong with it.
struct Telling<'s> {
    documents: Documents<'s>,
    rules: Rules,
    /// Documents that were read to their ends.
    count: u64,
    flaw: Option<&'static str>,
    is_broken: bool,
}

impl<'s> Telling<'s> {
    fn new(rules: Rules, sink: &'s mut dyn Sink) -> Self {
        Self { documents: Documents::new(sink, rules.strict), rules, count: 0, flaw: None, is_broken: false }
    }

    /// Tells what stands here, from this line on.
    fn read(&mut self, input: &mut dyn Read, first_line: u64) -> std::io::Result<()> {
        let mut input = Mended::new(input);
        let ended = {
            let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(BUFFER_BYTES, &mut input));
            loop {
                if let Err(error) = (&mut self.documents).deserialize(&mut json) {
                    break Err(error);
                }
                self.count += 1;
                match json.end() {
                    Ok(()) => break Ok(()),
                    Err(error) if error.is_io() => break Err(error),
                    Err(_) => {}
                }
            }
        };
        self.flaw = self.flaw.or(input.flaw());
        let cut = input.cut();
        if cut != Cut::default() {
            self.documents.sink().hear(Event::Cut(cut));
        }
        let error = match ended {
            Ok(()) => return Ok(()),
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => error,
        };
        self.is_broken = true;
        // Lines are lost where something is cut.
        let lines = u64::try_from(error.line()).unwrap_or_default();
        let line = match first_line {
            1 if cut != Cut::default() => 0,
            1 => lines,
            first => first,
        };
        let what = if error.is_eof() { "cut off" } else { "no JSON" };
        let (begun, steps) = self.documents.progress();
        let trajectory = if begun > 1 { format!(" of trajectory {begun}") } else { String::new() };
        let why = format!("the document is {what} after step {steps}{trajectory}");
        self.documents.sink().hear(Event::Skipped(Skipped { line, why }));
        Ok(())
    }

    /// Tells what breaks the rules that hold for the whole.
    fn end(mut self) {
        if !self.rules.strict {
            return;
        }
        let problems = [
            self.flaw,
            self.documents.is_list().then_some("an array, where one object was expected"),
            (self.count > 1 || (self.count == 1 && self.is_broken)).then_some("more than one JSON value"),
            self.is_broken.then_some("not JSON"),
        ];
        let whole = Strict::new("trajectory".to_owned());
        problems.into_iter().flatten().for_each(|problem| whole.whole(problem, self.documents.sink()));
    }
}
