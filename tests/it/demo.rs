//! The first look: `archivist demo` anywhere, with nothing set up, leaving nothing behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Output, World, text};

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn the_demo_shows_what_is_learned_and_what_the_next_session_is_given() {
    let output = World::new().run(&["demo"]);
    assert!(output.stdout.lines().count() <= 40, "{output}");
    insta::assert_snapshot!(output);
}

/// This repository's README shows the demo, and what a project's documents say is not learned in that project.
#[test]
fn the_demo_says_the_same_in_a_clone_and_leaves_nothing_behind() {
    let elsewhere = World::new().run(&["demo"]);
    let places = tempfile::tempdir().unwrap();
    let (home, temporary) = (places.path().join("home"), places.path().join("tmp"));
    fs::create_dir(&home).unwrap();
    fs::create_dir(&temporary).unwrap();
    let clone = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(fs::read_to_string(clone.join("README.md")).unwrap().contains("SHOP_DB=:memory: npm test"));
    let memory = clone.join(".openagents");
    let had_memory = memory.exists();
    let run = Command::new(env!("CARGO_BIN_EXE_archivist"))
        .arg("demo")
        .current_dir(clone)
        .env_clear()
        .env("HOME", &home)
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let found = Output {
        status: run.status.code().unwrap(),
        stdout: String::from_utf8(run.stdout).unwrap(),
        stderr: String::from_utf8(run.stderr).unwrap(),
    };
    assert_eq!(found, elsewhere);
    assert!(is_empty(&home) && is_empty(&temporary), "something was left behind");
    assert_eq!(memory.exists(), had_memory, "the clone got a memory");
}

#[test]
fn the_demo_reads_no_settings_and_asks_no_model() {
    let world = World::new();
    let expected = world.run(&["demo"]);
    fs::write(world.project().join(".openagents/archivist.toml"), "enabled = nonsense").unwrap();
    let variables = [("ARCHIVIST__ENABLED", "false"), ("ARCHIVIST__MODEL__BASE_URL", "http://127.0.0.1:1/v1")];
    assert_eq!(world.run_with(&["demo"], &variables, ""), expected);
    assert!(!world.memory().exists(), "the project got a memory");
}

#[test]
fn what_the_demo_keeps_can_be_asked_and_nothing_is_written_over() {
    let world = World::new();
    let shop = world.home().join("shop");
    let kept = world.ok(&["demo", "--keep", text(&shop)]);
    assert!(kept.contains("archivist why m-001 --project ~/shop"), "{kept}");
    let why = world.ok(&["why", "m-001", "--project", text(&shop)]);
    assert!(why.contains("It was seen in 2 runs"), "{why}");
    let again = world.run(&["demo", "--keep", text(&shop)]);
    assert_eq!(
        again.to_string(),
        "! error: --keep ~/shop is not empty\n! hint: name a directory that does not exist yet\nexit 1\n"
    );
    let file = world.home().join("file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(world.run(&["demo", "--keep", text(&file)]).status, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn the_demo_tells_programs_the_same() {
    let world = World::new();
    let report: Value = serde_json::from_str(&world.ok(&["demo", "--json"])).unwrap();
    let sessions = report["sessions"].as_array().unwrap();
    let changes = |at: usize| -> Vec<&str> {
        sessions[at]["lessons"].as_array().unwrap().iter().map(|lesson| lesson["change"].as_str().unwrap()).collect()
    };
    assert_eq!(changes(0), ["learned"]);
    assert_eq!(changes(1), ["learned", "seen_again"]);
    assert!(changes(2).is_empty() && changes(3).is_empty());
    assert_eq!(sessions[2]["dropped"][0]["why"], "restated");
    for (session, report) in sessions.iter().map(|session| (session["file"].as_str().unwrap(), session)) {
        let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/demo/sessions").join(session);
        let log = fs::read_to_string(log).unwrap();
        for quote in report["lessons"].as_array().unwrap().iter().flat_map(|l| l["sessionQuotes"].as_array().unwrap()) {
            assert!(log.contains(quote["text"].as_str().unwrap()), "{session}: {quote}");
        }
    }
    let shown = world.ok(&["demo"]);
    assert!(shown.contains(report["sessionStart"].as_str().unwrap().trim_end()), "{shown}");
}
