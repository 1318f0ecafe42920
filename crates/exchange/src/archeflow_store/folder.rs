//! The `.archeflow` folder of a directory: locking, and writing without losing anything.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::error::ArcheFlowError;
use super::lesson_file::LessonLines;
use archivist_core::files::{FileReplacement, sync_folder};

pub(super) const LESSONS: &str = ".archeflow/memory/lessons.jsonl";
pub(super) const ARCHIVE: &str = ".archeflow/memory/archive.jsonl";
pub(super) const AUDIT: &str = ".archeflow/memory/audit.jsonl";
pub(super) const RUNS: &str = ".archeflow/memory/runs.jsonl";
pub(super) const INDEX: &str = ".archeflow/events/index.jsonl";

const MEMORY: &str = ".archeflow/memory";
/// The script takes the same lock, so both can be used at the same time.
const LOCK: &str = ".archeflow/memory/lessons.jsonl.lock";

/// The time that a command waits for other writers before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(3);

/// The prefix and suffix of a draft, which is written before it replaces a file. Only the holder of the lock creates
/// one.
const DRAFT: (&str, &str) = (".draft-", ".tmp");

/// The directory whose `.archeflow` folder ArcheFlow uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArcheFlowFolder {
    root: PathBuf,
}

impl ArcheFlowFolder {
    /// Refers to the `.archeflow` folder of this directory, which need not exist yet.
    pub fn in_directory(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of a run's event log, relative to the directory. The run id must have been checked before.
    pub(super) fn run_log_name(run: &str) -> String {
        format!(".archeflow/events/{run}.jsonl")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn has_file(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// Returns the bytes of a file, or `None` if it does not exist.
    pub(super) fn read_bytes(&self, name: &str) -> Result<Option<Vec<u8>>, ArcheFlowError> {
        if !self.has_file(name) {
            return Ok(None);
        }
        match fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ArcheFlowError::Read(name.to_owned(), error)),
        }
    }

    /// Returns the lesson lines of a file, or `None` if it does not exist.
    pub(super) fn read_lesson_lines(&self, name: &str) -> Result<Option<LessonLines>, ArcheFlowError> {
        Ok(self.read_bytes(name)?.map(|bytes| LessonLines::from_bytes(&bytes)))
    }

    /// Waits for the write lock. Missing folders are created, and drafts left behind by a killed writer are removed.
    pub(super) fn lock_for_writing(&self) -> Result<FolderWriter<'_>, ArcheFlowError> {
        self.open_lock_file()?.wait_for_lock()
    }

    /// Creates missing folders and the lock file without waiting for the lock. A command with much to read before it
    /// writes calls this meanwhile, since creating files may take time on some disks.
    pub(super) fn open_lock_file(&self) -> Result<FolderLockFile<'_>, ArcheFlowError> {
        self.refuse_symlink(MEMORY)?;
        fs::create_dir_all(self.path(MEMORY)).map_err(|error| ArcheFlowError::Write(MEMORY.to_owned(), error))?;
        let path = self.path(LOCK);
        if path.is_symlink() {
            return Err(ArcheFlowError::SymlinkedLock(LOCK.to_owned()));
        }
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| ArcheFlowError::Write(LOCK.to_owned(), error))?;
        Ok(FolderLockFile { folder: self, file })
    }

    /// Refuses a file to be written if any part of its path below the directory is a symbolic link.
    fn refuse_symlink(&self, name: &str) -> Result<(), ArcheFlowError> {
        let mut path = self.root.clone();
        for part in Path::new(name).components() {
            path.push(part);
            if path.is_symlink() {
                return Err(ArcheFlowError::Symlink(name.to_owned()));
            }
        }
        Ok(())
    }
}

/// The open lock file, before the lock is taken.
#[derive(Debug)]
pub(super) struct FolderLockFile<'f> {
    folder: &'f ArcheFlowFolder,
    file: File,
}

impl<'f> FolderLockFile<'f> {
    /// Waits until no other process holds the lock.
    pub(super) fn wait_for_lock(self) -> Result<FolderWriter<'f>, ArcheFlowError> {
        let began = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(_) => return Err(ArcheFlowError::Locked(LESSONS.to_owned())),
            }
        }
        remove_stale_drafts(&self.folder.path(MEMORY));
        Ok(FolderWriter { folder: self.folder, lock: self.file, waits: true })
    }
}

/// The exclusive right to write, which is held as long as this value exists.
#[derive(Debug)]
pub(super) struct FolderWriter<'f> {
    folder: &'f ArcheFlowFolder,
    lock: File,
    /// True if a write returns only once its content is on the disk.
    waits: bool,
}

impl FolderWriter<'_> {
    /// Returns a writer that does not wait for the disk, for content that can be produced again after a power cut.
    pub(super) fn without_sync(self) -> Self {
        Self { waits: false, ..self }
    }

    /// Checks that these files may be written, before any of them is.
    pub(super) fn check_writable(&self, names: &[&str]) -> Result<(), ArcheFlowError> {
        names.iter().try_for_each(|name| self.folder.refuse_symlink(name))
    }

    /// Appends bytes to a file, on a line of their own, and waits until they are on the disk.
    pub(super) fn append_to_file(&self, name: &str, bytes: &[u8]) -> Result<(), ArcheFlowError> {
        self.folder.refuse_symlink(name)?;
        // The last record of `runs.jsonl` can be recovered from the lessons, so its new file name need not be synced.
        let is_new = name != RUNS && !self.folder.has_file(name);
        append_bytes(&self.folder.path(name), bytes, self.waits)
            .map_err(|error| ArcheFlowError::Write(name.to_owned(), error))?;
        if is_new {
            self.sync_folder();
        }
        Ok(())
    }

    /// Replaces the content of a file; a reader finds either the old or the new content.
    pub(super) fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<(), ArcheFlowError> {
        self.folder.refuse_symlink(name)?;
        self.replace_at(&self.folder.path(name), bytes).map_err(|error| ArcheFlowError::Write(name.to_owned(), error))
    }

    fn replace_at(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (prefix, suffix) = DRAFT;
        // The file keeps the permissions that it had, or gets those of the lock.
        let permissions = fs::metadata(path).or_else(|_| self.lock.metadata())?.permissions();
        FileReplacement::new(path)
            .with_permissions(permissions)
            .with_draft_name(prefix, suffix)
            .with_sync(self.waits)
            .write(bytes)
    }

    /// Waits until new file names are on the disk; where a folder cannot be synced, that is left to the system.
    pub(super) fn sync_folder(&self) {
        if !self.waits {
            return;
        }
        let _ = sync_folder(&self.folder.path(MEMORY));
    }
}

fn append_bytes(path: &Path, bytes: &[u8], waits: bool) -> io::Result<()> {
    let mut file = File::options().create(true).read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    // The last line may lack its line break.
    let out = if last == [b'\n'] { bytes.to_vec() } else { [b"\n", bytes].concat() };
    file.write_all(&out)?;
    if waits { file.sync_data() } else { Ok(()) }
}

fn remove_stale_drafts(memory: &Path) {
    let (front, end) = DRAFT;
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(front) && name.ends_with(end) {
            // If this fails, the next writer tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}
