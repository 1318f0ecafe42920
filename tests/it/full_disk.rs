//! A disk without space: what was acknowledged is there, what was refused is not, and afterwards everything works.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use archivist_core::domain::{EvidenceLevel, Fact};
use archivist_core::memory::jsonl::{Disk, JsonlMemory, RealDisk};
use archivist_core::memory::{CommitBatch, EpisodeFilter, FactFilter, LessonStateFilter, MemoryError, MemoryService};
use insta::assert_snapshot;
use tempfile::TempDir;

use crate::samples::{at, episode, episode_id, id, lesson};
use crate::stores::settings;

#[cfg(unix)]
mod under_a_limit {
    use std::process::Command;

    use insta::assert_snapshot;
    use serde_json::Value;

    use crate::damage::{Files, lines, outcome, put, record, summaries};
    use crate::support::{NOW, Output, World};

    /// Runs a command that may make no file longer than `blocks`, and is told so rather than killed.
    fn run(world: &World, blocks: usize, arguments: &[&str]) -> Output {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", &script, env!("CARGO_BIN_EXE_archivist")])
            .args(arguments)
            .args(["--now", NOW, "--seed", "7"]);
        shell.current_dir(world.project()).env_clear().env("HOME", world.home());
        outcome(world, &mut shell)
    }

    /// A world with so many lessons of about 150 bytes.
    fn world_with(count: usize) -> World {
        let world = World::new();
        let name = |number| format!("{number:03}");
        let records: Vec<Value> = (1..=count)
            .map(|at| record(&name(at), &format!("m-{}", name(at)), &format!("Lesson {}", name(at))))
            .collect();
        put(&world, "lessons.jsonl", lines(&records));
        world
    }

    #[test]
    fn a_refusal_says_what_to_do_and_leaves_no_trace() {
        let world = world_with(3);
        let before = Files::of(&world);
        assert_snapshot!(run(&world, 0, &["add", "Added later"]), @"
        ! error: cannot write ~/project/.openagents/memory/redo.next: File too large (os error 27)
        ! hint: free some space and run the command again; nothing was half written
        exit 1
        ");
        assert_eq!(Files::of(&world), before);
        assert_eq!(summaries(&world), ["Lesson 001", "Lesson 002", "Lesson 003"]);
        assert_eq!(world.run(&["add", "Added later"]).to_string(), "m-004  Added later\n");
        assert_eq!(world.run(&["doctor"]).to_string(), "! nothing is wrong\n");
    }

    #[test]
    fn a_first_lesson_without_space_leaves_a_memory_that_works() {
        let world = World::new();
        let refused = run(&world, 0, &["add", "Too much"]);
        assert_eq!((refused.status, refused.stdout.as_str()), (1, ""));
        assert!(refused.stderr.contains("\nhint: free some space and run the command again"), "{refused}");
        assert_eq!(summaries(&world), [""; 0]);
        assert_eq!(world.run(&["add", "Added later"]).to_string(), "m-001  Added later\n");
    }

    /// The limit is hit by the log where there are few lessons, and by the lessons where there are many; each limit
    /// cuts a record at another place.
    #[test]
    fn what_is_acknowledged_is_there_and_what_is_refused_is_not() {
        let (mut acknowledged, mut refused) = (0, 0);
        for (count, limits) in [(1, 1..=9), (60, 17..=22)] {
            for blocks in limits {
                let world = world_with(count);
                let before = Files::of(&world);
                let mut expected = summaries(&world);
                for number in 0..6 {
                    let text = format!("New {number} {}", "x".repeat(200));
                    let output = run(&world, blocks, &["add", &text]);
                    match output.status {
                        0 => {
                            acknowledged += 1;
                            expected.push(text);
                        }
                        1 => {
                            refused += 1;
                            assert!(output.stderr.contains("File too large"), "{output}");
                            assert!(output.stderr.contains("\nhint: free some space and run"), "{output}");
                        }
                        _ => panic!("{blocks} blocks: {output}"),
                    }
                    expected.sort();
                    assert_eq!(summaries(&world), expected, "{blocks} blocks");
                }
                before.assert_only_grown(&world);
                for upkeep in [&["compact"][..], &["doctor", "--repair"]] {
                    let output = run(&world, blocks, upkeep);
                    assert!(output.status < 2, "{blocks} blocks: {output}");
                    assert_eq!(summaries(&world), expected, "{blocks} blocks, {upkeep:?}");
                    before.assert_lines_kept(&world);
                }

                assert_eq!(world.run(&["add", "Space again"]).status, 0, "{blocks} blocks");
                expected.push("Space again".to_owned());
                expected.sort();
                assert_eq!(summaries(&world), expected, "{blocks} blocks");
                assert_eq!(world.run(&["doctor", "--repair"]).status, 0, "{blocks} blocks");
                let status: Value =
                    serde_json::from_str::<Value>(&world.ok(&["status", "--json"])).unwrap()["banks"].clone();
                assert_eq!(status[0]["damagedLines"], 0, "{blocks} blocks");
            }
        }
        assert!(acknowledged > 10 && refused > 10, "{acknowledged} acknowledged, {refused} refused");
    }

    #[test]
    fn a_compaction_without_space_changes_nothing() {
        for blocks in 0..24 {
            let world = world_with(60);
            world.ok(&["forget", "m-001", "m-002"]);
            let (before, lessons) = (Files::of(&world), summaries(&world));
            let output = run(&world, blocks, &["compact"]);
            assert_eq!(summaries(&world), lessons, "{blocks} blocks");
            before.assert_lines_kept(&world);
            if output.status != 0 {
                assert_eq!(Files::of(&world), before, "{blocks} blocks");
                assert!(output.stderr.contains("\nhint: free some space and run"), "{output}");
            }
            world.ok(&["compact"]);
            assert_eq!(summaries(&world), lessons, "{blocks} blocks");
            before.assert_lines_kept(&world);
            assert_eq!(world.run(&["doctor"]).to_string(), "! nothing is wrong\n");
        }
    }
}

/// How much of the bytes that did not fit is written all the same.
#[derive(Debug, Clone, Copy)]
enum Fits {
    Nothing,
    Half,
}

/// Full after so many appends, until there is space again.
#[derive(Debug)]
struct FullDisk {
    left: AtomicU64,
    fits: Fits,
}

impl FullDisk {
    fn leave(&self, appends: u64) {
        self.left.store(appends, Ordering::Relaxed);
    }
}

impl Disk for FullDisk {
    fn append(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            if let Fits::Half = self.fits {
                RealDisk.append(path, file, &bytes[..bytes.len() / 2])?;
            }
            return Err(ErrorKind::StorageFull.into());
        }
        self.leave(left - 1);
        RealDisk.append(path, file, bytes)
    }
}

/// Adds to every file, so that half of it would show, and gives one lesson one version more.
fn batch(key: &str) -> CommitBatch {
    let sighting = Fact::Sighting {
        memory: id(key),
        episode: episode_id(key),
        at: at(),
        level: EvidenceLevel::Execution,
        context: None,
        quotes: Vec::new(),
        extra: Default::default(),
    };
    CommitBatch {
        episodes: vec![episode(key)],
        memories: vec![lesson(key, &format!("Lesson {key}")), lesson("shared", &format!("Version {key}"))],
        facts: vec![sighting],
        expected: Vec::new(),
        ..CommitBatch::default()
    }
}

/// The keys of the batches that are there, each of which must be whole.
async fn whole(memory: &JsonlMemory) -> Vec<String> {
    let mut lessons: Vec<String> = memory
        .list_lessons(LessonStateFilter::All)
        .await
        .unwrap()
        .iter()
        .map(|lesson| lesson.memory.id.to_string())
        .collect();
    lessons.retain(|key| key != "shared");
    lessons.sort();
    let episodes = memory.list_episodes(&EpisodeFilter::default()).await.unwrap();
    let mut of_episodes: Vec<String> = episodes.iter().map(|episode| episode.id.to_string()).collect();
    of_episodes.sort();
    let facts = memory.list_facts(&FactFilter::default()).await.unwrap();
    let mut of_facts: Vec<String> = facts.iter().map(|fact| fact.memory_id().to_string()).collect();
    of_facts.sort();
    assert_eq!((&of_episodes, &of_facts), (&lessons, &lessons), "a commit is half there");
    assert_eq!(memory.lesson_history(&id("shared")).await.unwrap().len(), lessons.len(), "versions and commits");
    lessons
}

#[tokio::test]
async fn a_disk_that_fills_up_at_any_append_keeps_whole_commits_and_the_handle_recovers() {
    let mut refusals = 0;
    for fits in [Fits::Nothing, Fits::Half] {
        for appends in 0.. {
            let directory = TempDir::new().unwrap();
            let disk = Arc::new(FullDisk { left: AtomicU64::new(u64::MAX), fits });
            let settings = settings(directory.path());
            let memory = JsonlMemory::open_on_disk(settings.clone(), Arc::clone(&disk) as Arc<dyn Disk>);
            memory.commit_batch(batch("a"), at()).await.unwrap();
            let mut expected = vec!["a".to_owned()];

            disk.leave(appends);
            let mut refused = 0;
            for key in ["b", "c", "d"] {
                match memory.commit_batch(batch(key), at()).await {
                    Ok(_) => expected.push(key.to_owned()),
                    Err(MemoryError::Io { source, .. }) if source.kind() == ErrorKind::StorageFull => refused += 1,
                    Err(other) => panic!("{other}"),
                }
                assert_eq!(whole(&memory).await, expected, "{fits:?}, {appends} appends, after {key}");
                let other = JsonlMemory::open(settings.clone());
                assert_eq!(whole(&other).await, expected, "{fits:?}, {appends} appends, seen by another");
            }
            let _ = memory.compact_banks().await;
            assert_eq!(whole(&memory).await, expected, "{fits:?}, {appends} appends, after compaction");

            disk.leave(u64::MAX);
            memory.commit_batch(batch("e"), at()).await.unwrap();
            expected.push("e".to_owned());
            assert_eq!(whole(&memory).await, expected, "{fits:?}, {appends} appends, with space again");
            let mut findings = memory.find_problems().await.unwrap();
            findings.retain(|finding| finding.file != "index");
            assert_eq!(findings, [], "{fits:?}, {appends} appends");
            refusals += refused;
            if refused == 0 {
                break;
            }
        }
    }
    assert!(refusals > 20, "{refusals} refusals are too few to mean anything");
}

#[tokio::test]
async fn a_full_disk_is_told_with_a_next_step() {
    let directory = TempDir::new().unwrap();
    let disk = Arc::new(FullDisk { left: AtomicU64::new(0), fits: Fits::Half });
    let memory = JsonlMemory::open_on_disk(settings(directory.path()), disk);
    let error = memory.commit_batch(batch("a"), at()).await.unwrap_err();
    let told = format!("{error}\n{}", error.hint().unwrap_or_default());
    assert_snapshot!(told.replace(directory.path().to_str().unwrap(), "~"), @"
    cannot write ~/redo.next: no storage space
    free some space and run the command again; nothing was half written
    ");
    assert!(!error.is_internal_fault());
}
