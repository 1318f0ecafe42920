//! Finds log files, and reads many of them at once with progress notes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::cli_error::CliError;
use crate::console::Console;
use archivist_core::ingest::{ReaderSettings, UnreadableLog};
use archivist_core::redact::Redactor;
use archivist_core::service::{InspectedLog, ReadProgress, inspect_log};

/// The interval between progress notes.
const TOLD_EVERY: Duration = Duration::from_secs(2);

/// The names of folders that are skipped.
const PASSED_FOLDERS: &[&str] = &[".git", "node_modules", "target", ".venv", "__pycache__"];

/// The file extensions of logs in folders. A file that is named itself is read whatever its extension.
const ENDINGS: &[&str] = &["json", "jsonl", "ndjson", "zst", "md"];

/// A file to inspect.
#[derive(Debug, Clone)]
pub(super) struct InspectedFile {
    pub(super) path: PathBuf,
    /// The path as the user would write it.
    pub(super) shown: String,
    /// True if the file was named itself, and not only found in a folder.
    pub(super) is_named: bool,
    bytes: u64,
}

/// Returns the files behind some paths, in order and without duplicates.
pub(super) fn find_log_files(paths: &[PathBuf], shown: &[PathBuf]) -> Result<Vec<InspectedFile>, CliError> {
    let mut found: Vec<InspectedFile> = Vec::new();
    for (path, shown) in paths.iter().zip(shown) {
        let metadata = std::fs::metadata(path).map_err(|error| {
            let hint = "give the path of a session log, or of a folder that holds some";
            CliError::user_error(format!("{}: {error}", shown.display())).with_hint(hint)
        })?;
        if metadata.is_dir() {
            walk_folder(path, shown, &mut found);
        } else {
            let shown = shown.display().to_string();
            found.push(InspectedFile { path: path.clone(), shown, is_named: true, bytes: metadata.len() });
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|file| seen.insert(file.path.clone()));
    Ok(found)
}

fn walk_folder(folder: &Path, shown: &Path, found: &mut Vec<InspectedFile>) {
    let mut open = vec![(folder.to_owned(), shown.to_owned())];
    let mut files: Vec<InspectedFile> = Vec::new();
    while let Some((folder, shown)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let (path, shown) = (entry.path(), shown.join(entry.file_name()));
            // Links are not followed: they may lead in circles or out of the named folder.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !PASSED_FOLDERS.iter().any(|name| entry.file_name() == *name) {
                open.push((path, shown));
            } else if kind.is_file() && ENDINGS.iter().any(|ending| path.extension().is_some_and(|own| own == *ending))
            {
                let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
                files.push(InspectedFile { path, shown: shown.display().to_string(), is_named: false, bytes });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    found.append(&mut files);
}

/// Reads files on all cores, and passes each result on in the order of the files.
pub(super) fn read_in_parallel(
    files: &[InspectedFile],
    rules: ReaderSettings,
    console: &mut Console,
    mut take: impl FnMut(&InspectedFile, Result<InspectedLog, UnreadableLog>, &mut Console) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let redactor = Redactor::new();
    let progress = ReadProgress::default();
    let next = AtomicUsize::new(0);
    let bytes: u64 = files.iter().map(|file| file.bytes).sum();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let done = done.clone();
            let (redactor, progress, next) = (&redactor, &progress, &next);
            scope.spawn(move || {
                while let Some((number, file)) = numbered_file(files, next.fetch_add(1, Ordering::Relaxed)) {
                    let read = inspect_log(&file.path, rules, redactor, progress);
                    if done.send((number, read)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut early: BTreeMap<usize, Result<InspectedLog, UnreadableLog>> = BTreeMap::new();
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
                let share = progress.bytes_read().saturating_mul(100).checked_div(bytes).unwrap_or(100).min(100);
                console.print_note(&format!(
                    "read {share} % of {} MB, {handed} of {} files done",
                    bytes / 1_000_000,
                    files.len()
                ));
            }
            let mut failed = None;
            while let Some(read) = early.remove(&handed) {
                if let Some((_, file)) = numbered_file(files, handed)
                    && let Err(failure) = take(file, read, console)
                {
                    failed = Some(failure);
                    break;
                }
                handed += 1;
            }
            if let Some(failure) = failed {
                // The remaining files are cancelled; workers only finish their current file.
                next.store(files.len(), Ordering::Relaxed);
                break Err(failure);
            }
        };
        drop(results);
        result
    })
}

fn numbered_file(files: &[InspectedFile], number: usize) -> Option<(usize, &InspectedFile)> {
    files.get(number).map(|file| (number, file))
}
