//! Reader for ATIF, the Agent Trajectory Interchange Format, in all its versions and producers' variants.
//!
//! Reading is always lenient; validation against Harbor's own rules is optional. Events come in the order of the
//! document. Embedded trajectories come after their parent: each after a `Begin` event, and with `parent_session_id`
//! set if the parent has an id.

mod document;
mod step;
mod stream;
mod strict;
mod tool_results;
mod trajectory_state;
mod usage;

#[cfg(test)]
#[path = "atif_tests.rs"]
mod tests;

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;

use memchr::memchr;
use serde::de::DeserializeSeed;

use super::ReaderSettings;
use super::json_repair::JsonRepairReader;
use crate::domain::EventSink;
use crate::domain::SkippedLogLine;
use crate::domain::TrajectoryEvent;
use crate::domain::TruncationCount;
use document::AtifDocuments;
use strict::AtifValidator;

pub(super) use stream::AtifStreamReader;

/// The size of the input buffer: the parser reads single bytes, which is fast only from a standard library buffer.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads one document, an array of documents, or several documents in sequence.
pub(super) fn read_documents(
    input: &mut dyn Read,
    rules: ReaderSettings,
    sink: &mut dyn EventSink,
) -> std::io::Result<()> {
    let mut telling = AtifLogReader::new(rules, sink);
    let read = telling.read_input(input, 1);
    telling.report_log_breaches();
    read
}

/// Reads documents that stand on one line each. A broken line does not affect the others.
pub(super) fn read_document_lines(
    input: &mut dyn Read,
    rules: ReaderSettings,
    sink: &mut dyn EventSink,
) -> std::io::Result<()> {
    let mut telling = AtifLogReader::new(rules, sink);
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut number = 1;
    let read = loop {
        match skip_whitespace(&mut input) {
            Ok(None) => break Ok(()),
            Ok(Some(newlines)) => number += newlines,
            Err(error) => break Err(error),
        }
        let mut line = SingleLineReader { input: &mut input, is_over: false };
        if let Err(error) =
            telling.read_input(&mut line, number).and_then(|()| std::io::copy(&mut line, &mut std::io::sink()))
        {
            break Err(error);
        }
        number += 1;
    };
    telling.report_log_breaches();
    read
}

/// Skips whitespace and returns the number of newlines in it, or none at the end of the input.
fn skip_whitespace(input: &mut dyn BufRead) -> std::io::Result<Option<u64>> {
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

/// Reads a single line up to its newline.
struct SingleLineReader<'i> {
    input: &'i mut dyn BufRead,
    is_over: bool,
}

impl Read for SingleLineReader<'_> {
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

/// Reads one ATIF log and records its flaws.
struct AtifLogReader<'s> {
    documents: AtifDocuments<'s>,
    rules: ReaderSettings,
    /// The number of documents that were read completely.
    count: u64,
    flaw: Option<&'static str>,
    is_broken: bool,
}

impl<'s> AtifLogReader<'s> {
    fn new(rules: ReaderSettings, sink: &'s mut dyn EventSink) -> Self {
        Self { documents: AtifDocuments::new(sink, rules.strict), rules, count: 0, flaw: None, is_broken: false }
    }

    /// Reads the documents of an input that begins at this line.
    fn read_input(&mut self, input: &mut dyn Read, first_line: u64) -> std::io::Result<()> {
        let mut input = JsonRepairReader::new(input);
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
        self.flaw = self.flaw.or(input.repaired_flaw());
        let cut = input.cut_amount();
        if cut != TruncationCount::default() {
            self.documents.sink().receive_event(TrajectoryEvent::Cut(cut));
        }
        let error = match ended {
            Ok(()) => return Ok(()),
            Err(error) if error.is_io() => return Err(error.into()),
            Err(error) => error,
        };
        self.is_broken = true;
        // Line numbers are unknown where something was cut.
        let lines = u64::try_from(error.line()).unwrap_or_default();
        let line = match first_line {
            1 if cut != TruncationCount::default() => 0,
            1 => lines,
            first => first,
        };
        let what = if error.is_eof() { "cut off" } else { "no JSON" };
        let (begun, steps) = self.documents.reading_progress();
        let trajectory = if begun > 1 { format!(" of trajectory {begun}") } else { String::new() };
        let why = format!("the document is {what} after step {steps}{trajectory}");
        self.documents.sink().receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line, why }));
        Ok(())
    }

    /// Reports breaches of the rules for the log as a whole.
    fn report_log_breaches(mut self) {
        if !self.rules.strict {
            return;
        }
        let problems = [
            self.flaw,
            self.documents.is_list().then_some("an array, where one object was expected"),
            (self.count > 1 || (self.count == 1 && self.is_broken)).then_some("more than one JSON value"),
            self.is_broken.then_some("not JSON"),
        ];
        let whole = AtifValidator::new("trajectory".to_owned());
        problems.into_iter().flatten().for_each(|problem| whole.report_root_breach(problem, self.documents.sink()));
    }
}
