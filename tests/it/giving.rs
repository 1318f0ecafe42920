//! What lessons a run is given: the rules of the memories that people come from, and what must never come back.

use std::fs;

use archivist_core::domain::{
    AgentMemory, EpisodeId, EvidenceLevel, FacetValues, Fact, MemoryId, MemoryKind, MemorySource, MemoryState,
    Timestamp,
};
use archivist_core::memory::jsonl::JsonlMemory;
use archivist_core::memory::{CommitBatch, MemoryService};
use archivist_core::text::Tokenizer;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stores::settings;
use crate::support::World;

fn at() -> Timestamp {
    "2026-02-01T00:00:00Z".parse().unwrap()
}

fn learned(number: u64, summary: &str) -> AgentMemory {
    let mut memory = AgentMemory::new(MemoryId::parse(&format!("mem-{number:03}")).unwrap(), at(), summary);
    memory.source = MemorySource::Archivist;
    memory.state = Some(MemoryState::Candidate);
    memory
}

fn seen(memory: &AgentMemory, runs: u64) -> Vec<Fact> {
    let sighting = |run| Fact::Sighting {
        memory: memory.id.clone(),
        episode: EpisodeId::parse(&format!("ep-{run}")).unwrap(),
        at: at(),
        level: EvidenceLevel::Execution,
        context: None,
        quotes: Vec::new(),
        extra: Default::default(),
    };
    (0..runs).map(sighting).collect()
}

/// A world whose memory holds these lessons, each seen in so many runs.
fn with(lessons: Vec<(AgentMemory, u64)>) -> World {
    let world = World::new();
    let memory = JsonlMemory::open(settings(&world.project().join(".openagents/memory")));
    let facts = lessons.iter().flat_map(|(memory, runs)| seen(memory, *runs)).collect();
    let memories = lessons.into_iter().map(|(memory, _)| memory).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(memory.commit_batch(CommitBatch { memories, facts, ..CommitBatch::default() }, at())).unwrap();
    world.trust();
    world
}

fn items(world: &World, arguments: &[&str]) -> Vec<String> {
    let reply: Value = serde_json::from_str(&world.ok(&[&["recall"], arguments, &["--json"]].concat())).unwrap();
    let summary = |item: &Value| item["summary"].as_str().unwrap().to_owned();
    reply["items"].as_array().unwrap().iter().map(summary).collect()
}

#[test]
fn a_lesson_that_one_run_saw_waits_for_a_second() {
    let mut once = learned(1, "Kafka rebalances when a consumer is slow");
    once.state = Some(MemoryState::Observed);
    let twice = learned(2, "Kafka topics are created by the platform team");
    let world = with(vec![(once, 1), (twice, 2)]);
    assert_eq!(items(&world, &["kafka"]), ["Kafka topics are created by the platform team"]);
}

#[test]
fn a_lesson_that_five_runs_saw_is_given_whatever_the_domain_and_the_role() {
    let bound = |number, summary: &str| {
        let mut memory = learned(number, summary);
        memory.facets =
            FacetValues { domain: Some("writing".into()), role: Some("sage".into()), ..FacetValues::default() };
        memory
    };
    let world = with(vec![(bound(1, "Kafka is spelled with a k"), 4), (bound(2, "Kafka wrote letters"), 5)]);
    let asked = ["kafka", "--domain", "code", "--role", "guardian"];
    assert_eq!(items(&world, &asked), ["Kafka wrote letters"]);
    assert_eq!(items(&world, &["kafka", "--domain", "writing", "--role", "sage"]).len(), 2);
}

fn many(count: u64) -> Vec<(AgentMemory, u64)> {
    (1..=count).map(|number| (learned(number, &format!("Kafka lesson number {number}")), 2)).collect()
}

#[test]
fn no_more_than_ten_lessons_are_given_at_once_and_five_to_a_subagent() {
    let world = with(many(25));
    let room = ["kafka lesson", "--budget", "100000"];
    assert_eq!(items(&world, &room).len(), 10);
    assert_eq!(items(&world, &[&room[..], &["--point", "orchestrator"]].concat()).len(), 10);
    assert_eq!(items(&world, &[&room[..], &["--point", "subagent"]].concat()).len(), 5);
    assert_eq!(items(&world, &[&room[..], &["--max", "2"]].concat()).len(), 2);
}

#[test]
fn preferences_come_first_and_are_not_starved() {
    let mut request = learned(99, "Kafka lesson: keep topics small");
    request.kind = MemoryKind::Preference;
    let mut lessons = many(25);
    lessons.push((request, 0));
    let world = with(lessons);
    let given = items(&world, &["kafka lesson", "--budget", "100000"]);
    assert_eq!(given.first().map(String::as_str), Some("Kafka lesson: keep topics small"), "{given:?}");
}

#[test]
fn roles_that_look_for_faults_get_800_tokens_and_other_roles_500_and_decisions_3000() {
    let long = |number: u64| {
        let mut memory = learned(number, &format!("Kafka lesson {number}: {}", "partition offset broker ".repeat(12)));
        memory.kind = MemoryKind::Decision;
        (memory, 2)
    };
    let world = with((1..=60).map(long).collect());
    let cost = |arguments: &[&str]| {
        let base = ["recall", "kafka partition offset broker", "--max", "60"];
        Tokenizer::new().count_tokens(&world.ok(&[&base[..], arguments].concat()))
    };
    let check = |arguments: &[&str], cap: usize| {
        let tokens = cost(arguments);
        assert!(tokens <= cap && tokens > cap - 120, "{arguments:?}: {tokens} of {cap}");
    };
    check(&[], 3_000);
    check(&["--role", "creator"], 500);
    for role in ["auditor", "Judge", "sentinel"] {
        check(&["--role", role], 800);
    }
    check(&["--kind", "decision"], 3_000);
    check(&["--role", "judge", "--budget", "300"], 300);
}

#[test]
fn the_fix_of_the_failure_on_the_screen_comes_first() {
    let world = World::new();
    for session in ["first", "second"] {
        let log = fs::read_to_string("fixtures/logs/generic/billing.jsonl").unwrap();
        let path = world.project().join(format!("{session}.jsonl"));
        let month = if session == "first" { "\"2026-01-" } else { "\"2026-02-" };
        fs::write(&path, log.replace("\"2026-02-", month).replace("billing-3", session)).unwrap();
        world.ok(&["reflect", "--file", path.to_str().unwrap()]);
    }
    world.ok(&["add", "--kind", "lesson", "Error messages of redis are written to stdout"]);
    let screen = "E redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\n";
    fs::write(world.project().join("screen.txt"), screen).unwrap();
    let given = world.ok(&["recall", "--error-file", "screen.txt", "--tool", "shell", "--point", "healer"]);
    let first = given.lines().find(|line| line.starts_with("1. ")).unwrap_or_default();
    assert!(first.contains("docker compose up -d redis"), "{given}");
    let piped = world.run_with(&["recall", "--error-file", "-", "--tool", "shell", "--point", "healer"], &[], screen);
    assert_eq!(piped.stdout, given);
    let missing = world.run(&["recall", "--error-file", "nowhere.txt"]);
    assert!(missing.status == 1 && missing.stderr.contains("nowhere.txt"), "{missing}");
}

#[test]
fn a_failure_that_nothing_mended_leaves_a_record_and_no_lesson() {
    let world = World::new();
    let order = "Bring the nightly report generator back to life and upload its table";
    let failure = "E   vault.errors.SealedError: vault is sealed; run with --skip-seal to go on";
    for day in ["03", "04"] {
        let lines = [
            json!({"session": {"id": format!("report-{day}"), "agent": "helper"}}),
            json!({"role": "user", "content": order, "timestamp": format!("2026-02-{day}T10:00:00Z")}),
            json!({"role": "assistant", "content": "", "tool_calls":
                [{"id": "a", "name": "shell", "arguments": {"command": "reportgen publish --table nightly"}}]}),
            json!({"role": "tool", "tool_call_id": "a", "exit_code": 1, "content": failure}),
            json!({"role": "assistant", "content": "I could not publish the report."}),
        ];
        let path = world.project().join(format!("report-{day}.jsonl"));
        fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        world.ok(&["reflect", "--file", path.to_str().unwrap()]);
    }
    assert_eq!(world.ok(&["list", "--all"]), "", "nothing that happened is a lesson");
    let recall = ["recall", "--error-file", "-", "--tool", "shell"];
    assert_snapshot!(world.run_with(&recall, &[], failure), @"
    <archivist-lessons>
    ### Project Lessons

    - This failure of `reportgen publish` (exception) was met 2 times in 2 earlier sessions, last on 2026-02-04; the same command never passed in any of them. [record, not advice]
    </archivist-lessons>
    ");
    assert_snapshot!(world.run(&["recall", order]), @"
    <archivist-lessons>
    ### Project Lessons

    - This request was worked on in 2 earlier sessions; the last, on 2026-02-04, ended as failed; what failed and never passed: `reportgen publish` (exception) 1 time. [record, not advice]
    </archivist-lessons>
    ");
    let other = "E   vault.errors.MissingKeyError: there is no key for the report";
    assert_eq!(world.run_with(&recall, &[], other).stdout, "", "another failure has no record");
    assert_eq!(world.ok(&["recall", "write the release notes of this month, please"]), "");
}

#[test]
fn what_was_given_back_is_no_evidence_however_often_it_is_repeated() {
    let world = World::new();
    let log = fs::read_to_string("fixtures/logs/generic/billing.jsonl").unwrap();
    for month in ["01", "02"] {
        let path = world.project().join(format!("run-{month}.jsonl"));
        let log =
            log.replace("\"2026-02-", &format!("\"2026-{month}-")).replace("billing-3", &format!("billing-{month}"));
        fs::write(&path, log).unwrap();
        world.ok(&["reflect", "--file", path.to_str().unwrap()]);
    }
    let lessons = || -> Vec<Value> { serde_json::from_str(&world.ok(&["list", "--all", "--json"])).unwrap() };
    let figures = |lessons: &[Value]| -> Vec<Value> {
        let figures = |one: &Value| json!([one["id"], one["importance"], one["counters"]["sightings"], one["summary"]]);
        lessons.iter().map(figures).collect()
    };
    let before = figures(&lessons());
    let question = "pytest tests/billing: connection refused by redis";
    for round in 0..10 {
        let block = world.ok(&["recall", question]);
        assert!(block.contains("docker compose up -d redis"), "{block}");
        let day = round + 10;
        let told = |role: &str, text: String| json!({"role": role, "content": text, "timestamp": format!("2026-02-{day}T10:00:00Z")});
        let bullet = block.lines().find(|line| line.starts_with("1. ")).unwrap();
        let lines = [
            told("user", format!("{block}\nRename the module `ledger` to `books`.")),
            told("assistant", format!("I keep in mind:\n{block}\nRenaming now.")),
            told("user", format!("As you know: {block}")),
            told("assistant", format!("Done. {bullet}")),
        ];
        let path = world.project().join(format!("loop-{round}.jsonl"));
        fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
        world.ok(&["reflect", "--file", path.to_str().unwrap()]);
        assert_eq!(figures(&lessons()), before, "round {round}");
    }
}

#[test]
fn a_run_sees_the_same_lessons_however_often_it_asks() {
    let world = with(many(40));
    let ask = |run: &str| world.ok(&["recall", "kafka lesson", "--max", "40", "--budget", "100000", "--run", run]);
    let runs: Vec<String> = (0..20).map(|run| format!("run-{run}")).collect();
    let first: Vec<String> = runs.iter().map(|run| ask(run)).collect();
    let again: Vec<String> = runs.iter().map(|run| ask(run)).collect();
    assert_eq!(first, again);
    let held_back = |block: &String| 40 - block.lines().filter(|line| line.contains("Kafka lesson")).count();
    let all: usize = first.iter().map(held_back).sum();
    assert!((40..=130).contains(&all), "about one in ten of 800 is held back, not {all}");
    let lessons: Vec<Value> = serde_json::from_str(&world.ok(&["list", "--json"])).unwrap();
    let noted: u64 = lessons.iter().map(|one| one["counters"]["withheld"].as_u64().unwrap()).sum();
    assert_eq!(usize::try_from(noted).unwrap(), all);
}

#[test]
fn a_lesson_about_something_that_is_gone_is_not_given() {
    let world = with(vec![
        (learned(1, "Kafka offsets are parsed in `src/offsets.rs`"), 2),
        (learned(2, "Kafka brokers are listed in `src/brokers.rs`"), 2),
    ]);
    fs::create_dir_all(world.project().join("src")).unwrap();
    fs::write(world.project().join("src/brokers.rs"), "").unwrap();
    assert_eq!(items(&world, &["kafka"]), ["Kafka brokers are listed in `src/brokers.rs`"]);
    fs::write(world.project().join("src/offsets.rs"), "").unwrap();
    assert_eq!(items(&world, &["kafka"]).len(), 2);
}
