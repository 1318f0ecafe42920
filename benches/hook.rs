//! What a hook takes from an agent's time, against the least that it could take. `cargo bench --bench hook`.
//!
//! The least is a process that reads its stdin and syncs one file: this very program, started as a child. The hook is
//! called as Claude Code calls it at the end of a session, while the memory is locked, a worker seems to be at work and
//! the model's endpoint is down. Both take turns, so that a slow moment of the machine hits both.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 1000;
const CHILD: &str = "ARCHIVIST_BENCH_LEAST";

fn main() {
    if let Ok(path) = std::env::var(CHILD) {
        return least(Path::new(&path));
    }
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    let memory = project.join(".openagents/memory");
    std::fs::create_dir_all(memory.join("queue/new")).unwrap();
    std::fs::create_dir_all(home.path().join(".config/archivist")).unwrap();
    let settings = "[model]\nbaseUrl = \"http://127.0.0.1:9/v1\"\nname = \"tiny\"\n";
    std::fs::write(home.path().join(".config/archivist/config.toml"), settings).unwrap();
    let log = home.path().join("log.jsonl");
    std::fs::write(&log, "{}\n").unwrap();
    // All that a hook could wait for is held by somebody else.
    let held: Vec<File> = ["lock", "judge.lock", "queue/worker-0.lock"]
        .iter()
        .map(|name| {
            let file = File::options().create(true).append(true).open(memory.join(name)).unwrap();
            file.lock().unwrap();
            file
        })
        .collect();

    let payload = |number: usize| {
        format!(
            "{{\"session_id\":\"s-{number}\",\"transcript_path\":{log:?},\"cwd\":{project:?},\
             \"hook_event_name\":\"SessionEnd\",\"reason\":\"other\"}}"
        )
    };
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..RUNS {
        let mut least = Command::new(std::env::current_exe().unwrap());
        least.env_clear().env(CHILD, home.path().join(format!("least-{number}")));
        let mut hook = Command::new(env!("CARGO_BIN_EXE_archivist"));
        hook.args(["hook", "claude-code", "session-end"]).env_clear().env("HOME", home.path());
        for (command, times) in [least, hook].iter_mut().zip(&mut times) {
            times.push(timed(command.current_dir(&project), &payload(number)));
        }
    }
    drop(held);
    let jobs = std::fs::read_dir(memory.join("queue/new")).unwrap().count();
    assert_eq!(jobs, RUNS, "every hook left its job");

    println!("{:<44}{:>9}{:>9}{:>9}", "ms", "p50", "p90", "p99");
    let rows = ["reads stdin and syncs one file", "archivist hook claude-code session-end"];
    for (name, times) in rows.iter().zip(&mut times) {
        times.sort_unstable();
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|quantile| at(times, quantile));
        println!("{name:<44}{p50:>9.3}{p90:>9.3}{p99:>9.3}");
    }
    let [least, hook] = &times;
    for quantile in [0.5, 0.99] {
        println!("p{:<2} ratio {:.2}x", quantile * 100.0, at(hook, quantile) / at(least, quantile));
    }
}

fn least(path: &Path) {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut file = File::create(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.sync_data().unwrap();
}

fn timed(command: &mut Command, input: &str) -> Duration {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    began.elapsed()
}

fn at(times: &[Duration], quantile: f64) -> f64 {
    times[((times.len() - 1) as f64 * quantile) as usize].as_secs_f64() * 1e3
}
