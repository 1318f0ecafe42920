//! Reads `events/<run>.jsonl`, the event log of a run, as a stream of any length.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memrchr};
use serde::Deserialize;
use serde_json::Value;

use super::finding::ReviewFinding;
use super::lesson::json_to_text;

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

const VERDICT: &str = "review.verdict";
const FIX: &str = "fix.applied";

/// The number of bytes read at once; a longer line makes the buffer grow.
const CHUNK: usize = 64 * 1024;

/// A log of at least this many bytes is read by two threads.
const LONG: u64 = 1024 * 1024;

/// The approximate number of bytes of a log chunk, which one thread reads at a time.
const PIECE: u64 = 512 * 1024;

/// The number of bytes read at once to find the end of a chunk.
const PEEK: usize = 1024;

/// The parts of a run's event log that matter for the memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RunFindings {
    /// The run id given by the first event that has one.
    pub(super) id: Option<String>,
    /// The findings of the reviews, without duplicates.
    pub(super) findings: Vec<ReviewFinding>,
    /// True if the log contains a review.
    pub(super) is_reviewed: bool,
    /// The number of lines that are not events.
    pub(super) malformed: usize,
}

#[derive(Debug, Deserialize)]
struct RunLogEvent {
    #[serde(default)]
    run_id: Value,
    #[serde(default, rename = "type")]
    kind: Value,
    #[serde(default)]
    data: Value,
}

/// An event of which only the run id is read.
#[derive(Debug, Deserialize)]
struct EventRunId {
    #[serde(default)]
    run_id: Value,
}

/// Reads the review findings of a run from its event log.
pub(super) fn read_run_findings(path: &Path) -> io::Result<RunFindings> {
    ParallelLogReader::start_reading(path)?.finish_reading()
}

/// A log that is being read. A long log is read by a second thread while its owner does something else, and then by
/// both threads. Each takes the next chunk as soon as it is free, so neither waits long for a busy processor.
#[derive(Debug)]
pub(super) struct ParallelLogReader {
    path: PathBuf,
    state: LogReadState,
}

#[derive(Debug)]
enum LogReadState {
    Done(RunFindings),
    Begun { pieces: Arc<Mutex<LogChunkQueue>>, theirs: Receiver<io::Result<(usize, RunFindings)>> },
}

impl ParallelLogReader {
    pub(super) fn start_reading(path: &Path) -> io::Result<Self> {
        let log = File::open(path)?;
        let length = log.metadata()?.len();
        if length < LONG {
            return Ok(Self { path: path.to_owned(), state: LogReadState::Done(parse_run_log(log)?) });
        }
        let pieces = Arc::new(Mutex::new(LogChunkQueue { log, length, next: 0, count: 0 }));
        let (ours, theirs) = channel();
        let other = (path.to_owned(), Arc::clone(&pieces));
        let read = move || {
            let (path, pieces) = other;
            let done = read_chunks(&path, &pieces, |number, run| ours.send(Ok((number, run))).is_ok());
            if let Err(error) = done {
                // If this fails, nobody is waiting for the result any more.
                let _ = ours.send(Err(error));
            }
        };
        // If no thread can be started, one reader reads everything.
        let _ = thread::Builder::new().spawn(read);
        Ok(Self { path: path.to_owned(), state: LogReadState::Begun { pieces, theirs } })
    }

    pub(super) fn finish_reading(self) -> io::Result<RunFindings> {
        let (pieces, theirs) = match self.state {
            LogReadState::Done(run) => return Ok(run),
            LogReadState::Begun { pieces, theirs } => (pieces, theirs),
        };
        let mut runs = BTreeMap::new();
        read_chunks(&self.path, &pieces, |number, run| {
            runs.insert(number, run);
            true
        })?;
        // The other thread is waited for only if it took a chunk: it may not even have started.
        let count = pieces.lock().map_err(|_| broken_reader_error())?.count;
        while runs.len() < count {
            let (number, run) = theirs.recv().map_err(|_| broken_reader_error())??;
            runs.insert(number, run);
        }
        let run = RunFindings::from_chunks(runs.into_values());
        // The run id is looked for in the first chunk only. A log that does not have it there is read once more.
        if run.id.is_none() { parse_run_log(File::open(&self.path)?) } else { Ok(run) }
    }
}

fn broken_reader_error() -> io::Error {
    io::Error::other("another reader of it broke")
}

/// The unread rest of a log.
#[derive(Debug)]
struct LogChunkQueue {
    log: File,
    length: u64,
    next: u64,
    count: usize,
}

/// A part of a log that consists of whole lines.
#[derive(Debug)]
struct LogChunk {
    number: usize,
    start: u64,
    length: u64,
}

impl LogChunkQueue {
    /// Takes the next chunk, if any is left. The last one ends where the log ends when it is read.
    fn take_next_chunk(&mut self) -> io::Result<Option<LogChunk>> {
        let start = self.next;
        if start >= self.length {
            return Ok(None);
        }
        let about = start.saturating_add(PIECE);
        self.next = if about < self.length { find_next_line_start(&mut self.log, about)? } else { u64::MAX };
        self.count += 1;
        Ok(Some(LogChunk { number: self.count - 1, start, length: self.next - start }))
    }
}

/// Returns the position at which the first line after `place` begins.
fn find_next_line_start(log: &mut File, place: u64) -> io::Result<u64> {
    log.seek(SeekFrom::Start(place))?;
    let skipped = BufReader::with_capacity(PEEK, log).skip_until(b'\n')?;
    Ok(place + u64::try_from(skipped).unwrap_or_default())
}

/// Reads one chunk after the other until none is left or `give` returns false.
fn read_chunks(
    path: &Path,
    pieces: &Mutex<LogChunkQueue>,
    mut give: impl FnMut(usize, RunFindings) -> bool,
) -> io::Result<()> {
    let mut log = File::open(path)?;
    let mut buffer = Vec::new();
    loop {
        let taken = pieces.lock().map_err(|_| broken_reader_error())?.take_next_chunk()?;
        let Some(piece) = taken else { return Ok(()) };
        log.seek(SeekFrom::Start(piece.start))?;
        let look = if piece.number == 0 { LineFilter::AtAll } else { LineFilter::AtWhatMatters };
        let run = parse_log_part(&mut buffer, (&log).take(piece.length), look)?;
        if !give(piece.number, run) {
            return Ok(());
        }
    }
}

/// Reads the descriptions of the findings fixed in a run from its event log.
pub(super) fn read_fixes(path: &Path) -> io::Result<Vec<String>> {
    parse_fixes(File::open(path)?)
}

fn parse_run_log(log: impl Read) -> io::Result<RunFindings> {
    parse_log_part(&mut Vec::new(), log, LineFilter::AtAll)
}

/// Parses a log or a part of it; the run id of events other than reviews is read only while `look` asks for all lines.
fn parse_log_part(buffer: &mut Vec<u8>, log: impl Read, look: LineFilter) -> io::Result<RunFindings> {
    let mut run = RunFindings::default();
    let mut met = HashSet::new();
    for_each_line(buffer, log, VERDICT, look, |line, may_matter, look| {
        // Most lines are not examined any closer than this.
        if !looks_like_object(line) {
            run.malformed += 1;
        } else if may_matter {
            match parse_event(line) {
                Some(event) => run.add_event(event, &mut met),
                None => run.malformed += 1,
            }
        } else if look == LineFilter::AtAll {
            match serde_json::from_slice::<EventRunId>(line) {
                Ok(named) => run.id = parse_run_id(named.run_id),
                Err(_) => run.malformed += 1,
            }
        }
        if run.id.is_none() { look } else { LineFilter::AtWhatMatters }
    })?;
    Ok(run)
}

fn parse_fixes(log: impl Read) -> io::Result<Vec<String>> {
    let mut fixes = Vec::new();
    for_each_line(&mut Vec::new(), log, FIX, LineFilter::AtWhatMatters, |line, may_matter, look| {
        if may_matter
            && let Some(RunLogEvent { kind, data: Value::Object(mut data), .. }) = parse_event(line)
            && kind == FIX
        {
            let fixed = match data.remove("finding").unwrap_or_default() {
                Value::Object(mut finding) => finding.remove("description").unwrap_or_default(),
                told => told,
            };
            fixes.push(json_to_text(fixed));
        }
        look
    })?;
    fixes.retain(|fix| !fix.trim().is_empty());
    Ok(fixes)
}

impl RunFindings {
    /// Joins the results of consecutive chunks into one.
    fn from_chunks(pieces: impl Iterator<Item = Self>) -> Self {
        let mut whole = Self::default();
        let mut met = HashSet::new();
        for (number, piece) in pieces.enumerate() {
            // A later chunk knows the run id only if it contains a review.
            whole.id = whole.id.or(piece.id.filter(|_| number == 0));
            whole.is_reviewed |= piece.is_reviewed;
            whole.malformed += piece.malformed;
            whole.findings.extend(piece.findings.into_iter().filter(|finding| met.insert(finding.fingerprint())));
        }
        whole
    }

    fn add_event(&mut self, event: RunLogEvent, met: &mut HashSet<String>) {
        self.id = self.id.take().or_else(|| parse_run_id(event.run_id));
        if event.kind != VERDICT {
            return;
        }
        self.is_reviewed = true;
        let Value::Object(mut data) = event.data else { return };
        let source = json_to_text(data.remove("archetype").unwrap_or_default());
        let source = if source.trim().is_empty() { "unknown" } else { source.as_str() };
        let findings = match data.remove("findings").unwrap_or_default() {
            Value::Array(findings) => findings,
            Value::Object(findings) => findings.into_iter().map(|(_, finding)| finding).collect(),
            _ => Vec::new(),
        };
        let findings = findings.into_iter().filter_map(|finding| ReviewFinding::from_json(finding, source));
        self.findings.extend(findings.filter(|finding| met.insert(finding.fingerprint())));
    }
}

/// Parses an event. A few bytes that are not valid UTF-8 do not cost a finding.
fn parse_event(line: &[u8]) -> Option<RunLogEvent> {
    let read = serde_json::from_slice(line).ok();
    read.or_else(|| {
        let is_text = std::str::from_utf8(line).is_ok();
        (!is_text).then(|| serde_json::from_str(&String::from_utf8_lossy(line)).ok()).flatten()
    })
}

fn parse_run_id(value: Value) -> Option<String> {
    Some(json_to_text(value)).filter(|name| !name.is_empty())
}

/// Returns true if a line begins and ends like a JSON object, which a truncated one does not.
fn looks_like_object(line: &[u8]) -> bool {
    matches!(line, [b'{', .., b'}'])
}

/// The lines of a log that are passed on from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineFilter {
    AtAll,
    /// Lines that contain the word, and lines that do not look like an object.
    AtWhatMatters,
}

/// Returns true if every line of a block begins and ends like a JSON object.
fn has_only_object_lines(block: &[u8]) -> bool {
    let is_between = |end: usize| match (end.checked_sub(1).and_then(|last| block.get(last)), block.get(end + 1)) {
        (Some(b'}'), Some(b'{') | None) => true,
        (_, _) => false,
    };
    block.first() == Some(&b'{') && block.last() == Some(&b'\n') && memchr_iter(b'\n', block).all(is_between)
}

/// Passes each line that is not blank to `take`, with a flag that it contains the word and the current filter; `take`
/// returns the filter for the next lines.
fn for_each_line(
    buffer: &mut Vec<u8>,
    mut log: impl Read,
    word: &str,
    mut look: LineFilter,
    mut take: impl FnMut(&[u8], bool, LineFilter) -> LineFilter,
) -> io::Result<()> {
    let finder = Finder::new(word);
    let mut take = |line: &[u8], holds: bool, look: &mut LineFilter| {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        if !line.is_empty() {
            *look = take(line, holds, *look);
        }
    };
    if buffer.is_empty() {
        buffer.resize(CHUNK, 0);
    }
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = match log.read(buffer.get_mut(filled..).unwrap_or_default()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let known = filled;
        filled += read;
        let fresh = buffer.get(known..filled).unwrap_or_default();
        let whole = if read == 0 { filled } else { memrchr(b'\n', fresh).map_or(0, |at| known + at + 1) };
        let block = buffer.get(..whole).unwrap_or_default();
        let mut hits = finder.find_iter(block).peekable();
        let mut start = 0;
        let mut one = |start: &mut usize, end: usize, look: &mut LineFilter| {
            while hits.next_if(|hit| *hit < *start).is_some() {}
            take(block.get(*start..end).unwrap_or_default(), hits.peek().is_some_and(|hit| *hit < end), look);
            *start = end + 1;
        };
        let last = if read == 0 { Some(whole) } else { None };
        let mut ends = memchr_iter(b'\n', block).chain(last);
        while look == LineFilter::AtAll
            && let Some(end) = ends.next()
        {
            one(&mut start, end, &mut look);
        }
        if has_only_object_lines(block.get(start..).unwrap_or_default()) {
            while hits.next_if(|hit| *hit < start).is_some() {}
            while let Some(hit) = hits.next() {
                let (before, behind) = block.split_at(hit);
                let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
                let end = hit + memchr(b'\n', behind).unwrap_or(behind.len());
                take(block.get(start..end).unwrap_or_default(), true, &mut look);
                while hits.next_if(|next| *next < end).is_some() {}
            }
        } else {
            ends.for_each(|end| one(&mut start, end, &mut look));
        }
        if read == 0 {
            return Ok(());
        }
        drop(hits);
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
}
