//! The house rules that a compiler does not know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a pure room never names: waiting, files, the environment, the clock, other processes, chance.
const IMPURE: &[&str] = &[
    "async fn",
    ".await",
    "tokio",
    "std::fs",
    "std::io",
    "std::env",
    "std::process",
    "std::net",
    "std::time",
    "Utc::now",
    "Local::now",
    "SystemTime",
    "Instant::now",
    "RandomState",
    "println!",
    "eprintln!",
];

/// The only folder of a pure room that may wait: it asks a model, through a trait that it is handed.
const WAITS: &str = "distill/llm";

const MAX_LINES: usize = 600;

/// A row of the table of rooms in ARCHITECTURE.md.
#[derive(Debug, PartialEq)]
struct Room {
    /// The rooms that it may use, as the table names them.
    may_use: BTreeSet<String>,
    is_pure: bool,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The sources of all packages, tests included.
fn sources() -> Vec<PathBuf> {
    let mut files = rust_files(&root().join("src"));
    files.extend(rust_files(&root().join("crates")));
    files
}

/// The code of a file without its comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| {
        let stem = stem.to_string_lossy();
        stem.ends_with("_tests") || stem == "test_support"
    })
}

/// The rows of the table of rooms, by the path of each room below `crates`.
fn documented_rooms() -> BTreeMap<String, Room> {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = architecture.split("## The rooms").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut rooms = BTreeMap::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [room, _, may_use, pure] = cells.as_slice() else { panic!("a row has four cells: {row}") };
        let may_use = may_use.split(',').map(str::trim).filter(|room| *room != "nothing").map(str::to_owned);
        let is_pure = match *pure {
            "pure" => true,
            "edge" => false,
            other => panic!("a room is `pure` or an `edge`, not {other}"),
        };
        rooms.insert(room.trim_matches(['`', '/']).to_owned(), Room { may_use: may_use.collect(), is_pure });
    }
    rooms
}

/// Whether the code names a path, and not only the beginning of a longer word.
fn names(code: &str, path: &str) -> bool {
    code.match_indices(path)
        .filter_map(|(at, _)| code.get(at + path.len()..))
        .any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
}

/// The folder of a room: those of `core` are named alone, others with their package.
fn folder(room: &str) -> PathBuf {
    let crates = root().join("crates");
    match room.split_once('/') {
        Some((package, room)) => crates.join(package).join("src").join(room),
        None if crates.join("core/src").join(room).is_dir() => crates.join("core/src").join(room),
        None => crates.join(room).join("src"),
    }
}

#[test]
fn the_table_of_rooms_is_the_code() {
    let rooms = documented_rooms();
    let core: BTreeSet<String> = std::fs::read_dir(root().join("crates/core/src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    let packages: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|package| package != "core")
        .collect();
    let top: BTreeSet<String> = rooms.keys().filter(|room| !room.contains('/')).cloned().collect();
    assert_eq!(top, core.union(&packages).cloned().collect(), "ARCHITECTURE.md and the folders differ");
    for (room, documented) in &rooms {
        let folder = folder(room);
        // Rooms that have rows of their own are looked at by themselves.
        let inner: Vec<PathBuf> = rooms
            .keys()
            .filter(|other| other.starts_with(&format!("{room}/")))
            .map(|other| self::folder(other))
            .collect();
        let mut used = BTreeSet::new();
        for path in rust_files(&folder) {
            if is_test(&path) || inner.iter().any(|inner| path.starts_with(inner)) {
                continue;
            }
            let code = code(&path);
            for other in &core {
                let is_named = if core.contains(room) {
                    room != other && names(&code, &format!("crate::{other}"))
                } else {
                    names(&code, &format!("archivist_core::{other}"))
                };
                if is_named {
                    used.insert(other.clone());
                }
            }
            for other in &packages {
                if names(&code, &format!("archivist_{other}")) {
                    used.insert(other.clone());
                }
            }
        }
        assert_eq!(used, documented.may_use, "what `{room}` uses (left) is not what ARCHITECTURE.md says (right)");
    }
}

#[test]
fn pure_rooms_touch_nothing_outside() {
    for (room, _) in documented_rooms().into_iter().filter(|(_, room)| room.is_pure) {
        for path in rust_files(&folder(&room)) {
            if is_test(&path) || path.to_string_lossy().contains(WAITS) {
                continue;
            }
            let code = code(&path);
            for word in IMPURE {
                assert!(!code.contains(word), "{} names {word}", path.display());
            }
        }
    }
}

#[test]
fn imports_name_their_room_in_full() {
    // The rules above look for `crate::room` and `std::fs`, so nothing may hide in a group.
    for path in sources() {
        for group in ["use crate::{", "use archivist_core::{", "use std::{", "use super::super::super"] {
            let is_hidden = code(&path).lines().any(|line| {
                // Names of the root itself hide nothing.
                line.trim_start().starts_with(group) && path.starts_with(root().join("crates/core"))
            });
            assert!(!is_hidden, "{} has `{group}`", path.display());
        }
    }
}

#[test]
fn only_the_index_knows_its_engine() {
    for path in sources() {
        let is_index = path.to_string_lossy().contains("memory/jsonl/index");
        assert!(is_index || !code(&path).contains("tantivy::"), "{} names tantivy", path.display());
    }
}

#[test]
fn texts_are_hashed_in_one_way() {
    // The model's files are hashed as they are read, and a visitor's token is compared in constant time.
    let allowed = ["domain/text_hash.rs", "model/embed/local_embedder.rs", "serve/src/access.rs"];
    for path in sources() {
        let shown = path.to_string_lossy();
        let is_helper = ["_tests.rs", "test_support.rs"].iter().any(|end| shown.ends_with(end));
        let is_allowed = is_helper || allowed.iter().any(|end| shown.ends_with(end));
        assert!(is_allowed || !code(&path).contains("blake3::"), "{} uses its own hash", path.display());
    }
}

#[test]
fn only_ci_knows_where_shared_data_lies() {
    let name = ["..", "shared"].join("/");
    for folder in ["src", "crates", "tests", "benches", "docs", "config", "scripts"] {
        let mut open = vec![root().join(folder)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                assert!(!text.contains(&name), "{} names {name}", path.display());
            }
        }
    }
}

#[test]
fn no_file_is_too_long() {
    for folder in ["src", "crates", "tests", "benches"] {
        for path in rust_files(&root().join(folder)) {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
        }
    }
}

#[test]
fn files_that_are_named_in_documents_exist() {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for folder in ["src", "crates", "tests", "benches", "examples"] {
        for path in rust_files(&root().join(folder)) {
            names.insert(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
        }
    }
    let documents =
        ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md", "docs/embedding.md", "docs/glossary.md"];
    let modules = sources().into_iter().filter(|path| path.ends_with("mod.rs") || path.ends_with("lib.rs"));
    for path in documents.map(|name| root().join(name)).into_iter().chain(modules) {
        let text = std::fs::read_to_string(&path).unwrap();
        let spans = text.lines().filter(|line| path.extension().unwrap() == "md" || line.starts_with("//!"));
        for span in spans.flat_map(|line| line.split('`').skip(1).step_by(2)).filter(|span| span.ends_with(".rs")) {
            let is_there = *span == *"x_tests.rs"
                || *span == *"build.rs"
                || names.iter().any(|name| name.ends_with(&format!("/{span}")) || name == span);
            assert!(is_there, "{} names {span}, which does not exist", path.display());
        }
    }
}

#[test]
fn every_test_file_runs() {
    let folder = root().join("tests").join("it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for path in rust_files(&folder) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(name == "main" || main.contains(&format!("mod {name};")), "{} is not listed", path.display());
    }
}

#[test]
fn only_the_command_line_uses_anyhow() {
    for path in sources() {
        let is_cli = path.starts_with(root().join("crates/cli"));
        assert!(is_cli || !code(&path).contains("anyhow"), "{} uses anyhow", path.display());
    }
}
