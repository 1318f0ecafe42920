//! Every file beside the store that Archivist writes, and the erasing of records from them.
//!
//! A file is a record as a whole, as a job is, or it has one record on each line. What holds no record of a session, as
//! keys, locks and the list of trusted repositories, is not looked at.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::progress_sections::erase_section_lines;
use crate::files::{FileReplacement, is_link, sync_folder};
use crate::hud::rewrite_feed;
use crate::memory::{ErasurePlan, ErasureSelection, MemoryError};
use crate::model::lock_spend_folder;

#[cfg(test)]
#[path = "kept_files_tests.rs"]
mod tests;

/// The age from which a draft counts as left behind by a process that was killed.
const DRAFT_AGE: Duration = Duration::from_secs(600);

/// The number of looks at a file that others append to while it is replaced.
const TAIL_LOOKS: usize = 3;

/// Where Archivist writes files beside the store.
#[derive(Debug, Clone)]
pub(in crate::service) struct PurgePlaces {
    /// The directory of the memory.
    pub(in crate::service) memory: PathBuf,
    /// The state directory of the user.
    pub(in crate::service) state: Option<PathBuf>,
    /// The file of messages that the user has set.
    pub(in crate::service) hud_file: Option<PathBuf>,
    /// The directory of recorded model exchanges.
    pub(in crate::service) recordings: Option<PathBuf>,
    /// The progress notes of the project.
    pub(in crate::service) progress: PathBuf,
}

/// A file with records.
#[derive(Debug)]
struct KeptFile {
    path: PathBuf,
    /// What a record of it is called in counts.
    kind: &'static str,
    shape: FileShape,
}

/// How records lie in a file, and how others write to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileShape {
    /// The whole file is one record.
    Whole,
    /// A draft of a file, which its writer did not live to put in place.
    Draft,
    /// One record on each line; others append without a lock.
    Lines,
    /// One record on each line, in the folder of the spend ledger.
    SpendLines,
    /// The feed, whose messages keep their places.
    Feed,
}

impl PurgePlaces {
    /// Lists the files that exist.
    fn list_files(&self) -> io::Result<Vec<KeptFile>> {
        let mut files = Vec::new();
        let queue = self.memory.join("queue");
        for folder in ["new", "claimed", "done", "dead"] {
            add_folder(&mut files, &queue.join(folder), "", "jobs", FileShape::Whole)?;
        }
        add_file(&mut files, queue.join("batch.log"), "model replies", FileShape::Lines);
        add_file(&mut files, self.memory.join("hud/feed.jsonl"), "display messages", FileShape::Feed);
        if let Some(path) = &self.hud_file {
            add_file(&mut files, path.clone(), "display messages", FileShape::Lines);
        }
        let mut drafts = vec![self.memory.clone(), self.memory.join("hud"), queue];
        drafts.extend(self.progress.parent().map(Path::to_owned));
        if let Some(folder) = &self.recordings {
            add_folder(&mut files, folder, ".json", "recorded exchanges", FileShape::Whole)?;
            drafts.push(folder.clone());
        }
        if let Some(state) = &self.state {
            let spend = state.join("spend");
            add_folder(&mut files, &spend, ".jsonl", "spend entries", FileShape::SpendLines)?;
            add_file(&mut files, state.join("hooks.log"), "log lines", FileShape::Lines);
            add_file(&mut files, state.join("models.json"), "endpoint records", FileShape::Whole);
            add_folder(&mut files, &state.join("init"), "", "installation records", FileShape::Whole)?;
            drafts.extend([spend, state.join("init"), state.clone()]);
        }
        for folder in drafts {
            add_folder(&mut files, &folder, ".tmp", "drafts", FileShape::Draft)?;
        }
        Ok(files)
    }
}

fn add_file(files: &mut Vec<KeptFile>, path: PathBuf, kind: &'static str, shape: FileShape) {
    // A link leads to what is somebody else's.
    let is_inside = !is_link(&path) && !path.parent().is_some_and(is_link);
    if is_inside && path.is_file() {
        files.push(KeptFile { path, kind, shape });
    }
}

/// Adds the files of a folder whose names end like this; those of drafts begin like it.
fn add_folder(
    files: &mut Vec<KeptFile>,
    folder: &Path,
    mark: &str,
    kind: &'static str,
    shape: FileShape,
) -> io::Result<()> {
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in found {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_draft = name.starts_with(".tmp");
        let fits = if shape == FileShape::Draft { is_draft } else { !is_draft && name.ends_with(mark) };
        if fits && name != ".gitignore" {
            add_file(files, entry.path(), kind, shape);
        }
    }
    Ok(())
}

/// Adds to a plan what goes from these files.
pub(in crate::service) fn plan_kept_files(
    places: &PurgePlaces,
    selection: &ErasureSelection,
    plan: &mut ErasurePlan,
) -> Result<(), MemoryError> {
    for file in places.list_files().map_err(MemoryError::io_error("read", &places.memory))? {
        let Some(bytes) = read_file(&file.path)? else { continue };
        match file.shape {
            FileShape::Whole | FileShape::Draft => {
                plan.plan_other_record(selection, file.kind, &bytes);
            }
            FileShape::Lines | FileShape::SpendLines | FileShape::Feed => {
                for line in split_records(&bytes) {
                    plan.plan_other_record(selection, file.kind, line);
                }
            }
        }
    }
    // Nothing goes yet: the lines are only looked at.
    let looked = erase_section_lines(&places.progress, |session, line| {
        let record = render_section_line(session, line);
        plan.plan_other_record(selection, "lines of the progress notes", &record);
        false
    });
    looked.map(drop).map_err(MemoryError::io_error("read", &places.progress))
}

/// Erases what is planned from these files.
pub(in crate::service) fn erase_kept_files(places: &PurgePlaces, plan: &ErasurePlan) -> Result<(), MemoryError> {
    for file in places.list_files().map_err(MemoryError::io_error("read", &places.memory))? {
        let cannot = MemoryError::io_error("erase from", &file.path);
        match file.shape {
            FileShape::Whole | FileShape::Draft => {
                let is_left_behind = file.shape == FileShape::Draft && is_old(&file.path);
                let Some(bytes) = read_file(&file.path)? else { continue };
                if is_left_behind || plan.erases_other_record(&bytes) {
                    remove_file(&file.path).map_err(cannot)?;
                }
            }
            FileShape::Lines => erase_lines(&file.path, plan).map_err(cannot)?,
            FileShape::SpendLines => {
                let folder = file.path.parent().unwrap_or(Path::new("."));
                let _lock = lock_spend_folder(folder).map_err(|error| cannot(io::Error::other(error)))?;
                erase_lines(&file.path, plan).map_err(MemoryError::io_error("erase from", &file.path))?;
            }
            FileShape::Feed => {
                rewrite_feed(&places.memory, |line| plan.erases_other_record(line)).map_err(cannot)?;
            }
        }
    }
    let erased = erase_section_lines(&places.progress, |session, line| {
        plan.erases_other_record(&render_section_line(session, line))
    });
    erased.map(drop).map_err(MemoryError::io_error("erase from", &places.progress))
}

/// Renders a line of the progress notes as a record that names its session.
fn render_section_line(session: &str, line: &str) -> Vec<u8> {
    serde_json::json!({ "session": session, "line": line.trim() }).to_string().into_bytes()
}

fn split_records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
}

/// Replaces a file by one without the lines that go. What others appended meanwhile is taken over.
fn erase_lines(path: &Path, plan: &ErasurePlan) -> io::Result<()> {
    let mut old = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    old.read_to_end(&mut bytes)?;
    if !split_records(&bytes).any(|line| plan.erases_other_record(line)) {
        return Ok(());
    }
    let permissions = old.metadata()?.permissions();
    let replacement = FileReplacement::new(path).with_permissions(permissions);
    replacement.write(&keep_lines(&bytes, plan))?;
    let mut read = bytes.len();
    for _ in 0..TAIL_LOOKS {
        let mut tail = Vec::new();
        old.seek(SeekFrom::Start(u64::try_from(read).unwrap_or(u64::MAX)))?;
        old.read_to_end(&mut tail)?;
        if tail.is_empty() {
            break;
        }
        read += tail.len();
        let mut new = fs::OpenOptions::new().append(true).open(path)?;
        io::Write::write_all(&mut new, &keep_lines(&tail, plan))?;
    }
    Ok(())
}

fn keep_lines(bytes: &[u8], plan: &ErasurePlan) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        if line.trim_ascii().is_empty() || !plan.erases_other_record(line.trim_ascii()) {
            kept.extend_from_slice(line);
        }
    }
    kept
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    path.parent().map_or(Ok(()), sync_folder)
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>, MemoryError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        // A job that is gone by now was taken or finished by a worker.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(MemoryError::io_error("read", path)(error)),
    }
}

fn is_old(path: &Path) -> bool {
    let modified = path.symlink_metadata().and_then(|found| found.modified());
    modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > DRAFT_AGE))
}
