//! Values that are planted wherever text comes in, and searched for wherever text is kept or sent.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::endpoint::{Endpoint, words};
use crate::mcp::Agent;
use crate::server::Server;
use crate::support::{World, text};

/// A display at a free port, and what it heard on all its connections.
fn display() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/ws", listener.local_addr().unwrap());
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let heard = Arc::clone(&all);
            std::thread::spawn(move || {
                let Ok(mut socket) = tokio_tungstenite::tungstenite::accept(stream) else { return };
                while let Ok(message) = socket.read() {
                    heard.lock().unwrap().push(message.to_string());
                }
            });
        }
    });
    (url, heard)
}

/// Letters and digits in no order, made at run time so that no scanner reports them here.
fn letters(seed: u64, count: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut pick = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(LETTERS[usize::try_from(state >> 33).unwrap() % LETTERS.len()])
    };
    (0..count).map(|_| pick()).collect()
}

/// The planted values, by where they are planted.
fn planted() -> BTreeMap<&'static str, String> {
    let token = |prefix: &str, seed: u64, count: usize| format!("{prefix}{}", letters(seed, count));
    BTreeMap::from([
        ("output", token(&["ghp", "_"].concat(), 1, 36)),
        ("prompt", token(&["glpat", "-"].concat(), 2, 20)),
        ("command", format!("{}!{}", letters(3, 5), letters(4, 6))),
        ("coloured", token(&["npm", "_"].concat(), 5, 36)),
        ("sentence", format!("Blau{}!x", letters(6, 8))),
        ("notes", token(&["hf", "_"].concat(), 7, 34)),
        ("hook task", token(&["sk", "_live_"].concat(), 8, 24)),
        ("hook field", token(&["xoxb-", "123456789012-"].concat(), 9, 24)),
        ("command line", token(&["AI", "za"].concat(), 10, 35)),
        ("http", token(&["sk-", "ant-api03-"].concat(), 11, 80)),
        ("mcp", token(&["SG", ".abcdefghij0123456789AB."].concat(), 12, 43)),
        ("import", token(&["dckr", "_pat_"].concat(), 13, 27)),
        ("import store", token(&["shp", "at_"].concat(), 14, 0) + "3f9a1c0b5d7e82643f9a1c0b5d7e8264"),
        ("feedback", token(&["pypi-", "AgEIcHlwaS5vcmc"].concat(), 15, 60)),
        ("reason", token(&["rubygems", "_"].concat(), 16, 0) + &"3f9a1c0b5d7e8264".repeat(3)),
        ("model", token(&["tskey", "-auth-"].concat(), 17, 30)),
    ])
}

/// Every spelling in which a value could be found.
fn spellings(value: &str) -> Vec<Vec<u8>> {
    let bytes = value.as_bytes();
    let percent: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    let reserved: String =
        value
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || "-_.~".contains(c) { c.to_string() } else { format!("%{:02X}", u32::from(c)) }
            })
            .collect();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut all = vec![bytes.to_vec(), percent.into_bytes(), reserved.into_bytes(), hex.into_bytes()];
    // In base64 a value looks different at each of three places, and its ends depend on what stands around it.
    for shift in 0..3 {
        let shifted: Vec<u8> = std::iter::repeat_n(b'x', shift).chain(bytes.iter().copied()).collect();
        let encoded = base64(&shifted);
        all.push(encoded.as_bytes()[4..encoded.len() - 4].to_vec());
    }
    // Half of it tells enough.
    all.push(bytes[..bytes.len() - bytes.len() / 3].to_vec());
    all
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().chain([0, 0].iter()).take(3).fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
        out.extend((0..4).map(|place| char::from(DIGITS[bits >> (18 - 6 * place) & 63])));
    }
    out
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Fails for each value that is found in any of the places.
fn assert_absent(planted: &BTreeMap<&str, String>, places: &[(String, Vec<u8>)]) {
    let mut found = Vec::new();
    for (place, bytes) in places {
        for (name, value) in planted {
            if spellings(value).iter().any(|spelling| holds(bytes, spelling)) {
                found.push(format!("the value planted in `{name}` is in {place}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every file below a folder, but for those that the test itself wrote there.
fn files_below(folder: &Path, own: &[PathBuf], out: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_below(&path, own, out);
        } else if !own.contains(&path) {
            out.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            out.push((format!("the name of {}", path.display()), path.display().to_string().into_bytes()));
        }
    }
}

/// A session whose every part has a planted value.
fn session_log(world: &World, planted: &BTreeMap<&str, String>) -> PathBuf {
    let path = world.project().join("canary-run.jsonl");
    let value = |name: &str| planted[name].as_str();
    let (head, tail) = value("coloured").split_at(12);
    let lines = [
        json!({"session": {"id": "canary-run", "agent": "helper", "directory": world.project(), "title": format!("use {}", value("prompt"))}}),
        json!({"role": "user", "content": format!("Please make the tests pass. The registry token is {}, never commit it.", value("prompt"))}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a", "name": "bash", "arguments": {"command": format!("mysql -u app -p{} shop < seed.sql && pytest -q", value("command"))}}]}),
        json!({"role": "tool", "tool_call_id": "a", "exit_code": 1, "content": format!("E   ConnectionError: Error 111 connecting to https://ci:{}@cache.example.net:6379. Connection refused.\n\u{1b}[31m{head}\u{1b}[0m\u{1b}[31m{tail}\u{1b}[0m\n1 failed", value("output"))}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "b", "name": "bash", "arguments": {"command": "docker compose up -d redis"}}]}),
        json!({"role": "tool", "tool_call_id": "b", "exit_code": 0, "content": format!("Started (config-{}.json)", value("output"))}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "bash", "arguments": {"command": format!("mysql -u app -p{} shop < seed.sql && pytest -q", value("command"))}}]}),
        json!({"role": "tool", "tool_call_id": "c", "exit_code": 0, "content": "1 passed"}),
        json!({"role": "user", "content": format!("Always start redis before the tests. Das Kennwort für den Cache lautet {}.", value("sentence"))}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

#[test]
fn no_planted_value_is_kept_or_sent() {
    let world = World::new();
    let planted = planted();
    let value = |name: &str| planted[name].as_str();
    let log = session_log(&world, &planted);
    let notes = world.project().join(".openagents/progress.md");
    std::fs::write(
        &notes,
        format!("# Session Progress\n\n## Blockers\n\n- upload needs {} in the environment\n", value("notes")),
    )
    .unwrap();

    // A model that repeats what it should not have been told, a display, and a collector.
    let answer = json!({
        "outcome_summary": format!("It works with {}.", value("model")),
        "what_worked": [], "what_failed": [], "key_decisions": [],
        "candidates": [{
            "kind": "lesson", "category": "environment", "scope": "project", "importance": 0.8,
            "summary": format!("Start redis before the tests, with {}", value("model")),
            "rule": "IF the tests cannot connect THEN start redis",
            "evidence": [{"step": 8, "quote": "Always start redis before the tests."}],
        }],
    });
    let model = Endpoint::answering([words(&answer.to_string())]);
    let (display_url, heard) = display();
    let runtime = Runtime::new().unwrap();
    let collector = runtime.block_on(async {
        let collector = MockServer::start().await;
        Mock::given(method("POST")).respond_with(ResponseTemplate::new(200)).mount(&collector).await;
        collector
    });
    let cassettes = world.home().join("cassettes");
    let hud_file = world.home().join("hud.jsonl");
    let (model_url, collector_url) = (model.url(), collector.uri());
    let variables = [
        ("ARCHIVIST__HOOKS__START_WORKER", "false"),
        ("ARCHIVIST__WORKER__SETTLE_SECONDS", "0"),
        ("ARCHIVIST__MODEL__BASE_URL", model_url.as_str()),
        ("ARCHIVIST__MODEL__NAME", "tiny"),
        ("ARCHIVIST__MODEL__FORM", "json_schema"),
        ("ARCHIVIST__MODEL__CASSETTE", "record"),
        ("ARCHIVIST__MODEL__CASSETTE_DIR", text(&cassettes)),
        ("ARCHIVIST__HUD__FILE", text(&hud_file)),
        ("ARCHIVIST__HUD__WEB_SOCKET", display_url.as_str()),
        ("ARCHIVIST__PROGRESS__APPEND_LESSONS", "true"),
        ("ARCHIVIST__TELEMETRY__OTLP", collector_url.as_str()),
    ];
    let run = |arguments: &[&str], input: &str| {
        let output = world.run_with(arguments, &variables, input);
        assert_eq!(output.status, 0, "{arguments:?}: {output}");
        output.stdout.into_bytes()
    };

    // Hooks, with values in what they know and in what they do not know.
    let payload = json!({
        "sessionId": "canary-run", "cwd": world.project(), "outcome": "failed", "logPaths": [text(&log)],
        "taskId": format!("task {}", value("hook task")), "note": value("hook field"),
        "extra": {"password": value("sentence"), "list": [value("hook field")]},
    });
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    run(&["hook", "generic", "session-end"], &payload.to_string());
    files_below(&world.memory(), &[], &mut places);
    run(&["worker", "--once"], "");
    run(&["reflect", "--file", text(&log), "--again"], "");

    // Every way for a lesson to come in.
    run(
        &[
            "add",
            &format!("Upload with {}", value("command line")),
            "--detail",
            &format!("export KEY={}", value("command line")),
            "--tag",
            value("command line"),
        ],
        "",
    );
    let server = Server::start_with(&world, &[], &variables);
    let body = json!({"text": format!("Ask with {}", value("http")), "detail": format!("prod_{}", value("http")), "tags": [value("http")]});
    let added = server.post("/v1/lessons", &body.to_string());
    let listed = server.get("/v1/lessons");
    drop(server);
    let mut agent = Agent::with(&world, &["mcp"], &variables);
    let told = agent.call(
        "record_lesson",
        json!({"text": format!("Mail with {}", value("mcp")), "detail": value("mcp"), "tags": [value("mcp")]}),
    );
    assert_eq!(agent.ends().0, 0);
    let import = world.project().join("import.jsonl");
    std::fs::write(&import, json!({"results": [{"id": "1", "memory": format!("Push images with {}", value("import")), "metadata": {"token": value("import")}}]}).to_string()).unwrap();
    run(&["import", text(&import), "--format", "mem0", "--vouch"], "");
    let store = world.project().join("other-store");
    run(&["export", "--format", "store", "--out", text(&store)], "");
    let lessons = store.join("lessons.jsonl");
    let mut copied = std::fs::read_to_string(&lessons).unwrap();
    let mut foreign: Value =
        serde_json::from_str(copied.lines().find(|line| line.contains("Upload with")).unwrap()).unwrap();
    let id = foreign["id"].as_str().unwrap();
    foreign["id"] = json!(format!("{}zzzz", id.get(..id.len() - 4).unwrap()));
    foreign["alias"] = json!("m-099");
    foreign["summary"] = json!(format!("Sell with {}", value("import store")));
    copied += &format!("{foreign}\n");
    std::fs::write(&lessons, copied).unwrap();
    run(&["import", text(&store), "--format", "store"], "");
    let proof = world.project().join("proof.txt");
    std::fs::write(&proof, format!("$ pytest -q\n3 passed with {}\n", value("feedback"))).unwrap();
    run(&["feedback", "validate", "m-001", "--run", "canary-run", "--evidence", text(&proof)], "");
    run(&["feedback", "ignore", "m-001", "--run", "canary-run-2"], "");
    run(&["forget", "m-002", "--reason", &format!("it said {}", value("reason"))], "");

    // What comes out.
    let mut said = vec![
        ("POST /v1/lessons".to_owned(), added.body.into_bytes()),
        ("GET /v1/lessons".to_owned(), listed.body.into_bytes()),
    ];
    said.push(("record_lesson".to_owned(), told.to_string().into_bytes()));
    for arguments in [
        vec!["recall", "how to start redis, upload, ask, mail and push", "--max", "20"],
        vec!["list", "--all", "--json"],
        vec!["why", "m-001"],
        vec!["episodes", "--json"],
        vec!["status", "--json"],
        vec!["export", "--format", "jsonl"],
        vec!["export", "--format", "markdown"],
        vec!["compact"],
        vec!["doctor"],
    ] {
        let output = world.run_with(&arguments, &variables, "");
        said.push((format!("{arguments:?}"), output.to_string().into_bytes()));
    }
    run(&["hook", "generic", "session-start"], &json!({"sessionId": "later-run", "cwd": world.project()}).to_string());

    // The agents' own logs and what this test wrote as input are not ours.
    let own = [log, notes, import, lessons, proof];
    places.extend(said);
    files_below(&world.home(), &own, &mut places);
    let stored: Vec<&str> = places.iter().map(|(place, _)| place.as_str()).collect();
    for name in
        ["lessons.jsonl", "episodes.jsonl", "ledger.jsonl", "redo.log", "hud.jsonl", "queue/done", "cassettes", "spend"]
    {
        assert!(stored.iter().any(|place| place.contains(name)), "{name} was not looked at: {stored:#?}");
    }
    let asked = model.received();
    assert!(!asked.is_empty(), "no model was asked");
    places.extend(asked.into_iter().map(|request| ("a question to the model".to_owned(), request.body)));
    let received = runtime.block_on(collector.received_requests()).unwrap();
    assert!(!received.is_empty(), "the collector heard nothing");
    places.extend(received.into_iter().map(|request| ("a message to the collector".to_owned(), request.body)));
    let told = heard.lock().unwrap().clone();
    assert!(!told.is_empty(), "the display heard nothing");
    places.extend(told.into_iter().map(|message| ("a message to the display".to_owned(), message.into_bytes())));
    assert_absent(&planted, &places);
    let marks = places.iter().filter(|(_, bytes)| holds(bytes, b"[redacted:")).count();
    assert!(marks > 5, "what was planted came nowhere");
}

#[test]
fn the_search_finds_every_spelling() {
    let planted = BTreeMap::from([("a", letters(99, 30))]);
    let value = &planted["a"];
    let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    for text in [
        format!("x{value}y"),
        base64(format!("ab{value}cd").as_bytes()),
        base64(format!("a{value}").as_bytes()),
        percent,
    ] {
        let places = vec![("here".to_owned(), text.clone().into_bytes())];
        let found = std::panic::catch_unwind(|| assert_absent(&planted, &places));
        assert!(found.is_err(), "{text}");
    }
}
