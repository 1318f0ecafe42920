//! What `archivist archeflow extract` takes for a long run, against `jq` that only picks its findings out.
//! `cargo bench --bench archeflow`.
//!
//! Both read the same log of 40,001 events and take turns, so that a slow moment of the machine hits both. Every time,
//! the lessons must be the right ones.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const EVENTS: usize = 40_001;
const TURNS: usize = 100;
/// jq takes its time, and does not need to be right a hundred times.
const JQ_TURNS: usize = 10;
const FILTER: &str = "select(.type==\"review.verdict\") | .data.findings[]?";

fn main() {
    let world = tempfile::tempdir().unwrap();
    let log = world.path().join("long.jsonl");
    std::fs::write(&log, events()).unwrap();
    let size = std::fs::metadata(&log).unwrap().len();
    println!("{EVENTS} events, {:.1} MB", size as f64 / 1e6);
    let has_jq = Command::new("jq").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let (mut ours, mut theirs, mut right) = (Vec::new(), Vec::new(), 0);
    for turn in 0..TURNS {
        let project = world.path().join(format!("turn-{turn}"));
        std::fs::create_dir(&project).unwrap();
        let mut extract = Command::new(env!("CARGO_BIN_EXE_archivist"));
        extract.args(["archeflow", "extract"]).arg(&log).current_dir(&project).env_clear().env("HOME", world.path());
        ours.push(timed(&mut extract));
        right += usize::from(is_right(&project));
        if has_jq && turn % (TURNS / JQ_TURNS) == 0 {
            theirs.push(timed(Command::new("jq").args(["-c", FILTER]).arg(&log)));
        }
    }
    println!("{right} of {TURNS} times the right lessons");
    assert_eq!(right, TURNS);
    println!("{:<46}{:>10}{:>10}{:>10}", "ms", "p50", "p10", "p90");
    row("archivist archeflow extract", &mut ours);
    if theirs.is_empty() {
        println!("skipped: there is no jq here to compare with");
        return;
    }
    row("jq that selects the findings", &mut theirs);
    println!("ratio {:.1}x", at(&theirs, 0.5) / at(&ours, 0.5));
}

/// Agents at work, three reviews among them: one thing is found twice, one is found again in other words, and one is not
/// worth a lesson.
fn events() -> String {
    let mut log = String::new();
    let reviews = [(1_000, "guardian", 0), (20_000, "sage", 1), (40_000, "skeptic", 2)];
    for number in 0..EVENTS {
        let ts = "2026-04-03T14:00:00Z";
        let event = match reviews.iter().find(|(at, ..)| *at == number) {
            Some((_, archetype, review)) => json!({
                "ts": ts, "run_id": "long", "seq": number, "type": "review.verdict", "phase": "check", "agent": archetype,
                "data": {"archetype": archetype, "verdict": "needs_changes", "findings": findings(*review)},
            }),
            None => json!({
                "ts": ts, "run_id": "long", "seq": number, "type": "agent.complete", "phase": "do", "agent": "maker",
                "data": {"archetype": "maker", "summary": format!("Step {number} of the plan is done, and its tests pass"),
                    "files": ["src/main.rs", format!("src/part_{}.rs", number % 97)], "tokens": {"input": number, "output": 250}},
            }),
        };
        writeln!(log, "{event}").unwrap();
    }
    log
}

fn findings(review: usize) -> Value {
    let nulls = json!({"severity": "bug", "description": "Missing null check in response handler", "category": "code"});
    match review {
        0 => json!([nulls]),
        1 => {
            json!([nulls, {"severity": "WARNING", "description": "Timeline contradicts chapter three", "category": "writing"}])
        }
        _ => json!([
            {"severity": "warning", "description": "The null check of the response handler is missing", "category": "code"},
            {"severity": "info", "description": "Names could be shorter", "category": "code"},
        ]),
    }
}

fn is_right(project: &Path) -> bool {
    let text = std::fs::read_to_string(project.join(".archeflow/memory/lessons.jsonl")).unwrap_or_default();
    let lessons: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> =
        lessons.iter().map(|lesson| (&lesson["id"], &lesson["frequency"], &lesson["severity"])).collect();
    told == [(&json!("m-001"), &json!(1), &json!("bug")), (&json!("m-002"), &json!(1), &json!("warning"))]
}

fn timed(command: &mut Command) -> Duration {
    let began = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success());
    began.elapsed()
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let [p50, p10, p90] = [0.5, 0.1, 0.9].map(|quantile| at(times, quantile));
    println!("{name:<46}{p50:>10.3}{p10:>10.3}{p90:>10.3}");
}

fn at(times: &[Duration], quantile: f64) -> f64 {
    times[((times.len() - 1) as f64 * quantile) as usize].as_secs_f64() * 1e3
}
