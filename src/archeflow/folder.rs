//! `.archeflow` below a directory: who may write there, and how nothing gets lost.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::lines::Lines;
use super::trouble::Trouble;

pub(super) const LESSONS: &str = ".archeflow/memory/lessons.jsonl";
pub(super) const ARCHIVE: &str = ".archeflow/memory/archive.jsonl";
pub(super) const AUDIT: &str = ".archeflow/memory/audit.jsonl";
pub(super) const RUNS: &str = ".archeflow/memory/runs.jsonl";
pub(super) const INDEX: &str = ".archeflow/events/index.jsonl";

const MEMORY: &str = ".archeflow/memory";
/// The script takes the same lock, so both may be used side by side.
const LOCK: &str = ".archeflow/memory/lessons.jsonl.lock";

/// So long others may write before a command gives up.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(3);

/// What a file is called before it takes the place of another. Only whoever holds the lock makes one.
const DRAFT: (&str, &str) = (".draft-", ".tmp");

/// Where ArcheFlow works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The `.archeflow` of this directory. It need not be there yet.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The log of a run, as messages name it. The name is checked before.
    pub(super) fn events_of(run: &str) -> String {
        format!(".archeflow/events/{run}.jsonl")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.path(name).is_file()
    }

    /// The bytes of a file; nothing if there is none.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Trouble> {
        if !self.has(name) {
            return Ok(None);
        }
        match fs::read(self.path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Trouble::Read(name.to_owned(), error)),
        }
    }

    /// The lessons of a file; nothing if there is none.
    pub(super) fn lines(&self, name: &str) -> Result<Option<Lines>, Trouble> {
        Ok(self.read(name)?.map(|bytes| Lines::of(&bytes)))
    }

    /// Waits for its turn to write. Missing folders are made, and what a writer that was killed left half done is
    /// cleared away.
    pub(super) fn lock(&self) -> Result<Writer<'_>, Trouble> {
        self.door()?.lock()
    }

    /// Makes missing folders and what is to be locked, and waits for nobody. Whoever has long to read before it writes does
    /// this meanwhile: a disk may take its time to give out new files.
    pub(super) fn door(&self) -> Result<Door<'_>, Trouble> {
        self.refuse_symlink(MEMORY)?;
        fs::create_dir_all(self.path(MEMORY)).map_err(|error| Trouble::Write(MEMORY.to_owned(), error))?;
        let path = self.path(LOCK);
        if path.is_symlink() {
            return Err(Trouble::SymlinkedLock(LOCK.to_owned()));
        }
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(|error| Trouble::Write(LOCK.to_owned(), error))?;
        Ok(Door { folder: self, file })
    }

    /// Nothing below the directory may lead out of it by a link, if it is to be written.
    fn refuse_symlink(&self, name: &str) -> Result<(), Trouble> {
        let mut path = self.root.clone();
        for part in Path::new(name).components() {
            path.push(part);
            if path.is_symlink() {
                return Err(Trouble::Symlink(name.to_owned()));
            }
        }
        Ok(())
    }
}

/// Where one waits to write.
#[derive(Debug)]
pub(super) struct Door<'f> {
    folder: &'f Folder,
    file: File,
}

impl<'f> Door<'f> {
    /// Waits until nobody else writes.
    pub(super) fn lock(self) -> Result<Writer<'f>, Trouble> {
        let began = Instant::now();
        loop {
            match self.file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(_) => return Err(Trouble::Locked(LESSONS.to_owned())),
            }
        }
        clear_drafts(&self.folder.path(MEMORY));
        Ok(Writer { folder: self.folder, lock: self.file, waits: true })
    }
}

/// The only one who writes, as long as it is there.
#[derive(Debug)]
pub(super) struct Writer<'f> {
    folder: &'f Folder,
    lock: File,
    /// Whether what is written is on the disk when that is said.
    waits: bool,
}

impl Writer<'_> {
    /// The same for what a power cut may take: it can be had again, and there is nothing else to lose.
    pub(super) fn without_waiting(self) -> Self {
        Self { waits: false, ..self }
    }

    /// Makes sure that these files may be written before anything is.
    pub(super) fn may_write(&self, names: &[&str]) -> Result<(), Trouble> {
        names.iter().try_for_each(|name| self.folder.refuse_symlink(name))
    }

    /// Adds bytes at the end of a file, on a line of their own, and waits until they are on the disk.
    pub(super) fn append(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        self.folder.refuse_symlink(name)?;
        // What `runs.jsonl` tells of a run stands in the lessons as well, as long as it is the last; its name may wait.
        let is_new = name != RUNS && !self.folder.has(name);
        append(&self.folder.path(name), bytes, self.waits).map_err(|error| Trouble::Write(name.to_owned(), error))?;
        if is_new {
            self.settle();
        }
        Ok(())
    }

    /// Puts another content in the place of a file's: whoever reads finds the old one or the new one.
    pub(super) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), Trouble> {
        self.folder.refuse_symlink(name)?;
        replace(&self.folder.path(name), &self.folder.path(MEMORY), &self.lock, bytes, self.waits)
            .map_err(|error| Trouble::Write(name.to_owned(), error))
    }

    /// Waits until new names are on the disk; where a folder cannot be synced, the system sees to it.
    pub(super) fn settle(&self) {
        if !self.waits {
            return;
        }
        let _ = File::open(self.folder.path(MEMORY)).and_then(|folder| folder.sync_all());
    }
}

fn append(path: &Path, bytes: &[u8], waits: bool) -> io::Result<()> {
    let mut file = File::options().create(true).read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    // Whoever wrote the last line may have left out its end.
    let out = if last == [b'\n'] { bytes.to_vec() } else { [b"\n", bytes].concat() };
    file.write_all(&out)?;
    if waits { file.sync_data() } else { Ok(()) }
}

fn replace(path: &Path, folder: &Path, lock: &File, bytes: &[u8], waits: bool) -> io::Result<()> {
    let (front, end) = DRAFT;
    let mut draft = tempfile::Builder::new().prefix(front).suffix(end).tempfile_in(folder)?;
    draft.write_all(bytes)?;
    // A draft is its writer's alone. The file is for whoever could read it before, or may read the lock.
    let like = fs::metadata(path).or_else(|_| lock.metadata())?;
    draft.as_file().set_permissions(like.permissions())?;
    if waits {
        draft.as_file().sync_all()?;
    }
    draft.persist(path)?;
    Ok(())
}

fn clear_drafts(memory: &Path) {
    let (front, end) = DRAFT;
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(front) && name.ends_with(end) {
            // The next writer tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}
