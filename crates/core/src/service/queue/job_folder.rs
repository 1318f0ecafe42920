//! The folders of a queue and the operations on the files in them.
//!
//! A job moves between folders only by `rename`: of several workers that want it exactly one gets it, and it is never
//! missing in between. Symbolic links are never followed.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;

use super::error::QueueError;
use super::job::JobName;
use super::worker_token::WorkerToken;
use crate::domain::Timestamp;
use crate::files::{is_link, read_small_file};
use crate::trust::MachineKey;

/// The size limit of a job's file.
pub(super) const MAX_JOB_BYTES: usize = 1024 * 1024;

/// The longest `.gitignore` that is looked at.
const MAX_GITIGNORE_BYTES: u64 = 1024 * 1024;

/// The queue's folder in the directory of a memory.
const QUEUE: &str = "queue";

/// Where a job lies. If it is in two places at once, the later of them counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Place")]
pub enum JobFolder {
    /// It waits for a worker.
    New,
    /// A worker has it.
    Claimed,
    /// It was put aside, and waits for a person.
    Dead,
    /// It is done.
    Done,
}

impl JobFolder {
    /// All folders, in rising order of precedence.
    pub const ALL: [Self; 4] = [Self::New, Self::Claimed, Self::Dead, Self::Done];

    /// Returns the name of the folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Claimed => "claimed",
            Self::Dead => "dead",
            Self::Done => "done",
        }
    }
}

/// The folders of one queue.
#[derive(Debug, Clone)]
pub(super) struct QueueFolders {
    memory: PathBuf,
    queue: PathBuf,
    /// The key that seals jobs.
    pub(super) key: MachineKey,
}

impl QueueFolders {
    pub(super) fn for_memory(memory: &Path, key: MachineKey) -> Self {
        Self { memory: memory.to_owned(), queue: memory.join(QUEUE), key }
    }

    pub(super) fn queue_dir(&self) -> &Path {
        &self.queue
    }

    pub(super) fn folder_path(&self, place: JobFolder) -> PathBuf {
        self.queue.join(place.as_str())
    }

    pub(super) fn job_path(&self, place: JobFolder, name: &JobName) -> PathBuf {
        self.folder_path(place).join(name.as_str())
    }

    /// Returns the path of a job that a worker has claimed.
    pub(super) fn claimed_path(&self, name: &JobName, token: &WorkerToken) -> PathBuf {
        self.folder_path(JobFolder::Claimed).join(format!("{name}.{token}"))
    }

    /// Creates all missing folders, and returns an error if one is a symbolic link.
    pub(super) fn create_all(&self) -> Result<(), QueueError> {
        if !self.memory.is_dir() {
            std::fs::create_dir_all(&self.memory).map_err(QueueError::from_io("create", &self.memory))?;
        }
        if create_private_folder(&self.queue)? {
            self.hide_from_git();
        }
        JobFolder::ALL.into_iter().try_for_each(|place| create_private_folder(&self.folder_path(place)).map(drop))
    }

    /// Creates one folder of an existing queue.
    pub(super) fn create_folder(&self, place: JobFolder) -> Result<(), QueueError> {
        create_private_folder(&self.folder_path(place)).map(drop)
    }

    /// Lists the entries of a folder, sorted by name; none if the folder does not exist.
    pub(super) fn list_entries(&self, place: JobFolder) -> Result<Vec<QueueEntry>, QueueError> {
        let folder = self.folder_path(place);
        if is_link(&self.queue) || is_link(&folder) {
            return Err(QueueError::Symlink { path: folder });
        }
        let found = match std::fs::read_dir(&folder) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(QueueError::from_io("read", &folder)(error)),
        };
        let mut entries = Vec::new();
        for entry in found {
            let entry = entry.map_err(QueueError::from_io("read", &folder))?;
            // A file that is gone by now was taken by another worker.
            entries.extend(QueueEntry::from_path(entry.path()));
        }
        entries.sort_by(|one, other| one.file_name.cmp(&other.file_name));
        Ok(entries)
    }

    /// Writes a `.gitignore` into the queue, unless the memory's own one lists it already.
    fn hide_from_git(&self) {
        let listed = read_small_file(&self.memory.join(".gitignore"), MAX_GITIGNORE_BYTES).unwrap_or_default();
        if listed.split(|&byte| byte == b'\n').any(|line| line.trim_ascii() == b"queue/") {
            return;
        }
        if let Err(error) = create_file(&self.queue.join(".gitignore"), b"*\n") {
            tracing::debug!(%error, "no .gitignore written");
        }
    }
}

/// An entry of a queue folder.
#[derive(Debug)]
pub(super) struct QueueEntry {
    pub(super) path: PathBuf,
    pub(super) file_name: String,
    metadata: Metadata,
}

impl QueueEntry {
    /// Returns the entry at a path, if it exists.
    pub(super) fn from_path(path: PathBuf) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        let file_name = path.file_name()?.to_string_lossy().into_owned();
        Some(Self { path, file_name, metadata })
    }

    /// Returns the distance of its modification time from now, in the past or the future.
    pub(super) fn age_at(&self, now: Timestamp) -> FileAge {
        let modified = self.metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        match SystemTime::from(now).duration_since(modified) {
            Ok(ago) => FileAge::Ago(ago),
            Err(ahead) => FileAge::Ahead(ahead.duration()),
        }
    }

    /// Reads the file, if it is a regular file within the size limit.
    pub(super) fn read_bytes(&self) -> Result<Vec<u8>, EntryReadError> {
        if self.metadata.is_symlink() {
            return Err(EntryReadError::No("it is a symbolic link".to_owned()));
        }
        if !self.metadata.is_file() {
            return Err(EntryReadError::No("it is not a file".to_owned()));
        }
        let open = open_plain_file(OpenOptions::new().read(true), &self.path);
        let mut bytes = Vec::new();
        let most = u64::try_from(MAX_JOB_BYTES).unwrap_or(u64::MAX);
        match open.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
            Ok(_) if bytes.len() > MAX_JOB_BYTES => Err(EntryReadError::No("it is too long".to_owned())),
            Ok(_) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(EntryReadError::Gone),
            Err(error) => Err(EntryReadError::No(error.to_string())),
        }
    }
}

/// The reason why a file could not be read.
#[derive(Debug)]
pub(super) enum EntryReadError {
    /// Another process took it in the meantime.
    Gone,
    /// It cannot be read, for this reason.
    No(String),
}

/// The age of a file's last modification. It may lie in the future if the clock was set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAge {
    Ago(Duration),
    Ahead(Duration),
}

impl FileAge {
    /// Returns how long ago it was, or zero if it is in the future.
    pub(super) fn time_ago(self) -> Duration {
        match self {
            Self::Ago(ago) => ago,
            Self::Ahead(_) => Duration::ZERO,
        }
    }

    /// Returns true if it is within this time of now, in either direction.
    pub(super) fn is_within(self, time: Duration) -> bool {
        match self {
            Self::Ago(distance) | Self::Ahead(distance) => distance < time,
        }
    }
}

/// The result of an operation on a file that other processes may take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileActionResult {
    Yes,
    /// The file no longer exists.
    Gone,
}

/// Moves a file. Of several processes that move the same file, exactly one succeeds.
pub(super) fn move_file(from: &Path, to: &Path) -> Result<FileActionResult, QueueError> {
    missing_as_gone(std::fs::rename(from, to)).map_err(QueueError::from_io("move", from))
}

/// Deletes a file that is no longer needed.
pub(super) fn remove_file(path: &Path) -> Result<FileActionResult, QueueError> {
    missing_as_gone(std::fs::remove_file(path)).map_err(QueueError::from_io("remove", path))
}

/// Sets a file's modification time, as a heartbeat.
pub(super) fn touch_file(path: &Path, at: Timestamp) -> Result<FileActionResult, QueueError> {
    let touched = open_plain_file(OpenOptions::new().read(true), path).and_then(|file| file.set_modified(at.into()));
    missing_as_gone(touched).map_err(QueueError::from_io("touch", path))
}

/// Appends to an existing file.
pub(super) fn append_text(path: &Path, text: &str, at: Timestamp) -> Result<FileActionResult, QueueError> {
    let appended = open_plain_file(OpenOptions::new().append(true), path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_modified(at.into())
    });
    missing_as_gone(appended).map_err(QueueError::from_io("write", path))
}

/// Creates a new file and syncs it to disk; `None` if it exists already.
pub(super) fn create_file(path: &Path, bytes: &[u8]) -> Result<Option<()>, QueueError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = match open_plain_file(&mut options, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(QueueError::from_io("create", path)(error)),
    };
    if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_data()) {
        // A job that was refused must not be found later.
        let _ = std::fs::remove_file(path);
        return Err(QueueError::from_io("write", path)(error));
    }
    Ok(Some(()))
}

/// Opens a file for locking, and creates it if needed.
pub(super) fn open_lock_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open_plain_file(&mut options, path)
}

/// Opens a regular file only: a symbolic link may lead anywhere, and a pipe would block.
pub(super) fn open_plain_file(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let is_file = file.metadata()?.is_file();
    if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")) }
}

fn missing_as_gone(result: io::Result<()>) -> io::Result<FileActionResult> {
    match result {
        Ok(()) => Ok(FileActionResult::Yes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileActionResult::Gone),
        Err(error) => Err(error),
    }
}

/// Creates a folder that only its owner may enter, and returns true if it was missing.
fn create_private_folder(folder: &Path) -> Result<bool, QueueError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => Ok(true),
        Err(_) if is_link(folder) => Err(QueueError::Symlink { path: folder.to_owned() }),
        Err(_) if folder.is_dir() => Ok(false),
        Err(error) => Err(QueueError::from_io("create", folder)(error)),
    }
}
