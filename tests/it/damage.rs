//! What the tests of bad stores share: records written by hand, and the proof that nothing is lost.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Output, World, text};

/// The files that hold the truth.
const FILES: [&str; 4] = ["episodes.jsonl", "ledger.jsonl", "lessons-archive.jsonl", "lessons.jsonl"];

/// A lesson as another program might write it: every field that must be there, and nothing else.
pub(crate) fn record(id: &str, alias: &str, summary: &str) -> Value {
    json!({
        "id": id, "alias": alias, "createdAt": "2026-01-01T00:00:00Z", "scope": "project",
        "category": "heuristic", "importance": 0.5, "summary": summary, "source": "manual",
    })
}

/// The record with one field changed.
pub(crate) fn with(mut record: Value, field: &str, value: impl Into<Value>) -> Value {
    record[field] = value.into();
    record
}

/// One line for each record.
pub(crate) fn lines<'a>(records: impl IntoIterator<Item = &'a Value>) -> Vec<u8> {
    records.into_iter().flat_map(|record| format!("{record}\n").into_bytes()).collect()
}

/// Puts a file into the project's memory, and answers for it.
pub(crate) fn put(world: &World, name: &str, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(world.memory()).unwrap();
    fs::write(world.memory().join(name), bytes).unwrap();
    world.trust();
}

/// The files of a memory as they were at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files(BTreeMap<&'static str, Vec<u8>>);

impl Files {
    pub(crate) fn of(world: &World) -> Self {
        let read = |name| fs::read(world.memory().join(name)).unwrap_or_default();
        Self(FILES.into_iter().map(|name| (name, read(name))).collect())
    }

    /// Checks that every byte is still where it was: files may only have grown.
    pub(crate) fn assert_only_grown(&self, world: &World) {
        let now = Self::of(world);
        for (name, before) in &self.0 {
            assert!(now.0[name].starts_with(before), "{name} has lost something it held");
        }
    }

    /// Checks that every line is still somewhere, as often as it was: compaction moves lines from file to file, and
    /// what stands around a line (its ending, a byte order mark, padding) is not part of it.
    pub(crate) fn assert_lines_kept(&self, world: &World) {
        let now = Self::of(world).counted_lines();
        for (line, count) in self.counted_lines() {
            let kept = now.get(&line).copied().unwrap_or_default();
            let shown = String::from_utf8_lossy(&line).chars().take(80).collect::<String>();
            assert!(kept >= count, "a line was there {count} times and is there {kept} times: {shown}");
        }
    }

    fn counted_lines(&self) -> BTreeMap<Vec<u8>, usize> {
        let mut counted = BTreeMap::new();
        for line in self.0.values().flat_map(|bytes| bytes.split(|&byte| byte == b'\n')) {
            let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
            let padding = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
            let start = line.iter().position(|byte| !padding(byte)).unwrap_or(line.len());
            let end = line.iter().rposition(|byte| !padding(byte)).map_or(start, |last| last + 1);
            if start < end {
                *counted.entry(line[start..end].to_vec()).or_default() += 1;
            }
        }
        counted
    }
}

/// Runs a command that was started in some unusual way.
pub(crate) fn outcome(world: &World, command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().expect("the binary starts");
    let without_paths = |bytes| String::from_utf8(bytes).expect("text").replace(text(&world.home()), "~");
    Output {
        status: output.status.code().expect("an exit code"),
        stdout: without_paths(output.stdout),
        stderr: without_paths(output.stderr),
    }
}

/// The summaries of all lessons, sorted.
pub(crate) fn summaries(world: &World) -> Vec<String> {
    let listed: Vec<Value> = serde_json::from_str(&world.ok(&["list", "--all", "--json"])).unwrap();
    let mut found: Vec<String> = listed.iter().map(|lesson| lesson["summary"].as_str().unwrap().to_owned()).collect();
    found.sort();
    found
}
