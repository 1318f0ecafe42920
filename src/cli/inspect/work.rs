//! Many files at once, and a word now and then on how far it got.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::ingest::{Rules, Unreadable};
use crate::redact::Redactor;
use crate::service::{Log, Progress, inspect};

/// How often somebody who waits is told how far it got.
const TOLD_EVERY: Duration = Duration::from_secs(2);

/// Names of folders that hold no logs of their own.
const PASSED_FOLDERS: &[&str] = &[".git", "node_modules", "target", ".venv", "__pycache__"];

/// How a log's name ends. Only in folders: a file that is named is read whatever it is called.
const ENDINGS: &[&str] = &["json", "jsonl", "ndjson", "zst", "md"];

/// A file to look at.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// As the person who asked would write it.
    pub(super) shown: String,
    /// Whether it was named itself, not only a folder that it lies in.
    pub(super) is_named: bool,
    bytes: u64,
}

/// The files behind some paths, in order, each once.
pub(super) fn files(paths: &[PathBuf], shown: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut found: Vec<Found> = Vec::new();
    for (path, shown) in paths.iter().zip(shown) {
        let metadata = std::fs::metadata(path).map_err(|error| {
            let hint = "give the path of a session log, or of a folder that holds some";
            Failure::user(format!("{}: {error}", shown.display())).with_hint(hint)
        })?;
        if metadata.is_dir() {
            walk(path, shown, &mut found);
        } else {
            let shown = shown.display().to_string();
            found.push(Found { path: path.clone(), shown, is_named: true, bytes: metadata.len() });
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|file| seen.insert(file.path.clone()));
    Ok(found)
}

fn walk(folder: &Path, shown: &Path, found: &mut Vec<Found>) {
    let mut open = vec![(folder.to_owned(), shown.to_owned())];
    let mut files: Vec<Found> = Vec::new();
    while let Some((folder, shown)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let (path, shown) = (entry.path(), shown.join(entry.file_name()));
            // Links are not followed: they lead in circles, and out of what was asked for.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !PASSED_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                open.push((path, shown));
            } else if kind.is_file() && ENDINGS.iter().any(|ending| path.extension().is_some_and(|own| own == *ending))
            {
                let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
                files.push(Found { path, shown: shown.display().to_string(), is_named: false, bytes });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    found.append(&mut files);
}

/// Reads files on all cores, and hands each over in the order in which it was asked for.
pub(super) fn in_parallel(
    files: &[Found],
    rules: Rules,
    console: &mut Console,
    mut take: impl FnMut(&Found, Result<Log, Unreadable>, &mut Console) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let redactor = Redactor::new();
    let progress = Progress::default();
    let next = AtomicUsize::new(0);
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let done = done.clone();
            let (redactor, progress, next) = (&redactor, &progress, &next);
            scope.spawn(move || {
                while let Some((number, file)) = numbered(files, next.fetch_add(1, Ordering::Relaxed)) {
                    let read = inspect(&file.path, rules, redactor, progress);
                    if done.send((number, read)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut early: BTreeMap<usize, Result<Log, Unreadable>> = BTreeMap::new();
        let mut handed = 0;
        let mut told = Instant::now();
        let result = loop {
            match results.recv_timeout(TOLD_EVERY) {
                Ok((number, read)) => {
                    early.insert(number, read);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) if early.is_empty() => break Ok(()),
                Err(mpsc::RecvTimeoutError::Disconnected) => {}
            }
            if told.elapsed() >= TOLD_EVERY {
                told = Instant::now();
                let share = progress.bytes().saturating_mul(100).checked_div(bytes).unwrap_or(100).min(100);
                console.note(&format!(
                    "read {share} % of {} MB, {handed} of {} files done",
                    bytes / 1_000_000,
                    files.len()
                ));
            }
            let mut failed = None;
            while let Some(read) = early.remove(&handed) {
                if let Some((_, file)) = numbered(files, handed)
                    && let Err(failure) = take(file, read, console)
                {
                    failed = Some(failure);
                    break;
                }
                handed += 1;
            }
            if let Some(failure) = failed {
                // Nobody listens any more: the workers finish the file they are at.
                next.store(files.len(), Ordering::Relaxed);
                break Err(failure);
            }
        };
        drop(results);
        result
    })
}

fn numbered(files: &[Found], number: usize) -> Option<(usize, &Found)> {
    files.get(number).map(|file| (number, file))
}
