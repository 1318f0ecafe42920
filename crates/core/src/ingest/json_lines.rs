//! Reads JSON Lines without assuming a maximum length or valid bytes.

use std::io::Read;
use std::sync::mpsc::sync_channel;

use memchr::memchr;
use serde_json::Value;

use super::LogReader;
use super::json_repair;
use super::json_truncate::JsonTruncator;
use crate::domain::EventSink;
use crate::domain::SkippedLogLine;
use crate::domain::TrajectoryEvent;
use crate::domain::TruncationCount;

#[cfg(test)]
#[path = "json_lines_tests.rs"]
mod tests;

/// The length above which a line is truncated by `JsonTruncator`.
const LONG_LINE_BYTES: usize = 1024 * 1024;

/// The length above which a truncated line is skipped.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// The size above which a log is parsed on one thread and its events are handled on another.
const LONG_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// The size of a batch of lines between the two threads, and the number of batches that may wait.
const BATCH_BYTES: usize = 512 * 1024;
const WAITING_BATCHES: usize = 2;

const BUFFER_BYTES: usize = 256 * 1024;

/// The result of reading one line.
enum RawLogLine {
    /// The line is complete and in the buffer.
    Whole,
    /// The line was too long and is skipped.
    TooLong,
}

/// The result of parsing one line.
struct ParsedLogLine {
    number: u64,
    cut: TruncationCount,
    /// The object, or the reason why there is none.
    object: Result<Value, String>,
}

impl ParsedLogLine {
    fn pass_to_reader(self, reader: &mut dyn LogReader, sink: &mut dyn EventSink) {
        if self.cut != TruncationCount::default() {
            sink.receive_event(TrajectoryEvent::Cut(self.cut));
        }
        match self.object {
            Ok(object) => reader.read_log_line(self.number, object, sink),
            Err(why) => sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: self.number, why })),
        }
    }
}

/// The lines of a log.
pub(super) struct LogLines<'i> {
    input: &'i mut (dyn Read + Send),
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    line: Vec<u8>,
    cut: TruncationCount,
    /// The number of bytes that were read so far.
    bytes: u64,
}

impl<'i> LogLines<'i> {
    pub(super) fn new(input: &'i mut (dyn Read + Send)) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            number: 0,
            line: Vec::new(),
            cut: TruncationCount::default(),
            bytes: 0,
        }
    }

    /// Passes every line that is a JSON object to a reader; other lines are reported as skipped.
    pub(super) fn read_all(&mut self, reader: &mut dyn LogReader, sink: &mut dyn EventSink) -> std::io::Result<()> {
        while self.bytes < LONG_LOG_BYTES {
            match self.next_parsed() {
                Ok(Some(parsed)) => parsed.pass_to_reader(reader, sink),
                ended => {
                    reader.finish_log(sink);
                    return ended.map(|_| ());
                }
            }
        }
        // Events, not lines, go from one thread to the other: a parsed line is a hundred small allocations, and those
        // are best freed on the thread that made them.
        std::thread::scope(|scope| {
            let (ready, batches) = sync_channel(WAITING_BATCHES);
            let teller = scope.spawn(move || {
                loop {
                    let (batch, is_more) = self.read_batch(reader);
                    if ready.send(batch).is_err() || !matches!(is_more, Ok(true)) {
                        return is_more.map(|_| ());
                    }
                }
            });
            for event in batches.into_iter().flatten() {
                sink.receive_event(event);
            }
            teller.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Returns the events of the next batch of lines, and whether there are more lines.
    fn read_batch(&mut self, reader: &mut dyn LogReader) -> (Vec<TrajectoryEvent>, std::io::Result<bool>) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES {
            match self.next_parsed() {
                Ok(Some(parsed)) => {
                    bytes += self.line.len();
                    parsed.pass_to_reader(reader, &mut batch);
                }
                ended => {
                    reader.finish_log(&mut batch);
                    return (batch, ended.map(|_| false));
                }
            }
        }
        (batch, Ok(true))
    }

    /// Returns the next line that is not empty, parsed.
    fn next_parsed(&mut self) -> std::io::Result<Option<ParsedLogLine>> {
        while let Some(line) = self.read_line()? {
            let object = match line {
                RawLogLine::Whole if self.line.trim_ascii().is_empty() => continue,
                RawLogLine::Whole => parse_object(&self.line),
                RawLogLine::TooLong => Err(format!("the line is longer than {} MB", MAX_LINE_BYTES / 1024 / 1024)),
            };
            return Ok(Some(ParsedLogLine { number: self.number, cut: std::mem::take(&mut self.cut), object }));
        }
        Ok(None)
    }

    /// Reads the next line into `self.line`.
    fn read_line(&mut self) -> std::io::Result<Option<RawLogLine>> {
        self.line.clear();
        self.line.shrink_to(LONG_LINE_BYTES);
        let mut squeeze: Option<JsonTruncator> = None;
        let mut is_any = false;
        let mut is_too_long = false;
        loop {
            let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
            if unread.is_empty() {
                if !self.fill_buffer()? {
                    break;
                }
                continue;
            }
            is_any = true;
            let newline = memchr(b'\n', unread);
            let piece = unread.get(..newline.unwrap_or(unread.len())).unwrap_or_default();
            match &mut squeeze {
                _ if is_too_long => {}
                None if self.line.len() + piece.len() <= LONG_LINE_BYTES => self.line.extend_from_slice(piece),
                None => {
                    let mut fresh = JsonTruncator::new();
                    let beginning = std::mem::take(&mut self.line);
                    fresh.feed_bytes(&beginning, &mut self.line);
                    fresh.feed_bytes(piece, &mut self.line);
                    squeeze = Some(fresh);
                }
                Some(squeeze) => squeeze.feed_bytes(piece, &mut self.line),
            }
            if self.line.len() > MAX_LINE_BYTES {
                is_too_long = true;
                self.line = Vec::new();
            }
            self.start += piece.len() + usize::from(newline.is_some());
            if newline.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        if is_too_long {
            return Ok(Some(RawLogLine::TooLong));
        }
        if let Some(squeeze) = squeeze {
            self.cut = squeeze.cut_amount();
        }
        Ok(Some(RawLogLine::Whole))
    }

    fn fill_buffer(&mut self) -> std::io::Result<bool> {
        self.buffer.resize(BUFFER_BYTES, 0);
        self.start = 0;
        self.end = read_some(self.input, &mut self.buffer)?;
        self.bytes += self.end as u64;
        Ok(self.end > 0)
    }
}

/// Reads available bytes and retries when the call is interrupted.
pub(super) fn read_some(input: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Parses one JSON object. What the parser rejects is repaired if possible.
fn parse_object(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => value,
        Err(error) => json_repair::repair_value(bytes).map_err(|_| describe_error(&error))?,
    };
    match value {
        Value::Object(_) => Ok(value),
        Value::Array(_) => Err("a JSON array, where an object was expected".to_owned()),
        _ => Err("a bare JSON value, where an object was expected".to_owned()),
    }
}

fn describe_error(error: &serde_json::Error) -> String {
    if error.is_eof() { "the JSON is cut off".to_owned() } else { format!("not JSON (column {})", error.column()) }
}
