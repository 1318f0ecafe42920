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

/// The most names that a user of the library meets.
const MAX_EXPORTS: usize = 60;

/// The names of the library. A change here is a change for everybody who embeds it.
const EXPORTS: &[&str] = &[
    "AgentMemory",
    "Archivist",
    "ArchivistBuilder",
    "ArchivistOutcome",
    "ArchivistService",
    "Config",
    "ConfigError",
    "Embedder",
    "Episode",
    "EpisodeId",
    "EpisodeStatus",
    "Evidence",
    "EvidenceLevel",
    "FacetValues",
    "FeedbackEvidence",
    "FeedbackVerdict",
    "HudMessage",
    "HudSink",
    "IdSource",
    "Importance",
    "JsonlMemory",
    "JsonlSettings",
    "JsonlSink",
    "LanguageModel",
    "Lesson",
    "LessonAuthor",
    "LessonBlockStyle",
    "LessonFilter",
    "LessonName",
    "LessonOpinion",
    "MemoryCategory",
    "MemoryError",
    "MemoryId",
    "MemoryKind",
    "MemoryQuery",
    "MemoryScope",
    "MemoryService",
    "MemoryState",
    "ModelError",
    "ModelReply",
    "ModelRequest",
    "NewLesson",
    "OutcomeStatus",
    "Point",
    "ProcessEnvironment",
    "QueuedJob",
    "Quote",
    "RecallRequest",
    "RecallResult",
    "RecordedFeedback",
    "ReflectionScenario",
    "ReflectionTrigger",
    "RequestError",
    "RunId",
    "SelectedLesson",
    "ServiceClock",
    "SessionId",
    "Timestamp",
    "WebSocketSink",
];

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
    code.split(path).skip(1).any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
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
    // The model's files are hashed as they are read, a visitor's token is compared in constant time, and seals have a key.
    let allowed =
        ["domain/text_hash.rs", "model/embed/local_embedder.rs", "serve/src/access.rs", "trust/machine_key.rs"];
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
fn the_library_exports_few_names() {
    let names = exported_names();
    assert!(names.len() <= MAX_EXPORTS, "{} names are exported", names.len());
    assert_eq!(names, EXPORTS.iter().map(|name| (*name).to_owned()).collect(), "the list above is the contract");
}

/// The names that `src/lib.rs` exports. Each is imported from the core by name, so that none slips in.
fn exported_names() -> BTreeSet<String> {
    let library = code(&root().join("src/lib.rs"));
    let exports = library.split("pub use ").skip(1).map(|rest| rest.split(';').next().unwrap());
    let mut names = BTreeSet::new();
    for export in exports {
        let (path, listed) = export.split_once('{').unwrap_or_else(|| export.rsplit_once("::").unwrap());
        assert!(!path.contains('*') && !listed.contains('*'), "names are listed one by one");
        let listed = listed.trim_end_matches('}').split(',').map(str::trim).filter(|name| !name.is_empty());
        names.extend(listed.map(str::to_owned));
    }
    assert!(!library.contains("pub mod"), "modules are not exported");
    names
}

/// The words of the last column of the glossary: no name in the sources has one of them.
fn words_to_avoid() -> BTreeSet<String> {
    let glossary = std::fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let rows = glossary.lines().filter(|line| line.starts_with("| ") && line.split('|').count() == 5);
    let words = rows.filter_map(|row| row.split('|').nth(3)).filter(|cell| cell.trim() != "not");
    words
        .flat_map(|cell| cell.split(',').map(|word| word.trim().to_owned()).collect::<Vec<_>>())
        .filter(|word| !word.is_empty())
        .collect()
}

/// The names that a text of Rust declares: items, variables and fields.
fn declared_names(text: &str) -> BTreeSet<String> {
    const BEFORE: &[&str] = &["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "let", "mut", "for"];
    let mut names = BTreeSet::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let words: Vec<&str> = line.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
        let after = words.windows(2).filter(|pair| BEFORE.contains(&pair[0])).map(|pair| pair[1]);
        names.extend(after.map(str::to_owned));
        let field = line.strip_suffix(',').and_then(|line| line.split_once(": ")).map(|(name, _)| name);
        names.extend(field.and_then(|field| field.split(' ').next_back()).map(str::to_owned));
    }
    names
}

/// Names that are published settings.
const PUBLISHED: &[&str] = &["settle_seconds"];

#[test]
fn names_use_the_words_of_the_glossary() {
    let avoided = words_to_avoid();
    assert!(avoided.contains("desk") && avoided.contains("labour"), "{avoided:?}");
    for path in sources().into_iter().filter(|path| !is_test(path)) {
        for name in declared_names(&std::fs::read_to_string(&path).unwrap()) {
            if PUBLISHED.contains(&name.as_str()) {
                continue;
            }
            let parts = name.split('_').map(str::to_lowercase);
            let found: Vec<String> = parts.filter(|part| avoided.contains(part)).collect();
            assert!(found.is_empty(), "{}: `{name}` uses a word that docs/glossary.md avoids", path.display());
        }
    }
}

#[test]
fn no_two_types_share_a_name() {
    let mut first: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in sources().into_iter().filter(|path| !is_test(path)) {
        for line in code(&path).lines() {
            let words: Vec<&str> = line.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
            // Types at the top level of a file; those in traits and functions are indented.
            let is_public = line.starts_with("pub");
            let at = words.iter().position(|word| matches!(*word, "struct" | "enum" | "trait" | "union"));
            let Some(name) = at.filter(|_| is_public).and_then(|at| words.get(at + 1)) else { continue };
            // Where a feature is off, another file stands in for the one that is left out.
            let stands_in = path.file_name().unwrap().to_string_lossy().starts_with("absent_");
            if !stands_in && let Some(other) = first.insert((*name).to_owned(), path.clone()) {
                panic!("`{name}` is in {} and in {}", other.display(), path.display());
            }
        }
    }
}

#[test]
fn doc_comments_say_something() {
    for path in sources().into_iter().filter(|path| !is_test(path)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut comment = String::new();
        for line in text.lines().map(str::trim_start) {
            match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
                Some(words) => comment = format!("{comment} {words}"),
                None => {
                    let words = comment.split_whitespace().count();
                    assert!(words == 0 || words >= 3, "{}: `{comment}` says too little", path.display());
                    comment.clear();
                }
            }
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

#[test]
fn one_module_decides_which_characters_are_hidden() {
    let place = root().join("crates/core/src/text/hidden_characters.rs");
    for path in sources().into_iter().filter(|path| !is_test(path) && *path != place) {
        let code = code(&path).to_lowercase();
        for hidden in ["\\u{ad}", "\\u{61c}", "\\u{200", "\\u{202a}", "\\u{202e}", "\\u{206", "\\u{fe0", "\\u{e0000}"] {
            assert!(!code.contains(hidden), "{} names {hidden}; use `text::strip_hidden_text`", path.display());
        }
    }
}
