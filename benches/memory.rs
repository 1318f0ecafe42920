//! What the JSONL memory costs: opening and asking, writing, compacting. `cargo bench --bench memory`.
//!
//! Read the figures against each other; `cargo bench --bench ratios` prints those that the documentation promises.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

mod support;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::MemoryQuery;
use archivist_core::memory::MemoryService;
use archivist_core::memory::jsonl::JsonlMemory;
use archivist_core::recall::RankingSettings;
use divan::Bencher;
use support::{at, block_on, build_index, lesson, settings, write_store};
use tempfile::TempDir;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

fn ranking() -> RankingSettings {
    config::load_config(&ConfigLoadRequest::default()).unwrap().config.recall.ranking_settings()
}

/// Stores are made once and shared by the benchmarks that only read.
fn store(lessons: usize, indexed: bool) -> &'static Path {
    static STORES: OnceLock<TempDir> = OnceLock::new();
    let directory = STORES.get_or_init(|| TempDir::new().unwrap()).path().join(format!("{lessons}-{indexed}"));
    if !directory.exists() {
        write_store(&directory, lessons);
        if indexed {
            build_index(&directory);
        }
    }
    Box::leak(directory.into_boxed_path())
}

fn ask(directory: &Path, text: Option<&str>) {
    let memory = JsonlMemory::open(settings(directory));
    let query = MemoryQuery { text: text.map(str::to_owned), ..MemoryQuery::for_project("/project") };
    let answer = block_on(memory.query_lessons(&query, &ranking(), at())).unwrap();
    assert_eq!(answer.hits.len(), 10);
}

/// A new handle and one question with words, through the index.
#[divan::bench(args = SIZES, sample_count = 50)]
fn open_and_ask_with_index(bencher: Bencher<'_, '_>, lessons: usize) {
    let directory = store(lessons, true);
    bencher.bench(|| ask(directory, Some("docker cache timeout while deploying item42")));
}

/// A new handle and one question without words: the score orders everything.
#[divan::bench(args = SIZES, sample_count = 50)]
fn open_and_ask_without_topic(bencher: Bencher<'_, '_>, lessons: usize) {
    let directory = store(lessons, true);
    bencher.bench(|| ask(directory, None));
}

/// The same question by reading everything.
#[divan::bench(args = SIZES, sample_count = 5)]
fn open_and_ask_without_index(bencher: Bencher<'_, '_>, lessons: usize) {
    let directory = store(lessons, false);
    bencher.bench(|| ask(directory, Some("docker cache timeout while deploying item42")));
}

/// A handle that stays open.
#[divan::bench(args = SIZES, sample_count = 200)]
fn ask_again(bencher: Bencher<'_, '_>, lessons: usize) {
    let memory = JsonlMemory::open(settings(store(lessons, true)));
    let text = Some("docker cache timeout while deploying item42".to_owned());
    let query = MemoryQuery { text, ..MemoryQuery::for_project("/project") };
    bencher.bench(|| block_on(memory.query_lessons(&query, &ranking(), at())).unwrap());
}

/// What a commit is measured against: one line appended and synced.
#[divan::bench(sample_count = 500)]
fn append_and_sync(bencher: Bencher<'_, '_>) {
    let directory = TempDir::new().unwrap();
    let mut file = File::options().append(true).create(true).open(directory.path().join("plain.jsonl")).unwrap();
    let line = format!("{}\n", serde_json::to_string(&lesson(7)).unwrap());
    bencher.bench_local(|| {
        file.write_all(line.as_bytes()).unwrap();
        file.sync_data().unwrap();
    });
}

/// One durable commit of one new lesson.
#[divan::bench(sample_count = 500)]
fn durable_commit(bencher: Bencher<'_, '_>) {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(settings(directory.path()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        runtime.block_on(memory.add_memories(vec![lesson(number)], at())).unwrap();
    });
}

/// One durable commit of a hundred new lessons.
#[divan::bench(sample_count = 100)]
fn durable_commit_of_a_hundred(bencher: Bencher<'_, '_>) {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(settings(directory.path()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut number = 0;
    bencher.bench_local(|| {
        number += 100;
        runtime.block_on(memory.add_memories((number..number + 100).map(lesson).collect(), at())).unwrap();
    });
}

/// Compacting a store in which every lesson has three versions too many, and building its index.
#[divan::bench(args = [1_000, 10_000], sample_count = 5)]
fn compact(bencher: Bencher<'_, '_>, lessons: usize) {
    let prepare = || {
        let directory = TempDir::new().unwrap();
        for _ in 0..4 {
            let once = directory.path().join("once");
            write_store(&once, lessons);
            let lines = std::fs::read(once.join("lessons.jsonl")).unwrap();
            let path = directory.path().join("lessons.jsonl");
            File::options().append(true).create(true).open(path).unwrap().write_all(&lines).unwrap();
        }
        directory
    };
    bencher.with_inputs(prepare).bench_local_values(|directory| {
        let tight = archivist_core::memory::jsonl::JsonlSettings { versions_kept: 1, ..settings(directory.path()) };
        let done = block_on(JsonlMemory::open(tight).compact_banks()).unwrap();
        assert_eq!(done.first().map(|done| done.versions_moved), Some(3 * lessons));
    });
}
