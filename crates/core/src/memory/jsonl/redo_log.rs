//! The redo log, which makes a commit over several files atomic.
//!
//! A commit first appends one `Redo` entry with every byte it is about to add, and syncs it; from there on it is
//! durable. Then it adds the bytes and appends an `Applied` entry. A writer that finds no `Applied` entry finishes the
//! work; a reader treats it as finished. A line that is torn or fails its checksum was never acknowledged.
//!
//! One line is `checksum json\n`. The log is cut back to a single `Applied` entry once the files are synced.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::bank_files::StoreFile;
use super::disk::{self, FileStamp};
use super::json_lines::to_u64;
use crate::domain::StableHash;
use crate::memory::MemoryError;
use crate::memory::lesson_matching::short_hash;

const CHECKSUM_CHARACTERS: usize = 16;

/// The number of bytes at the end of the log that are read first.
const NEAR_THE_END: u64 = 8 * 1024;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RedoLogEntry {
    /// A commit that is durable, even if its bytes are not in the files yet.
    Redo(RedoRecord),
    /// A note that the work of all entries above is in the files.
    Applied(AppliedNote),
}

/// The changes that a commit makes to the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RedoRecord {
    /// The bytes to add, with each file's length before.
    #[serde(default)]
    pub(super) appends: Vec<FileAppend>,
    /// The files to be replaced by their prepared successors, in this order.
    #[serde(default)]
    pub(super) swaps: Vec<FileSwap>,
}

impl RedoRecord {
    pub(super) fn is_empty(&self) -> bool {
        self.appends.is_empty() && self.swaps.is_empty()
    }
}

/// Bytes for the end of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileAppend {
    pub(super) part: StoreFile,
    pub(super) before: u64,
    pub(super) text: String,
}

impl FileAppend {
    /// Returns the end of the file once the bytes are in it.
    pub(super) fn end_offset(&self) -> u64 {
        self.before.saturating_add(to_u64(self.text.len()))
    }
}

/// A file that is to be replaced, provided that it is still the one its successor was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileSwap {
    pub(super) part: StoreFile,
    length: u64,
    hash: u64,
}

impl FileSwap {
    pub(super) fn from_bytes(part: StoreFile, bytes: &[u8]) -> Self {
        Self { part, length: to_u64(bytes.len()), hash: short_hash(bytes) }
    }

    /// Returns true if the file is unchanged. Times are not compared: they need not survive a loss of power.
    pub(super) fn still_matches(&self, path: &Path) -> Result<bool, MemoryError> {
        if disk::read_file_stamp(path)?.length != self.length {
            return Ok(false);
        }
        Ok(Self::from_bytes(self.part, &read_file_bytes(path)?) == *self)
    }
}

/// The state in which the last writer left the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AppliedNote {
    /// The epoch, changed by anything but an append to the files. A view or an index of another epoch is stale.
    pub(super) epoch: u64,
    /// The stamp of each file; another stamp means that some other program changed the file.
    pub(super) files: BTreeMap<StoreFile, FileStamp>,
    /// The highest number of any short name that was ever given.
    pub(super) highest_alias: u64,
    /// The boot id of the machine when the bytes were added.
    pub(super) boot: Option<String>,
}

/// The log as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RedoLogImage {
    /// The end of the last whole line; anything after it is torn.
    pub(super) whole: u64,
    /// The length of the file.
    pub(super) length: u64,
    /// The note after the last finished commit.
    pub(super) applied: Option<AppliedNote>,
    /// The commit after that note, durable and perhaps not finished; empty if there is none.
    pub(super) pending: RedoRecord,
    /// A fingerprint of the last whole line: equal images mean that nothing was written in between.
    pub(super) tail: u64,
}

impl RedoLogImage {
    /// Returns true if the machine has not restarted since the last writer finished.
    pub(super) fn is_from_boot(&self, boot: Option<&str>) -> bool {
        boot.is_some() && self.applied.as_ref().is_some_and(|applied| applied.boot.as_deref() == boot)
    }

    /// Returns true if the files are as the last writer noted, except for what its unfinished commit may have added.
    pub(super) fn matches_stamps(&self, stamps: &BTreeMap<StoreFile, FileStamp>) -> bool {
        let Some(applied) = &self.applied else { return false };
        let as_noted = |(part, now): (&StoreFile, &FileStamp)| {
            let noted = applied.files.get(part).copied().unwrap_or_default();
            match self.pending.appends.iter().find(|append| append.part == *part) {
                Some(append) => {
                    append.before == noted.length && (append.before..=append.end_offset()).contains(&now.length)
                }
                None => noted == *now,
            }
        };
        self.pending.swaps.is_empty() && stamps.iter().all(as_noted)
    }
}

/// Renders one entry as a line.
pub(super) fn render_entry(entry: &RedoLogEntry) -> Result<String, MemoryError> {
    let json = serde_json::to_string(entry).map_err(|source| MemoryError::Encode { id: "redo".into(), source })?;
    Ok(format!("{} {json}\n", line_checksum(json.as_bytes())))
}

/// Reads the end of the log, back to the last `Applied` entry.
pub(super) fn read_log_end(path: &Path) -> Result<RedoLogImage, MemoryError> {
    let Some(file) = disk::open_to_read(path)? else { return Ok(RedoLogImage::default()) };
    let length = file.metadata().map_err(MemoryError::io_error("read", path))?.len();
    let read_from = |start| disk::read_range(&file, start, length).map_err(MemoryError::io_error("read", path));
    // Nearly always the last `Applied` entry is near the end.
    let start = length.saturating_sub(NEAR_THE_END);
    let near = parse_image(&read_from(start)?, start);
    if start == 0 || near.applied.is_some() { Ok(near) } else { Ok(parse_image(&read_from(0)?, 0)) }
}

/// Reads every whole entry, oldest first, for recovery after a power failure.
pub(super) fn read_all_entries(path: &Path) -> Result<Vec<RedoLogEntry>, MemoryError> {
    Ok(read_file_bytes(path)?.split_inclusive(|&byte| byte == b'\n').map_while(parse_entry).collect())
}

fn read_file_bytes(path: &Path) -> Result<Vec<u8>, MemoryError> {
    match disk::open_to_read(path)? {
        Some(file) => disk::read_range(&file, 0, u64::MAX).map_err(MemoryError::io_error("read", path)),
        None => Ok(Vec::new()),
    }
}

/// Parses the log from its bytes, which begin at `base`.
fn parse_image(bytes: &[u8], base: u64) -> RedoLogImage {
    let mut image = RedoLogImage { length: base + to_u64(bytes.len()), ..RedoLogImage::default() };
    // Only whole lines count, so everything after the last valid one is torn. Entries are read from the end,
    // because an `Applied` entry says all there is to know about what came before it.
    let mut end = bytes.len();
    while let Some(rest) = bytes.get(..end).filter(|rest| !rest.is_empty()) {
        let body = rest.strip_suffix(b"\n").unwrap_or(rest);
        let start = memchr::memrchr(b'\n', body).map_or(0, |at| at + 1);
        let found = parse_entry(rest.get(start..).unwrap_or_default());
        if found.is_some() && image.whole == 0 {
            image.whole = base + to_u64(end);
            image.tail = short_hash(rest.get(start..).unwrap_or_default());
        }
        match found {
            Some(RedoLogEntry::Applied(applied)) => {
                image.applied = Some(applied);
                return image;
            }
            Some(RedoLogEntry::Redo(redo)) if image.pending.is_empty() => image.pending = redo,
            Some(RedoLogEntry::Redo(_)) | None => {}
        }
        end = start;
    }
    image
}

fn parse_entry(line: &[u8]) -> Option<RedoLogEntry> {
    let line = line.strip_suffix(b"\n")?;
    let (sum, json) = (line.get(..CHECKSUM_CHARACTERS)?, line.get(CHECKSUM_CHARACTERS + 1..)?);
    if line.get(CHECKSUM_CHARACTERS) != Some(&b' ') || line_checksum(json).as_bytes() != sum {
        return None;
    }
    serde_json::from_slice(json).ok()
}

fn line_checksum(bytes: &[u8]) -> String {
    StableHash::from_bytes(bytes).to_digits(CHECKSUM_CHARACTERS)
}

#[cfg(test)]
#[path = "redo_log_tests.rs"]
mod tests;
