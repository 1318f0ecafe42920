//! Finishes interrupted commits, and restores what a power failure took.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;

use super::bank::JsonlBank;
use super::bank_files::StoreFile;
use super::disk;
use super::json_lines::{self, to_u64};
use super::redo_log::{AppliedNote, FileAppend, FileSwap, RedoLogEntry, RedoRecord};
use crate::memory::MemoryError;

/// Applies a durable commit to the files. Parts that are already applied are left as they are.
pub(super) fn finish_commit(bank: &JsonlBank, redo: &RedoRecord) -> Result<(), MemoryError> {
    for append in &redo.appends {
        if complete_append(bank, append)? == AppendRepair::No {
            add_missing_lines(bank, append)?;
        }
    }
    if !redo.swaps.is_empty() {
        swap_files(bank, &redo.swaps)?;
    }
    Ok(())
}

/// Appends again what the log has and the ends of the files lack after a power failure.
///
/// A file that was changed since is left alone, because it cannot be known what is missing from it.
pub(super) fn restore_lost_lines(bank: &JsonlBank, entries: Vec<RedoLogEntry>) -> Result<(), MemoryError> {
    let mut runs: BTreeMap<StoreFile, FileAppend> = BTreeMap::new();
    let mut noted = AppliedNote::default();
    let mut unnoted: HashSet<StoreFile> = HashSet::new();
    for entry in entries {
        match entry {
            RedoLogEntry::Applied(applied) => {
                // What was written before another program changed the files is left to `lost_lines`.
                if applied.epoch != noted.epoch {
                    runs.clear();
                }
                noted = applied;
                unnoted.clear();
            }
            RedoLogEntry::Redo(redo) => {
                for append in redo.appends {
                    unnoted.insert(append.part);
                    match runs.get_mut(&append.part) {
                        Some(run) if run.end_offset() == append.before => run.text.push_str(&append.text),
                        _ => drop(runs.insert(append.part, append)),
                    }
                }
            }
        }
    }
    for (part, run) in &runs {
        let modified = disk::read_file_stamp(&bank.layout.file_path(*part))?.modified;
        let noted = noted.files.get(part).copied().unwrap_or_default().modified;
        if modified <= noted || unnoted.contains(part) {
            complete_append(bank, run)?;
        }
    }
    Ok(())
}

/// Removes the files that a compaction prepared and never used.
pub(super) fn remove_leftovers(bank: &JsonlBank) -> Result<(), MemoryError> {
    let successors = StoreFile::ALL.into_iter().map(|part| bank.layout.successor_path(part));
    for next in successors.chain([bank.layout.next_redo_log_path()]) {
        match std::fs::remove_file(&next) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(MemoryError::io_error("remove", &next)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Puts the successors in place, or removes them if a file is no longer the one its successor was made from.
fn swap_files(bank: &JsonlBank, swaps: &[FileSwap]) -> Result<(), MemoryError> {
    let waiting: Vec<&FileSwap> = swaps.iter().filter(|swap| bank.layout.successor_path(swap.part).exists()).collect();
    for swap in &waiting {
        if !swap.still_matches(&bank.layout.file_path(swap.part))? {
            return remove_leftovers(bank);
        }
    }
    for swap in waiting {
        let (next, path) = (bank.layout.successor_path(swap.part), bank.layout.file_path(swap.part));
        bank.disk.rename(&next, &path).map_err(MemoryError::io_error("replace", &path))?;
    }
    let directory = bank.layout.directory();
    bank.disk.sync_directory(directory).map_err(MemoryError::io_error("sync", directory))
}

#[derive(Debug, PartialEq, Eq)]
enum AppendRepair {
    /// The bytes are in their place.
    Yes,
    /// The place holds other bytes.
    No,
}

/// Appends the bytes that are missing at the end of a file, provided that what is there is their beginning.
fn complete_append(bank: &JsonlBank, append: &FileAppend) -> Result<AppendRepair, MemoryError> {
    let path = bank.layout.file_path(append.part);
    let mut file = disk::open_to_append(&path)?;
    let length = file.metadata().map_err(MemoryError::io_error("read", &path))?.len();
    if length < append.before {
        return Ok(AppendRepair::No);
    }
    let text = append.text.as_bytes();
    let there = disk::read_range(&file, append.before, length).map_err(MemoryError::io_error("read", &path))?;
    let same = there.iter().zip(text).take_while(|(a, b)| a == b).count();
    if same == text.len() {
        return Ok(AppendRepair::Yes);
    }
    // A power failure leaves zeros where bytes were about to be written; our records contain none.
    let torn = there.len() <= text.len() && there.iter().zip(text).all(|(a, b)| a == b || *a == 0);
    if !torn {
        return Ok(AppendRepair::No);
    }
    if there.len() > same {
        let keep = append.before.saturating_add(to_u64(same));
        bank.disk.truncate(&path, &file, keep).map_err(MemoryError::io_error("repair", &path))?;
    }
    let missing = text.get(same..).unwrap_or_default();
    bank.disk.append(&path, &mut file, missing).map_err(MemoryError::io_error("write", &path))?;
    Ok(AppendRepair::Yes)
}

/// Appends the missing lines of an interrupted commit to a file that was changed since.
fn add_missing_lines(bank: &JsonlBank, append: &FileAppend) -> Result<(), MemoryError> {
    let path = bank.layout.file_path(append.part);
    let mut file = disk::open_to_append(&path)?;
    let bytes = disk::read_range(&file, 0, u64::MAX).map_err(MemoryError::io_error("read", &path))?;
    let there: HashSet<&[u8]> = json_lines::split_lines(&bytes, 0).map(|line| line.bytes).collect();
    let mut missing = Vec::new();
    for line in json_lines::split_lines(append.text.as_bytes(), 0).filter(|line| !there.contains(line.bytes)) {
        missing.extend_from_slice(line.bytes);
        missing.push(b'\n');
    }
    if !missing.is_empty() && bytes.last().is_some_and(|&byte| byte != b'\n') {
        missing.insert(0, b'\n');
    }
    bank.disk.append(&path, &mut file, &missing).map_err(MemoryError::io_error("write", &path))
}
