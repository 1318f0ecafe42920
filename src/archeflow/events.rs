//! `events/<run>.jsonl`: the log of a run, read as a stream, whatever its length.

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

use super::finding::Finding;
use super::lesson::plain_text;

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;

const VERDICT: &str = "review.verdict";
const FIX: &str = "fix.applied";

/// So much is read at once; a longer line makes the buffer grow.
const CHUNK: usize = 64 * 1024;

/// A longer log is worth a second reader.
const LONG: u64 = 1024 * 1024;

/// So much one of two readers takes at a time.
const PIECE: u64 = 512 * 1024;

/// Where a piece ends is found by reading so much at once.
const PEEK: usize = 1024;

/// A run, as far as its memory goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Run {
    /// What the first event that names it says.
    pub(super) id: Option<String>,
    /// What reviewers found, each thing once.
    pub(super) findings: Vec<Finding>,
    /// Whether there was a review at all.
    pub(super) is_reviewed: bool,
    /// Lines that are no events.
    pub(super) malformed: usize,
}

#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default)]
    run_id: Value,
    #[serde(default, rename = "type")]
    kind: Value,
    #[serde(default)]
    data: Value,
}

/// An event of which only the run matters.
#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    run_id: Value,
}

/// Reads what reviewers found in a run.
pub(super) fn read_run(path: &Path) -> io::Result<Run> {
    Reading::begin(path)?.finish()
}

/// A log that is being read. A long one is read by another thread while its owner does something else, and by both of
/// them once that is done. Whoever is free takes the next piece, so neither waits long for a processor that others use.
#[derive(Debug)]
pub(super) struct Reading {
    path: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    Done(Run),
    Begun { pieces: Arc<Mutex<Pieces>>, theirs: Receiver<io::Result<(usize, Run)>> },
}

impl Reading {
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        let log = File::open(path)?;
        let length = log.metadata()?.len();
        if length < LONG {
            return Ok(Self { path: path.to_owned(), state: State::Done(run_of(log)?) });
        }
        let pieces = Arc::new(Mutex::new(Pieces { log, length, next: 0, count: 0 }));
        let (ours, theirs) = channel();
        let other = (path.to_owned(), Arc::clone(&pieces));
        let read = move || {
            let (path, pieces) = other;
            let done = read_pieces(&path, &pieces, |number, run| ours.send(Ok((number, run))).is_ok());
            if let Err(error) = done {
                // Nobody waits any more if this fails.
                let _ = ours.send(Err(error));
            }
        };
        // Where no thread can be had, one reader reads everything.
        let _ = thread::Builder::new().spawn(read);
        Ok(Self { path: path.to_owned(), state: State::Begun { pieces, theirs } })
    }

    pub(super) fn finish(self) -> io::Result<Run> {
        let (pieces, theirs) = match self.state {
            State::Done(run) => return Ok(run),
            State::Begun { pieces, theirs } => (pieces, theirs),
        };
        let mut runs = BTreeMap::new();
        read_pieces(&self.path, &pieces, |number, run| {
            runs.insert(number, run);
            true
        })?;
        // The other one is waited for only if it has something: it may not even have begun.
        let count = pieces.lock().map_err(|_| broken())?.count;
        while runs.len() < count {
            let (number, run) = theirs.recv().map_err(|_| broken())??;
            runs.insert(number, run);
        }
        let run = Run::joined(runs.into_values());
        // The name is looked for in the first piece only. A log that does not say it there is read once more.
        if run.id.is_none() { run_of(File::open(&self.path)?) } else { Ok(run) }
    }
}

fn broken() -> io::Error {
    io::Error::other("another reader of it broke")
}

/// What is left of a log to read.
#[derive(Debug)]
struct Pieces {
    log: File,
    length: u64,
    next: u64,
    count: usize,
}

/// Whole lines.
#[derive(Debug)]
struct Piece {
    number: usize,
    start: u64,
    length: u64,
}

impl Pieces {
    /// The next piece. The last one ends where the log ends by then.
    fn take(&mut self) -> io::Result<Option<Piece>> {
        let start = self.next;
        if start >= self.length {
            return Ok(None);
        }
        let about = start.saturating_add(PIECE);
        self.next = if about < self.length { line_behind(&mut self.log, about)? } else { u64::MAX };
        self.count += 1;
        Ok(Some(Piece { number: self.count - 1, start, length: self.next - start }))
    }
}

/// Where the first line begins behind a place.
fn line_behind(log: &mut File, place: u64) -> io::Result<u64> {
    log.seek(SeekFrom::Start(place))?;
    let skipped = BufReader::with_capacity(PEEK, log).skip_until(b'\n')?;
    Ok(place + u64::try_from(skipped).unwrap_or_default())
}

/// Takes one piece after the other, as long as there are any and somebody wants them.
fn read_pieces(path: &Path, pieces: &Mutex<Pieces>, mut give: impl FnMut(usize, Run) -> bool) -> io::Result<()> {
    let mut log = File::open(path)?;
    let mut buffer = Vec::new();
    loop {
        let taken = pieces.lock().map_err(|_| broken())?.take()?;
        let Some(piece) = taken else { return Ok(()) };
        log.seek(SeekFrom::Start(piece.start))?;
        let look = if piece.number == 0 { Look::AtAll } else { Look::AtWhatMatters };
        let run = run_in(&mut buffer, (&log).take(piece.length), look)?;
        if !give(piece.number, run) {
            return Ok(());
        }
    }
}

/// Reads what was fixed in a run.
pub(super) fn read_fixes(path: &Path) -> io::Result<Vec<String>> {
    fixes_of(File::open(path)?)
}

fn run_of(log: impl Read) -> io::Result<Run> {
    run_in(&mut Vec::new(), log, Look::AtAll)
}

/// Reads a log or a piece of it; its name is looked for only if all lines are.
fn run_in(buffer: &mut Vec<u8>, log: impl Read, look: Look) -> io::Result<Run> {
    let mut run = Run::default();
    let mut met = HashSet::new();
    each_line(buffer, log, VERDICT, look, |line, may_matter, look| {
        // Most lines are looked at no closer than this.
        if !looks_whole(line) {
            run.malformed += 1;
        } else if may_matter {
            match event(line) {
                Some(event) => run.hear(event, &mut met),
                None => run.malformed += 1,
            }
        } else if look == Look::AtAll {
            match serde_json::from_slice::<Named>(line) {
                Ok(named) => run.id = name(named.run_id),
                Err(_) => run.malformed += 1,
            }
        }
        if run.id.is_none() { look } else { Look::AtWhatMatters }
    })?;
    Ok(run)
}

fn fixes_of(log: impl Read) -> io::Result<Vec<String>> {
    let mut fixes = Vec::new();
    each_line(&mut Vec::new(), log, FIX, Look::AtWhatMatters, |line, may_matter, look| {
        if may_matter
            && let Some(Event { kind, data: Value::Object(mut data), .. }) = event(line)
            && kind == FIX
        {
            let fixed = match data.remove("finding").unwrap_or_default() {
                Value::Object(mut finding) => finding.remove("description").unwrap_or_default(),
                told => told,
            };
            fixes.push(plain_text(fixed));
        }
        look
    })?;
    fixes.retain(|fix| !fix.trim().is_empty());
    Ok(fixes)
}

impl Run {
    /// A run of which these are the pieces, in their order.
    fn joined(pieces: impl Iterator<Item = Self>) -> Self {
        let mut whole = Self::default();
        let mut met = HashSet::new();
        for (number, piece) in pieces.enumerate() {
            // A later piece knows the name only where a review stands in it.
            whole.id = whole.id.or(piece.id.filter(|_| number == 0));
            whole.is_reviewed |= piece.is_reviewed;
            whole.malformed += piece.malformed;
            whole.findings.extend(piece.findings.into_iter().filter(|finding| met.insert(finding.fingerprint())));
        }
        whole
    }

    fn hear(&mut self, event: Event, met: &mut HashSet<String>) {
        self.id = self.id.take().or_else(|| name(event.run_id));
        if event.kind != VERDICT {
            return;
        }
        self.is_reviewed = true;
        let Value::Object(mut data) = event.data else { return };
        let source = plain_text(data.remove("archetype").unwrap_or_default());
        let source = if source.trim().is_empty() { "unknown" } else { source.as_str() };
        let findings = match data.remove("findings").unwrap_or_default() {
            Value::Array(findings) => findings,
            Value::Object(findings) => findings.into_iter().map(|(_, finding)| finding).collect(),
            _ => Vec::new(),
        };
        let findings = findings.into_iter().filter_map(|finding| Finding::of(finding, source));
        self.findings.extend(findings.filter(|finding| met.insert(finding.fingerprint())));
    }
}

/// Reads an event. A few bytes that are no text do not cost a finding.
fn event(line: &[u8]) -> Option<Event> {
    let read = serde_json::from_slice(line).ok();
    read.or_else(|| {
        let is_text = std::str::from_utf8(line).is_ok();
        (!is_text).then(|| serde_json::from_str(&String::from_utf8_lossy(line)).ok()).flatten()
    })
}

fn name(value: Value) -> Option<String> {
    Some(plain_text(value)).filter(|name| !name.is_empty())
}

/// Whether a line begins and ends as an object does. One that was cut off does not.
fn looks_whole(line: &[u8]) -> bool {
    matches!(line, [b'{', .., b'}'])
}

/// Which lines are wanted from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    AtAll,
    /// Those that hold the word, and those that do not look whole.
    AtWhatMatters,
}

/// Whether every line of a block begins and ends as an object does.
fn is_plain(block: &[u8]) -> bool {
    let is_between = |end: usize| match (end.checked_sub(1).and_then(|last| block.get(last)), block.get(end + 1)) {
        (Some(b'}'), Some(b'{') | None) => true,
        (_, _) => false,
    };
    block.first() == Some(&b'{') && block.last() == Some(&b'\n') && memchr_iter(b'\n', block).all(is_between)
}

/// Hands over lines that are not blank, whether they hold a word, and which of them are wanted.
fn each_line(
    buffer: &mut Vec<u8>,
    mut log: impl Read,
    word: &str,
    mut look: Look,
    mut take: impl FnMut(&[u8], bool, Look) -> Look,
) -> io::Result<()> {
    let finder = Finder::new(word);
    let mut take = |line: &[u8], holds: bool, look: &mut Look| {
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
        let mut one = |start: &mut usize, end: usize, look: &mut Look| {
            while hits.next_if(|hit| *hit < *start).is_some() {}
            take(block.get(*start..end).unwrap_or_default(), hits.peek().is_some_and(|hit| *hit < end), look);
            *start = end + 1;
        };
        let last = if read == 0 { Some(whole) } else { None };
        let mut ends = memchr_iter(b'\n', block).chain(last);
        while look == Look::AtAll
            && let Some(end) = ends.next()
        {
            one(&mut start, end, &mut look);
        }
        if is_plain(block.get(start..).unwrap_or_default()) {
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
