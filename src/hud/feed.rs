//! The feed: what every process that reflects in a memory tells, in one file that displays read along.
//!
//! A message has a number that only grows, also over restarts: the place where it ends. The file is bounded; when it
//! grows too long, a writer leaves out its first half. Nobody depends on it: deleted, it begins anew.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use super::HudSink;
use crate::domain::HudMessage;

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;

/// The folder of the feed in the directory of a memory, and its file.
const FOLDER: &str = "hud";
const FILE: &str = "feed.jsonl";

/// The first line says where its file begins. It has the same length in every file, so that numbers can be told from
/// places.
const HEADER_BYTES: usize = 48;

/// A longer file loses its first half.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// A writer waits no longer for the others: what it tells is worth no more.
const PATIENCE: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(1);

/// As much is read at once.
const MAX_READ_BYTES: u64 = 1024 * 1024;

/// Appends every message to the feed of a memory.
#[derive(Debug)]
pub struct FeedSink {
    path: PathBuf,
    max_bytes: u64,
    /// Whether it was said already that nothing can be written.
    has_complained: Mutex<bool>,
}

impl FeedSink {
    /// The feed of the memory in this directory. It is made when the first message comes.
    pub fn new(memory: &Path) -> Self {
        Self { path: path(memory), max_bytes: MAX_BYTES, has_complained: Mutex::new(false) }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.path.parent()
            && !folder.exists()
        {
            fs::create_dir_all(folder)?;
            // Who saw what is nobody's business but this machine's.
            fs::write(folder.join(".gitignore"), "*\n")?;
        }
        let mut file = open_locked(&self.path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(&header(0))?;
        }
        file.write_all(line)?;
        if file.metadata()?.len() > self.max_bytes {
            halve(&self.path, &mut file)?;
        }
        Ok(())
    }
}

impl HudSink for FeedSink {
    fn tell(&self, message: &HudMessage) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        if let Err(error) = self.append(&line) {
            let mut has_complained = self.has_complained.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::replace(&mut *has_complained, true) {
                tracing::debug!(%error, "the feed cannot be written");
            }
        }
    }
}

/// A message and its number.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Its number: those of later messages are greater.
    pub id: u64,
    /// The message.
    pub message: HudMessage,
}

/// Reads a feed along.
#[derive(Debug, Clone)]
pub struct FeedReader {
    path: PathBuf,
    /// The number of the last message that was read.
    at: u64,
}

impl FeedReader {
    /// Everything that is told from now on.
    pub fn from_now(memory: &Path) -> Self {
        let path = path(memory);
        let at = File::open(&path).and_then(|mut file| Ok(base(&mut file)? + file.metadata()?.len())).unwrap_or(0);
        Self { path, at }
    }

    /// Everything behind the message of this number that is still there.
    pub fn after(memory: &Path, id: u64) -> Self {
        Self { path: path(memory), at: id }
    }

    /// The number of the last message that was read.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// What was told since the last look, up to a bounded amount; nothing means that there is no more. A line that
    /// cannot be read is passed over.
    pub fn news(&mut self) -> io::Result<Vec<Told>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let end = file.metadata()?.len();
        let base = base(&mut file)?;
        let first = HEADER_BYTES as u64;
        // A number from beyond the end is from a feed that is gone, one from before the beginning was left out.
        let is_known = (base + first..=base + end).contains(&self.at);
        let mut place = if is_known { self.at - base } else { first };
        file.seek(SeekFrom::Start(place))?;
        let mut bytes = Vec::new();
        file.take(MAX_READ_BYTES).read_to_end(&mut bytes)?;
        let mut told = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            place += line.len() as u64;
            self.at = base + place;
            if let Ok(message) = serde_json::from_slice(line) {
                told.push(Told { id: self.at, message });
            }
        }
        Ok(told)
    }
}

fn path(memory: &Path) -> PathBuf {
    memory.join(FOLDER).join(FILE)
}

/// A first line, padded to its length.
fn header(base: u64) -> Vec<u8> {
    let text = format!("{{\"feed\":1,\"base\":{base}}}");
    format!("{text:<width$}\n", width = HEADER_BYTES - 1).into_bytes()
}

/// Where a file begins, as its first line says.
fn base(file: &mut File) -> io::Result<u64> {
    #[derive(serde::Deserialize)]
    struct Header {
        base: u64,
    }
    let mut line = vec![0; HEADER_BYTES];
    file.seek(SeekFrom::Start(0))?;
    match file.read_exact(&mut line) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
        other => other?,
    }
    Ok(serde_json::from_slice::<Header>(&line).map(|header| header.base).unwrap_or(0))
}

/// Opens the file to append to and locks it. Another writer may have put a new one in its place meanwhile.
fn open_locked(path: &Path) -> io::Result<File> {
    let mut waited = Duration::ZERO;
    loop {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
        }
        let file = options.open(path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path)? => return Ok(file),
            Err(fs::TryLockError::Error(error)) => return Err(error),
            _ if waited >= PATIENCE => return Err(io::ErrorKind::TimedOut.into()),
            _ => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (own, found) = (file.metadata()?, fs::metadata(path));
    Ok(found.is_ok_and(|found| (own.dev(), own.ino()) == (found.dev(), found.ino())))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

/// Puts a file in its place that lacks the first half, while the lock is held. Numbers stay what they were.
fn halve(path: &Path, file: &mut File) -> io::Result<()> {
    let base = base(file)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let half = bytes.len() / 2;
    let Some(cut) = bytes.iter().skip(half).position(|byte| *byte == b'\n').map(|at| half + at + 1) else {
        return Ok(());
    };
    let kept = bytes.get(cut..).unwrap_or_default();
    let shift = u64::try_from(cut.saturating_sub(HEADER_BYTES)).unwrap_or_default();
    let next = path.with_extension("next");
    fs::write(&next, [header(base + shift).as_slice(), kept].concat())?;
    fs::rename(next, path)
}
