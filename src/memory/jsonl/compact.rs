//! Moving out of the way what is no longer in use: superseded lessons, and versions beyond the last few.

use std::collections::HashMap;

use super::bank::Bank;
use super::disk;
use super::layout::Part;
use super::lines::{self, to_u64};
use super::redo::{Redo, Swap};
use crate::domain::{AgentMemory, MemoryId, Standing};
use crate::memory::{Compaction, MemoryError};

/// Compacts one bank.
///
/// Both files are prepared in full beside the old ones; one record in the redo log then swaps them. A crash before
/// that record leaves everything as it was, a crash after it is finished by the next writer.
pub(super) fn compact(bank: &Bank) -> Result<Compaction, MemoryError> {
    let mut writer = bank.write()?;
    // What the new files are made from must not be lost with the power before they take its place.
    writer.checkpoint()?;
    let state = bank.read_apart()?;
    let bytes = state.bytes_of(Part::Lessons)?;
    let split = split(&bytes, bank.options.versions_kept, bank.options.max_line_bytes);
    let report = Compaction {
        directory: bank.layout.directory().to_owned(),
        lessons_moved: split.lessons_moved,
        versions_moved: split.versions_moved,
        bytes_before: to_u64(bytes.len()),
        bytes_after: to_u64(split.kept.len()),
    };
    if split.versions_moved > 0 {
        let mut archive = state.bytes_of(Part::Archive)?;
        // The archive goes first: a reader that still sees the old lessons file must not miss what left it.
        let swaps = vec![Swap::of(Part::Archive, &archive), Swap::of(Part::Lessons, &bytes)];
        if state.files.lacks_newline(Part::Archive)? {
            archive.push(b'\n');
        }
        archive.extend_from_slice(&split.moved);
        prepare(bank, Part::Archive, &archive)?;
        prepare(bank, Part::Lessons, &split.kept)?;
        let directory = bank.layout.directory();
        bank.disk.sync_directory(directory).map_err(MemoryError::io("sync", directory))?;
        writer.carry_out(&Redo { appends: Vec::new(), swaps })?;
    } else {
        drop(writer);
    }
    bank.fold_now()?;
    Ok(report)
}

struct Split {
    kept: Vec<u8>,
    moved: Vec<u8>,
    lessons_moved: usize,
    versions_moved: usize,
}

/// Decides line by line. A line that cannot be read stays where it is.
fn split(bytes: &[u8], versions_kept: usize, limit: usize) -> Split {
    struct Seen {
        versions: usize,
        standing: Standing,
    }
    let mut lessons: HashMap<MemoryId, Seen> = HashMap::new();
    let mut read = Vec::new();
    for line in lines::lines(bytes, 0) {
        let id = lines::parse::<AgentMemory>(line.bytes, limit).ok().map(|memory| {
            let seen = lessons.entry(memory.id.clone()).or_insert(Seen { versions: 0, standing: Standing::Live });
            seen.versions += 1;
            seen.standing = memory.standing();
            memory.id
        });
        read.push((line, id));
    }
    let mut split = Split { kept: Vec::new(), moved: Vec::new(), lessons_moved: 0, versions_moved: 0 };
    split.lessons_moved = lessons.values().filter(|seen| seen.standing == Standing::Retired).count();
    for (line, id) in read {
        let seen = id.and_then(|id| lessons.get_mut(&id));
        let moves = seen.is_some_and(|seen| {
            let surplus = seen.versions > versions_kept;
            seen.versions -= 1;
            surplus || seen.standing == Standing::Retired
        });
        let to = if moves { &mut split.moved } else { &mut split.kept };
        to.extend_from_slice(line.bytes);
        to.push(b'\n');
        split.versions_moved += usize::from(moves);
    }
    split
}

/// Writes what is to take a file's place. It is synced whatever the settings say: it replaces all there is.
fn prepare(bank: &Bank, part: Part, bytes: &[u8]) -> Result<(), MemoryError> {
    disk::refuse_link(&bank.layout.path(part))?;
    let path = bank.layout.successor(part);
    let mut file = disk::open_to_replace(&path)?;
    bank.disk.append(&path, &mut file, bytes).map_err(MemoryError::io("write", &path))?;
    bank.disk.sync(&path, &file).map_err(MemoryError::io("sync", &path))
}
