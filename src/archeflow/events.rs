//! `events/<run>.jsonl`: the log of a run, read as a stream, whatever its length.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
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
const CHUNK: usize = 128 * 1024;

/// A longer log is worth a second reader.
const LONG: u64 = 1024 * 1024;

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

/// Reads what reviewers found in a run. A long log is read from its beginning and from its middle at once.
pub(super) fn read_run(path: &Path) -> io::Result<Run> {
    let mut log = File::open(path)?;
    let length = log.metadata()?.len();
    if length < LONG {
        return run_of(log);
    }
    let middle = line_behind(&mut log, length / 2)?;
    log.rewind()?;
    let mut rest = File::open(path)?;
    rest.seek(SeekFrom::Start(middle))?;
    thread::scope(|scope| {
        let rest = scope.spawn(|| run_of(rest));
        let mut run = run_of(log.take(middle))?;
        let rest = rest.join().map_err(|_| io::Error::other("the reader of its second half broke"))??;
        run.go_on(rest);
        Ok(run)
    })
}

/// Where the first line begins behind a place.
fn line_behind(log: &mut File, place: u64) -> io::Result<u64> {
    log.seek(SeekFrom::Start(place))?;
    let mut skipped = Vec::new();
    BufReader::new(&mut *log).read_until(b'\n', &mut skipped)?;
    Ok(place + u64::try_from(skipped.len()).unwrap_or_default())
}

/// Reads what was fixed in a run.
pub(super) fn read_fixes(path: &Path) -> io::Result<Vec<String>> {
    fixes_of(File::open(path)?)
}

fn run_of(log: impl Read) -> io::Result<Run> {
    let mut run = Run::default();
    let mut met = HashSet::new();
    each_line(log, VERDICT, |line, may_matter| {
        // Most lines are looked at no closer than this.
        if !looks_whole(line) {
            run.malformed += 1;
        } else if may_matter {
            match event(line) {
                Some(event) => run.hear(event, &mut met),
                None => run.malformed += 1,
            }
        } else if run.id.is_none() {
            match serde_json::from_slice::<Named>(line) {
                Ok(named) => run.id = name(named.run_id),
                Err(_) => run.malformed += 1,
            }
        }
        if run.id.is_none() { Look::AtAll } else { Look::AtWhatMatters }
    })?;
    Ok(run)
}

fn fixes_of(log: impl Read) -> io::Result<Vec<String>> {
    let mut fixes = Vec::new();
    each_line(log, FIX, |line, may_matter| {
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
        Look::AtWhatMatters
    })?;
    fixes.retain(|fix| !fix.trim().is_empty());
    Ok(fixes)
}

impl Run {
    /// Takes in what is behind it.
    fn go_on(&mut self, rest: Self) {
        self.id = self.id.take().or(rest.id);
        self.is_reviewed |= rest.is_reviewed;
        self.malformed += rest.malformed;
        let met: HashSet<String> = self.findings.iter().map(Finding::fingerprint).collect();
        self.findings.extend(rest.findings.into_iter().filter(|finding| !met.contains(&finding.fingerprint())));
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

/// Hands over lines that are not blank, and whether they hold a word.
fn each_line(mut log: impl Read, word: &str, mut take: impl FnMut(&[u8], bool) -> Look) -> io::Result<()> {
    let finder = Finder::new(word);
    let mut look = Look::AtAll;
    let mut take = |line: &[u8], holds: bool, look: &mut Look| {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        if !line.is_empty() {
            *look = take(line, holds);
        }
    };
    let mut buffer = vec![0; CHUNK];
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
        if look == Look::AtWhatMatters && is_plain(block) {
            while let Some(hit) = hits.next() {
                let (before, behind) = block.split_at(hit);
                let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
                let end = hit + memchr(b'\n', behind).unwrap_or(behind.len());
                take(block.get(start..end).unwrap_or_default(), true, &mut look);
                while hits.next_if(|next| *next < end).is_some() {}
            }
            start = block.len();
        }
        let last = if read == 0 { Some(whole) } else { None };
        let lines = memchr_iter(b'\n', block.get(start..).unwrap_or_default());
        for end in lines.chain(last) {
            while hits.next_if(|hit| *hit < start).is_some() {}
            take(block.get(start..end).unwrap_or_default(), hits.peek().is_some_and(|hit| *hit < end), &mut look);
            start = end + 1;
        }
        if read == 0 {
            return Ok(());
        }
        drop(hits);
        buffer.copy_within(whole..filled, 0);
        filled -= whole;
    }
}
