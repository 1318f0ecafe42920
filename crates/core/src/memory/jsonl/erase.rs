//! Erasing records for good: every file that holds one is replaced by one without it, and the index goes.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use super::bank::JsonlBank;
use super::bank_files::{BankLayout, StoreFile};
use super::compact::write_successor;
use super::index;
use super::json_lines;
use super::recovery;
use super::redo_log::{FileSwap, RedoRecord};
use crate::files::{FileReplacement, read_small_file};
use crate::memory::{ErasureNote, ErasurePlan, MemoryError, RecordFate, RecordKind, StoredRecord};

/// The pause between two tries for the lock of the index.
const PAUSE: Duration = Duration::from_millis(10);

/// The file in the folder of the index that whoever builds it locks.
const INDEX_LOCK: &str = "turn";

/// The number of times that a folder is removed while others write into it.
const REMOVAL_TRIES: usize = 20;

/// The longest file of notes that is read.
const MAX_NOTES_BYTES: u64 = 64 * 1024 * 1024;

/// Returns every record of a bank, the older versions of a record first.
pub(super) fn list_stored_records(bank: &JsonlBank) -> Result<Vec<StoredRecord>, MemoryError> {
    let state = bank.read_separate_state()?;
    let mut records = Vec::new();
    for part in StoreFile::ALL {
        let bytes = state.file_bytes(part)?;
        let lines = json_lines::split_lines(&bytes, 0);
        records.extend(lines.map(|line| StoredRecord { kind: record_kind(part), bytes: line.bytes.to_vec() }));
    }
    Ok(records)
}

/// Erases what is planned from one bank.
///
/// The files are replaced as a compaction replaces them: all of their successors are written first, then one record in
/// the redo log swaps them. The redo log is cut back before, so that it holds no record either, and the index is removed
/// while nobody may build it.
pub(super) fn erase_from_bank(bank: &JsonlBank, plan: &ErasurePlan) -> Result<(), MemoryError> {
    let _turn = lock_index(bank)?;
    let mut writer = bank.open_writer()?;
    recovery::remove_leftovers(bank)?;
    writer.write_checkpoint()?;
    let state = bank.read_separate_state()?;
    let mut swaps = Vec::new();
    for part in StoreFile::ALL {
        let bytes = state.file_bytes(part)?;
        if let Some(kept) = erase_lines(&bytes, record_kind(part), plan) {
            write_successor(bank, part, &kept)?;
            swaps.push(FileSwap::from_bytes(part, &bytes));
        }
    }
    if swaps.is_empty() {
        drop(writer);
    } else {
        let directory = bank.layout.directory();
        bank.disk.sync_directory(directory).map_err(MemoryError::io_error("sync", directory))?;
        writer.commit_record(&RedoRecord { appends: Vec::new(), swaps })?;
    }
    remove_index(&bank.layout.index_path())?;
    bank.forget_state();
    Ok(())
}

/// Adds a note about an erasure, or replaces its earlier form.
pub(super) fn record_note(bank: &JsonlBank, note: &ErasureNote) -> Result<(), MemoryError> {
    let _writer = bank.open_writer()?;
    let path = bank.layout.erasures_path();
    let mut bytes = Vec::new();
    for line in json_lines::split_lines(&read_notes(&path)?, 0) {
        if parse_note(line.bytes).is_none_or(|known| known.id != note.id) {
            bytes.extend_from_slice(line.bytes);
            bytes.push(b'\n');
        }
    }
    let line = serde_json::to_vec(note).map_err(|source| MemoryError::Encode { id: note.id.clone(), source })?;
    bytes.extend(line);
    bytes.push(b'\n');
    let replacement = FileReplacement::new(&path).with_default_permissions();
    replacement.write(&bytes).map_err(MemoryError::io_error("write", &path))
}

/// Returns the notes about erasures, the oldest first. A line that cannot be read is passed over.
pub(super) fn list_notes(layout: &BankLayout) -> Result<Vec<ErasureNote>, MemoryError> {
    let bytes = read_notes(&layout.erasures_path())?;
    Ok(json_lines::split_lines(&bytes, 0).filter_map(|line| parse_note(line.bytes)).collect())
}

fn read_notes(path: &Path) -> Result<Vec<u8>, MemoryError> {
    match read_small_file(path, MAX_NOTES_BYTES) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read.map_err(MemoryError::io_error("read", path)),
    }
}

fn parse_note(line: &[u8]) -> Option<ErasureNote> {
    serde_json::from_slice(line).ok()
}

/// Returns the lines of a file without what is erased; `None` if nothing is.
fn erase_lines(bytes: &[u8], kind: RecordKind, plan: &ErasurePlan) -> Option<Vec<u8>> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut is_changed = false;
    for line in json_lines::split_lines(bytes, 0) {
        match plan.judge_record(kind, line.bytes) {
            RecordFate::Kept => kept.extend_from_slice(line.bytes),
            RecordFate::Erased => {
                is_changed = true;
                continue;
            }
            RecordFate::Rewritten(json) => {
                is_changed = true;
                kept.extend_from_slice(json.as_bytes());
            }
        }
        kept.push(b'\n');
    }
    is_changed.then_some(kept)
}

fn record_kind(part: StoreFile) -> RecordKind {
    match part {
        StoreFile::Episodes => RecordKind::Episode,
        StoreFile::Ledger => RecordKind::Fact,
        StoreFile::Archive | StoreFile::Lessons => RecordKind::Lesson,
    }
}

/// Waits until nobody builds the index. It is built from the files alone, so nobody may read them before the erasure
/// and write it after.
fn lock_index(bank: &JsonlBank) -> Result<Option<File>, MemoryError> {
    if !cfg!(feature = "index") {
        return Ok(None);
    }
    let path = bank.layout.index_path();
    let began = Instant::now();
    loop {
        if crate::files::is_link(&path) {
            return Err(MemoryError::Symlink { path });
        }
        if let Some(turn) = index::try_lock_index(&path) {
            return Ok(Some(turn));
        }
        if began.elapsed() >= bank.options.lock_timeout {
            return Err(MemoryError::Locked { path, waited: bank.options.lock_timeout });
        }
        std::thread::sleep(PAUSE);
    }
}

/// Removes the index with everything in it. The vectors of lessons lie there, too. The lock of the index goes last, and
/// its folder stays if somebody already waits there.
fn remove_index(path: &Path) -> Result<(), MemoryError> {
    let cannot = |error| MemoryError::io_error("remove", path)(error);
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(cannot)?,
    };
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        if entry.file_name() == INDEX_LOCK {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let mut tries = 0;
        loop {
            let removed =
                if is_folder { std::fs::remove_dir_all(entry.path()) } else { std::fs::remove_file(entry.path()) };
            match removed {
                // Another process adds a vector meanwhile.
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && tries < REMOVAL_TRIES => tries += 1,
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(cannot(error)),
                _ => break,
            }
        }
    }
    if std::fs::remove_file(path.join(INDEX_LOCK)).is_err() || std::fs::remove_dir(path).is_err() {
        tracing::debug!("the folder of the index is in use");
    }
    Ok(())
}
