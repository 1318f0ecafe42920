//! Links in a clone lead nowhere: not to another memory, not to another queue, not to a file of somebody's.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::sessions::{Met, write};
use crate::support::{Output, World, text};

const ALONE: [(&str, &str); 2] =
    [("ARCHIVIST__HOOKS__START_WORKER", "false"), ("ARCHIVIST__WORKER__SETTLE_SECONDS", "0")];

/// A trusted project, and another one beside it with a lesson that is its own.
fn two_projects() -> World {
    let world = World::new();
    let other = world.home().join("other");
    fs::create_dir_all(other.join(".openagents")).unwrap();
    world.ok(&["add", "The pager number of the other project is in its vault", "--project", text(&other)]);
    world.trust();
    world
}

fn start_hook(world: &World) -> Output {
    let payload = json!({"session_id": "s-1", "transcript_path": "a.jsonl", "cwd": world.project(),
                         "hook_event_name": "SessionStart", "source": "startup"});
    world.run_with(&["hook", "claude-code", "session-start"], &ALONE, &payload.to_string())
}

/// Every file below a folder, with its bytes.
fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push((text(&path).to_owned(), fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn a_linked_memory_is_refused() {
    for link in [".openagents", ".openagents/memory"] {
        let world = two_projects();
        let (here, other) = (world.project().join(link), world.home().join("other").join(link));
        if here.exists() {
            fs::remove_dir_all(&here).unwrap();
        }
        symlink(&other, &here).unwrap();
        let before = files_below(&world.home().join("other"));
        for command in [&["recall", "pager number of the vault"][..], &["list"], &["add", "x"], &["status"]] {
            let output = world.run(command);
            let said = format!("error: ~/project/{link} is a symbolic link; no memory is read or written through it");
            assert!(output.status == 1 && output.stdout.is_empty() && output.stderr.contains(&said), "{output}");
        }
        let output = start_hook(&world);
        assert_eq!((output.status, output.stdout.as_str(), output.stderr.as_str()), (0, "", ""));
        let log = fs::read_to_string(world.home().join(".local/state/archivist/hooks.log")).unwrap();
        assert!(log.contains("is a symbolic link"), "{log}");
        assert_eq!(files_below(&world.home().join("other")), before);
    }
}

#[test]
fn linked_records_are_not_given_though_the_memory_began_here() {
    let world = two_projects();
    world.ok(&["trust", "--revoke"]);
    world.ok(&["add", "Deploy the script with make"]);
    let lessons = world.memory().join("lessons.jsonl");
    fs::remove_file(&lessons).unwrap();
    symlink(world.home().join("other/.openagents/memory/lessons.jsonl"), &lessons).unwrap();
    let output = world.run(&["recall", "pager number of the vault"]);
    assert!(output.stdout.is_empty() && output.stderr.contains("`archivist trust`"), "{output}");
}

#[test]
fn a_linked_feed_is_not_written() {
    for link in ["hud", "hud/feed.jsonl"] {
        let world = World::new();
        let (_, path) = write(&world, 1, Met::Failure(0));
        let outside = world.home().join("outside");
        fs::create_dir_all(&outside).unwrap();
        let here = world.memory().join(link);
        fs::create_dir_all(here.parent().unwrap()).unwrap();
        symlink(if link == "hud" { outside.clone() } else { outside.join("feed.jsonl") }, &here).unwrap();
        world.ok(&["reflect", "--file", text(&path)]);
        assert!(fs::read_dir(&outside).unwrap().next().is_none(), "{link}");
    }
}

#[test]
fn a_linked_queue_takes_no_job_and_gives_none() {
    let world = two_projects();
    let other = world.home().join("other");
    let payload = json!({"session_id": "s-2", "transcript_path": "a.jsonl", "cwd": other,
                         "hook_event_name": "SessionEnd", "reason": "other"});
    world.run_with(&["hook", "claude-code", "session-end"], &ALONE, &payload.to_string());
    let queue = other.join(".openagents/memory/queue");
    assert_eq!(fs::read_dir(queue.join("new")).unwrap().count(), 1);
    fs::create_dir_all(world.memory()).unwrap();
    symlink(&queue, world.memory().join("queue")).unwrap();
    let before = files_below(&other);
    assert_eq!(start_hook(&world).stdout, "");
    assert_eq!(world.run_with(&["worker", "--once"], &ALONE, "").status, 1);
    assert_eq!(files_below(&other), before);
}

#[test]
fn linked_sessions_are_not_read() {
    let world = two_projects();
    let (_, path) = write(&world, 1, Met::Failure(0));
    let sessions = path.parent().unwrap();
    fs::rename(sessions, world.home().join("private")).unwrap();
    symlink(world.home().join("private"), sessions).unwrap();
    world.run(&["batch", "--days", "3000", "--yes", "--now", "2026-02-14T00:00:00Z"]);
    let episodes: Value = serde_json::from_str(&world.ok(&["episodes", "--json"])).unwrap();
    assert_eq!(episodes, json!([]));
}

#[test]
fn a_linked_gitignore_is_not_written_through() {
    let world = World::new();
    fs::create_dir_all(world.memory()).unwrap();
    let outside = world.home().join("outside");
    symlink(&outside, world.memory().join(".gitignore")).unwrap();
    world.ok(&["add", "Deploy the script with make"]);
    assert!(!outside.exists());
}
