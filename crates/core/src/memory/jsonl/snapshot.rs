//! A consistent snapshot of the files. Taking one never waits for a writer.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::bank_files::{BankLayout, StoreFile};
use super::disk::{self, FileStamp};
use super::json_lines::to_u64;
use super::redo_log::{self, AppliedNote, FileAppend, RedoLogImage, RedoRecord};
use crate::memory::MemoryError;

/// The number of tries of a reader that finds a writer at work.
const TRIES: u32 = 200;

/// The files of a bank at one point in time, with any pending commit.
#[derive(Debug, Default)]
pub(super) struct FileSnapshot {
    seen: Option<SeenFiles>,
    extents: BTreeMap<StoreFile, FileExtent>,
    /// The note of the last writer, if the files have not been changed otherwise since.
    pub(super) applied: Option<AppliedNote>,
}

/// The kind of change since the last refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnapshotChange {
    /// Nothing changed, or files have grown.
    Growth,
    /// Anything else changed: nothing that was read before is reliable.
    Upheaval,
}

#[derive(Debug, PartialEq, Eq)]
struct SeenFiles {
    log: (u64, u64),
    stamps: BTreeMap<StoreFile, FileStamp>,
}

/// One file up to the end of the snapshot.
#[derive(Debug, Default)]
struct FileExtent {
    path: PathBuf,
    file: Option<File>,
    end: u64,
    /// The bytes of a durable commit that may not be in the file yet, and their offset.
    pending: Option<(u64, Vec<u8>)>,
}

impl FileSnapshot {
    /// Refreshes the snapshot from the files.
    pub(super) fn refresh_files(&mut self, layout: &BankLayout) -> Result<SnapshotChange, MemoryError> {
        let log = layout.redo_log_path();
        let mut change = SnapshotChange::Growth;
        for tries in 1..=TRIES {
            let before = disk::read_file_stamp(&log)?;
            let image = redo_log::read_log_end(&log)?;
            let mut stamps = BTreeMap::new();
            for part in StoreFile::ALL {
                stamps.insert(part, disk::read_file_stamp(&current_path(layout, &image.pending, part)?)?);
            }
            let seen = SeenFiles { log: (image.tail, image.length), stamps };
            let is_quiet = disk::read_file_stamp(&log)? == before;
            if is_quiet && self.seen.as_ref() == Some(&seen) {
                return Ok(change);
            }
            // If writers never pause, the last try is used.
            if is_quiet || tries == TRIES {
                if self.adopt_image(layout, image, seen)? == SnapshotChange::Upheaval {
                    change = SnapshotChange::Upheaval;
                }
                if self.is_whole()? && disk::read_file_stamp(&log)? == before {
                    return Ok(change);
                }
                self.seen = None;
            }
            std::thread::yield_now();
        }
        Ok(change)
    }

    /// Reads some bytes of a file.
    pub(super) fn read_bytes(&self, part: StoreFile, start: u64, end: u64) -> Result<Vec<u8>, MemoryError> {
        self.extents.get(&part).map_or(Ok(Vec::new()), |extent| extent.read_bytes(start, end))
    }

    /// Returns the length of a file.
    pub(super) fn file_end(&self, part: StoreFile) -> u64 {
        self.extents.get(&part).map_or(0, |extent| extent.end)
    }

    /// Returns true if a commit is durable but perhaps not in the files yet.
    pub(super) fn has_pending(&self) -> bool {
        self.extents.values().any(|extent| extent.pending.is_some())
    }

    /// Returns true if a file is not empty and does not end with a newline.
    pub(super) fn lacks_newline(&self, part: StoreFile) -> Result<bool, MemoryError> {
        let end = self.file_end(part);
        Ok(self.read_bytes(part, end.saturating_sub(1), end)?.last().is_some_and(|&byte| byte != b'\n'))
    }

    fn adopt_image(
        &mut self,
        layout: &BankLayout,
        image: RedoLogImage,
        seen: SeenFiles,
    ) -> Result<SnapshotChange, MemoryError> {
        let as_noted = image.matches_stamps(&seen.stamps);
        let pending = image.pending;
        let applied = image.applied.filter(|_| as_noted);
        let mut found = BTreeMap::new();
        for part in StoreFile::ALL {
            let length = seen.stamps.get(&part).map_or(0, |stamp| stamp.length);
            let path = current_path(layout, &pending, part)?;
            let overlay = match pending.appends.iter().find(|append| append.part == part) {
                Some(append) => pending_overlay(&path, append, length)?,
                None => None,
            };
            let end = overlay.as_ref().map_or(length, |(start, text)| start.saturating_add(to_u64(text.len())));
            found.insert(part, (path, end, overlay));
        }
        let epoch = |applied: &Option<AppliedNote>| applied.as_ref().map(|applied| applied.epoch);
        let mut grown = applied.is_some() && epoch(&applied) == epoch(&self.applied);
        for (part, (_, end, overlay)) in &found {
            if let Some(extent) = self.extents.get(part) {
                grown = grown && *end >= extent.end && extent.has_kept_pending(overlay.as_ref())?;
            }
        }
        if !grown {
            self.extents.clear();
        }
        for (part, (path, end, overlay)) in found {
            let extent = self.extents.entry(part).or_default();
            if extent.file.is_none() {
                extent.file = disk::open_to_read(&path)?;
                extent.path = path;
            }
            extent.end = end;
            extent.pending = overlay;
        }
        self.applied = applied;
        self.seen = Some(seen);
        Ok(if grown { SnapshotChange::Growth } else { SnapshotChange::Upheaval })
    }

    /// Returns true if every file is as long as its stamp said: one that was replaced in the meantime may not be.
    fn is_whole(&self) -> Result<bool, MemoryError> {
        for extent in self.extents.values() {
            let length = match &extent.file {
                Some(file) => file.metadata().map_err(MemoryError::io_error("read", &extent.path))?.len(),
                None => 0,
            };
            let expected = extent.pending.as_ref().map_or(extent.end, |(before, _)| *before);
            if length < expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl FileExtent {
    /// Reads the bytes from `start` to `end` as they are, or will be once the pending commit is in the file.
    fn read_bytes(&self, start: u64, end: u64) -> Result<Vec<u8>, MemoryError> {
        let end = end.max(start);
        let split = self.pending.as_ref().map_or(end, |(before, _)| (*before).clamp(start, end));
        let mut bytes = match &self.file {
            Some(file) => disk::read_range(file, start, split).map_err(MemoryError::io_error("read", &self.path))?,
            None => Vec::new(),
        };
        if let Some((before, text)) = &self.pending {
            let from = usize::try_from(split.saturating_sub(*before)).unwrap_or(usize::MAX);
            let to = usize::try_from(end.saturating_sub(*before)).unwrap_or(usize::MAX).min(text.len());
            bytes.extend_from_slice(text.get(from..to).unwrap_or_default());
        }
        Ok(bytes)
    }

    /// Returns true if the commit that was pending at the last refresh still is, or was applied; false if it was
    /// withdrawn.
    fn has_kept_pending(&self, pending: Option<&(u64, Vec<u8>)>) -> Result<bool, MemoryError> {
        let Some((before, text)) = &self.pending else { return Ok(true) };
        if pending == self.pending.as_ref() {
            return Ok(true);
        }
        let Some(file) = &self.file else { return Ok(false) };
        let end = before.saturating_add(to_u64(text.len()));
        let there = disk::read_range(file, *before, end).map_err(MemoryError::io_error("read", &self.path))?;
        Ok(there == *text)
    }
}

/// Returns what a pending commit adds to the file, and where; `None` if it is all there.
///
/// This predicts the effect of [`super::recovery::finish_commit`].
fn pending_overlay(path: &Path, append: &FileAppend, length: u64) -> Result<Option<(u64, Vec<u8>)>, MemoryError> {
    let text = append.text.as_bytes();
    let there = match disk::open_to_read(path)? {
        Some(file) => disk::read_range(&file, append.before.min(length.saturating_sub(1)), length)
            .map_err(MemoryError::io_error("read", path))?,
        None => Vec::new(),
    };
    let own = if length >= append.before {
        there.get(there.len().saturating_sub(usize::try_from(length - append.before).unwrap_or(usize::MAX))..)
    } else {
        None
    };
    match own {
        Some(own) if own.starts_with(text) => Ok(None),
        Some(own) if text.starts_with(own) => Ok(Some((append.before, text.to_vec()))),
        _ => {
            // Other bytes are in its place, so it goes after them.
            let mut text = text.to_vec();
            if there.last().is_some_and(|&byte| byte != b'\n') && !text.starts_with(b"\n") {
                text.insert(0, b'\n');
            }
            Ok(Some((length, text)))
        }
    }
}

/// Returns the path of a file: its own, or that of the successor of an interrupted compaction.
fn current_path(layout: &BankLayout, pending: &RedoRecord, part: StoreFile) -> Result<PathBuf, MemoryError> {
    let (path, next) = (layout.file_path(part), layout.successor_path(part));
    let swap = pending.swaps.iter().find(|swap| swap.part == part);
    let is_next = match swap {
        Some(swap) => next.exists() && swap.still_matches(&path)?,
        None => false,
    };
    Ok(if is_next { next } else { path })
}
