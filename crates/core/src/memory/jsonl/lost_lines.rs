//! Finds lines that were acknowledged and that another program took out of a file: an editor that saved an older copy over
//! it, or a checkout. The redo log still holds the last of them.

use std::collections::{BTreeMap, HashSet};

use super::bank::JsonlBank;
use super::bank_files::StoreFile;
use super::bank_state::BankState;
use super::json_lines;
use super::redo_log::{self, RedoLogEntry};
use crate::domain::{AgentMemory, Timestamp};
use crate::memory::MemoryError;

/// The lines that are missing from each file, in the order in which they were written.
pub(super) type LostLines = BTreeMap<StoreFile, Vec<String>>;

/// Finds the lines of the redo log that no file holds any more.
pub(super) fn find_lost_lines(bank: &JsonlBank, state: &BankState) -> Result<LostLines, MemoryError> {
    let mut written: LostLines = BTreeMap::new();
    for entry in redo_log::read_all_entries(&bank.layout.redo_log_path())? {
        let RedoLogEntry::Redo(redo) = entry else { continue };
        for append in redo.appends {
            let lines = json_lines::split_lines(append.text.as_bytes(), 0);
            let lines = lines.map(|line| String::from_utf8_lossy(line.bytes).into_owned());
            written.entry(append.part).or_default().extend(lines);
        }
    }
    let mut lost = LostLines::new();
    for (part, lines) in written {
        let bytes = state.file_bytes(part)?;
        // A compaction moves lines of lessons to the archive.
        let archive = if part == StoreFile::Lessons { state.file_bytes(StoreFile::Archive)? } else { Vec::new() };
        let there: HashSet<&[u8]> = json_lines::split_lines(&bytes, 0)
            .chain(json_lines::split_lines(&archive, 0))
            .map(|line| line.bytes)
            .collect();
        let missing: Vec<String> = lines.into_iter().filter(|line| !there.contains(line.as_bytes())).collect();
        if !missing.is_empty() {
            lost.insert(part, missing);
        }
    }
    Ok(lost)
}

/// Returns the lines to append so that the lost ones are back and no newer version of a lesson is hidden by an older one.
pub(super) fn restoring_lines(
    part: StoreFile,
    lost: &[String],
    current: impl Fn(&AgentMemory) -> Option<AgentMemory>,
) -> Result<Vec<String>, MemoryError> {
    let mut lines = lost.to_vec();
    if part != StoreFile::Lessons {
        return Ok(lines);
    }
    let mut newest: BTreeMap<String, (Timestamp, AgentMemory)> = BTreeMap::new();
    for line in lost {
        let Ok(memory) = serde_json::from_str::<AgentMemory>(line) else { continue };
        newest.insert(memory.id.to_string(), (memory.version_at(), memory));
    }
    for (id, (lost_at, memory)) in newest {
        let Some(kept) = current(&memory).filter(|kept| kept.version_at() > lost_at) else { continue };
        lines.push(serde_json::to_string(&kept).map_err(|source| MemoryError::Encode { id, source })?);
    }
    Ok(lines)
}
