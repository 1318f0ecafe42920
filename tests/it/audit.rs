//! `archivist audit`: how much of a memory is junk.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::World;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/audit")
}

/// The project and the memories of `fixtures/audit`, with a password where one belongs.
fn world() -> World {
    let world = World::new();
    let project = world.project();
    for (from, to) in [("project/README.md", "README.md"), ("project/src/queue.py", "src/queue.py")] {
        copy(from, &project.join(to));
    }
    for name in ["MEMORY.md", "printing.md"] {
        copy(&format!("notes/{name}"), &project.join("notes").join(name));
    }
    let store = fs::read_to_string(fixtures().join("store.jsonl")).unwrap();
    let secret = ["pass", "word=hunter22x"].concat();
    fs::write(project.join("store.jsonl"), store.replace("PASSWORD_HERE", &secret)).unwrap();
    world
}

fn copy(from: &str, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(fixtures().join(from), to).unwrap();
}

fn report(world: &World, arguments: &[&str]) -> Value {
    let printed = world.ok(&[&["audit", "--json"], arguments].concat());
    serde_json::from_str(&printed).unwrap()
}

fn count(report: &Value, sort: &str) -> u64 {
    report["sorts"][sort]["count"].as_u64().unwrap()
}

#[test]
fn every_sort_of_junk_is_shown() {
    assert_snapshot!(world().run(&["audit", "store.jsonl"]), @"");
}

#[test]
fn a_program_reads_the_same() {
    assert_snapshot!(world().run(&["audit", "store.jsonl", "--json", "--examples", "1"]), @"");
}

#[test]
fn notes_in_markdown_are_read() {
    assert_snapshot!(world().run(&["audit", "notes", "--examples", "1"]), @"");
}

#[test]
fn a_limit_decides_how_it_ends() {
    let world = world();
    let limits = ["--max-junk", "50%", "--max", "secrets=0", "--max", "incidents=0.5"];
    let output = world.run(&[&["audit", "store.jsonl", "--json"], limits.as_slice()].concat());
    assert_eq!(output.status, 1, "{output}");
    assert_snapshot!(output.stderr, @"
    error: junk: 71.4% of the entries, above the limit of 50.0%
    error: secrets: 7.1% of the entries, above the limit of 0.0%
    ");
    let output = world.run(&["audit", "store.jsonl", "--max-junk", "0.8", "--max", "secrets=8%"]);
    assert_eq!((output.status, output.stderr.as_str()), (0, ""), "{output}");
    // What the memory does not tell breaks no limit.
    let output = world.run(&["audit", "notes", "--examples", "0", "--max", "neverUsed=0"]);
    assert_eq!(output.status, 0, "{output}");
    assert_snapshot!(output.stderr, @"warning: this memory does not tell what was used; no limit for neverUsed was looked at");
}

#[test]
fn bad_words_are_bad_usage() {
    let world = world();
    for arguments in [
        ["--max", "junk=1"],
        ["--max", "secrets"],
        ["--max", "secrets=2"],
        ["--max-junk", "lots"],
        ["--max-junk", "NaN"],
        ["--max-junk", "-1%"],
        ["--format", "jsonl"],
    ] {
        let output = world.run(&[&["audit"], arguments.as_slice()].concat());
        assert_eq!(output.status, 2, "{output}");
    }
}

#[test]
fn a_path_that_holds_no_memory_is_refused() {
    let world = world();
    fs::write(world.project().join("picture.jsonl"), [0xff, 0xd8, 0x00]).unwrap();
    let said: Vec<String> =
        ["nowhere", "src", "src/queue.py", "picture.jsonl"].map(|path| world.run(&["audit", path]).to_string()).into();
    assert_snapshot!(said.concat(), @"
    ! error: nowhere cannot be read: No such file or directory (os error 2)
    ! hint: give a file or a folder that is there
    exit 1
    ! error: there are no memories or Markdown files in src
    ! hint: give the file itself, and --format if its name does not tell
    exit 1
    ! error: cannot tell what src/queue.py holds
    ! hint: give --format jsonl or --format markdown
    exit 1
    ! error: picture.jsonl is not text
    ! hint: give a file of JSON lines or Markdown
    exit 1
    ");
}

#[test]
fn an_empty_memory_has_no_junk() {
    let world = world();
    fs::write(world.project().join("empty.jsonl"), "").unwrap();
    fs::write(world.project().join("retired.jsonl"), "{\"text\":\"Use pnpm\",\"status\":\"archived\"}\n{\n").unwrap();
    let said = ["empty.jsonl", "retired.jsonl"].map(|path| world.run(&["audit", path, "--max-junk", "0"]).to_string());
    assert_snapshot!(said.concat(), @"
    ! no entries
    ! warning: 1 line of retired.jsonl not understood
    ! no entries in use; 1 is retired
    ");
    assert_snapshot!(world.run(&["audit"]), @"! no lessons");
    assert_eq!(report(&world, &["empty.jsonl"])["total"], 0);
}

#[test]
fn what_is_audited_does_not_restate_itself() {
    let world = world();
    assert_eq!(count(&report(&world, &["README.md"]), "restatedDocumentation"), 0);
    fs::copy(world.project().join("README.md"), world.project().join("notes/copy.md")).unwrap();
    assert_eq!(count(&report(&world, &["notes"]), "restatedDocumentation"), 1);
}

#[test]
fn the_memory_of_the_project_is_looked_at() {
    let world = world();
    for text in [
        "Set the printer to 203 dpi, or labels are read twice",
        "set the printer to 203 dpi, or labels are read twice",
        "Paper sizes are listed in src/sizes.py, in millimetres",
        "Start the printer daemon with `quay start` before the first label is printed",
    ] {
        world.ok(&["add", text]);
    }
    let report = report(&world, &[]);
    assert_eq!((&report["total"], &report["junk"]), (&4.into(), &3.into()), "{report}");
    // They were written a moment ago: that nobody was given them yet says nothing.
    let counts =
        ["exactDuplicates", "stalePaths", "restatedDocumentation", "neverUsed"].map(|sort| count(&report, sort));
    assert_eq!(counts, [1, 1, 1, 0], "{report}");
    let later = world.ok(&["audit", "--json", "--now", "2026-04-01T12:00:00Z"]);
    assert_eq!(count(&serde_json::from_str(&later).unwrap(), "neverUsed"), 4);
    world.ok(&["forget", "m-002"]);
    let report: Value = serde_json::from_str(&world.ok(&["audit", "--json"])).unwrap();
    assert_eq!((&report["total"], &report["retired"]), (&3.into(), &1.into()), "{report}");
}

#[test]
fn the_files_of_our_own_memory_are_read_as_any_others() {
    let world = world();
    world.ok(&["add", "Set the printer to 203 dpi, or labels are read twice"]);
    let folder = report(&world, &[".openagents"]);
    let file = report(&world, &[".openagents/memory/lessons.jsonl"]);
    assert_eq!((&folder["total"], &file["total"]), (&1.into(), &1.into()));
    assert!(file["sorts"]["neverUsed"].is_null(), "{file}");
}

#[test]
fn a_real_memory_is_full_of_the_same_failures() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let memories = corpus.join("openagents/memories.jsonl").display().to_string();
    let report = report(&World::new(), &[&memories]);
    // 38 entries, 15 texts: each failure is there three or four times.
    assert_eq!(report["total"], 38);
    assert_eq!(count(&report, "exactDuplicates"), 23);
    assert_eq!(count(&report, "incidents"), 38);
    assert_eq!(count(&report, "neverUsed"), 38);
    let examples = report["sorts"]["exactDuplicates"]["examples"].as_array().unwrap();
    assert!(examples.iter().all(|one| one["excerpt"].as_str().unwrap().contains("Task: ")), "{examples:?}");
}

#[test]
fn junk_is_told_from_what_is_sound() {
    assert_snapshot!(World::new().ok(&["eval", "audit"]), @"");
}
