//! The files as they are at one moment. Taking a snapshot never waits for a writer.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::disk::{self, Stamp};
use super::layout::{Layout, Part};
use super::lines::to_u64;
use super::redo::{self, Append, Applied, Image, Redo};
use crate::memory::MemoryError;

/// How often a reader looks again when a writer was in the middle of something.
const TRIES: u32 = 200;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    seen: Option<Seen>,
    extents: BTreeMap<Part, Extent>,
    /// How the last writer left the files, if nobody else has touched them since.
    pub(super) applied: Option<Applied>,
}

/// What has happened since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing, or files have grown.
    Growth,
    /// Anything else: nothing that was read before may be relied on.
    Upheaval,
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    log: (u64, u64),
    stamps: BTreeMap<Part, Stamp>,
}

/// One file, as far as it goes.
#[derive(Debug, Default)]
struct Extent {
    path: PathBuf,
    file: Option<File>,
    end: u64,
    /// Bytes of a durable commit that may not be in the file yet, and where they belong.
    pending: Option<(u64, Vec<u8>)>,
}

impl Snapshot {
    /// Looks at the files again.
    pub(super) fn refresh(&mut self, layout: &Layout) -> Result<Change, MemoryError> {
        let log = layout.redo();
        let mut change = Change::Growth;
        for tries in 1..=TRIES {
            let before = disk::stamp(&log)?;
            let image = redo::read(&log)?;
            let mut stamps = BTreeMap::new();
            for part in Part::ALL {
                stamps.insert(part, disk::stamp(&current_path(layout, &image.pending, part)?)?);
            }
            let seen = Seen { log: (image.tail, image.length), stamps };
            let is_quiet = disk::stamp(&log)? == before;
            if is_quiet && self.seen.as_ref() == Some(&seen) {
                return Ok(change);
            }
            // If writers never leave a quiet moment, the last look has to do.
            if is_quiet || tries == TRIES {
                if self.adopt(layout, image, seen)? == Change::Upheaval {
                    change = Change::Upheaval;
                }
                if self.is_whole()? && disk::stamp(&log)? == before {
                    return Ok(change);
                }
                self.seen = None;
            }
            std::thread::yield_now();
        }
        Ok(change)
    }

    /// Some bytes of a file.
    pub(super) fn bytes(&self, part: Part, start: u64, end: u64) -> Result<Vec<u8>, MemoryError> {
        self.extents.get(&part).map_or(Ok(Vec::new()), |extent| extent.bytes(start, end))
    }

    /// How long a file is.
    pub(super) fn end(&self, part: Part) -> u64 {
        self.extents.get(&part).map_or(0, |extent| extent.end)
    }

    /// Whether a commit is durable but perhaps not in the files yet.
    pub(super) fn has_pending(&self) -> bool {
        self.extents.values().any(|extent| extent.pending.is_some())
    }

    /// Whether the last byte of a file is there and is no newline.
    pub(super) fn lacks_newline(&self, part: Part) -> Result<bool, MemoryError> {
        let end = self.end(part);
        Ok(self.bytes(part, end.saturating_sub(1), end)?.last().is_some_and(|&byte| byte != b'\n'))
    }

    fn adopt(&mut self, layout: &Layout, image: Image, seen: Seen) -> Result<Change, MemoryError> {
        let as_noted = image.is_as_noted(&seen.stamps);
        let pending = image.pending;
        let applied = image.applied.filter(|_| as_noted);
        let mut found = BTreeMap::new();
        for part in Part::ALL {
            let length = seen.stamps.get(&part).map_or(0, |stamp| stamp.length);
            let path = current_path(layout, &pending, part)?;
            let overlay = match pending.appends.iter().find(|append| append.part == part) {
                Some(append) => overlay(&path, append, length)?,
                None => None,
            };
            let end = overlay.as_ref().map_or(length, |(start, text)| start.saturating_add(to_u64(text.len())));
            found.insert(part, (path, end, overlay));
        }
        let epoch = |applied: &Option<Applied>| applied.as_ref().map(|applied| applied.epoch);
        let mut grown = applied.is_some() && epoch(&applied) == epoch(&self.applied);
        for (part, (_, end, overlay)) in &found {
            if let Some(extent) = self.extents.get(part) {
                grown = grown && *end >= extent.end && extent.kept_its_word(overlay.as_ref())?;
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
        Ok(if grown { Change::Growth } else { Change::Upheaval })
    }

    /// Whether every file is as long as it was said to be: one that was replaced meanwhile may not be.
    fn is_whole(&self) -> Result<bool, MemoryError> {
        for extent in self.extents.values() {
            let length = match &extent.file {
                Some(file) => file.metadata().map_err(MemoryError::io("read", &extent.path))?.len(),
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

impl Extent {
    /// The bytes from `start` to `end` as they are, or will be once the pending commit is in the file.
    fn bytes(&self, start: u64, end: u64) -> Result<Vec<u8>, MemoryError> {
        let end = end.max(start);
        let split = self.pending.as_ref().map_or(end, |(before, _)| (*before).clamp(start, end));
        let mut bytes = match &self.file {
            Some(file) => disk::read_range(file, start, split).map_err(MemoryError::io("read", &self.path))?,
            None => Vec::new(),
        };
        if let Some((before, text)) = &self.pending {
            let from = usize::try_from(split.saturating_sub(*before)).unwrap_or(usize::MAX);
            let to = usize::try_from(end.saturating_sub(*before)).unwrap_or(usize::MAX).min(text.len());
            bytes.extend_from_slice(text.get(from..to).unwrap_or_default());
        }
        Ok(bytes)
    }

    /// Whether a commit that was pending at the last look still is, or has come to be. One whose writer could not make
    /// it durable is withdrawn.
    fn kept_its_word(&self, pending: Option<&(u64, Vec<u8>)>) -> Result<bool, MemoryError> {
        let Some((before, text)) = &self.pending else { return Ok(true) };
        if pending == self.pending.as_ref() {
            return Ok(true);
        }
        let Some(file) = &self.file else { return Ok(false) };
        let end = before.saturating_add(to_u64(text.len()));
        let there = disk::read_range(file, *before, end).map_err(MemoryError::io("read", &self.path))?;
        Ok(there == *text)
    }
}

/// What a pending commit adds to what is in the file, and where; `None` if it is all there.
///
/// This is what [`super::recovery::finish`] will do, foretold.
fn overlay(path: &Path, append: &Append, length: u64) -> Result<Option<(u64, Vec<u8>)>, MemoryError> {
    let text = append.text.as_bytes();
    let there = match disk::open_to_read(path)? {
        Some(file) => disk::read_range(&file, append.before.min(length.saturating_sub(1)), length)
            .map_err(MemoryError::io("read", path))?,
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
            // Somebody else's bytes are in its place, so it comes after them.
            let mut text = text.to_vec();
            if there.last().is_some_and(|&byte| byte != b'\n') && !text.starts_with(b"\n") {
                text.insert(0, b'\n');
            }
            Ok(Some((length, text)))
        }
    }
}

/// Where a file is to be found: under its own name, or prepared by a compaction that was cut off.
fn current_path(layout: &Layout, pending: &Redo, part: Part) -> Result<PathBuf, MemoryError> {
    let (path, next) = (layout.path(part), layout.successor(part));
    let swap = pending.swaps.iter().find(|swap| swap.part == part);
    let is_next = match swap {
        Some(swap) => next.exists() && swap.still_fits(&path)?,
        None => false,
    };
    Ok(if is_next { next } else { path })
}
