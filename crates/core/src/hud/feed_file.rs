//! The feed file: the messages of every process that reflects in a memory, in one file that displays follow.
//!
//! The number of a message is the offset where it ends; it only grows, also across restarts. The file is bounded: when
//! it grows too long, a writer drops its first half. Nothing depends on it; a deleted feed starts over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use super::HudSink;
use crate::domain::HudMessage;
use crate::files::{FileReplacement, is_link};

#[cfg(test)]
#[path = "feed_file_tests.rs"]
mod tests;

/// The folder of the feed in the directory of a memory, and the name of its file.
const FOLDER: &str = "hud";
const FILE: &str = "feed.jsonl";

/// The length of the first line, which holds the base offset of its file. It is fixed, so that numbers can be converted
/// to offsets.
const HEADER_BYTES: usize = 48;

/// The size beyond which a file loses its first half.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The longest time a writer waits for the lock before it drops its message, and the pause between two tries.
const PATIENCE: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(1);

/// The most bytes that one read returns.
const MAX_READ_BYTES: u64 = 1024 * 1024;

/// Appends every message to the feed of a memory.
#[derive(Debug)]
pub struct FileFeedSink {
    path: PathBuf,
    max_bytes: u64,
    /// True once a write failure has been logged.
    has_complained: Mutex<bool>,
}

impl FileFeedSink {
    /// Creates a sink for the feed of the memory in this directory. The file is created with the first message.
    pub fn new(memory: &Path) -> Self {
        Self { path: feed_path(memory), max_bytes: MAX_BYTES, has_complained: Mutex::new(false) }
    }

    fn append_line(&self, line: &[u8]) -> io::Result<()> {
        refuse_linked_folder(&self.path)?;
        if let Some(folder) = self.path.parent()
            && !folder.exists()
        {
            fs::create_dir_all(folder)?;
            // The feed is local to this machine and does not belong into git.
            fs::write(folder.join(".gitignore"), "*\n")?;
        }
        let mut file = open_locked(&self.path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(&render_header(0))?;
        }
        file.write_all(line)?;
        if file.metadata()?.len() > self.max_bytes {
            drop_first_half(&self.path, &mut file)?;
        }
        Ok(())
    }
}

impl HudSink for FileFeedSink {
    fn send_message(&self, message: &HudMessage) {
        let Ok(mut line) = serde_json::to_vec(message) else { return };
        line.push(b'\n');
        if let Err(error) = self.append_line(&line) {
            let mut has_complained = self.has_complained.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::replace(&mut *has_complained, true) {
                tracing::debug!(%error, "the feed cannot be written");
            }
        }
    }
}

/// A message of a feed with its number.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedMessage {
    /// The message's number; later messages have greater ones.
    pub id: u64,
    /// The message itself.
    pub message: HudMessage,
}

/// Follows a feed file.
#[derive(Debug, Clone)]
pub struct FileFeedReader {
    path: PathBuf,
    /// The number of the last message that was read.
    at: u64,
}

impl FileFeedReader {
    /// Starts at the end of the feed, so that only messages sent from now on are read.
    pub fn from_now(memory: &Path) -> Self {
        let path = feed_path(memory);
        let at = File::open(&path)
            .and_then(|mut file| Ok(read_base_offset(&mut file)? + file.metadata()?.len()))
            .unwrap_or(0);
        Self { path, at }
    }

    /// Starts after the message with this number, or at the oldest message if that number is no longer in the file.
    pub fn starting_after(memory: &Path, id: u64) -> Self {
        Self { path: feed_path(memory), at: id }
    }

    /// Returns the number of the last message that was read.
    pub fn read_position(&self) -> u64 {
        self.at
    }

    /// Returns the messages since the last call, up to a bounded amount; an empty list means that there are no more.
    /// Lines that cannot be parsed are skipped.
    pub fn read_new_messages(&mut self) -> io::Result<Vec<FeedMessage>> {
        refuse_linked_folder(&self.path)?;
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let end = file.metadata()?.len();
        let base = read_base_offset(&mut file)?;
        let first = HEADER_BYTES as u64;
        // A number beyond the end is from a deleted feed; one before the beginning was dropped from the file.
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
                told.push(FeedMessage { id: self.at, message });
            }
        }
        Ok(told)
    }
}

/// Replaces the feed of a memory without the messages that go, and returns their number. What is left keeps its place
/// and number: blanks stand where the others were.
pub(crate) fn rewrite_feed(memory: &Path, mut goes: impl FnMut(&[u8]) -> bool) -> io::Result<usize> {
    let path = feed_path(memory);
    refuse_linked_folder(&path)?;
    if !path.exists() {
        return Ok(0);
    }
    let mut file = open_locked(&path)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let mut erased = 0;
    let (mut at, first) = (0, HEADER_BYTES);
    let mut kept = bytes.clone();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let words = line.trim_ascii();
        if at >= first && !words.is_empty() && goes(words) {
            erased += 1;
            let blank = at..at + line.strip_suffix(b"\n").unwrap_or(line).len();
            kept.get_mut(blank).into_iter().for_each(|blank| blank.fill(b' '));
        }
        at += line.len();
    }
    if erased > 0 {
        FileReplacement::new(&path).write(&kept)?;
    }
    Ok(erased)
}

/// Returns an error if the folder of a feed or its file is a symbolic link: it may have come with a repository, and lead
/// anywhere.
fn refuse_linked_folder(path: &Path) -> io::Result<()> {
    match [Some(path), path.parent()].into_iter().flatten().find(|path| is_link(path)) {
        Some(link) => Err(io::Error::other(format!("{} is a symbolic link", link.display()))),
        None => Ok(()),
    }
}

fn feed_path(memory: &Path) -> PathBuf {
    memory.join(FOLDER).join(FILE)
}

/// Renders the first line of a file, padded to its fixed length.
fn render_header(base: u64) -> Vec<u8> {
    let text = format!("{{\"feed\":1,\"base\":{base}}}");
    format!("{text:<width$}\n", width = HEADER_BYTES - 1).into_bytes()
}

/// Reads the base offset of a file from its first line; 0 if there is none.
fn read_base_offset(file: &mut File) -> io::Result<u64> {
    #[derive(serde::Deserialize)]
    struct FeedHeader {
        base: u64,
    }
    let mut line = vec![0; HEADER_BYTES];
    file.seek(SeekFrom::Start(0))?;
    match file.read_exact(&mut line) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
        other => other?,
    }
    Ok(serde_json::from_slice::<FeedHeader>(&line).map(|header| header.base).unwrap_or(0))
}

/// Opens the file for appending and locks it. Retries if another writer replaced the file in the meantime.
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
            Ok(()) if is_file_at_path(&file, path)? => return Ok(file),
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
fn is_file_at_path(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (own, found) = (file.metadata()?, fs::metadata(path));
    Ok(found.is_ok_and(|found| (own.dev(), own.ino()) == (found.dev(), found.ino())))
}

#[cfg(not(unix))]
fn is_file_at_path(_: &File, path: &Path) -> io::Result<bool> {
    Ok(path.exists())
}

/// Replaces the file with one that lacks the first half, while the lock is held. Message numbers do not change.
fn drop_first_half(path: &Path, file: &mut File) -> io::Result<()> {
    let base = read_base_offset(file)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    let half = bytes.len() / 2;
    let Some(cut) = bytes.iter().skip(half).position(|byte| *byte == b'\n').map(|at| half + at + 1) else {
        return Ok(());
    };
    let kept = bytes.get(cut..).unwrap_or_default();
    let shift = u64::try_from(cut.saturating_sub(HEADER_BYTES)).unwrap_or_default();
    let shortened = [render_header(base + shift).as_slice(), kept].concat();
    FileReplacement::new(path).with_sync(false).write(&shortened)
}
