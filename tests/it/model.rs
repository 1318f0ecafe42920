//! Reflecting with a model, against every kind of endpoint that there is. Outcomes are typed, and requests are looked
//! at too.

use std::io::Write;
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::endpoint::{Endpoint, Wire, calls, completion, head, words};
use crate::support::{Output, World};

const SECRET: &str = "sk-proj-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3";

/// A session in which a service is missing, started, and the tests pass; with a secret in it.
fn session() -> String {
    let lines = [
        json!({"session": {"id": "shop-7", "agent": "helper", "model": "large-1", "title": "Round the tax"}}),
        json!({"role": "user", "content": "Run the billing tests and fix what fails.", "timestamp": "2026-02-11T09:00:00Z"}),
        json!({"role": "assistant", "content": "Testing first.", "tool_calls": [{"id": "a", "name": "shell", "arguments": {"command": "pytest tests/billing"}}]}),
        json!({"role": "tool", "tool_call_id": "a", "exit_code": 1, "content": format!("E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\nE   token={SECRET}\n1 failed in 0.31s")}),
        json!({"role": "assistant", "content": "Redis is not running; starting it.", "tool_calls": [{"id": "b", "name": "shell", "arguments": {"command": "docker compose up -d redis"}}]}),
        json!({"role": "tool", "tool_call_id": "b", "exit_code": 0, "content": "Container shop-redis-1  Started"}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "shell", "arguments": {"command": "pytest tests/billing"}}]}),
        json!({"role": "tool", "tool_call_id": "c", "exit_code": 0, "content": "14 passed in 2.10s", "timestamp": "2026-02-11T09:12:00Z"}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A lesson that the session proves.
fn lesson() -> Value {
    json!({
        "summary": "The billing tests need a running Redis; start it with `docker compose up -d redis` first.",
        "rule": {"if": "`pytest tests/billing` fails with a refused connection to localhost:6379", "then": "run `docker compose up -d redis` and test again"},
        "detail": "", "category": "infra", "scope": "project", "tool": "", "provider": "", "component": "tests/billing",
        "tags": ["redis", "pytest"], "importance": 0.7, "importance_reason": "every fresh checkout meets it",
        "quotes": [
            {"step": "t0.s2", "text": "Error 111 connecting to localhost:6379. Connection refused."},
            {"step": "t0.s3", "text": "docker compose up -d redis"},
        ],
        "same_as": [],
    })
}

/// A whole answer with these candidates.
fn reflection(candidates: Vec<Value>) -> Value {
    json!({
        "outcome_summary": "The billing tests failed without Redis and passed once it ran.",
        "what_worked": ["starting Redis"], "what_failed": ["the first test run"], "key_decisions": [],
        "candidates": candidates,
    })
}

/// Reflects with the model at this address, in this form.
fn reflect(url: &str, form: &str, more: &[(&str, &str)]) -> (World, Output) {
    let world = World::new();
    std::fs::write(world.project().join("session.jsonl"), session()).unwrap();
    let output = again(&world, url, form, more);
    (world, output)
}

fn again(world: &World, url: &str, form: &str, more: &[(&str, &str)]) -> Output {
    let mut variables = vec![
        ("ARCHIVIST__MODEL__BASE_URL", url),
        ("ARCHIVIST__MODEL__NAME", "tiny"),
        ("ARCHIVIST__MODEL__FORM", form),
        ("ARCHIVIST__MODEL__MAX_ATTEMPTS", "2"),
        ("ARCHIVIST__MODEL__ATTEMPT_TIMEOUT_SECONDS", "5"),
        ("ARCHIVIST__MODEL__KEY_VARIABLE", "TINY_KEY"),
        ("TINY_KEY", "key-for-tests"),
    ];
    variables.extend(more);
    world.run_with(&["inspect", "session.jsonl", "--lessons", "--json"], &variables, "")
}

/// What came of it, in few lines.
fn told(output: &Output) -> String {
    assert_eq!(output.status, 0, "{output}");
    assert!(!output.to_string().contains("key-for-tests"), "the key is told");
    let outcome: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut lines = vec![format!("engine {}", outcome["engine"].as_str().unwrap())];
    lines.extend(outcome["form"].as_str().map(|form| format!("form {form}")));
    lines.push(format!("calls {}", outcome["calls"]));
    lines.extend(outcome["fallback"].as_str().map(|why| format!("fallback {why}")));
    for candidate in outcome["candidates"].as_array().unwrap() {
        lines.push(format!("+ {} {}", candidate["importance"], candidate["summary"].as_str().unwrap()));
        lines.push(format!("  {} quotes", candidate["evidence"]["quotes"].as_array().unwrap().len()));
    }
    for dropped in outcome["dropped"].as_array().unwrap() {
        let detail = dropped["detail"].as_str().unwrap_or_default();
        lines.push(format!(
            "- {} {}: {detail}",
            dropped["why"].as_str().unwrap(),
            dropped["summary"].as_str().unwrap()
        ));
    }
    lines.join("\n")
}

/// Runs a script in one form and tells what came of it.
fn by(form: &str, answers: Vec<ResponseTemplate>) -> (String, Endpoint) {
    let endpoint = Endpoint::answering(answers);
    let (_, output) = reflect(&endpoint.url(), form, &[]);
    (told(&output), endpoint)
}

fn whole(candidates: Vec<Value>) -> String {
    reflection(candidates).to_string()
}

fn create(candidates: Vec<Value>) -> ResponseTemplate {
    calls(&[("k1", "memory_create_candidate_lessons", reflection(candidates))])
}

#[test]
fn by_tools() {
    let scores = json!({"scores": [{"candidate": 1, "importance": 0.8, "reason": "it will come back"}]});
    let near = json!({"summaries": ["Redis must run"]});
    let (told, endpoint) = by(
        "tools",
        vec![
            create(vec![lesson()]),
            calls(&[("k2", "memory_detect_duplicates", near)]),
            calls(&[("k3", "memory_score_importance", scores)]),
        ],
    );
    assert_snapshot!(told);
    let asked = endpoint.asked();
    assert_eq!(asked.len(), 3);
    let tools: Vec<&str> =
        asked[0]["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["memory_create_candidate_lessons", "memory_detect_duplicates", "memory_score_importance"]);
    assert!(asked[0]["tools"][0]["function"]["parameters"]["properties"]["candidates"].is_object());
    let last = asked[2]["messages"].as_array().unwrap().clone();
    assert_eq!(last[3]["role"], "tool");
    assert_eq!(last[3]["content"], "1 of 1 accepted.");
}

#[test]
fn by_json_schema() {
    let (told, endpoint) = by("json_schema", vec![words(&whole(vec![lesson()]))]);
    assert_snapshot!(told);
    let asked = endpoint.asked();
    assert_eq!(asked[0]["response_format"]["type"], "json_schema");
    assert_eq!(asked[0]["response_format"]["json_schema"]["strict"], true);
    assert!(asked[0]["response_format"]["json_schema"]["schema"]["properties"]["candidates"].is_object());
    assert!(asked[0].get("tools").is_none());
}

#[test]
fn by_json_object() {
    let (told, endpoint) = by("json_object", vec![words(&whole(vec![lesson()]))]);
    assert_snapshot!(told);
    assert_eq!(endpoint.asked()[0]["response_format"], json!({"type": "json_object"}));
}

#[test]
fn by_plain_text() {
    let (told, endpoint) = by("text", vec![words(&whole(vec![lesson()]))]);
    assert_snapshot!(told);
    assert!(endpoint.asked()[0].get("response_format").is_none());
}

#[test]
fn the_endpoint_is_tried_once_and_the_form_remembered() {
    let ready = json!({"leg_count": 8});
    // No tools here: a 400. Then JSON that obeys the schema. Then the reflection itself.
    let refusal =
        ResponseTemplate::new(400).set_body_json(json!({"error": {"message": "tools are not supported", "code": 400}}));
    let endpoint = Endpoint::answering([refusal, words(&ready.to_string()), words(&whole(vec![lesson()]))]);
    let (world, first) = reflect(&endpoint.url(), "auto", &[]);
    assert_snapshot!(told(&first));
    let before = endpoint.asked().len();
    assert_snapshot!(told(&again(&world, &endpoint.url(), "auto", &[])));
    assert_eq!(endpoint.asked().len(), before + 1, "the endpoint was tried again");
}

#[test]
fn no_secret_leaves_and_the_log_is_fenced() {
    let (_, endpoint) = by("json_schema", vec![words(&whole(vec![]))]);
    let received = &endpoint.received()[0];
    let body = String::from_utf8(received.body.clone()).unwrap();
    assert!(!body.contains(SECRET) && body.contains("[redacted:"), "{body}");
    assert_eq!(received.headers["authorization"], "Bearer key-for-tests");
    let asked: Value = serde_json::from_str(&body).unwrap();
    let frame = asked["messages"][1]["content"].as_str().unwrap();
    let open = frame.split("<session-log-").nth(1).unwrap();
    let fence = open.split('>').next().unwrap();
    assert!(frame.contains(&format!("</session-log-{fence}>")) && fence.len() == 10, "{frame}");
    assert!(frame.contains("docker compose up -d redis"));
}

#[test]
fn the_digest_keeps_its_budget() {
    let endpoint = Endpoint::answering([words(&whole(vec![]))]);
    let (_, output) = reflect(&endpoint.url(), "json_schema", &[("ARCHIVIST__DISTILL__DIGEST_TOKENS", "500")]);
    assert_eq!(output.status, 0, "{output}");
    let frame = endpoint.asked()[0]["messages"][1]["content"].as_str().unwrap().to_owned();
    let digest = frame.split("<session-log-").nth(1).unwrap().split("</session-log-").next().unwrap();
    assert!(digest.len() < 500 * 6, "{} bytes", digest.len());
}

#[test]
fn truncated_json() {
    let text = whole(vec![lesson(), lesson()]);
    let cut = text.len() - 300;
    let (told, _) = by(
        "json_object",
        vec![completion(json!({"role": "assistant", "content": text.get(..cut).unwrap()}), "length")],
    );
    assert_snapshot!(told);
}

#[test]
fn prose_around_json() {
    let text = format!("Sure! Here is what I learned:\n```json\n{}\n```\nLet me know.", whole(vec![lesson()]));
    assert_snapshot!(by("text", vec![words(&text)]).0);
}

#[test]
fn wrong_types() {
    let mut wrong = lesson();
    wrong["summary"] = json!(["a", "list"]);
    let mut odd = lesson();
    odd["importance"] = json!({"high": true});
    assert_snapshot!(by("json_schema", vec![words(&whole(vec![wrong, odd, json!("text"), lesson()]))]).0);
}

#[test]
fn unknown_category() {
    let mut unknown = lesson();
    unknown["category"] = json!("wisdom");
    assert_snapshot!(by("json_schema", vec![words(&whole(vec![unknown]))]).0);
}

#[test]
fn twelve_candidates() {
    let services = [
        "redis",
        "cache",
        "queue",
        "broker",
        "vault",
        "proxy",
        "mailer",
        "search",
        "ledger",
        "metrics",
        "gateway",
        "scheduler",
    ];
    let candidates = services
        .iter()
        .zip(1..)
        .map(|(service, number)| {
            let mut one = lesson();
            one["summary"] = json!(format!(
                "`pytest tests/billing` on localhost:6379 wants the {service} container up before test number {number}."
            ));
            one["rule"]["then"] =
                json!(format!("run `docker compose up -d redis` for {service} first, {number} times"));
            one["importance"] = json!(0.3 + f64::from(number) / 20.0);
            one
        })
        .collect();
    let (told, _) = by("json_schema", vec![words(&whole(candidates))]);
    assert_eq!(told.lines().filter(|line| line.starts_with('+')).count(), 5, "{told}");
    assert_snapshot!(told);
}

#[test]
fn zero_candidates() {
    assert_snapshot!(by("json_schema", vec![words(&whole(vec![]))]).0);
    let (told, endpoint) = by("tools", vec![create(vec![])]);
    assert_snapshot!(told);
    assert_eq!(endpoint.asked().len(), 1, "nothing is left to ask");
}

#[test]
fn endless_tool_calls() {
    let near = || calls(&[("k", "memory_detect_duplicates", json!({"summaries": ["x"]}))]);
    assert_snapshot!(by("tools", vec![near()]).0);
    let (told, endpoint) = by("tools", vec![create(vec![lesson()]), near()]);
    assert_snapshot!(told);
    assert!(endpoint.asked().len() <= 8, "{}", endpoint.asked().len());
}

#[test]
fn duplicate_tool_ids() {
    let near = json!({"summaries": ["Redis"]});
    let both = calls(&[
        ("same", "memory_create_candidate_lessons", reflection(vec![lesson()])),
        ("same", "memory_detect_duplicates", near),
    ]);
    let (told, endpoint) = by("tools", vec![both, words("DONE")]);
    assert_snapshot!(told);
    let messages = endpoint.asked()[1]["messages"].as_array().unwrap().clone();
    let ids: Vec<&str> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
}

#[test]
fn a_tool_that_is_not_there() {
    let strange = calls(&[("k", "shell", json!({"command": "rm -rf /"}))]);
    let (told, endpoint) = by("tools", vec![strange, create(vec![])]);
    assert_snapshot!(told);
    assert_eq!(endpoint.asked()[1]["messages"][3]["content"], "There is no tool shell.");
}

#[test]
fn a_tool_call_printed_as_fenced_json() {
    let call = json!({"name": "memory_create_candidate_lessons", "arguments": reflection(vec![lesson()])});
    let text = format!("I will call the tool.\n```json\n{call}\n```");
    assert_snapshot!(by("tools", vec![words(&text), words("DONE")]).0);
}

#[test]
fn empty_choices() {
    let empty = ResponseTemplate::new(200).set_body_json(json!({"choices": []}));
    assert_snapshot!(by("json_schema", vec![empty]).0);
}

#[test]
fn content_filter_refusal() {
    assert_snapshot!(
        by("json_schema", vec![completion(json!({"role": "assistant", "content": null}), "content_filter")]).0
    );
    let refusal =
        completion(json!({"role": "assistant", "content": null, "refusal": "I cannot help with that."}), "stop");
    assert_snapshot!(by("json_schema", vec![refusal]).0);
}

fn error(status: u16, body: Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

#[test]
fn a_key_that_is_not_accepted() {
    let (told, endpoint) = by(
        "json_schema",
        vec![error(
            401,
            json!({"error": {"message": "Incorrect API key provided: key-for-tests.", "code": "invalid_api_key"}}),
        )],
    );
    assert_snapshot!(told);
    assert_eq!(endpoint.asked().len(), 1, "it was tried again");
}

#[test]
fn a_model_that_is_not_there() {
    let (told, endpoint) = by("json_schema", vec![error(404, json!({"error": {"message": "model `tiny` not found"}}))]);
    assert_snapshot!(told);
    assert_eq!(endpoint.asked().len(), 1, "it was tried again");
}

#[test]
fn too_many_requests_with_retry_after() {
    let busy = error(429, json!({"error": {"message": "slow down"}})).insert_header("retry-after", "1");
    let started = std::time::Instant::now();
    let (told, _) = by("json_schema", vec![busy, words(&whole(vec![lesson()]))]);
    assert_snapshot!(told);
    assert!(started.elapsed() >= Duration::from_secs(1), "it did not wait");
}

#[test]
fn too_many_requests_without_retry_after() {
    let busy = || error(429, json!({"error": {"message": "slow down"}}));
    assert_snapshot!(by("json_schema", vec![busy(), words(&whole(vec![]))]).0);
    assert_snapshot!(by("json_schema", vec![busy()]).0);
}

#[test]
fn too_many_requests_in_plain_text() {
    let busy = ResponseTemplate::new(429).set_body_string("Too many requests, try later");
    assert_snapshot!(by("json_schema", vec![busy, words(&whole(vec![]))]).0);
}

#[test]
fn error_bodies_with_integer_codes() {
    let odd = error(400, json!({"error": {"code": 400, "message": "cannot parse", "type": "invalid_request_error"}}));
    assert_snapshot!(by("text", vec![odd]).0);
}

#[test]
fn a_failure_of_the_server_that_passes() {
    let (told, endpoint) = by("json_schema", vec![error(500, json!({})), words(&whole(vec![lesson()]))]);
    assert_snapshot!(told);
    assert_eq!(endpoint.asked().len(), 2);
}

#[test]
fn unknown_finish_reason_and_missing_fields() {
    let odd = ResponseTemplate::new(200).set_body_json(json!({
        "choices": [{"message": {"content": whole(vec![lesson()])}, "finish_reason": "eos_token"}],
    }));
    assert_snapshot!(by("json_schema", vec![odd]).0);
    let bare = ResponseTemplate::new(200).set_body_json(json!({"choices": [{"message": {"content": whole(vec![])}}]}));
    assert_snapshot!(by("json_schema", vec![bare]).0);
}

#[test]
fn a_stream_when_none_was_asked_for() {
    let text = whole(vec![lesson()]);
    let (one, two) = text.split_at(text.len() / 2);
    let chunk = |text: &str| json!({"choices": [{"delta": {"content": text}}]});
    let body = format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", chunk(one), chunk(two));
    let stream = ResponseTemplate::new(200).set_body_raw(body, "text/event-stream");
    assert_snapshot!(by("json_schema", vec![stream]).0);
}

#[test]
fn a_question_that_is_too_long_is_asked_with_less() {
    let long = error(
        400,
        json!({"error": {"message": "This model's maximum context length is 4096 tokens", "code": "context_length_exceeded"}}),
    );
    let (told, endpoint) = by("json_schema", vec![long, words(&whole(vec![]))]);
    assert_snapshot!(told);
    assert_eq!(endpoint.asked().len(), 2);
}

/// Reflects with a server of bytes.
fn over(answer: impl Fn(&mut std::net::TcpStream) + Send + 'static) -> String {
    let wire = Wire::answering(answer);
    let more = [("ARCHIVIST__MODEL__ATTEMPT_TIMEOUT_SECONDS", "2"), ("ARCHIVIST__MODEL__MAX_ATTEMPTS", "1")];
    told(&reflect(&wire.url(), "text", &more).1)
}

#[test]
fn a_connection_that_breaks_off_in_the_middle() {
    assert_snapshot!(over(|stream| {
        head(stream, 10_000);
        let _ = stream.write_all(b"{\"choices\": [{\"mess");
    }));
}

#[test]
fn a_slow_drip() {
    assert_snapshot!(over(|stream| {
        head(stream, 10_000);
        for _ in 0..200 {
            if stream.write_all(b" ").is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }));
}

#[test]
fn a_hundred_megabytes() {
    assert_snapshot!(over(|stream| {
        head(stream, 100_000_000);
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..96 {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
    }));
}

#[test]
fn bytes_that_are_no_text() {
    assert_snapshot!(over(|stream| {
        let body = b"{\"choices\":[{\"message\":{\"content\":\"\xff\xfe\"}}]}";
        head(stream, body.len());
        let _ = stream.write_all(body);
    }));
}

#[test]
fn nobody_listens() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let more = [("ARCHIVIST__MODEL__MAX_ATTEMPTS", "1")];
    let (_, output) = reflect(&format!("http://127.0.0.1:{port}/v1"), "text", &more);
    let told = told(&output);
    assert!(
        told.starts_with("engine heuristic\nform text\ncalls 1\nfallback the endpoint cannot be reached: "),
        "{told}"
    );
}

#[test]
fn a_cap_that_is_reached_is_an_outcome() {
    let endpoint = Endpoint::answering([words(&whole(vec![lesson()]))]);
    let (_, output) =
        reflect(&endpoint.url(), "json_schema", &[("ARCHIVIST__MODEL__CAPS__TOKENS_PER_REFLECTION", "1000")]);
    let told = told(&output);
    assert!(
        told.starts_with("engine heuristic\nform json_schema\ncalls 0\nfallback not asked: the call may take "),
        "{told}"
    );
    assert!(told.contains("raise model.caps.tokensPerReflection to allow more"), "{told}");
    assert!(endpoint.asked().is_empty(), "it was asked all the same");
}

#[test]
fn without_a_model_the_heuristics_distil() {
    let world = World::new();
    std::fs::write(world.project().join("session.jsonl"), session()).unwrap();
    assert_snapshot!(world.run(&["inspect", "session.jsonl", "--lessons"]));
}

#[test]
fn a_server_whose_model_cannot_be_set_up_does_not_start() {
    let world = World::new();
    let settings = [
        ("ARCHIVIST__MODEL__BASE_URL", "http://127.0.0.1:9/v1"),
        ("ARCHIVIST__MODEL__NAME", "small"),
        ("ARCHIVIST__MODEL__KEY_FILE", "/nowhere/key"),
    ];
    let output = world.run_with(&["mcp"], &settings, "");
    assert_eq!(output.status, 1, "{output}");
    assert!(output.stderr.contains("/nowhere/key"), "{output}");
}
