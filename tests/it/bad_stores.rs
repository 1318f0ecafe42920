//! Directories as they are found: the wrong sort of file, links, no permission, a log or an index in ruins.

use std::fs;
use std::path::{Path, PathBuf};

use insta::{allow_duplicates, assert_snapshot};
use serde_json::Value;

use crate::damage::{Files, lines, put, record, summaries, with};
use crate::support::World;

/// A project with two lessons, one of which has two versions.
fn world() -> World {
    let world = World::new();
    let older = with(record("a", "m-001", "Quote paths"), "importance", 0.4);
    put(
        &world,
        "lessons.jsonl",
        lines([&older, &record("a", "m-001", "Quote paths"), &record("b", "m-002", "Pin it")]),
    );
    world
}

/// Puts something into a directory, so that every file system says that it has a length.
fn make_directory(path: &Path) {
    fs::create_dir(path).unwrap();
    fs::write(path.join("something"), "kept").unwrap();
}

#[test]
fn a_directory_where_the_lessons_should_be_is_named() {
    let world = World::new();
    fs::create_dir_all(world.memory()).unwrap();
    make_directory(&world.memory().join("lessons.jsonl"));
    world.trust();
    assert_snapshot!(world.run(&["list"]), @"
    ! error: cannot read ~/project/.openagents/memory/lessons.jsonl: it is not a file
    ! hint: something else stands where a file or a directory is needed; move it away
    exit 1
    ");
    let said = world.run(&["list"]).stderr;
    for arguments in [&["recall", "paths"][..], &["status"], &["doctor"], &["add", "Added later"], &["compact"]] {
        let output = world.run(arguments);
        assert_eq!((output.status, &output.stderr), (1, &said), "{arguments:?}");
    }
    assert_eq!(fs::read(world.memory().join("lessons.jsonl/something")).unwrap(), b"kept");
}

#[test]
fn a_directory_where_another_file_should_be_is_named() {
    for name in ["episodes.jsonl", "ledger.jsonl", "lessons-archive.jsonl", "redo.log", "lock"] {
        let world = world();
        let before = Files::of(&world);
        make_directory(&world.memory().join(name));
        let output = world.run(&["add", "Added later"]);
        assert_eq!(output.status, 1, "{name}: {output}");
        assert!(output.stderr.contains(name), "{output}");
        assert!(output.stderr.contains("\nhint: something else stands where a file"), "{output}");
        fs::remove_dir_all(world.memory().join(name)).unwrap();
        assert_eq!(Files::of(&world), before, "{name}");
        world.ok(&["add", "Added later"]);
        assert_eq!(summaries(&world), ["Added later", "Pin it", "Quote paths"]);
    }
}

#[test]
fn a_file_where_the_memory_should_be_is_left_alone() {
    let world = World::new();
    fs::write(world.memory(), "my notes").unwrap();
    let output = world.run(&["add", "Added later"]);
    assert_eq!((output.status, output.stdout.as_str()), (1, ""));
    assert!(output.stderr.starts_with("error: "), "{output}");
    assert!(output.stderr.contains("~/project/.openagents/memory"), "{output}");
    for arguments in [&["list"][..], &["recall", "paths"], &["status"], &["doctor", "--repair"], &["compact"]] {
        assert_eq!(world.run(arguments).stdout, "", "{arguments:?}");
    }
    assert_eq!(fs::read(world.memory()).unwrap(), b"my notes");
    fs::remove_file(world.memory()).unwrap();
    world.ok(&["add", "Added later"]);
}

#[test]
fn a_bad_shared_memory_is_named_and_the_project_is_not_touched() {
    let world = world();
    let before = Files::of(&world);
    let shared = world.home().join(".openagents/memory");
    fs::create_dir_all(&shared).unwrap();
    make_directory(&shared.join("global-lessons.jsonl"));
    assert_snapshot!(world.run(&["add", "--scope", "global", "Everywhere"]), @"
    ! error: cannot read ~/.openagents/memory/global-lessons.jsonl: it is not a file
    ! hint: something else stands where a file or a directory is needed; move it away
    exit 1
    ");
    assert_eq!(Files::of(&world), before);
}

#[cfg(unix)]
#[test]
fn a_linked_file_is_read_and_never_written() {
    let world = world();
    let (link, real) = (world.memory().join("lessons.jsonl"), world.home().join("real.jsonl"));
    fs::rename(&link, &real).unwrap();
    let before = fs::read(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert_eq!(summaries(&world), ["Pin it", "Quote paths"]);
    assert_snapshot!(world.run(&["add", "Added later"]), @"
    ! error: ~/project/.openagents/memory/lessons.jsonl is a symbolic link; Archivist does not write through links
    ! hint: put the real file there, or point `memory.dir` at its directory
    exit 1
    ");
    assert_snapshot!(world.run(&["doctor", "--repair"]), @"
    File           Line  Remedy   Problem
    lessons.jsonl     -  by hand  it is a symbolic link; Archivist reads through it but does not write
    exit 1
    ");
    assert_eq!(world.run(&["forget", "m-001"]).status, 1);
    assert_eq!(world.run(&["recall", "paths", "--run", "run-1"]).status, 0, "the ledger is no link");
    assert_eq!(world.run(&["compact"]).status, 0, "nothing has to move");
    assert_eq!(fs::read(&real).unwrap(), before);
    assert!(link.is_symlink());

    fs::write(&real, lines([&with(record("a", "m-001", "Quote paths"), "state", "archived")])).unwrap();
    let before = fs::read(&real).unwrap();
    assert_eq!(world.run(&["compact"]).status, 1, "something would have to move");
    assert_eq!((fs::read(&real).unwrap(), link.is_symlink()), (before, true));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_does_not_make_the_file_there() {
    for name in ["lessons.jsonl", "redo.log", "lock"] {
        let world = World::new();
        fs::create_dir_all(world.memory()).unwrap();
        let nowhere = world.home().join("nowhere");
        std::os::unix::fs::symlink(&nowhere, world.memory().join(name)).unwrap();
        world.trust();
        let output = world.run(&["add", "Added later"]);
        let said = format!("error: ~/project/.openagents/memory/{name} is a symbolic link;");
        assert!(output.status == 1 && output.stderr.starts_with(&said), "{output}");
        assert!(!nowhere.exists(), "{name}");
    }
}

#[test]
fn a_log_in_ruins_is_as_good_as_none() {
    let garbage: [&[u8]; 5] = [b"garbage", b"\0\0\0\0\n\n\n", &[0xFF; 10_000], b"0123456789abcdef {}\n", b"{}"];
    for log in garbage {
        let world = world();
        let before = Files::of(&world);
        let (list, recall) = (world.run(&["list", "--all", "--json"]), world.run(&["recall", "paths", "--json"]));
        put(&world, "redo.log", log);
        assert_eq!(world.run(&["list", "--all", "--json"]), list);
        assert_eq!(world.run(&["recall", "paths", "--json"]), recall);
        assert_eq!(world.run(&["add", "Added later"]).to_string(), "m-003  Added later\n");
        before.assert_only_grown(&world);
        assert_eq!(world.run(&["doctor"]).to_string(), "! nothing is wrong\n");
    }
}

#[test]
fn a_log_cut_off_anywhere_takes_nothing_with_it() {
    let world = world();
    world.ok(&["add", "First"]);
    let (log, files) = (fs::read(world.memory().join("redo.log")).unwrap(), Files::of(&world));
    let lessons = fs::read(world.memory().join("lessons.jsonl")).unwrap();
    let list = world.run(&["list", "--all", "--json"]);
    // Every line's ends, and some places in between.
    let ends = log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let cuts: Vec<usize> = ends.flat_map(|end| [end, end + 1, end + 2]).chain((0..log.len()).step_by(97)).collect();
    for cut in cuts.into_iter().filter(|cut| *cut <= log.len()) {
        put(&world, "redo.log", &log[..cut]);
        assert_eq!(world.run(&["list", "--all", "--json"]), list, "cut at {cut}");
        assert_eq!(world.run(&["add", "Second"]).to_string(), "m-004  Second\n", "cut at {cut}");
        files.assert_only_grown(&world);
        assert_eq!(world.run(&["doctor"]).to_string(), "! nothing is wrong\n", "cut at {cut}");
        put(&world, "lessons.jsonl", &lessons);
    }
}

/// What is done to an index.
type Ruin = fn(&Path);

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn rewrite(index: &Path, change: impl Fn(Vec<u8>) -> Vec<u8>) {
    for path in files_below(index) {
        fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
    }
}

const RUINS: [(&str, Ruin); 9] = [
    ("deleted", |index| fs::remove_dir_all(index).unwrap()),
    ("empty", |index| {
        fs::remove_dir_all(index).unwrap();
        fs::create_dir(index).unwrap();
    }),
    ("replaced by a file", |index| {
        fs::remove_dir_all(index).unwrap();
        fs::write(index, "not a directory").unwrap();
    }),
    ("of empty files", |index| rewrite(index, |_| Vec::new())),
    ("of garbage", |index| rewrite(index, |_| b"garbage ".repeat(500))),
    ("of zeros", |index| rewrite(index, |bytes| vec![0; bytes.len()])),
    ("cut in half", |index| rewrite(index, |bytes| bytes[..bytes.len() / 2].to_vec())),
    ("inverted", |index| rewrite(index, |bytes| bytes.iter().map(|byte| !byte).collect())),
    ("without its list of files", |index| {
        for path in files_below(index).iter().filter(|path| path.ends_with("meta.json")) {
            fs::remove_file(path).unwrap();
        }
    }),
];

const QUESTIONS: [&[&str]; 6] = [
    &["recall", "quote the paths", "--json"],
    &["recall", "--tag", "shell", "--json"],
    &["list", "--all", "--json"],
    &["show", "m-002", "--json"],
    &["history", "m-001", "--json"],
    &["show", "b", "--json"],
];

fn answers(world: &World) -> Vec<(i32, String, String)> {
    let answer = |arguments: &&[&str]| {
        let output = world.run(arguments);
        // How an answer was found is the one thing that may differ.
        let stdout = output.stdout.replace(r#""method": "index""#, r#""method": "full read""#);
        (output.status, stdout.replace(r#""level": 1"#, r#""level": 3"#), output.stderr)
    };
    QUESTIONS.iter().map(answer).collect()
}

/// A project whose memory has an index, and the answers that it gives without one.
fn indexed() -> (World, Vec<(i32, String, String)>) {
    let world = world();
    world.ok(&["add", "Quote paths in the shell", "--tag", "shell"]);
    world.ok(&["recall", "quote the paths", "--run", "run-1"]);
    let without = answers(&world);
    assert!(without.iter().all(|(status, stdout, stderr)| *status == 0 && !stdout.is_empty() && stderr.is_empty()));
    world.ok(&["compact"]);
    assert!(world.ok(&["recall", "quote the paths", "--json"]).contains(r#""method": "index""#));
    assert_eq!(answers(&world), without);
    (world, without)
}

#[test]
fn an_index_in_ruins_is_as_good_as_none() {
    for (name, ruin) in RUINS {
        let (world, without) = indexed();
        let before = Files::of(&world);
        ruin(&world.memory().join("index"));
        assert_eq!(answers(&world), without, "{name}");
        let doctor = world.run(&["doctor"]);
        assert_eq!(doctor.status, 0, "{name}: {doctor}");
        assert_eq!(world.run(&["add", "Added later"]).to_string(), "m-004  Added later\n", "{name}");
        before.assert_only_grown(&world);
        let compact = world.run(&["compact"]);
        assert_eq!((compact.status, compact.stderr.as_str()), (0, ""), "{name}");
        assert_eq!(summaries(&world), ["Added later", "Pin it", "Quote paths", "Quote paths in the shell"], "{name}");
    }
}

#[test]
fn an_index_of_other_files_is_not_believed() {
    let (world, _) = indexed();
    // As after `git checkout` of another branch: an index that is ignored by git stays behind.
    put(&world, "lessons.jsonl", lines([&record("b", "m-002", "From another branch")]));
    assert_eq!(summaries(&world), ["From another branch"]);
    assert_snapshot!(world.run(&["recall", "branch"]), @"
    <archivist-lessons>
    ### Project Lessons

    1. From another branch [m-002, 2026-01-01, written by hand]
    </archivist-lessons>
    ");
    assert_eq!(world.run(&["recall", "quote the paths"]).to_string(), "");
    assert_eq!(world.run(&["show", "m-001"]).status, 1);
    assert_snapshot!(world.run(&["doctor"]), @"
    File          Line  Remedy       Problem
    ledger.jsonl     -  none needed  1 fact speaks of `a`, which is not in this memory
    ledger.jsonl     -  none needed  1 fact speaks of `mem-01kjmma2g0svxhrc0t8h3syyat`, which is not in…
    index            -  none needed  it does not fit the files; they are read instead until it is built…
    ");
    world.ok(&["compact"]);
    assert_eq!(summaries(&world), ["From another branch"]);
}

#[test]
fn two_lessons_with_one_short_name_are_told_apart() {
    // The index must not hide the second one.
    allow_duplicates! {
        are_told_apart_after(&["status"]);
        are_told_apart_after(&["compact"]);
    }
}

fn are_told_apart_after(first: &[&str]) {
    let younger = with(record("b", "m-001", "Pin versions"), "createdAt", "2026-02-01T00:00:00Z");
    let records = [younger, record("a", "m-001", "Quote paths"), record("c", "m-002", "Use a sandbox")];
    let world = World::new();
    put(&world, "lessons.jsonl", lines(&records));
    world.ok(first);
    let before = Files::of(&world);
    assert_snapshot!(world.run(&["show", "m-001"]), @"
    ! error: `m-001` names 2 lessons: a, b
    ! hint: use the id, or give new short names with `archivist doctor --repair`
    exit 1
    ");
    assert_eq!(world.run(&["forget", "m-001"]), world.run(&["show", "m-001"]));
    assert_eq!(world.run(&["show", "a"]).status, 0, "an id is never ambiguous");
    assert_snapshot!(world.run(&["doctor"]), @"
    File           Line  Remedy      Problem
    lessons.jsonl     -  repairable  `m-001` names 2 lessons: a, b
    ! hint: `archivist doctor --repair` mends what is repairable
    exit 1
    ");
    assert_eq!(Files::of(&world), before);
    assert_snapshot!(world.run(&["doctor", "--repair"]), @"
    File           Line  Remedy  Problem
    lessons.jsonl     -  mended  `m-001` names 2 lessons: a, b
    ");
    before.assert_only_grown(&world);
    assert_snapshot!(world.run(&["list"]), @"
    ID     Kind    Category    Imp  Seen  Used  Age  Summary
    m-003  lesson  heuristic  0.50     0     0  now  Pin versions
    m-002  lesson  heuristic  0.50     0     0  59d  Use a sandbox
    m-001  lesson  heuristic  0.50     0     0  59d  Quote paths
    ");
    let shown = |name| serde_json::from_str::<Value>(&world.ok(&["show", name, "--json"])).unwrap()["id"].clone();
    assert_eq!(["m-001", "m-002", "m-003"].map(shown), ["a", "c", "b"], "the oldest keeps the name");
    assert_eq!(world.run(&["doctor"]).to_string(), "! nothing is wrong\n");
}
