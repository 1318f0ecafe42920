//! Recall beside two search engines on the same lessons, in one run. `cargo bench --bench search`.
//!
//! Contenders take turns, so that a slow moment of the machine hits all of them; the median speaks.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

#[path = "support/race.rs"]
mod race;
mod support;

use std::path::Path;
use std::process::{Command, Stdio};

use archivist_core::config::{ConfigLoadRequest, load_config};
use archivist_core::domain::MemoryQuery;
use archivist_core::memory::MemoryService;
use archivist_core::memory::jsonl::JsonlMemory;
use race::{Contender, compete};
use rusqlite::Connection;
use support::{at, build_index, lesson, settings, write_store};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{Schema, TEXT};
use tantivy::{Index, doc};
use tempfile::TempDir;

const QUESTION: &str = "docker cache timeout while deploying item42";
const TURNS: usize = 60;

/// The words of the question, as both engines take them.
const WORDS: &str = "docker OR cache OR timeout OR deploying OR item42";

fn text(number: usize) -> String {
    let lesson = lesson(number);
    [Some(lesson.summary), lesson.rule, lesson.detail].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// SQLite's full-text search over a table on disk.
fn sqlite(path: &Path, lessons: usize) -> Connection {
    let mut connection = Connection::open(path).unwrap();
    connection.execute_batch("CREATE VIRTUAL TABLE lessons USING fts5(text, tokenize = 'porter unicode61')").unwrap();
    let transaction = connection.transaction().unwrap();
    for number in 0..lessons {
        transaction.execute("INSERT INTO lessons(text) VALUES (?1)", [text(number)]).unwrap();
    }
    transaction.commit().unwrap();
    connection
}

fn ask_sqlite(connection: &Connection) {
    let sql = "SELECT rowid, text FROM lessons WHERE lessons MATCH ?1 ORDER BY rank LIMIT 10";
    let mut statement = connection.prepare_cached(sql).unwrap();
    let found = statement.query_map([WORDS], |row| row.get::<_, String>(1)).unwrap().count();
    assert_eq!(found, 10);
}

/// tantivy over a directory on disk, nothing around it.
fn bare_tantivy(path: &Path, lessons: usize) -> impl Fn() + use<> {
    let mut schema = Schema::builder();
    let field = schema.add_text_field("text", TEXT);
    std::fs::create_dir_all(path).unwrap();
    let index = Index::create_in_dir(path, schema.build()).unwrap();
    let mut writer = index.writer_with_num_threads(1, 256_000_000).unwrap();
    for number in 0..lessons {
        writer.add_document(doc!(field => text(number))).unwrap();
    }
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let query = QueryParser::for_index(&index, vec![field]).parse_query(WORDS).unwrap();
    move || {
        let found = reader.searcher().search(&query, &TopDocs::with_limit(10).order_by_score()).unwrap();
        assert_eq!(found.len(), 10);
    }
}

fn archivist(arguments: &[&str], home: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_archivist"));
    command.args(arguments).env_clear().env("HOME", home).current_dir(home).stdout(Stdio::null());
    assert!(command.status().unwrap().success());
}

fn main() {
    // `cargo test` builds and runs benchmarks too; there is nothing to test here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let home = TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ranking = load_config(&ConfigLoadRequest::default()).unwrap().config.recall.ranking_settings();
    let query = MemoryQuery { text: Some(QUESTION.to_owned()), ..MemoryQuery::default() };
    for (name, lessons) in [("10k", 10_000), ("100k", 100_000)] {
        let store = home.path().join(name);
        write_store(&store, lessons);
        build_index(&store);
        let memory = JsonlMemory::open(settings(&store));
        let connection = sqlite(&home.path().join(format!("{name}.sqlite")), lessons);
        let tantivy = bare_tantivy(&home.path().join(format!("{name}-tantivy")), lessons);
        let directory = store.to_str().unwrap();
        compete(
            &format!("{name} lessons, the same question (first row = 1)"),
            TURNS,
            &mut [
                Contender::new("SQLite FTS5, bare query, in process", || ask_sqlite(&connection)),
                Contender::new("tantivy, bare query, in process", &tantivy),
                Contender::new("Archivist, in process", || {
                    let answer = runtime.block_on(memory.query_lessons(&query, &ranking, at())).unwrap();
                    assert!(!answer.hits.is_empty());
                }),
                Contender::new("archivist --version, a process", || archivist(&["--version"], home.path())),
                Contender::new("archivist recall TEXT, a process", || {
                    archivist(&["--memory-dir", directory, "recall", QUESTION], home.path());
                }),
            ],
        );
    }
}
