//! Many sessions at once: planned, resumed, and the same however fast they come.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::endpoint::{Endpoint, words};
use crate::sessions::{Met, write};
use crate::support::World;

const NOTHING: &str =
    r#"{"outcome_summary": "Done.", "what_worked": [], "what_failed": [], "key_decisions": [], "candidates": []}"#;

fn met(number: usize) -> Met {
    if number.is_multiple_of(2) { Met::Failure(number / 2) } else { Met::Routine }
}

fn asking(url: &str) -> Vec<(&str, &str)> {
    vec![
        ("ARCHIVIST__MODEL__BASE_URL", url),
        ("ARCHIVIST__MODEL__NAME", "tiny"),
        ("ARCHIVIST__MODEL__FORM", "text"),
        ("ARCHIVIST__MODEL__CAPS__TOKENS_PER_DAY", "0"),
        ("ARCHIVIST__MODEL__PRICES__INPUT_PER_MILLION", "3"),
        ("ARCHIVIST__MODEL__PRICES__OUTPUT_PER_MILLION", "15"),
    ]
}

#[test]
fn a_batch_is_planned_agreed_to_done_and_then_there_is_nothing_left() {
    let world = World::new();
    for number in 0..6 {
        write(&world, number, met(number));
    }
    world.trust();
    assert_snapshot!(world.run(&["batch", "--days", "3650", "--dry-run"]), @"! 6 sessions to reflect on, no model is asked");
    let priced = world.run_with(&["batch", "--days", "3650"], &asking("http://127.0.0.1:9/v1"), "").to_string();
    // How long a log is depends on where the project lies.
    insta::with_settings!({ filters => vec![(r"about [0-9,]+ tokens", "about N tokens"), (r"0\.1[0-9]", "0.1N")] }, {
        assert_snapshot!(priced, @"
        ! 6 sessions to reflect on, about N tokens of tiny, $0.1N
        ! error: nobody is there to agree to this
        ! hint: give --yes
        exit 1
        ");
    });
    assert_snapshot!(world.run(&["batch", "--days", "3650", "--yes"]));
    assert_snapshot!(world.run(&["batch", "--days", "3650", "--yes"]), @"! 0 sessions to reflect on (6 more have nothing new to tell), no model is asked");
    let outcomes: Value = serde_json::from_str(&world.ok(&["batch", "--days", "3650", "--json"])).unwrap();
    assert_eq!(outcomes, json!({"reflected": 0, "skipped": 0, "outcomes": []}));
}

/// Every file of a memory that is no lock and no log of our own.
fn files(world: &World) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for name in ["episodes.jsonl", "lessons.jsonl", "ledger.jsonl"] {
        let bytes = std::fs::read(world.memory().join(name)).unwrap_or_default();
        let text = String::from_utf8(bytes).unwrap().replace(world.home().to_str().unwrap(), "~");
        files.insert(name.to_owned(), text.into_bytes());
    }
    files
}

#[test]
fn the_same_sessions_clock_and_seed_give_the_same_bytes_however_many_at_once() {
    let mut seen: Vec<BTreeMap<String, Vec<u8>>> = Vec::new();
    for concurrency in ["1", "1", "8", "32"] {
        let world = World::new();
        let key = "[project]\nkey = \"shop\"\n";
        std::fs::write(world.project().join(".openagents/archivist.toml"), key).unwrap();
        for number in 0..40 {
            write(&world, number, met(number));
        }
        world.trust();
        // The order in which files are found must not matter either.
        world.ok(&["batch", "--days", "3650", "--yes", "--concurrency", concurrency]);
        seen.push(files(&world));
    }
    assert!(seen[0]["lessons.jsonl"].len() > 1000 && seen[0]["episodes.jsonl"].len() > 1000);
    assert_eq!(seen[0], seen[1], "twice the same");
    // What a reflection gets to see of the memory depends on how many are under way, and on nothing else: here, on none.
    let lessons = |files: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let text = String::from_utf8(files["lessons.jsonl"].clone()).unwrap();
        let mut summaries: Vec<String> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["summary"].as_str().unwrap().to_owned())
            .collect();
        summaries.sort();
        summaries.dedup();
        summaries
    };
    assert_eq!(lessons(&seen[0]), lessons(&seen[2]));
    assert_eq!(lessons(&seen[0]), lessons(&seen[3]));
}

/// A batch that is killed and begun again asks the model about no session twice.
#[test]
fn a_batch_that_was_killed_asks_nothing_twice() {
    const SESSIONS: usize = 60;
    let slow = words(NOTHING).set_delay(Duration::from_millis(120));
    let endpoint = Endpoint::answering([slow]);
    let url = endpoint.url();
    let world = World::new();
    for number in 0..SESSIONS {
        write(&world, number, Met::Routine);
    }
    world.trust();
    for kill_after in [400, 700] {
        let mut child = world
            .command(&["batch", "--days", "3650", "--yes", "--concurrency", "8"])
            .envs(asking(&url))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(kill_after));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let done = world.run_with(&["batch", "--days", "3650", "--yes", "--concurrency", "8", "--json"], &asking(&url), "");
    assert_eq!(done.status, 0, "{done}");
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for request in endpoint.asked() {
        let text = request["messages"].to_string();
        let (_, named) = text.split_once("Session: ").unwrap();
        *asked.entry(named.split(',').next().unwrap().to_owned()).or_default() += 1;
    }
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
    let episodes: Value = serde_json::from_str(&world.ok(&["episodes", "--json"])).unwrap();
    assert_eq!(episodes.as_array().unwrap().len(), SESSIONS);
    assert!(asked.len() > SESSIONS - 20, "only {} were asked about", asked.len());
    assert!(!world.memory().join("queue/batch.log").exists());
}

#[test]
fn an_endpoint_that_is_down_is_told_and_the_heuristics_stand_in() {
    let endpoint = Endpoint::answering([ResponseTemplate::new(503)]);
    let world = World::new();
    write(&world, 0, met(0));
    world.trust();
    let url = endpoint.url();
    let variables: Vec<(&str, &str)> =
        asking(&url).into_iter().chain([("ARCHIVIST__MODEL__MAX_ATTEMPTS", "1")]).collect();
    let done = world.run_with(&["batch", "--days", "3650", "--yes", "--json"], &variables, "");
    let harvest: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(harvest["reflected"], 1);
    assert_eq!(harvest["outcomes"][0]["engine"], "heuristic");
    assert!(harvest["outcomes"][0]["fallback"].as_str().unwrap().contains("503"), "{harvest}");
}
