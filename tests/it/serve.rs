//! The memory over HTTP: the same answers as the command line, and events as they happen.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Server, next_line};
use crate::support::{NOW, World, text};

const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/logs/generic/billing.jsonl");

/// A memory with a preference, lessons of a session, and a run that was given some.
fn world() -> World {
    let world = World::new();
    world.ok(&["add", "Prefer one bundled pull request over many small ones"]);
    world.ok(&["add", "Shard large bun test runs", "--kind", "lesson", "--tool", "bash", "--provider", "claude-code"]);
    world.ok(&["reflect", "--file", LOG]);
    world.ok(&["recall", "bun test runs time out", "--run", "run-1"]);
    world
}

fn of_the_command_line(world: &World, arguments: &[&str]) -> Value {
    serde_json::from_str(&world.ok(arguments)).unwrap()
}

#[test]
fn answers_are_those_of_the_command_line() {
    let world = world();
    let server = Server::start_with(&world, &["--now", NOW], &[]);
    for (path, arguments) in [
        ("/v1/lessons", &["list", "--json"][..]),
        ("/v1/lessons?which=all&kind=preference", &["list", "--all", "--kind", "preference", "--json"]),
        ("/v1/lessons/m-002", &["show", "m-002", "--json"]),
        ("/v1/lessons/m-003/why", &["why", "m-003", "--json"]),
        ("/v1/lessons/m-001/history", &["history", "m-001", "--json"]),
        ("/v1/episodes", &["episodes", "--json"]),
        ("/v1/effect", &["effect", "--json"]),
        ("/v1/status", &["status", "--json"]),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let mut expected = of_the_command_line(&world, arguments).to_string();
        expected = expected.replace('~', text(&world.home()));
        assert_eq!(answer.json().to_string(), expected, "{path}");
    }
    let recalled = server.post("/v1/recall", r#"{"text": "bun test runs time out", "max": 3}"#).json();
    let mut expected = of_the_command_line(&world, &["recall", "bun test runs time out", "--max", "3", "--json"]);
    expected["block"] = world.ok(&["recall", "bun test runs time out", "--max", "3"]).into();
    assert_eq!(recalled, expected);
}

#[test]
fn lessons_are_written_and_decided_about() {
    let world = World::new();
    let server = Server::start(&world);
    let added =
        server.post("/v1/lessons", r#"{"text": "Dates are kept in UTC", "kind": "decision", "tags": ["time"]}"#);
    assert_eq!(added.status, 201, "{added:?}");
    assert_eq!(added.json()["alias"], "m-001");
    assert_eq!(added.json()["state"], "active");
    assert_eq!(
        server.post("/v1/lessons/m-001/forget", r#"{"reason": "we changed our mind"}"#).json()[0]["state"],
        "archived"
    );
    assert_eq!(server.post("/v1/lessons/m-001/restore", r#"{"version": 1}"#).json()["state"], "active");
    assert_eq!(server.decide("/v1/lessons/m-001/promote", "").json()[0]["state"], "active");
    assert_eq!(server.post("/v1/lessons/m-001/reject", "{}").json()[0]["stateReason"], "rejected");
    let versions = server.get("/v1/lessons/m-001/history").json();
    assert_eq!(versions.as_array().unwrap().len(), 5);
    for (path, body, status) in [
        ("/v1/lessons/m-001/approve", "{}", 409),
        ("/v1/lessons/m-001/unmerge", "{}", 409),
        ("/v1/lessons/m-001/restore", r#"{"version": 99}"#, 404),
        ("/v1/lessons/m-999/promote", "{}", 404),
        ("/v1/lessons", r#"{"text": "  "}"#, 422),
        ("/v1/lessons", r#"{"text": "x", "scope": "tool"}"#, 422),
        ("/v1/lessons", r#"{"text": "x", "kind": "rumour"}"#, 400),
        ("/v1/lessons", r#"{"txet": "x"}"#, 400),
        ("/v1/lessons", "{", 400),
        ("/v1/feedback", r#"{"verdict": "validate", "lessons": ["m-001"], "run": "r-1"}"#, 409),
        ("/v1/reflect", "{}", 400),
        ("/v1/reflect", r#"{"session": "nobody-knows"}"#, 202),
        ("/v1/reflect", r#"{"session": "nobody-knows", "wait": true}"#, 404),
        ("/v1/reflect", r#"{"files": ["/etc/passwd"]}"#, 404),
        ("/v1/reflect", r#"{"files": ["../../etc/passwd"]}"#, 404),
    ] {
        let answer = server.decide(path, body);
        assert_eq!(answer.status, status, "{path} {body}: {answer:?}");
        if status >= 400 {
            assert!(answer.head.contains("application/problem+json"), "{answer:?}");
            assert_eq!(answer.json()["status"], status, "{answer:?}");
        }
    }
}

#[test]
fn a_session_is_reflected_on_and_waited_for() {
    let world = World::new();
    std::fs::copy(LOG, world.project().join("billing.jsonl")).unwrap();
    let server = Server::start(&world);
    let result = server.post("/v1/reflect", r#"{"files": ["billing.jsonl"], "wait": true}"#);
    assert_eq!(
        (result.status, &result.json()["status"], &result.json()["memoriesCreated"]),
        (200, &json!("reflected"), &json!(2))
    );
    let again = server.post("/v1/reflect", r#"{"files": ["billing.jsonl"], "wait": true}"#);
    assert_eq!(again.json()["status"], "skipped");
    let episode = server.get("/v1/episodes").json()[0]["id"].as_str().unwrap().to_owned();
    let steps = server.get(&format!("/v1/episodes/{episode}/steps?step=4&around=0")).json();
    assert_eq!(steps["steps"][0]["passages"][0]["trust"], "agent");
    assert!(steps.to_string().contains("docker compose up -d redis"), "{steps}");
    std::fs::remove_file(world.project().join("billing.jsonl")).unwrap();
    let gone = server.get(&format!("/v1/episodes/{episode}/steps?step=4")).json();
    assert_eq!(gone, json!({ "steps": [], "gone": true }));
}

#[test]
fn a_reflection_of_another_process_is_heard_within_a_second() {
    let world = World::new();
    let server = Server::start(&world);
    let mut events = server.listen("/v1/events");
    world.ok(&["reflect", "--file", LOG]);
    let began = Instant::now();
    assert_eq!(next_line(&mut events, "event: archivist"), "event: archivist_reflection_start");
    next_line(&mut events, "event: archivist_memory_highlight");
    next_line(&mut events, "event: archivist_reflection_complete");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let mut missed = server.listen("/v1/events?after=0");
    assert_eq!(next_line(&mut missed, "event"), "event: archivist_reflection_start");
    world.ok(&["add", "Something else"]);
    assert_eq!(next_line(&mut events, "event: memory"), "event: memory_changed");
}

#[test]
fn the_same_is_told_over_a_web_socket() {
    let world = World::new();
    let server = Server::start(&world);
    let url = format!("ws://{}/v1/events/socket?after=0", server.address);
    let (mut socket, _) = tokio_tungstenite::tungstenite::client(url, server.connect()).unwrap();
    world.ok(&["reflect", "--file", LOG]);
    let mut heard = Vec::new();
    while heard.last().map(String::as_str) != Some("archivist_reflection_complete") {
        let message: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
        heard.push(message["type"].as_str().unwrap().to_owned());
    }
    heard.retain(|kind| kind != "memory_changed");
    heard.dedup();
    insta::assert_snapshot!(heard.join("\n"), @r"
    archivist_reflection_start
    archivist_memory_highlight
    archivist_memories_added
    archivist_reflection_complete
    ");
    assert_eq!(server.get("/v1/events/socket").status, 426);
}

#[test]
fn the_description_names_every_route_and_nothing_else() {
    let world = World::new();
    let server = Server::start(&world);
    let described = server.get("/v1/openapi.json").json();
    assert_eq!(described["openapi"], "3.1.0");
    assert_eq!(described, serde_json::from_str::<Value>(&world.ok(&["serve", "--openapi"])).unwrap());
    let mut names = BTreeSet::new();
    for (path, operations) in described["paths"].as_object().unwrap() {
        let methods: Vec<&str> = operations.as_object().unwrap().keys().map(String::as_str).collect();
        for method in ["get", "post", "put", "delete", "patch"] {
            let asked = path.replace("{id}", "m-001");
            // A stream would not end.
            if path.starts_with("/v1/events") {
                continue;
            }
            let answer = server.ask(&method.to_uppercase(), &asked, &[], "");
            assert_eq!(answer.status == 405, !methods.contains(&method), "{method} {path}: {answer:?}");
            if answer.status == 404 {
                assert!(!answer.body.contains("nothing at this path"), "{method} {path} leads nowhere");
            }
        }
        for operation in operations.as_object().unwrap().values() {
            assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "two of one name");
        }
    }
    insta::assert_snapshot!(names.into_iter().collect::<Vec<_>>().join("\n"), @r"
    get_effect
    get_episodes
    get_episodes_id
    get_episodes_id_steps
    get_events
    get_events_socket
    get_health
    get_jobs
    get_lessons
    get_lessons_id
    get_lessons_id_history
    get_lessons_id_why
    get_spend
    get_stats
    get_status
    post_feedback
    post_lessons
    post_lessons_id_approve
    post_lessons_id_forget
    post_lessons_id_promote
    post_lessons_id_reject
    post_lessons_id_restore
    post_lessons_id_unmerge
    post_recall
    post_reflect
    ");
}

#[test]
fn figures_are_there_for_prometheus() {
    let world = world();
    let server = Server::start(&world);
    assert!(server.is_alive());
    let figures = server.get("/metrics").body;
    for expected in [
        "archivist_http_requests_total{route=\"/v1/health\",status=\"200\"} 1\n",
        "archivist_lessons{state=\"active\"} 2\n",
        "archivist_episodes{status=\"partial\"} 1\n",
        "archivist_worker_running 0\n",
        "archivist_spend_usd_today 0\n",
    ] {
        assert!(figures.contains(expected), "{expected} is not in\n{figures}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_end_lets_listeners_go_and_ends() {
    let world = World::new();
    let server = Server::start(&world);
    let mut events = server.listen("/v1/events");
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut events, &mut rest).unwrap();
}

#[test]
fn a_port_that_is_taken_is_told_with_a_hint() {
    let world = World::new();
    let server = Server::start(&world);
    let output = world.run(&["serve", "--address", &server.address.to_string()]);
    assert_eq!(output.status, 1);
    assert!(output.stderr.contains("cannot listen at"), "{output}");
    assert!(output.stderr.contains("`--port 0` takes any port that is free"), "{output}");
    let output = world.run(&["serve", "--address", "0.0.0.0:0"]);
    assert!(output.stderr.contains("a token is needed for an address that others can reach"), "{output}");
    assert!(world.run(&["serve", "--address", "nowhere"]).stderr.contains("is not an address and a port"));
}
