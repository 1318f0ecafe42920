//! How what people and agents wait for grows with the memory. `cargo bench --bench size -- [--most N]`.
//!
//! A store of a thousand lessons, of ten thousand and so on, each with five facts a lesson and an episode for every ten,
//! and a queue of as many jobs as it has hundreds of lessons. Each command is a process of the released program. A slope
//! is the exponent between two sizes: 0 is constant, 1 is linear.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

#[allow(dead_code, reason = "other benchmarks need the rest")]
mod support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::{build_index, lesson, write_store};

const FACTS: usize = 5;
const RUNS: usize = 5;

/// What is measured: a name, and the arguments of the command. The claim is of a queue instead.
const COMMANDS: [(&str, &[&str]); 6] = [
    ("start hook", &["hook", "generic", "session-start"]),
    ("prompt hook", &["hook", "generic", "prompt-submit"]),
    ("recall", &["recall", "docker cache timeout while deploying item42"]),
    ("list", &["list"]),
    ("status", &["status"]),
    ("reflect", &["reflect", "--file", "session.jsonl", "--again"]),
];

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let most = match (words.next().as_deref(), words.next()) {
        (Some("--most"), Some(number)) => number.parse().unwrap(),
        _ => 100_000,
    };
    let sizes: Vec<usize> = [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|size| *size <= most).collect();
    let mut rows: Vec<(String, Vec<CommandSample>)> =
        COMMANDS.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
    rows.push(("a job (claim and done)".to_owned(), Vec::new()));
    for size in &sizes {
        let world = SizedHome::with_lessons(*size);
        for ((_, arguments), (_, row)) in COMMANDS.iter().zip(&mut rows) {
            row.push(world.measure(arguments));
        }
        rows.last_mut().unwrap().1.push(world.measure_claims(size / 20));
    }
    print!("{:<24}", "ms, the best of 5 (MB)");
    sizes.iter().for_each(|size| print!("{size:>20}"));
    println!("{:>10}", "slope");
    for (name, row) in &rows {
        print!("{name:<24}");
        for sample in row {
            print!("{:>20}", format!("{:.1} ({})", sample.time.as_secs_f64() * 1e3, sample.megabytes));
        }
        let [.., before, last] = row.as_slice() else { continue };
        let slope = (last.time.as_secs_f64() / before.time.as_secs_f64()).log10();
        println!("{slope:>10.2}");
    }
}

/// How long a command takes, and its memory at the most.
struct CommandSample {
    time: Duration,
    megabytes: u64,
}

/// A home with a project whose memory is that large.
struct SizedHome {
    home: tempfile::TempDir,
    project: PathBuf,
}

impl SizedHome {
    fn with_lessons(count: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        let memory = project.join(".openagents/memory");
        write_store(&memory, count);
        write_records(&memory, count);
        build_index(&memory);
        std::fs::write(project.join("session.jsonl"), SESSION).unwrap();
        Self { home, project }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_archivist"));
        command.args(arguments).current_dir(&self.project).env_clear().env("HOME", self.home.path());
        command.env("ARCHIVIST__HOOKS__START_WORKER", "false");
        // Here it matters how long it takes, not whether it would be in time.
        command.env("ARCHIVIST__HOOKS__START_DEADLINE_MILLIS", "60000");
        command.env("ARCHIVIST__HOOKS__DEADLINE_MILLIS", "60000");
        command.env("ARCHIVIST__HOOKS__RECALL_ON_PROMPT", "true");
        command.env("ARCHIVIST__WORKER__SETTLE_SECONDS", "0");
        command
    }

    fn measure(&self, arguments: &[&str]) -> CommandSample {
        (0..RUNS).map(|_| self.run(arguments)).min_by_key(|sample| sample.time).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> CommandSample {
        let payload = format!(
            "{{\"sessionId\":\"s-1\",\"cwd\":{:?},\"prompt\":\"docker cache timeout while deploying item42\"}}",
            self.project
        );
        let began = Instant::now();
        let mut child = self.command(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
        let mut megabytes = 0;
        let status = loop {
            megabytes = peak_megabytes(child.id()).max(megabytes);
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_micros(200)),
            }
        };
        let time = began.elapsed();
        assert!(status.success(), "{arguments:?}");
        CommandSample { time, megabytes }
    }

    /// Drains a queue of so many jobs, none of which has anything to read, and returns the time of one.
    fn measure_claims(&self, jobs: usize) -> CommandSample {
        for number in 0..jobs {
            let payload = format!("{{\"sessionId\":\"q-{number}\",\"cwd\":{:?}}}", self.project);
            let mut hook = self.command(&["hook", "generic", "session-end"]).stdin(Stdio::piped()).spawn().unwrap();
            hook.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
            assert!(hook.wait().unwrap().success());
        }
        let sample = self.run(&["worker", "--once"]);
        CommandSample { time: sample.time / jobs as u32, ..sample }
    }
}

/// The most memory that a running process had, in megabytes.
fn peak_megabytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
}

/// Writes the facts of the lessons into their ledger, and the episodes.
fn write_records(memory: &Path, lessons: usize) {
    let mut ledger = std::io::BufWriter::new(std::fs::File::create(memory.join("ledger.jsonl")).unwrap());
    for number in 0..lessons * FACTS {
        let (run, id) = (number / 10, lesson(number / FACTS).id);
        writeln!(
            ledger,
            "{{\"fact\":\"injection\",\"run\":\"r-{run}\",\"memory\":\"{id}\",\"point\":\"session-start\",\"rank\":1,\
             \"exposure\":\"exposed\",\"at\":\"2026-01-08T11:00:00Z\"}}"
        )
        .unwrap();
    }
    ledger.flush().unwrap();
    let mut episodes = std::io::BufWriter::new(std::fs::File::create(memory.join("episodes.jsonl")).unwrap());
    for number in 0..lessons / 10 {
        writeln!(
            episodes,
            "{{\"id\":\"ep-{number:08}\",\"kind\":\"orchestrator_run\",\"sessionId\":\"s-{number}\",\"status\":\"success\",\
             \"startedAt\":\"2026-01-08T10:00:00Z\",\"finishedAt\":\"2026-01-08T11:00:00Z\",\
             \"projectRoot\":\"/project\",\"summary\":\"nothing to speak of\"}}"
        )
        .unwrap();
    }
    episodes.flush().unwrap();
}

/// A session that meets a failure and mends it.
const SESSION: &str = concat!(
    r#"{"session": {"id": "size-1", "agent": "helper", "model": "large-1"}}"#,
    "\n",
    r#"{"role": "user", "content": "Please make it work.", "timestamp": "2026-01-09T10:00:00Z"}"#,
    "\n",
    r#"{"role": "assistant", "content": "", "timestamp": "2026-01-09T10:01:00Z", "tool_calls": [{"id": "c1", "name": "bash", "arguments": {"command": "pytest tests/billing -q"}}]}"#,
    "\n",
    r#"{"role": "tool", "tool_call_id": "c1", "exit_code": 1, "content": "ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", "timestamp": "2026-01-09T10:01:00Z"}"#,
    "\n",
    r#"{"role": "assistant", "content": "", "timestamp": "2026-01-09T10:02:00Z", "tool_calls": [{"id": "c2", "name": "bash", "arguments": {"command": "docker compose up -d redis"}}]}"#,
    "\n",
    r#"{"role": "tool", "tool_call_id": "c2", "exit_code": 0, "content": "done", "timestamp": "2026-01-09T10:02:00Z"}"#,
    "\n",
    r#"{"role": "assistant", "content": "", "timestamp": "2026-01-09T10:03:00Z", "tool_calls": [{"id": "c3", "name": "bash", "arguments": {"command": "pytest tests/billing -q"}}]}"#,
    "\n",
    r#"{"role": "tool", "tool_call_id": "c3", "exit_code": 0, "content": "ok, all passed", "timestamp": "2026-01-09T10:03:00Z"}"#,
    "\n",
);
