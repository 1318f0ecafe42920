//! A batch of two thousand sessions against a model that takes its time. `cargo bench --bench batch`.
//!
//! The ideal is what the model's own slowness allows: so many rounds of so many questions at once, each as long as one
//! answer takes. `-- --sessions N --concurrency N --latency MS` asks for other numbers. `-- hud` asks no model, and says
//! what it costs to tell a display that is not there.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

const ANSWER: &str = "{\"outcome_summary\": \"Done.\", \"what_worked\": [], \"what_failed\": [], \"key_decisions\": [], \
                      \"candidates\": []}";

fn main() {
    let given: Vec<String> = std::env::args().collect();
    let number = |flag: &str, usual: usize| {
        let at = given.iter().position(|word| word == flag);
        at.and_then(|at| given.get(at + 1)?.parse().ok()).unwrap_or(usual)
    };
    if given.iter().any(|word| word == "hud") {
        return absent_display(number("--sessions", 300));
    }
    let (sessions, concurrency) = (number("--sessions", 2000), number("--concurrency", 32));
    let latency = Duration::from_millis(number("--latency", 1000) as u64);

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let asked = Arc::new(AtomicU64::new(0));
    let server = runtime.block_on(async {
        let server = MockServer::builder().disable_request_recording().start().await;
        let counted = Arc::clone(&asked);
        let answer = ResponseTemplate::new(200).set_delay(latency).set_body_json(json!({
            "id": "c", "object": "chat.completion", "created": 1, "model": "tiny",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}],
            "usage": {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960},
        }));
        let respond = move |_: &wiremock::Request| {
            counted.fetch_add(1, Ordering::Relaxed);
            answer.clone()
        };
        Mock::given(method("POST")).respond_with(respond).mount(&server).await;
        server
    });

    let home = project(sessions);
    let mut batch = Command::new(env!("CARGO_BIN_EXE_archivist"));
    batch
        .args(["batch", "--days", "3650", "--yes", "--quiet", "--concurrency", &concurrency.to_string()])
        .current_dir(home.path().join("project"))
        .env_clear()
        .env("HOME", home.path())
        .env("ARCHIVIST__MODEL__BASE_URL", format!("{}/v1", server.uri()))
        .env("ARCHIVIST__MODEL__NAME", "tiny")
        .env("ARCHIVIST__MODEL__FORM", "text")
        .env("ARCHIVIST__MODEL__CAPS__TOKENS_PER_DAY", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let began = Instant::now();
    let mut child = batch.spawn().unwrap();
    let mut peak = 0;
    let status = loop {
        peak = peak.max(resident_kib(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let took = began.elapsed().as_secs_f64();
    assert!(status.success());
    let ideal = sessions.div_ceil(concurrency) as f64 * latency.as_secs_f64();
    println!("{sessions} sessions, {concurrency} at once, {} ms an answer", latency.as_millis());
    println!("asked {} times", asked.load(Ordering::Relaxed));
    println!("took {took:.1} s, ideal {ideal:.1} s, ratio {:.3}x", took / ideal);
    println!("peak memory {} MB", peak / 1024);
}

/// Reflects over the same sessions with and without the address of a display that nobody runs, in turns.
fn absent_display(sessions: usize) {
    const ROUNDS: usize = 9;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        // The first and the last are the same: so far apart are two that should not be.
        for (times, display) in times.iter_mut().zip(["", "ws://127.0.0.1:9/ws", ""]) {
            let home = project(sessions);
            let mut batch = Command::new(env!("CARGO_BIN_EXE_archivist"));
            batch.args(["batch", "--days", "3650", "--yes", "--quiet"]).current_dir(home.path().join("project"));
            batch.env_clear().env("HOME", home.path()).env("ARCHIVIST__HUD__WEB_SOCKET", display);
            let began = Instant::now();
            assert!(batch.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().success());
            times.push(began.elapsed().as_secs_f64());
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable_by(f64::total_cmp));
    let [without, with, again] = times.map(|times| times[ROUNDS / 2]);
    println!("{sessions} sessions, median of {ROUNDS} rounds");
    println!("no display configured      {without:.3} s, once more {again:.3} s ({:.3}x)", again / without);
    println!("one that nobody runs       {with:.3} s ({:.3}x)", with / without);
}

/// A project with sessions that an agent left behind: some fail and mend, most do not.
fn project(sessions: usize) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("project");
    let folder = root.join(".openagents/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..sessions {
        let name = format!("session-{number:05}");
        let at = |minute: i64| {
            let seconds = 1_771_000_000 + number as i64 * 600 + minute * 60;
            chrono::DateTime::from_timestamp(seconds, 0).unwrap().to_rfc3339()
        };
        let mut lines = vec![
            json!({"session": {"id": name, "agent": "helper", "directory": root}}).to_string(),
            json!({"role": "user", "content": format!("Work on item {number}."), "timestamp": at(0)}).to_string(),
        ];
        for minute in 1..30 {
            let command = format!("cargo test module_{minute}");
            let output = format!("running 12 tests\n{}\ntest result: ok. 12 passed; 0 failed", "test ok\n".repeat(12));
            let call = json!([{"id": format!("c{minute}"), "name": "bash", "arguments": {"command": command}}]);
            lines.push(
                json!({"role": "assistant", "content": "", "tool_calls": call, "timestamp": at(minute)}).to_string(),
            );
            let result =
                json!({"role": "tool", "tool_call_id": format!("c{minute}"), "exit_code": 0, "content": output});
            lines.push(result.to_string());
        }
        std::fs::write(folder.join(format!("{name}.jsonl")), lines.join("\n") + "\n").unwrap();
    }
    home
}

/// The most memory that a process has had so far.
fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or_default()
}
