//! Directories and files that one may not write, or not even read.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;

use crate::damage::{Files, lines, outcome, put, record};
use crate::support::{NOW, Output, World};

/// Somebody who owns nothing. Permissions do not count for root, so that root's commands are run as this one.
const NOBODY: u32 = 65534;

/// A world in which permissions count, whoever runs the tests.
struct Guarded {
    world: World,
    binary: PathBuf,
    runs_as_root: bool,
}

impl Guarded {
    /// `None` where root's temporary directory cannot be entered by anybody else.
    fn new() -> Option<Self> {
        let world = World::new();
        put(&world, "lessons.jsonl", lines([&record("a", "m-001", "Quote paths")]));
        let runs_as_root = fs::metadata(world.home()).unwrap().uid() == 0;
        let mut binary = PathBuf::from(env!("CARGO_BIN_EXE_archivist"));
        if runs_as_root {
            binary = world.home().join("archivist");
            fs::copy(env!("CARGO_BIN_EXE_archivist"), &binary).unwrap();
            allow(&world.home(), 0o755);
            allow(&binary, 0o755);
        }
        for path in [world.project(), world.project().join(".openagents"), world.memory()] {
            allow(&path, 0o755);
        }
        allow(&world.memory().join("lessons.jsonl"), 0o644);
        allow(&world.home().join(".local/state/archivist/trusted-repositories.json"), 0o644);
        let guarded = Self { world, binary, runs_as_root };
        let reachable = guarded.command(&["--version"]).output().is_ok();
        if !reachable {
            println!("not tested: {} cannot be entered by others", guarded.world.home().display());
        }
        reachable.then_some(guarded)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).args(["--now", NOW, "--seed", "7"]);
        command.current_dir(self.world.project()).env_clear().env("HOME", self.world.home());
        if self.runs_as_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        outcome(&self.world, &mut self.command(arguments))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.world.memory().join(name)
    }
}

/// What cannot be entered cannot be cleaned up either.
impl Drop for Guarded {
    fn drop(&mut self) {
        for path in [self.world.project().join(".openagents"), self.world.memory()] {
            let _ = fs::set_permissions(path, Permissions::from_mode(0o755));
        }
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_read_only_directory_is_read_and_its_writers_are_told() {
    let Some(guarded) = Guarded::new() else { return };
    // With an index, which must do without its own lock files.
    guarded.world.ok(&["compact"]);
    allow(&guarded.path("redo.log"), 0o644);
    // As in a clone, which has no lock file. Where there is one, its owner may write to the files that exist.
    fs::remove_file(guarded.path("lock")).unwrap();
    let (before, there) = (Files::of(&guarded.world), names(&guarded.world.memory()));
    allow(&guarded.world.memory(), 0o555);

    assert_snapshot!(guarded.run(&["recall", "quote paths"]), @"
    <archivist-lessons>
    ### Project Lessons

    1. Quote paths [m-001, 2026-01-01, written by hand]
    </archivist-lessons>
    ");
    assert_snapshot!(guarded.run(&["list"]), @"
    ID     Kind    Category    Imp  Seen  Used  Age  Summary
    m-001  lesson  heuristic  0.50     0     0  59d  Quote paths
    ");
    for arguments in [&["show", "m-001"][..], &["history", "m-001"], &["status"], &["episodes"], &["doctor"]] {
        let output = guarded.run(arguments);
        assert_eq!(output.status, 0, "{arguments:?}: {output}");
    }

    assert_snapshot!(guarded.run(&["add", "Added later"]), @"
    ! error: cannot write ~/project/.openagents/memory/lock: Permission denied (os error 13)
    ! hint: allow reading and writing there, or choose another directory with --memory-dir
    exit 1
    ");
    let said = guarded.run(&["add", "Added later"]).stderr;
    for arguments in [&["forget", "m-001"][..], &["restore", "m-001", "--version", "1"], &["compact"]] {
        let output = guarded.run(arguments);
        assert_eq!((output.status, &output.stderr), (1, &said), "{arguments:?}");
    }
    // The lessons come first; what cannot be noted is said afterwards.
    assert_snapshot!(guarded.run(&["recall", "quote paths", "--run", "run-1"]), @"
    <archivist-lessons>
    ### Project Lessons

    1. Quote paths [m-001, 2026-01-01, written by hand]
    </archivist-lessons>
    ! error: cannot write ~/project/.openagents/memory/lock: Permission denied (os error 13)
    ! hint: allow reading and writing there, or choose another directory with --memory-dir
    exit 1
    ");
    assert_eq!(Files::of(&guarded.world), before);
    assert_eq!(names(&guarded.world.memory()), there);
}

#[test]
fn a_place_where_no_memory_can_be_made_is_named() {
    let Some(guarded) = Guarded::new() else { return };
    fs::remove_dir_all(guarded.world.memory()).unwrap();
    let parent = guarded.world.project().join(".openagents");
    allow(&parent, 0o555);
    assert_snapshot!(guarded.run(&["list"]), @"! no lessons");
    assert_snapshot!(guarded.run(&["add", "Added later"]), @"
    ! error: cannot create ~/project/.openagents/memory: Permission denied (os error 13)
    ! hint: allow reading and writing there, or choose another directory with --memory-dir
    exit 1
    ");
    assert_eq!(names(&parent), [""; 0]);
}

#[test]
fn a_read_only_file_is_read_and_its_writers_are_told() {
    let Some(guarded) = Guarded::new() else { return };
    let before = Files::of(&guarded.world);
    allow(&guarded.world.memory(), 0o777);
    allow(&guarded.path("lessons.jsonl"), 0o444);
    assert_eq!(guarded.run(&["list"]).status, 0);
    assert_snapshot!(guarded.run(&["add", "Added later"]), @"
    ! error: cannot write ~/project/.openagents/memory/lessons.jsonl: Permission denied (os error 13)
    ! hint: allow reading and writing there, or choose another directory with --memory-dir
    exit 1
    ");
    assert_eq!(Files::of(&guarded.world), before);
    assert_eq!(guarded.run(&["recall", "quote paths", "--run", "run-1"]).status, 0, "the ledger can be written");

    // As after a clone that keeps permissions: once they are right, everything works.
    allow(&guarded.path("lessons.jsonl"), 0o666);
    assert_eq!(guarded.run(&["add", "Added later"]).to_string(), "m-002  Added later\n");
    before.assert_only_grown(&guarded.world);
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let Some(guarded) = Guarded::new() else { return };
    let before = Files::of(&guarded.world);
    allow(&guarded.world.memory(), 0o777);
    allow(&guarded.path("lessons.jsonl"), 0o000);
    assert_snapshot!(guarded.run(&["list"]), @"
    ! error: cannot read ~/project/.openagents/memory/lessons.jsonl: Permission denied (os error 13)
    ! hint: allow reading and writing there, or choose another directory with --memory-dir
    exit 1
    ");
    for arguments in [&["recall", "paths"][..], &["add", "Added later"], &["doctor", "--repair"], &["compact"]] {
        let output = guarded.run(arguments);
        assert!(output.status == 1 && output.stderr.contains("lessons.jsonl: Permission denied"), "{output}");
    }
    allow(&guarded.path("lessons.jsonl"), 0o644);
    assert_eq!(Files::of(&guarded.world), before);
}
