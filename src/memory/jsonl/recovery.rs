//! Finishing what was begun, and bringing back what the power took.

use std::collections::{BTreeMap, HashSet};
use std::io::ErrorKind;

use super::bank::Bank;
use super::disk;
use super::layout::Part;
use super::lines::{self, to_u64};
use super::redo::{Append, Applied, Entry, Redo, Swap};
use crate::memory::MemoryError;

/// Makes the change that a durable commit stands for. Whatever of it is done already is left as it is.
pub(super) fn finish(bank: &Bank, redo: &Redo) -> Result<(), MemoryError> {
    for append in &redo.appends {
        if mend(bank, append)? == Mended::No {
            add_missing_lines(bank, append)?;
        }
    }
    if !redo.swaps.is_empty() {
        swap(bank, &redo.swaps)?;
    }
    Ok(())
}

/// After the machine was switched off: adds again what the log has and the ends of the files have not.
///
/// A file that somebody changed since is left alone, for then it cannot be told what is missing from it.
pub(super) fn restore_lost(bank: &Bank, entries: Vec<Entry>) -> Result<(), MemoryError> {
    let mut runs: BTreeMap<Part, Append> = BTreeMap::new();
    let mut noted = Applied::default();
    let mut unnoted: HashSet<Part> = HashSet::new();
    for entry in entries {
        match entry {
            Entry::Applied(applied) => {
                noted = applied;
                unnoted.clear();
            }
            Entry::Redo(redo) => {
                for append in redo.appends {
                    unnoted.insert(append.part);
                    match runs.get_mut(&append.part) {
                        Some(run) if run.end() == append.before => run.text.push_str(&append.text),
                        _ => drop(runs.insert(append.part, append)),
                    }
                }
            }
        }
    }
    for (part, run) in &runs {
        let modified = disk::stamp(&bank.layout.path(*part))?.modified;
        let noted = noted.files.get(part).copied().unwrap_or_default().modified;
        if modified <= noted || unnoted.contains(part) {
            mend(bank, run)?;
        }
    }
    Ok(())
}

/// Removes what a compaction prepared and never got to use.
pub(super) fn sweep(bank: &Bank) -> Result<(), MemoryError> {
    let successors = Part::ALL.into_iter().map(|part| bank.layout.successor(part));
    for next in successors.chain([bank.layout.next_redo()]) {
        match std::fs::remove_file(&next) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(MemoryError::io("remove", &next)(error)),
            _ => {}
        }
    }
    Ok(())
}

/// Puts the successors in place, or lets them be if a file is no longer what its successor was made from.
fn swap(bank: &Bank, swaps: &[Swap]) -> Result<(), MemoryError> {
    let waiting: Vec<&Swap> = swaps.iter().filter(|swap| bank.layout.successor(swap.part).exists()).collect();
    for swap in &waiting {
        if !swap.still_fits(&bank.layout.path(swap.part))? {
            return sweep(bank);
        }
    }
    for swap in waiting {
        let (next, path) = (bank.layout.successor(swap.part), bank.layout.path(swap.part));
        bank.disk.rename(&next, &path).map_err(MemoryError::io("replace", &path))?;
    }
    let directory = bank.layout.directory();
    bank.disk.sync_directory(directory).map_err(MemoryError::io("sync", directory))
}

#[derive(Debug, PartialEq, Eq)]
enum Mended {
    /// The bytes are in their place.
    Yes,
    /// Something else is there.
    No,
}

/// Adds the bytes that are missing at the end of a file, provided that what is there is their beginning.
fn mend(bank: &Bank, append: &Append) -> Result<Mended, MemoryError> {
    let path = bank.layout.path(append.part);
    let mut file = disk::open_to_append(&path)?;
    let length = file.metadata().map_err(MemoryError::io("read", &path))?.len();
    if length < append.before {
        return Ok(Mended::No);
    }
    let text = append.text.as_bytes();
    let there = disk::read_range(&file, append.before, length).map_err(MemoryError::io("read", &path))?;
    let same = there.iter().zip(text).take_while(|(a, b)| a == b).count();
    if same == text.len() {
        return Ok(Mended::Yes);
    }
    // A lost power supply leaves zeros where bytes were about to be; a record of ours has none.
    let torn = there.len() <= text.len() && there.iter().zip(text).all(|(a, b)| a == b || *a == 0);
    if !torn {
        return Ok(Mended::No);
    }
    if there.len() > same {
        let keep = append.before.saturating_add(to_u64(same));
        bank.disk.truncate(&path, &file, keep).map_err(MemoryError::io("repair", &path))?;
    }
    let missing = text.get(same..).unwrap_or_default();
    bank.disk.append(&path, &mut file, missing).map_err(MemoryError::io("write", &path))?;
    Ok(Mended::Yes)
}

/// For a commit that was cut off and a file that was changed since: its lines still have to get in.
fn add_missing_lines(bank: &Bank, append: &Append) -> Result<(), MemoryError> {
    let path = bank.layout.path(append.part);
    let mut file = disk::open_to_append(&path)?;
    let bytes = disk::read_range(&file, 0, u64::MAX).map_err(MemoryError::io("read", &path))?;
    let there: HashSet<&[u8]> = lines::lines(&bytes, 0).map(|line| line.bytes).collect();
    let mut missing = Vec::new();
    for line in lines::lines(append.text.as_bytes(), 0).filter(|line| !there.contains(line.bytes)) {
        missing.extend_from_slice(line.bytes);
        missing.push(b'\n');
    }
    if !missing.is_empty() && bytes.last().is_some_and(|&byte| byte != b'\n') {
        missing.insert(0, b'\n');
    }
    bank.disk.append(&path, &mut file, &missing).map_err(MemoryError::io("write", &path))
}
