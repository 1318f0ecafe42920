//! Whose memory it is.

use std::fs;

use serde_json::Value;

use crate::support::{World, text};

#[test]
fn a_project_that_moves_keeps_its_memory() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep"]);
    let moved = world.home().join("moved");
    fs::rename(world.project(), &moved).unwrap();
    fs::create_dir(world.project()).unwrap();
    let listed = world.ok(&["list", "--project", text(&moved)]);
    assert!(listed.contains("Prefer rg"), "{listed}");
    // Another path is another folder: a person says that it is the same.
    world.decide(&["trust", text(&moved)]);
    let recalled = world.ok(&["recall", "grep", "--project", text(&moved)]);
    assert!(recalled.contains("Prefer rg"), "{recalled}");
    assert_eq!(stored(&world.home().join("moved/.openagents/memory/lessons.jsonl"))["projectRoot"], Value::Null);
}

#[test]
fn a_memory_outside_the_project_keeps_projects_apart() {
    let world = World::new();
    for name in ["one", "two"] {
        fs::create_dir_all(world.home().join(name).join(".openagents")).unwrap();
        fs::create_dir(world.home().join(name).join("below")).unwrap();
        let folder = world.home().join(name);
        let note = format!("Lesson of project {name}");
        world.ok(&["add", &note, "--project", text(&folder), "--memory-dir", "../common"]);
    }
    let line = stored(&world.home().join("common/lessons.jsonl"));
    assert!(line["projectRoot"].as_str().is_some_and(|root| root.ends_with("/one")), "{line}");
    assert_eq!(line["repoId"], line["projectRoot"]);
    for command in ["list", "recall"] {
        let seen = world.ok(&[command, "--project", text(&world.home().join("two")), "--memory-dir", "../common"]);
        assert!(seen.contains("project two") && !seen.contains("project one"), "{seen}");
    }
    // Nor can a neighbour's lesson be reached by its name.
    for command in
        [&["show", "m-001"][..], &["history", "m-001"], &["forget", "m-001"], &["restore", "m-001", "--version", "1"]]
    {
        let place = ["--project", text(&world.home().join("two")), "--memory-dir", "../common"].map(str::to_owned);
        let arguments: Vec<&str> = command.iter().copied().chain(place.iter().map(String::as_str)).collect();
        let output = world.run(&arguments);
        assert_eq!((output.status, output.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(output.stderr.contains("there is no lesson `m-001`"), "{output}");
    }
}

#[test]
fn a_memory_is_outside_however_the_path_is_written() {
    let world = World::new();
    world.ok(&["add", "From above", "--memory-dir", "../common"]);
    fs::create_dir_all(world.home().join(".config/archivist")).unwrap();
    fs::write(world.home().join(".config/archivist/config.toml"), "[memory]\ndir = \"new/../../configured\"\n")
        .unwrap();
    world.ok(&["add", "By configuration"]);
    for folder in ["common", "configured"] {
        let line = stored(&world.home().join(folder).join("lessons.jsonl"));
        assert_eq!(line["projectRoot"], text(&world.project()), "{folder}");
    }
}

#[test]
fn a_lesson_knows_its_repository_by_its_remote_and_a_global_one_by_nothing() {
    let world = World::new();
    fs::create_dir(world.project().join(".git")).unwrap();
    let config = "[remote \"origin\"]\n\turl = git@example.org:team/tool.git\n";
    fs::write(world.project().join(".git/config"), config).unwrap();
    world.ok(&["add", "Prefer rg over grep"]);
    world.ok(&["add", "Dates are kept in UTC", "--scope", "global"]);
    let own = stored(&world.memory().join("lessons.jsonl"));
    assert_eq!((&own["repoId"], &own["projectRoot"]), (&Value::from("example.org/team/tool"), &Value::Null));
    fs::write(world.project().join(".git/config"), config.replace("team", "fork")).unwrap();
    assert!(world.ok(&["list"]).contains("Prefer rg"), "a fork lists what its own directory holds");
    let global = stored(&world.home().join(".openagents/memory/global-lessons.jsonl"));
    assert_eq!((&global["repoId"], &global["projectRoot"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_global_lesson_is_seen_everywhere_and_a_projects_is_not() {
    let world = World::new();
    let other = world.home().join("other");
    fs::create_dir_all(other.join(".openagents")).unwrap();
    world.ok(&["add", "Own matter"]);
    world.ok(&["add", "Matter of all", "--scope", "global"]);
    let there = world.ok(&["recall", "matter", "--project", text(&other)]);
    assert!(there.contains("Matter of all") && !there.contains("Own matter"), "{there}");
}

#[test]
fn the_project_is_found_from_below() {
    let world = World::new();
    fs::create_dir_all(world.project().join("src/deep")).unwrap();
    world.ok(&["add", "Prefer rg over grep"]);
    let output = world.command(&["list"]).current_dir(world.project().join("src/deep")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("Prefer rg"));
}

#[test]
fn without_a_home_a_global_lesson_stays_here_with_a_warning() {
    let world = World::new();
    let output = world.command(&["add", "Dates", "--scope", "global"]).env_remove("HOME").output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("warning: `memory.globalDir` leads nowhere"));
}

fn stored(path: &std::path::Path) -> Value {
    let lines = fs::read_to_string(path).unwrap();
    serde_json::from_str(lines.lines().next().unwrap()).unwrap()
}
