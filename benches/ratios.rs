//! The promises of docs/benchmarks.md, measured against each other in one run. `cargo bench --bench ratios`.
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

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use archivist_core::memory::MemoryService;
use archivist_core::memory::jsonl::JsonlMemory;
use race::{Contender, compete};
use support::{at, build_index, lesson, settings, write_store};
use tempfile::TempDir;

const QUESTION: &str = "docker cache timeout while deploying item42";
const TURNS: usize = 60;

fn archivist(arguments: &[&str], home: &Path) {
    let status = Command::new(env!("CARGO_BIN_EXE_archivist"))
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        // No store gets an index on the way: the plain ones are to stay plain.
        .env("ARCHIVIST__MEMORY__FOLD_IN_BYTES", "1073741824")
        .current_dir(home)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

/// What a script does without Archivist: filter by words, sort, take ten.
fn jq(directory: &Path) {
    let filter = r#"[inputs | select((.summary + " " + (.rule // "") + " " + (.detail // "")) | test("docker|cache|timeout|deploy|item42"))] | sort_by(-.importance) | .[:10] | .[].summary"#;
    let status = Command::new("jq")
        .args(["-n", filter])
        .arg(directory.join("lessons.jsonl"))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

fn main() {
    // `cargo test` builds and runs benchmarks too; there is nothing to test here.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let home = TempDir::new().unwrap();
    let stores = [("1k", 1_000), ("10k", 10_000), ("100k", 100_000)].map(|(name, lessons)| {
        let with = home.path().join(format!("{name}-index"));
        let without = home.path().join(format!("{name}-plain"));
        write_store(&with, lessons);
        write_store(&without, lessons);
        build_index(&with);
        (with, without)
    });
    let [(small, _), (middle, _), (large, large_plain)] = &stores;
    // The first question with words meets a store whose files have been read; so do all the others.
    let recall = |directory: &Path| {
        archivist(&["--memory-dir", directory.to_str().unwrap(), "recall", QUESTION], home.path());
    };
    let recall_all = |directory: &Path| {
        archivist(&["--memory-dir", directory.to_str().unwrap(), "recall"], home.path());
    };
    compete(
        "A cold process (first row = 1)",
        TURNS,
        &mut [
            Contender::new("archivist --version", || archivist(&["--version"], home.path())),
            Contender::new("archivist recall TEXT, 1k lessons", || recall(small)),
            Contender::new("archivist recall TEXT, 10k lessons", || recall(middle)),
            Contender::new("archivist recall TEXT, 100k lessons", || recall(large)),
            Contender::new("archivist recall, 100k lessons", || recall_all(large)),
        ],
    );
    let has_jq = Command::new("jq").arg("--version").stdout(Stdio::null()).status().is_ok();
    let mut slow = vec![Contender::new("archivist recall TEXT, 100k lessons", || recall(large))];
    slow.push(Contender::new("the same without the index", || recall(large_plain)));
    if has_jq {
        slow.push(Contender::new("jq: filter and sort the same file", || jq(large)));
    } else {
        println!("jq is not installed: that row is left out");
    }
    compete("Against reading everything (first row = 1)", 7, &mut slow);

    let directory = TempDir::new().unwrap();
    let mut plain = File::options().append(true).create(true).open(directory.path().join("plain")).unwrap();
    let line = format!("{}\n", serde_json::to_string(&lesson(7)).unwrap());
    let memory = JsonlMemory::open(settings(&directory.path().join("memory")));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut number = 0;
    compete(
        "Durable writes (first row = 1)",
        1000,
        &mut [
            Contender::new("one line appended, fdatasync", || {
                plain.write_all(line.as_bytes()).unwrap();
                plain.sync_data().unwrap();
            }),
            Contender::new("one commit of one lesson", || {
                number += 1;
                runtime.block_on(memory.add_memories(vec![lesson(number)], at())).unwrap();
            }),
        ],
    );
}
