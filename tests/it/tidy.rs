//! The house rules that a compiler does not know.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Who may name whom. A room that is not here may not exist.
const ROOMS: &[(&str, Purity, &[&str])] = &[
    ("domain", Purity::Pure, &[]),
    ("text", Purity::Pure, &[]),
    ("ingest", Purity::Edge, &["domain"]),
    ("redact", Purity::Pure, &[]),
    ("context", Purity::Pure, &["domain", "text", "redact"]),
    ("distill", Purity::PureBut("llm"), &["domain", "text", "redact", "context", "model"]),
    ("model", Purity::Edge, &["domain", "text"]),
    ("judge", Purity::Pure, &["domain", "text"]),
    ("recall", Purity::Pure, &["domain", "text"]),
    ("audit", Purity::Pure, &["domain", "text", "redact", "judge", "recall"]),
    ("memory", Purity::Edge, &["domain", "text", "recall"]),
    ("archeflow", Purity::Edge, &["domain", "text", "recall"]),
    ("exchange", Purity::Edge, &["domain", "text", "ingest", "redact", "context", "judge", "memory", "archeflow"]),
    ("hud", Purity::Edge, &["domain", "memory"]),
    ("hooks", Purity::Pure, &["domain", "text"]),
    ("config", Purity::Edge, &["domain", "judge", "recall", "memory", "service"]),
    (
        "service",
        Purity::Edge,
        &[
            "domain", "text", "ingest", "redact", "context", "distill", "model", "judge", "memory", "hud", "recall",
            "exchange",
        ],
    ),
    (
        "desk",
        Purity::Edge,
        &[
            "domain", "text", "ingest", "redact", "context", "model", "judge", "recall", "memory", "hud", "config",
            "exchange", "service",
        ],
    ),
    ("serve", Purity::Edge, &["domain", "text", "redact", "context", "recall", "memory", "hud", "service", "desk"]),
    (
        "cli",
        Purity::Edge,
        &[
            "domain",
            "text",
            "ingest",
            "redact",
            "context",
            "distill",
            "model",
            "judge",
            "recall",
            "memory",
            "audit",
            "archeflow",
            "exchange",
            "hud",
            "hooks",
            "config",
            "service",
            "desk",
            "serve",
        ],
    ),
];

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

const MAX_LINES: usize = 600;

#[derive(PartialEq)]
enum Purity {
    Pure,
    /// Pure but for this folder.
    PureBut(&'static str),
    Edge,
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

/// The code of a file without its comments, its strings being none of our business.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_tests"))
}

#[test]
fn rooms_name_only_the_rooms_they_may() {
    let source = root().join("src");
    let rooms: BTreeSet<&str> = ROOMS.iter().map(|(room, ..)| *room).collect();
    let found: BTreeSet<String> = std::fs::read_dir(&source)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, rooms.iter().map(|room| (*room).to_owned()).collect(), "rooms and their table differ");
    for (room, _, allowed) in ROOMS {
        for path in rust_files(&source.join(room)) {
            let code = code(&path);
            for named in rooms.iter().filter(|named| *named != room && !allowed.contains(named)) {
                assert!(!code.contains(&format!("crate::{named}")), "{} names {named}", path.display());
            }
        }
    }
}

#[test]
fn pure_rooms_touch_nothing_outside() {
    for (room, purity, _) in ROOMS {
        let room = root().join("src").join(room);
        let except = match purity {
            Purity::Pure => None,
            Purity::PureBut(folder) => Some(room.join(folder)),
            Purity::Edge => continue,
        };
        for path in rust_files(&room) {
            if is_test(&path) || except.as_ref().is_some_and(|folder| path.starts_with(folder)) {
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
    for path in rust_files(&root().join("src")) {
        for group in ["use crate::{", "use std::{", "use super::super::super"] {
            assert!(!code(&path).contains(group), "{} has `{group}`", path.display());
        }
    }
}

#[test]
fn only_the_index_knows_its_engine() {
    for path in rust_files(&root().join("src")) {
        let is_index = path.to_string_lossy().contains("memory/jsonl/index");
        assert!(is_index || !code(&path).contains("tantivy::"), "{} names tantivy", path.display());
    }
}

#[test]
fn only_ci_knows_where_shared_data_lies() {
    let name = ["..", "shared"].join("/");
    for folder in ["src", "tests", "benches", "docs", "config", "scripts"] {
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
    for folder in ["src", "tests", "benches"] {
        for path in rust_files(&root().join(folder)) {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
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
fn every_room_is_explained() {
    let architecture = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (room, ..) in ROOMS {
        assert!(architecture.contains(&format!("`{room}/`")), "ARCHITECTURE.md does not speak of `{room}/`");
    }
}

#[test]
fn only_the_command_line_uses_anyhow() {
    for path in rust_files(&root().join("src")) {
        let in_cli = path.starts_with(root().join("src").join("cli")) || path.ends_with("main.rs");
        assert!(in_cli || !code(&path).contains("anyhow"), "{} uses anyhow", path.display());
    }
}
