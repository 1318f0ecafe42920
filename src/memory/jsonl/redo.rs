//! The redo log: what makes a commit over several files one step.
//!
//! A commit first appends one `Redo` record, holding every byte it is about to add, and syncs it; from there on it is
//! durable. Then it adds the bytes and appends an `Applied` note. Whoever finds a record without its note finishes the
//! work; a reader just pretends it is finished. A line that is torn or fails its checksum was never acknowledged.
//!
//! One line is `checksum json\n`. The log is cut back to a single note once the files themselves are synced.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::disk::{self, Stamp};
use super::layout::Part;
use super::lines::to_u64;
use crate::memory::MemoryError;
use crate::memory::search::short_hash;

const CHECKSUM_CHARACTERS: usize = 16;

/// So much of the log is read at first.
const NEAR_THE_END: u64 = 8 * 1024;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A commit that is durable, whether or not its bytes are in the files yet.
    Redo(Redo),
    /// The work of all entries above is in the files.
    Applied(Applied),
}

/// What a commit does to the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Redo {
    /// Bytes to add, and how long the file was before.
    #[serde(default)]
    pub(super) appends: Vec<Append>,
    /// Files whose prepared successor takes their place, in this order.
    #[serde(default)]
    pub(super) swaps: Vec<Swap>,
}

impl Redo {
    pub(super) fn is_empty(&self) -> bool {
        self.appends.is_empty() && self.swaps.is_empty()
    }
}

/// Bytes for the end of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Append {
    pub(super) part: Part,
    pub(super) before: u64,
    pub(super) text: String,
}

impl Append {
    /// Where the file ends once the bytes are in it.
    pub(super) fn end(&self) -> u64 {
        self.before.saturating_add(to_u64(self.text.len()))
    }
}

/// A file that is to be replaced, provided that it still is what its successor was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Swap {
    pub(super) part: Part,
    length: u64,
    hash: u64,
}

impl Swap {
    pub(super) fn of(part: Part, bytes: &[u8]) -> Self {
        Self { part, length: to_u64(bytes.len()), hash: short_hash(bytes) }
    }

    /// Whether the file is what it was. Times do not tell: they need not survive a loss of power.
    pub(super) fn still_fits(&self, path: &Path) -> Result<bool, MemoryError> {
        if disk::stamp(path)?.length != self.length {
            return Ok(false);
        }
        Ok(Self::of(self.part, &bytes_of(path)?) == *self)
    }
}

/// What the files looked like when the last writer left them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Applied {
    /// Changes whenever anything but an append happened to the files. A view or an index of another epoch is stale.
    pub(super) epoch: u64,
    /// How each file looked; if it looks otherwise, somebody else has been here.
    pub(super) files: BTreeMap<Part, Stamp>,
    /// The highest number of any short name that was ever given.
    pub(super) highest_alias: u64,
    /// The machine's start under which the bytes were added.
    pub(super) boot: Option<String>,
}

/// The log as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Image {
    /// Where the last whole line ends; what follows is torn.
    pub(super) whole: u64,
    /// How long the file is.
    pub(super) length: u64,
    /// The state after the last finished commit.
    pub(super) applied: Option<Applied>,
    /// The commit after it, durable and perhaps not finished; empty if there is none.
    pub(super) pending: Redo,
    /// A fingerprint: equal images mean that no writer came between.
    pub(super) tail: u64,
}

impl Image {
    /// Whether the machine has been running ever since the last writer was done.
    pub(super) fn is_of_boot(&self, boot: Option<&str>) -> bool {
        boot.is_some() && self.applied.as_ref().is_some_and(|applied| applied.boot.as_deref() == boot)
    }

    /// Whether the files are as the last writer noted, but for what its unfinished commit may have added.
    pub(super) fn is_as_noted(&self, stamps: &BTreeMap<Part, Stamp>) -> bool {
        let Some(applied) = &self.applied else { return false };
        let as_noted = |(part, now): (&Part, &Stamp)| {
            let noted = applied.files.get(part).copied().unwrap_or_default();
            match self.pending.appends.iter().find(|append| append.part == *part) {
                Some(append) => append.before == noted.length && (append.before..=append.end()).contains(&now.length),
                None => noted == *now,
            }
        };
        self.pending.swaps.is_empty() && stamps.iter().all(as_noted)
    }
}

/// Renders one entry as a line.
pub(super) fn line(entry: &Entry) -> Result<String, MemoryError> {
    let json = serde_json::to_string(entry).map_err(|source| MemoryError::Encode { id: "redo".into(), source })?;
    Ok(format!("{} {json}\n", checksum(json.as_bytes())))
}

/// Reads the end of the log, as far as it says how things stand.
pub(super) fn read(path: &Path) -> Result<Image, MemoryError> {
    let Some(file) = disk::open_to_read(path)? else { return Ok(Image::default()) };
    let length = file.metadata().map_err(MemoryError::io("read", path))?.len();
    let read_from = |start| disk::read_range(&file, start, length).map_err(MemoryError::io("read", path));
    // Nearly always the last note is near the end.
    let start = length.saturating_sub(NEAR_THE_END);
    let near = image(&read_from(start)?, start);
    if start == 0 || near.applied.is_some() { Ok(near) } else { Ok(image(&read_from(0)?, 0)) }
}

/// Every whole entry, oldest first: for a machine that was switched off.
pub(super) fn read_all(path: &Path) -> Result<Vec<Entry>, MemoryError> {
    Ok(bytes_of(path)?.split_inclusive(|&byte| byte == b'\n').map_while(entry).collect())
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, MemoryError> {
    match disk::open_to_read(path)? {
        Some(file) => disk::read_range(&file, 0, u64::MAX).map_err(MemoryError::io("read", path)),
        None => Ok(Vec::new()),
    }
}

/// What the log says, given its bytes from `base` on.
fn image(bytes: &[u8], base: u64) -> Image {
    let mut image = Image { length: base + to_u64(bytes.len()), ..Image::default() };
    // Only a whole line counts, so everything after the last one that proves itself is torn. Entries are looked at
    // from the end: a note says all there is to know about what came before it.
    let mut end = bytes.len();
    while let Some(rest) = bytes.get(..end).filter(|rest| !rest.is_empty()) {
        let body = rest.strip_suffix(b"\n").unwrap_or(rest);
        let start = memchr::memrchr(b'\n', body).map_or(0, |at| at + 1);
        let found = entry(rest.get(start..).unwrap_or_default());
        if found.is_some() && image.whole == 0 {
            image.whole = base + to_u64(end);
            image.tail = short_hash(rest.get(start..).unwrap_or_default());
        }
        match found {
            Some(Entry::Applied(applied)) => {
                image.applied = Some(applied);
                return image;
            }
            Some(Entry::Redo(redo)) if image.pending.is_empty() => image.pending = redo,
            Some(Entry::Redo(_)) | None => {}
        }
        end = start;
    }
    image
}

fn entry(line: &[u8]) -> Option<Entry> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, json) = (line.get(..CHECKSUM_CHARACTERS)?, line.get(CHECKSUM_CHARACTERS + 1..)?);
    if line.get(CHECKSUM_CHARACTERS) != Some(&b' ') || checksum(json).as_bytes() != sum {
        return None;
    }
    serde_json::from_slice(json).ok()
}

fn checksum(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(CHECKSUM_CHARACTERS).collect()
}

#[cfg(test)]
#[path = "redo_tests.rs"]
mod tests;
