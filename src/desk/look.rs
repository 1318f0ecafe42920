//! Whether what lessons name is in the project: looked for on the disk, in bounded time.

use std::cell::OnceCell;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::recall::{Anchor, Presence};

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;

/// So many files and folders are looked at to find one that moved.
const MAX_ENTRIES: usize = 50_000;
/// And for no longer than this: a session waits.
const MAX_WALK: Duration = Duration::from_millis(150);
/// Or than this, where only a person waits.
const MAX_PATIENT_WALK: Duration = Duration::from_secs(10);
/// No file is read beyond this.
const MAX_READ_BYTES: u64 = 1024 * 1024;
/// So many files of one name are read.
const MAX_FILES: usize = 50;

/// Folders that hold no source of the project's own.
const SKIPPED: &[&str] = &[".git", ".venv", "__pycache__", "node_modules", "target", "venv"];

const MAKEFILES: &[&str] = &["GNUmakefile", "Makefile", "makefile"];

/// A project to look for things in. What has to be walked for is walked for once.
#[derive(Debug)]
pub struct ProjectLook {
    root: PathBuf,
    patience: Duration,
    files: OnceCell<Files>,
}

/// The files of a project, from its root, with forward slashes.
#[derive(Debug)]
enum Files {
    /// All of them.
    All(Vec<String>),
    /// There are too many, or some could not be read: what is not here may still be there.
    Some(Vec<String>),
}

impl ProjectLook {
    /// A project by its root.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), patience: MAX_WALK, files: OnceCell::new() }
    }

    /// The same for whoever wants to know and has the time.
    pub fn patient(root: &Path) -> Self {
        Self { patience: MAX_PATIENT_WALK, ..Self::new(root) }
    }

    /// Whether this is there. Names in the code are not looked for: they may belong to what the project uses.
    pub fn at(&self, anchor: &Anchor) -> Presence {
        match anchor {
            Anchor::Path(path) => self.path(path),
            Anchor::Script(name) => self.in_files(&["package.json"], |text| text.contains(&format!("\"{name}\""))),
            Anchor::Target(name) => self.in_files(MAKEFILES, |text| has_target(text, name)),
            Anchor::Symbol(_) => Presence::Unknown,
        }
    }

    /// A path is there at the root or below a folder of it, as in a workspace of several packages; a file of that name
    /// elsewhere is where it moved to.
    fn path(&self, path: &str) -> Presence {
        if self.root.join(path).symlink_metadata().is_ok() {
            return Presence::Here;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let below = format!("/{path}");
        let folder = format!("/{path}/");
        let (files, otherwise) = self.files();
        if files.iter().any(|file| file.ends_with(&below) || format!("/{file}").contains(&folder)) {
            return Presence::Here;
        }
        let mut named = files.iter().filter(|file| file.rsplit('/').next() == Some(name));
        match (named.next(), named.next()) {
            // Of several nobody knows which it was, and a file that is only named may be any of them.
            (Some(one), None) if path.contains('/') => Presence::Moved(one.clone()),
            (Some(_), _) => Presence::Here,
            (None, _) => otherwise,
        }
    }

    /// Whether one of the files of these names holds it. Where there is none, nobody can tell.
    fn in_files(&self, names: &[&str], holds: impl Fn(&str) -> bool) -> Presence {
        let (files, otherwise) = self.files();
        let of_name = |file: &&String| file.rsplit('/').next().is_some_and(|name| names.contains(&name));
        let texts: Vec<Option<String>> =
            files.iter().filter(of_name).take(MAX_FILES + 1).map(|file| read(&self.root.join(file))).collect();
        if texts.iter().flatten().any(|text| holds(text)) {
            return Presence::Here;
        }
        let is_certain = !texts.is_empty() && texts.len() <= MAX_FILES && texts.iter().all(Option::is_some);
        if is_certain { otherwise } else { Presence::Unknown }
    }

    /// The files that were found, and what it means that something is not among them.
    fn files(&self) -> (&[String], Presence) {
        match self.files.get_or_init(|| walk(&self.root, self.patience)) {
            Files::All(files) => (files, Presence::Gone),
            Files::Some(files) => (files, Presence::Unknown),
        }
    }
}

/// Reads a file that is not too long.
fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_READ_BYTES + 1).read_to_string(&mut text).ok()?;
    (u64::try_from(text.len()).ok()? <= MAX_READ_BYTES).then_some(text)
}

/// The files below a folder. Links are listed and not followed.
fn walk(root: &Path, patience: Duration) -> Files {
    let started = Instant::now();
    let mut files = Vec::new();
    let mut open = vec![(root.to_owned(), String::new())];
    let (mut seen, mut is_whole) = (0, true);
    while let Some((folder, prefix)) = open.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            is_whole = false;
            continue;
        };
        for entry in entries {
            seen += 1;
            if seen > MAX_ENTRIES || started.elapsed() > patience {
                return Files::Some(files);
            }
            let Some((entry, kind)) = entry.ok().and_then(|entry| entry.file_type().ok().map(|kind| (entry, kind)))
            else {
                is_whole = false;
                continue;
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            if !kind.is_dir() {
                files.push(format!("{prefix}{name}"));
            } else if !SKIPPED.contains(&name.as_str()) {
                open.push((entry.path(), format!("{prefix}{name}/")));
            }
        }
    }
    files.sort_unstable();
    if is_whole { Files::All(files) } else { Files::Some(files) }
}

/// Whether a makefile says how to make something of this name, or takes a pattern or another file for it.
fn has_target(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let is_open = line.trim_start().starts_with("include") || line.trim_start().starts_with("-include");
        let target = line.split_once(':').filter(|_| !line.starts_with('\t')).map(|(targets, _)| targets);
        is_open
            || target.is_some_and(|targets| {
                targets.split_whitespace().any(|target| target == name || target.contains(['%', '$']))
            })
    })
}
