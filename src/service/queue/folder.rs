//! The folders of a queue and the few things that are done to the files in them.
//!
//! A job changes its folder by `rename` and in no other way: of several who want it exactly one gets it, and there is no
//! moment in which it is nowhere. Links are never followed.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;

use super::error::QueueError;
use super::job::JobName;
use super::token::Token;
use crate::domain::Timestamp;

/// A longer file is no job.
pub(super) const MAX_JOB_BYTES: usize = 1024 * 1024;

/// The folder of the queue in the directory of a memory.
const QUEUE: &str = "queue";

/// Where a job lies. If it is in two places at once, the later of them counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// It waits.
    New,
    /// A worker has it.
    Claimed,
    /// It was put aside, and waits for a person.
    Dead,
    /// It is done.
    Done,
}

impl Place {
    /// All of them, what counts least first.
    pub const ALL: [Self; 4] = [Self::New, Self::Claimed, Self::Dead, Self::Done];

    /// The name of its folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Claimed => "claimed",
            Self::Dead => "dead",
            Self::Done => "done",
        }
    }
}

/// Where the files of one queue lie.
#[derive(Debug, Clone)]
pub(super) struct Folders {
    memory: PathBuf,
    queue: PathBuf,
}

impl Folders {
    pub(super) fn of(memory: &Path) -> Self {
        Self { memory: memory.to_owned(), queue: memory.join(QUEUE) }
    }

    pub(super) fn queue(&self) -> &Path {
        &self.queue
    }

    pub(super) fn folder(&self, place: Place) -> PathBuf {
        self.queue.join(place.as_str())
    }

    pub(super) fn path(&self, place: Place, name: &JobName) -> PathBuf {
        self.folder(place).join(name.as_str())
    }

    /// Where a job lies that a worker has.
    pub(super) fn claimed(&self, name: &JobName, token: &Token) -> PathBuf {
        self.folder(Place::Claimed).join(format!("{name}.{token}"))
    }

    /// Makes what is missing and refuses what leads elsewhere.
    pub(super) fn make(&self) -> Result<(), QueueError> {
        if !self.memory.is_dir() {
            std::fs::create_dir_all(&self.memory).map_err(QueueError::io("create", &self.memory))?;
        }
        if make_folder(&self.queue)? {
            self.hide_from_git();
        }
        Place::ALL.into_iter().try_for_each(|place| make_folder(&self.folder(place)).map(drop))
    }

    /// Makes one folder of a queue that is there.
    pub(super) fn make_place(&self, place: Place) -> Result<(), QueueError> {
        make_folder(&self.folder(place)).map(drop)
    }

    /// The entries of a folder, in the order of their names; none if there is no such folder.
    pub(super) fn entries(&self, place: Place) -> Result<Vec<Entry>, QueueError> {
        let folder = self.folder(place);
        if is_link(&self.queue) || is_link(&folder) {
            return Err(QueueError::Symlink { path: folder });
        }
        let found = match std::fs::read_dir(&folder) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(QueueError::io("read", &folder)(error)),
        };
        let mut entries = Vec::new();
        for entry in found {
            let entry = entry.map_err(QueueError::io("read", &folder))?;
            // What is gone by now has been taken by somebody.
            entries.extend(Entry::at(entry.path()));
        }
        entries.sort_by(|one, other| one.file_name.cmp(&other.file_name));
        Ok(entries)
    }

    /// The memory's own list says it where it was written lately; else the queue says it for itself.
    fn hide_from_git(&self) {
        let listed = std::fs::read_to_string(self.memory.join(".gitignore")).unwrap_or_default();
        if listed.lines().any(|line| line.trim() == "queue/") {
            return;
        }
        if let Err(error) = std::fs::write(self.queue.join(".gitignore"), "*\n") {
            tracing::debug!(%error, "no .gitignore written");
        }
    }
}

/// Something that lies in a folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) file_name: String,
    metadata: Metadata,
}

impl Entry {
    /// What lies there, if anything does.
    pub(super) fn at(path: PathBuf) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        let file_name = path.file_name()?.to_string_lossy().into_owned();
        Some(Self { path, file_name, metadata })
    }

    /// How far its time of change is from now, and on which side.
    pub(super) fn touched(&self, now: Timestamp) -> Touched {
        let modified = self.metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        match SystemTime::from(now).duration_since(modified) {
            Ok(ago) => Touched::Ago(ago),
            Err(ahead) => Touched::Ahead(ahead.duration()),
        }
    }

    /// Reads it, if it is a file of sensible length.
    pub(super) fn read(&self) -> Result<Vec<u8>, Unread> {
        if self.metadata.is_symlink() {
            return Err(Unread::No("it is a symbolic link".to_owned()));
        }
        if !self.metadata.is_file() {
            return Err(Unread::No("it is not a file".to_owned()));
        }
        let open = open(OpenOptions::new().read(true), &self.path);
        let mut bytes = Vec::new();
        let most = u64::try_from(MAX_JOB_BYTES).unwrap_or(u64::MAX);
        match open.and_then(|file| file.take(most + 1).read_to_end(&mut bytes)) {
            Ok(_) if bytes.len() > MAX_JOB_BYTES => Err(Unread::No("it is too long".to_owned())),
            Ok(_) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Unread::Gone),
            Err(error) => Err(Unread::No(error.to_string())),
        }
    }
}

/// Why a file could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// Somebody took it meanwhile.
    Gone,
    /// For this reason.
    No(String),
}

/// When a file was last touched, as seen from now. The clock may have been set back meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touched {
    Ago(Duration),
    Ahead(Duration),
}

impl Touched {
    /// How long ago it was, if it was not in the future.
    pub(super) fn ago(self) -> Duration {
        match self {
            Self::Ago(ago) => ago,
            Self::Ahead(_) => Duration::ZERO,
        }
    }

    /// Whether it was within this time of now, on either side.
    pub(super) fn is_within(self, time: Duration) -> bool {
        match self {
            Self::Ago(distance) | Self::Ahead(distance) => distance < time,
        }
    }
}

/// What became of an attempt to do something to a file that others may take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Yes,
    /// There is no such file any more.
    Gone,
}

/// Moves a file. Of several who move the same file, exactly one does.
pub(super) fn rename(from: &Path, to: &Path) -> Result<Done, QueueError> {
    if_there(std::fs::rename(from, to)).map_err(QueueError::io("move", from))
}

/// Deletes a file that another one says everything of.
pub(super) fn remove(path: &Path) -> Result<Done, QueueError> {
    if_there(std::fs::remove_file(path)).map_err(QueueError::io("remove", path))
}

/// Gives a file a time of change: a sign of life.
pub(super) fn touch(path: &Path, at: Timestamp) -> Result<Done, QueueError> {
    let touched = open(OpenOptions::new().read(true), path).and_then(|file| file.set_modified(at.into()));
    if_there(touched).map_err(QueueError::io("touch", path))
}

/// Adds to a file that is there.
pub(super) fn append(path: &Path, text: &str, at: Timestamp) -> Result<Done, QueueError> {
    let appended = open(OpenOptions::new().append(true), path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_modified(at.into())
    });
    if_there(appended).map_err(QueueError::io("write", path))
}

/// Makes a file that was not there, on disk when this returns; `None` if it was there.
pub(super) fn create(path: &Path, bytes: &[u8]) -> Result<Option<()>, QueueError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = match open(&mut options, path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        Err(error) => return Err(QueueError::io("create", path)(error)),
    };
    if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_data()) {
        // A job that was refused must not be found later.
        let _ = std::fs::remove_file(path);
        return Err(QueueError::io("write", path)(error));
    }
    Ok(Some(()))
}

/// Opens a file for its lock.
pub(super) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    open(&mut options, path)
}

/// Opens a file, and nothing but a file: a link may lead anywhere, and a pipe makes wait.
pub(super) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let is_file = file.metadata()?.is_file();
    if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")) }
}

fn if_there(result: io::Result<()>) -> io::Result<Done> {
    match result {
        Ok(()) => Ok(Done::Yes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Done::Gone),
        Err(error) => Err(error),
    }
}

/// Makes a folder that only its owner may enter; says whether it had to.
fn make_folder(folder: &Path) -> Result<bool, QueueError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Ok(()) => Ok(true),
        Err(_) if is_link(folder) => Err(QueueError::Symlink { path: folder.to_owned() }),
        Err(_) if folder.is_dir() => Ok(false),
        Err(error) => Err(QueueError::io("create", folder)(error)),
    }
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}
