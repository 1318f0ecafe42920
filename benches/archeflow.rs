//! What `archivist archeflow extract` takes for a long run, against `jq` that only picks its findings out.
//! `cargo bench --bench archeflow`.
//!
//! Both read the same log of 40,001 events and take turns, so that a slow moment of the machine hits both. Every time,
//! the lessons must be the right ones.
//!
//! What is measured is the whole process, in a project as ArcheFlow has it: the log lies in `.archeflow/events`, and
//! `.archeflow/memory` was made by an earlier run that taught nothing. Every time the lessons are the first ones. After each
//! turn they are put aside and `runs.jsonl` is cut to what it was, so nothing is deleted while it is measured. That matters
//! on ext4: it looks at every inode that was deleted in the last minutes before it gives out a new one, so a benchmark that
//! makes and deletes a hundred projects measures how often it was run.
//!
//! A project where there is nothing yet, for which two folders and two more files have to be made, is measured as well, on
//! a line of its own.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const EVENTS: usize = 40_001;
const TURNS: usize = 100;
/// jq takes its time, and does not need to be right a hundred times.
const JQ_TURNS: usize = 10;
const NEW_TURNS: usize = 20;
const LOG: &str = ".archeflow/events/long.jsonl";
const EARLIER: &str = ".archeflow/events/earlier.jsonl";
const LESSONS: &str = ".archeflow/memory/lessons.jsonl";
const RUNS: &str = ".archeflow/memory/runs.jsonl";
const FILTER: &str = "select(.type==\"review.verdict\") | .data.findings[]?";

fn main() {
    let world = tempfile::tempdir().unwrap();
    let project = Project::made(&world.path().join("project"));
    let size = fs::metadata(project.root.join(LOG)).unwrap().len();
    println!("{EVENTS} events, {:.1} MB", size as f64 / 1e6);
    let has_jq = Command::new("jq").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    let (mut ours, mut news, mut theirs, mut right) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for turn in 0..TURNS {
        ours.push(timed(&mut extract(&project.root, Path::new(LOG))));
        right += usize::from(is_right(&project.root));
        project.restore(&world.path().join(format!("turn-{turn}.jsonl")));
        if turn % (TURNS / NEW_TURNS) == 0 {
            let new = world.path().join(format!("new-{turn}"));
            fs::create_dir(&new).unwrap();
            news.push(timed(&mut extract(&new, &project.root.join(LOG))));
            assert!(is_right(&new));
        }
        if has_jq && turn % (TURNS / JQ_TURNS) == 0 {
            theirs.push(timed(Command::new("jq").args(["-c", FILTER]).arg(project.root.join(LOG))));
        }
    }
    println!("{right} of {TURNS} times the right lessons");
    assert_eq!(right, TURNS);
    println!("{:<46}{:>10}{:>10}{:>10}", "ms", "p50", "p10", "p90");
    row("archivist archeflow extract", &mut ours);
    row("the same where there is no .archeflow yet", &mut news);
    if theirs.is_empty() {
        println!("skipped: there is no jq here to compare with");
        return;
    }
    row("jq that selects the findings", &mut theirs);
    let [jq, ours, news] = [&theirs, &ours, &news].map(|times| at(times, 0.5));
    println!("ratio {:.1}x, where there is no .archeflow yet {:.1}x", jq / ours, jq / news);
}

/// A project in which ArcheFlow has worked before.
struct Project {
    root: PathBuf,
    /// How long `runs.jsonl` is when a turn begins.
    runs: u64,
}

impl Project {
    fn made(root: &Path) -> Self {
        fs::create_dir_all(root.join(".archeflow/events")).unwrap();
        fs::write(root.join(LOG), events()).unwrap();
        fs::write(root.join(EARLIER), format!("{}\n", json!({"run_id": "earlier", "type": "run.complete"}))).unwrap();
        timed(&mut extract(root, Path::new(EARLIER)));
        assert!(!root.join(LESSONS).exists());
        Self { root: root.to_owned(), runs: fs::metadata(root.join(RUNS)).unwrap().len() }
    }

    fn restore(&self, aside: &Path) {
        fs::rename(self.root.join(LESSONS), aside).unwrap();
        let runs = File::options().write(true).open(self.root.join(RUNS)).unwrap();
        assert!(runs.metadata().unwrap().len() > self.runs);
        runs.set_len(self.runs).unwrap();
    }
}

fn extract(project: &Path, log: &Path) -> Command {
    let mut extract = Command::new(env!("CARGO_BIN_EXE_archivist"));
    extract.args(["archeflow", "extract"]).arg(log).current_dir(project).env_clear().env("HOME", project);
    extract
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
    let text = fs::read_to_string(project.join(LESSONS)).unwrap_or_default();
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
