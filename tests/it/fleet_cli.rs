//! The command line with a memory on a server: the same commands, the same answers.

use std::path::Path;

use archivist_core::memory::postgres::migrate_schema;
use serde_json::Value;

use crate::postgres_server::{database, shared};
use crate::stores::server_at;
use crate::support::{Output, World, text};

/// A world whose memory is on a server, in a database of its own.
struct Fleet {
    world: World,
    url: String,
}

impl Fleet {
    fn new() -> Option<Self> {
        let shared = shared()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let world = World::new();
        world.let_scripts_decide();
        Some(Self { world, url: runtime.block_on(database(shared, "cli")) })
    }

    fn migrated() -> Option<Self> {
        let fleet = Self::new()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { migrate_schema(&server_at(&fleet.url)).await.unwrap() });
        Some(fleet)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let variables = [
            ("ARCHIVIST__MEMORY__BACKEND", "postgres"),
            ("ARCHIVIST_POSTGRES_URL", self.url.as_str()),
            ("ARCHIVIST__PROJECT__KEY", "shop"),
        ];
        self.world.run_with(arguments, &variables, "")
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status, 0, "{arguments:?} failed:\n{output}");
        output.stdout
    }
}

#[test]
fn tables_are_made_by_a_command_and_named_where_they_are_missing() {
    let Some(fleet) = Fleet::new() else { return };
    let missing = fleet.run(&["list"]);
    assert_eq!(missing.status, 1);
    assert!(missing.stderr.contains("there is no memory at") && missing.stderr.contains("hint: `archivist migrate`"));
    let planned = fleet.ok(&["migrate", "--dry-run"]);
    assert!(planned.starts_with("0001_memory  to be done\n"), "{planned}");
    assert!(fleet.ok(&["migrate"]).starts_with("0001_memory  done\n"));
    let again = fleet.run(&["migrate"]);
    assert_eq!((again.stdout.as_str(), again.stderr.as_str()), ("", "the tables are up to date\n"));
    let steps: Vec<Value> = serde_json::from_str(&fleet.ok(&["migrate", "--json"])).unwrap();
    assert!(steps.iter().all(|step| step["state"] == "applied"), "{steps:?}");
    let files = fleet.world.run(&["migrate"]);
    assert_eq!(files.status, 1);
    assert!(files.stderr.contains("the memory is not on a server"), "{}", files.stderr);
}

#[test]
fn a_minute_with_it_is_the_same_on_a_server() {
    let Some(fleet) = Fleet::migrated() else { return };
    let steps: &[&[&str]] = &[
        &["add", "Prefer one bundled pull request over many small ones"],
        &[
            "add",
            "Large bun test runs time out; shard them first",
            "--kind",
            "lesson",
            "--tool",
            "bash",
            "--tag",
            "timeout",
        ],
        &["recall", "bun test hangs and then times out"],
        &["recall", "rotate the TLS certificates"],
        &["forget", "m-001", "--reason", "we squash anyway"],
        &["restore", "m-001", "--version", "1"],
        &["promote", "m-002"],
        &["history", "m-002"],
        &["list"],
        &["show", "m-002", "--json"],
        &["episodes"],
        &["doctor"],
        &["reflect", "--file", "session.jsonl"],
        &["list", "--all", "--json"],
        &["why", "m-003"],
        &["effect"],
        &["export", "--format", "markdown"],
        &["feedback", "validate", "m-002", "--run", "r-1"],
        &["recall", "large bun test runs", "--run", "r-2"],
        &["list", "--json"],
    ];
    let files = World::new();
    files.let_scripts_decide();
    let log = "fixtures/logs/generic/billing.jsonl";
    for world in [&files, &fleet.world] {
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(log), world.project().join("session.jsonl")).unwrap();
    }
    for step in steps {
        let in_files = files.run_with(step, &[("ARCHIVIST__PROJECT__KEY", "shop")], "");
        let on_server = fleet.run(step);
        assert_eq!(in_files.to_string(), on_server.to_string(), "{step:?}");
    }
}

#[test]
fn a_directory_moves_to_a_server_and_back_without_loss() {
    let Some(fleet) = Fleet::migrated() else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/banks/v1/project");
    let first = fleet.ok(&["import", text(&source), "--format", "store"]);
    assert!(first.contains("versions of lessons") && first.ends_with(" 0 known\n"), "{first}");
    assert_eq!(fleet.run(&["doctor", "--against", text(&source)]).to_string(), "! both hold the same\n");
    let again = fleet.ok(&["import", text(&source), "--format", "store", "--json"]);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again["episodes"], &again["versions"], &again["facts"]), (&0.into(), &0.into(), &0.into()), "{again}");
    let copy = fleet.world.home().join("copy");
    fleet.ok(&["export", "--format", "store", "--out", text(&copy)]);
    assert_eq!(fleet.run(&["doctor", "--against", text(&copy)]).to_string(), "! both hold the same\n");
    // Every record that can be read is in the copy, as it was.
    let records = |directory: &Path, names: &[&str]| {
        let lines = names.iter().filter_map(|name| std::fs::read_to_string(directory.join(name)).ok());
        let parsed = lines.flat_map(|text| {
            text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>()
        });
        let mut all: Vec<String> = parsed.filter(Value::is_object).map(|value| value.to_string()).collect();
        // A fact that is told twice is one fact.
        all.sort();
        all.dedup();
        all
    };
    let lessons = ["lessons.jsonl", "lessons-archive.jsonl"];
    assert_eq!(records(&source, &lessons), records(&copy, &lessons));
    assert_eq!(records(&source, &["ledger.jsonl"]), records(&copy, &["ledger.jsonl"]));
    fleet.ok(&["add", "Only on the server"]);
    let differs = fleet.run(&["doctor", "--against", text(&source)]);
    assert_eq!(differs.status, 1);
    assert!(differs.stdout.ends_with("is here and not there\n"), "{differs}");
    let nowhere = fleet.run(&["import", "/nowhere", "--format", "store"]);
    assert!(nowhere.status == 1 && nowhere.stderr.contains("/nowhere is no directory"), "{nowhere}");
}
