//! Compaction: moves retired lessons, and versions beyond the last few, to the archive.

use std::collections::HashMap;

use super::bank::JsonlBank;
use super::bank_files::StoreFile;
use super::disk;
use super::json_lines::{self, to_u64};
use super::redo_log::{FileSwap, RedoRecord};
use crate::domain::{AgentMemory, LessonAvailability, MemoryId};
use crate::memory::{CompactionReport, MemoryError};

/// Compacts one bank.
///
/// Both files are prepared in full next to the old ones; one record in the redo log then swaps them. A crash before
/// that record leaves everything as it was, a crash after it is finished by the next writer.
pub(super) fn compact_bank(bank: &JsonlBank) -> Result<CompactionReport, MemoryError> {
    let mut writer = bank.open_writer()?;
    // The source of the new files must survive a power failure until they replace it.
    writer.write_checkpoint()?;
    let state = bank.read_separate_state()?;
    let bytes = state.file_bytes(StoreFile::Lessons)?;
    let split = split_lessons(&bytes, bank.options.versions_kept, bank.options.max_line_bytes);
    let report = CompactionReport {
        directory: bank.layout.directory().to_owned(),
        lessons_moved: split.lessons_moved,
        versions_moved: split.versions_moved,
        bytes_before: to_u64(bytes.len()),
        bytes_after: to_u64(split.kept.len()),
    };
    if split.versions_moved > 0 {
        let mut archive = state.file_bytes(StoreFile::Archive)?;
        // The archive goes first, so that readers never miss a line that moved.
        let swaps =
            vec![FileSwap::from_bytes(StoreFile::Archive, &archive), FileSwap::from_bytes(StoreFile::Lessons, &bytes)];
        if state.files.lacks_newline(StoreFile::Archive)? {
            archive.push(b'\n');
        }
        archive.extend_from_slice(&split.moved);
        write_successor(bank, StoreFile::Archive, &archive)?;
        write_successor(bank, StoreFile::Lessons, &split.kept)?;
        let directory = bank.layout.directory();
        bank.disk.sync_directory(directory).map_err(MemoryError::io_error("sync", directory))?;
        writer.commit_record(&RedoRecord { appends: Vec::new(), swaps })?;
    } else {
        drop(writer);
    }
    bank.update_index()?;
    Ok(report)
}

struct CompactionSplit {
    kept: Vec<u8>,
    moved: Vec<u8>,
    lessons_moved: usize,
    versions_moved: usize,
}

/// Splits the lines into those that stay and those that move. A line that cannot be read stays.
fn split_lessons(bytes: &[u8], versions_kept: usize, limit: usize) -> CompactionSplit {
    struct VersionCount {
        versions: usize,
        availability: LessonAvailability,
    }
    let mut lessons: HashMap<MemoryId, VersionCount> = HashMap::new();
    let mut read = Vec::new();
    for line in json_lines::split_lines(bytes, 0) {
        let id = json_lines::parse_line::<AgentMemory>(line.bytes, limit).ok().map(|memory| {
            let seen = lessons
                .entry(memory.id.clone())
                .or_insert(VersionCount { versions: 0, availability: LessonAvailability::Live });
            seen.versions += 1;
            seen.availability = memory.availability();
            memory.id
        });
        read.push((line, id));
    }
    let mut split = CompactionSplit { kept: Vec::new(), moved: Vec::new(), lessons_moved: 0, versions_moved: 0 };
    split.lessons_moved = lessons.values().filter(|seen| seen.availability == LessonAvailability::Retired).count();
    for (line, id) in read {
        let seen = id.and_then(|id| lessons.get_mut(&id));
        let moves = seen.is_some_and(|seen| {
            let surplus = seen.versions > versions_kept;
            seen.versions -= 1;
            surplus || seen.availability == LessonAvailability::Retired
        });
        let to = if moves { &mut split.moved } else { &mut split.kept };
        to.extend_from_slice(line.bytes);
        to.push(b'\n');
        split.versions_moved += usize::from(moves);
    }
    split
}

/// Writes the successor of a file. It is synced whatever the settings say, because it replaces the whole file.
pub(super) fn write_successor(bank: &JsonlBank, part: StoreFile, bytes: &[u8]) -> Result<(), MemoryError> {
    disk::refuse_link(&bank.layout.file_path(part))?;
    let path = bank.layout.successor_path(part);
    let mut file = disk::open_to_replace(&path)?;
    bank.disk.append(&path, &mut file, bytes).map_err(MemoryError::io_error("write", &path))?;
    bank.disk.sync(&path, &file).map_err(MemoryError::io_error("sync", &path))
}
