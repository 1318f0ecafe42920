//! Moving in and out, through the real binary.

use std::path::PathBuf;

use insta::assert_snapshot;

use crate::support::{World, text};

fn fixture(name: &str) -> String {
    text(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/exchange").join(name)).to_owned()
}

#[test]
fn notes_of_claude_code_are_shown_first_and_then_taken_in() {
    let world = World::new();
    let notes = fixture("claude-memory");
    assert_snapshot!(world.run(&["import", &notes, "--dry-run"]), @"
    + Integration tests run against a real database, never against a mock [observed]
    + No merges to main between the cut of a release branch and its tag [observed]
    + The staging cluster is rebuilt every night; nothing on it lasts [observed]
    claude-memory: 3 lessons new; nothing was written
    ");
    assert!(!world.memory().exists());
    assert_snapshot!(world.run(&["import", &notes]), @"
    + Integration tests run against a real database, never against a mock [observed]
    + No merges to main between the cut of a release branch and its tag [observed]
    + The staging cluster is rebuilt every night; nothing on it lasts [observed]
    claude-memory: 3 lessons new
    ");
    assert_snapshot!(world.run(&["import", &notes]), @"claude-memory: 0 lessons new, 3 known");
    // Nobody here has seen them yet, so nobody is given them.
    assert_eq!(world.ok(&["recall", "integration tests against a real database or a mock"]), "");
    world.let_scripts_decide();
    world.ok(&["promote", "m-001"]);
    let given = world.ok(&["recall", "integration tests against a real database or a mock"]);
    assert!(given.contains("never against a mock"), "{given}");
}

#[test]
fn who_stands_behind_what_they_bring_is_given_it() {
    let world = World::new();
    assert_snapshot!(world.run(&["import", &fixture("mem0.json"), "--vouch"]), @"
    + Prefers pnpm over npm in every workspace [active]
    + The payments service needs Redis before its tests start [active]
    mem0: 2 lessons new
    ");
    let given = world.ok(&["recall", "tests of the payments service fail"]);
    assert!(given.contains("needs Redis before its tests"), "{given}");
    let out = world.ok(&["export", "--format", "mem0"]);
    let [ours, theirs] = [out.as_str(), &std::fs::read_to_string(fixture("mem0.json")).unwrap()]
        .map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap());
    let said = |export: &serde_json::Value| -> Vec<(String, String)> {
        let word = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
        export["results"].as_array().unwrap().iter().map(|one| (word(one, "id"), word(one, "memory"))).collect()
    };
    assert_eq!(said(&ours), said(&theirs));
}

#[test]
fn what_a_format_cannot_hold_is_told() {
    let world = World::new();
    world.ok(&["add", "Run the linter first", "--rule", "IF you commit THEN run `make lint`", "--tool", "bash"]);
    world.ok(&["add", "Old advice"]);
    world.ok(&["forget", "m-002"]);
    assert_snapshot!(world.run(&["export", "--format", "archeflow", "--out", "out/"]), @"
    out/lessons.jsonl  265 B
    out/archive.jsonl  255 B
    ! warning: archeflow cannot hold the rule (1 lesson)
    ! warning: archeflow cannot hold task, tool, provider and the like (1 lesson)
    ! warning: archeflow cannot hold earlier versions (1 lesson)
    ");
    assert_snapshot!(world.run(&["export", "--format", "markdown"]), @"
    # Lessons

    ## m-001: Run the linter first

    - kind: preference
    - category: preference
    - scope: project
    - importance: 0.7
    - since: 2026-03-01T12:00:00+00:00
    - tool: bash
    - rule: IF you commit THEN run `make lint`
    ! warning: markdown cannot hold all of it: out of use, or not looked at yet (1 lesson)
    ! warning: markdown cannot hold where it stands (1 lesson)
    ");
}

#[test]
fn everything_moves_to_another_place_and_back() {
    let (here, there) = (World::new(), World::new());
    let billing = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/generic/billing.jsonl");
    here.ok(&["reflect", "--file", text(&billing)]);
    here.ok(&["add", "Prefer one bundled pull request", "--kind", "preference"]);
    here.ok(&["forget", "m-001", "--reason", "not true any more"]);
    let first = here.ok(&["export", "--format", "jsonl"]);
    let file = there.home().join("all.jsonl");
    std::fs::write(&file, &first).unwrap();
    there.ok(&["import", text(&file)]);
    let list = |world: &World| world.ok(&["list", "--all", "--json"]);
    assert_eq!(list(&here), list(&there), "names, versions and counters are the same");
    assert_eq!(here.ok(&["history", "m-001", "--json"]), there.ok(&["history", "m-001", "--json"]));
    assert_eq!(there.ok(&["export", "--format", "jsonl"]), first);
    there.ok(&["import", text(&file)]);
    assert_eq!(there.ok(&["export", "--format", "jsonl"]), first, "again changes nothing");
}

#[test]
fn mistakes_get_a_next_step() {
    let world = World::new();
    std::fs::write(world.project().join("notes.txt"), "{\"what\": 1}\n").unwrap();
    std::fs::write(world.project().join("broken.json"), "{\"results\": [").unwrap();
    std::fs::write(world.project().join("there.md"), "mine").unwrap();
    assert_snapshot!(world.run(&["import", "nowhere"]), @"
    ! error: nowhere is in no format that is known here
    ! hint: say what it is: --format archeflow|openagents|claude-memory|mem0|claude-mem|markdown|jsonl
    exit 1
    ");
    assert_snapshot!(world.run(&["import", "nowhere", "--format", "mem0"]), @"
    ! error: nowhere cannot be read: No such file or directory (os error 2)
    ! hint: give the file or the folder that holds the memory
    exit 1
    ");
    assert_snapshot!(world.run(&["import", "notes.txt"]), @"
    ! error: notes.txt is in no format that is known here
    ! hint: say what it is: --format archeflow|openagents|claude-memory|mem0|claude-mem|markdown|jsonl
    exit 1
    ");
    assert_snapshot!(world.run(&["import", "broken.json", "--format", "mem0"]), @"
    ! error: broken.json is no export of mem0: EOF while parsing a list at line 1 column 13
    ! hint: nothing was taken over; look at the file, or give another --format
    exit 1
    ");
    world.ok(&["add", "Something"]);
    assert_snapshot!(world.run(&["export", "--format", "claude-memory"]), @"
    ! error: claude-memory is 2 files
    ! hint: say where to: --out FOLDER
    exit 2
    ");
    assert_snapshot!(world.run(&["export", "--format", "markdown", "--out", "there.md"]), @"
    ! error: there.md is there already, with something else in it
    ! hint: --force replaces it; or give another --out
    exit 1
    ");
    assert_eq!(std::fs::read_to_string(world.project().join("there.md")).unwrap(), "mine");
}

/// The real folder of OpenAgents: 140 trajectories, and memories that repeat one failure again and again.
#[test]
fn the_folder_of_openagents_comes_in_once() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS names no folder of real logs");
        return;
    };
    let world = World::new();
    let folder = corpus.join("openagents");
    let imported = |world: &World| -> serde_json::Value {
        serde_json::from_str(&world.ok(&["import", text(&folder), "--format", "openagents", "--json"])).unwrap()
    };
    let episodes = |world: &World| -> usize {
        serde_json::from_str::<Vec<serde_json::Value>>(&world.ok(&["episodes", "--json"])).unwrap().len()
    };
    let first = imported(&world);
    assert_eq!((first["episodes"].as_u64(), episodes(&world)), (Some(140), 140));
    assert_eq!(first["skipped"].as_array().map(Vec::len), Some(0), "{}", first["skipped"]);
    let lessons = world.ok(&["list", "--all", "--json"]);
    let second = imported(&world);
    assert_eq!((second["episodes"].as_u64(), second["knownEpisodes"].as_u64()), (Some(0), Some(140)));
    assert_eq!(episodes(&world), 140);
    assert_eq!(world.ok(&["list", "--all", "--json"]), lessons);
}
