//! JSON Lines, without trusting their length or their bytes.

use std::io::Read;
use std::sync::mpsc::sync_channel;

use memchr::memchr;
use serde_json::Value;

use super::Reader;
use super::mend;
use super::squeeze::Squeeze;
use crate::domain::Cut;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Skipped;

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;

/// A longer line is squeezed.
const LONG_LINE_BYTES: usize = 1024 * 1024;

/// A line that is longer even then is given up.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// A log that is longer than this is read on one thread and listened to on another.
const LONG_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// What it tells goes from one to the other by so many bytes of lines, and so many such batches may wait.
const BATCH_BYTES: usize = 512 * 1024;
const WAITING_BATCHES: usize = 2;

const BUFFER_BYTES: usize = 256 * 1024;

/// One line as it was read.
enum Line {
    /// It stands in the buffer.
    Whole,
    /// It was given up.
    TooLong,
}

/// One line as it was understood.
struct Parsed {
    number: u64,
    cut: Cut,
    /// The object, or why there is none.
    object: Result<Value, String>,
}

impl Parsed {
    fn tell(self, reader: &mut dyn Reader, sink: &mut dyn Sink) {
        if self.cut != Cut::default() {
            sink.hear(Event::Cut(self.cut));
        }
        match self.object {
            Ok(object) => reader.line(self.number, object, sink),
            Err(why) => sink.hear(Event::Skipped(Skipped { line: self.number, why })),
        }
    }
}

/// The lines of a log.
pub(super) struct Lines<'i> {
    input: &'i mut (dyn Read + Send),
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    line: Vec<u8>,
    cut: Cut,
    /// How much was read of everything.
    bytes: u64,
}

impl<'i> Lines<'i> {
    pub(super) fn new(input: &'i mut (dyn Read + Send)) -> Self {
        Self { input, buffer: Vec::new(), start: 0, end: 0, number: 0, line: Vec::new(), cut: Cut::default(), bytes: 0 }
    }

    /// Hands every line that is a JSON object to a reader; what is none is reported.
    pub(super) fn each(&mut self, reader: &mut dyn Reader, sink: &mut dyn Sink) -> std::io::Result<()> {
        while self.bytes < LONG_LOG_BYTES {
            match self.parsed() {
                Ok(Some(parsed)) => parsed.tell(reader, sink),
                ended => {
                    reader.end(sink);
                    return ended.map(|_| ());
                }
            }
        }
        // Events, not lines, go from one thread to the other: a parsed line is a hundred small pieces of memory, and
        // those are best freed where they were taken.
        std::thread::scope(|scope| {
            let (ready, batches) = sync_channel(WAITING_BATCHES);
            let teller = scope.spawn(move || {
                loop {
                    let (batch, is_more) = self.batch(reader);
                    if ready.send(batch).is_err() || !matches!(is_more, Ok(true)) {
                        return is_more.map(|_| ());
                    }
                }
            });
            for event in batches.into_iter().flatten() {
                sink.hear(event);
            }
            teller.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// What the next lines tell, as many as make a batch, and whether there are more.
    fn batch(&mut self, reader: &mut dyn Reader) -> (Vec<Event>, std::io::Result<bool>) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES {
            match self.parsed() {
                Ok(Some(parsed)) => {
                    bytes += self.line.len();
                    parsed.tell(reader, &mut batch);
                }
                ended => {
                    reader.end(&mut batch);
                    return (batch, ended.map(|_| false));
                }
            }
        }
        (batch, Ok(true))
    }

    /// The next line that is not empty.
    fn parsed(&mut self) -> std::io::Result<Option<Parsed>> {
        while let Some(line) = self.next()? {
            let object = match line {
                Line::Whole if self.line.trim_ascii().is_empty() => continue,
                Line::Whole => parse(&self.line),
                Line::TooLong => Err(format!("the line is longer than {} MB", MAX_LINE_BYTES / 1024 / 1024)),
            };
            return Ok(Some(Parsed { number: self.number, cut: std::mem::take(&mut self.cut), object }));
        }
        Ok(None)
    }

    /// The next line into `self.line`.
    fn next(&mut self) -> std::io::Result<Option<Line>> {
        self.line.clear();
        self.line.shrink_to(LONG_LINE_BYTES);
        let mut squeeze: Option<Squeeze> = None;
        let mut is_any = false;
        let mut is_too_long = false;
        loop {
            let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
            if unread.is_empty() {
                if !self.fill()? {
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
                    let mut fresh = Squeeze::new();
                    let beginning = std::mem::take(&mut self.line);
                    fresh.feed(&beginning, &mut self.line);
                    fresh.feed(piece, &mut self.line);
                    squeeze = Some(fresh);
                }
                Some(squeeze) => squeeze.feed(piece, &mut self.line),
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
            return Ok(Some(Line::TooLong));
        }
        if let Some(squeeze) = squeeze {
            self.cut = squeeze.cut();
        }
        Ok(Some(Line::Whole))
    }

    fn fill(&mut self) -> std::io::Result<bool> {
        self.buffer.resize(BUFFER_BYTES, 0);
        self.start = 0;
        self.end = read_some(self.input, &mut self.buffer)?;
        self.bytes += self.end as u64;
        Ok(self.end > 0)
    }
}

/// Reads what is there, however often the system is interrupted.
pub(super) fn read_some(input: &mut dyn Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// One JSON object. What a parser refuses is mended rather than lost.
fn parse(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => value,
        Err(error) => mend::mended(bytes).map_err(|_| why(&error))?,
    };
    match value {
        Value::Object(_) => Ok(value),
        Value::Array(_) => Err("a JSON array, where an object was expected".to_owned()),
        _ => Err("a bare JSON value, where an object was expected".to_owned()),
    }
}

fn why(error: &serde_json::Error) -> String {
    if error.is_eof() { "the JSON is cut off".to_owned() } else { format!("not JSON (column {})", error.column()) }
}
