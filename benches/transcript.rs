//! A long transcript, made here, read by the program and by a bare JSON parser in one run.
//!
//! `cargo bench --bench transcript` makes 1 GB; `-- --megabytes 200` makes less; `-- --write FILE` only makes it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const TURNS: usize = 3;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| arguments.iter().position(|word| word == flag).and_then(|at| arguments.get(at + 1));
    let megabytes: u64 = after("--megabytes").map_or(1000, |text| text.parse().unwrap());
    if let Some(path) = after("--write") {
        write(Path::new(path), megabytes * 1_000_000);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transcript.jsonl");
    write(&path, megabytes * 1_000_000);
    let bytes = path.metadata().unwrap().len() as f64 / 1e6;
    println!("a transcript of {bytes:.0} MB, {} lines, {TURNS} turns each", lines(&path));
    println!("{:<42}{:>10}{:>10}{:>14}", "", "MB/s", "seconds", "peak RSS MB");
    let mut parsed = Vec::new();
    let mut inspected = Vec::new();
    let mut peak = 0.0_f64;
    for _ in 0..TURNS {
        parsed.push(parse(&path));
        let (took, rss) = inspect(&path);
        inspected.push(took);
        peak = peak.max(rss);
    }
    let (parsed, inspected) = (median(parsed), median(inspected));
    println!("{:<42}{:>10.0}{:>10.2}{:>14}", "lines into serde_json::Value, one thread", bytes / parsed, parsed, "");
    println!("{:<42}{:>10.0}{:>10.2}{:>14.0}", "archivist inspect", bytes / inspected, inspected, peak);
    println!(
        "ratio of throughput: {:.0} % (promised: 40 %), peak RSS {peak:.0} MB (promised: 100)",
        100.0 * parsed / inspected
    );
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}

fn lines(path: &Path) -> usize {
    BufReader::new(File::open(path).unwrap()).split(b'\n').count()
}

fn parse(path: &Path) -> Duration {
    let began = Instant::now();
    let mut input = BufReader::with_capacity(256 * 1024, File::open(path).unwrap());
    let mut line = Vec::new();
    let mut objects = 0;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).unwrap() == 0 {
            break;
        }
        objects += usize::from(serde_json::from_slice::<Value>(&line).unwrap().is_object());
    }
    assert!(objects > 0);
    began.elapsed()
}

/// How long the program takes, and the most memory it had.
fn inspect(path: &Path) -> (Duration, f64) {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_archivist"))
        .args(["inspect", "--json", "-q"])
        .arg(path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0.0_f64;
    let exit = loop {
        if let Some(exit) = child.try_wait().unwrap() {
            break exit;
        }
        // The kernel keeps the high-water mark, so the last look before the end is enough.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let mark = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = mark.and_then(|mark| mark.split_whitespace().next()?.parse::<f64>().ok());
        peak = peak.max(kilobytes.unwrap_or_default() / 1000.0);
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(exit.success());
    (began.elapsed(), peak)
}

/// Small numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len() as u64) as usize]
    }
}

const WORDS: &[&str] = &[
    "the",
    "order",
    "total",
    "is",
    "rounded",
    "before",
    "tax",
    "in",
    "checkout.rs",
    "fn",
    "apply_discount(",
    "cart:",
    "&Cart)",
    "->",
    "Money",
    "let",
    "mut",
    "sum",
    "=",
    "for",
    "item",
    "of",
    "items",
    "{",
    "}",
    "test",
    "passes",
    "when",
    "locale",
    "returns",
    "Err(",
    "Error::Empty",
    ")",
    "src/billing/tax.rs:42",
    "warning:",
    "unused",
    "variable",
    "`rate`",
];

fn prose(dice: &mut Dice, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.push_str(dice.pick(WORDS));
        text.push(if dice.roll(9) == 0 { '\n' } else { ' ' });
    }
    text
}

fn write(path: &Path, bytes: u64) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let mut dice = Dice(20_261_116);
    let mut written = 0;
    let mut uuid = 0_u64;
    let mut message = 0_u64;
    let mut line = |kind: &str, body: Value| {
        let parent = if uuid == 0 { Value::Null } else { json!(format!("u-{:012x}", uuid)) };
        uuid += 1;
        let second = uuid / 2;
        let line = json!({
            "type": kind, "uuid": format!("u-{uuid:012x}"), "parentUuid": parent, "sessionId": "5b0e6c1c-long",
            "timestamp": format!("2026-05-{:02}T{:02}:{:02}:{:02}.000Z", 1 + second / 86_400 % 28, second / 3600 % 24, second / 60 % 60, second % 60),
            "version": "2.1.0", "cwd": "/home/dev/shop", "gitBranch": "main", "isSidechain": false, "userType": "external",
            "message": body,
        });
        let text = format!("{line}\n");
        out.write_all(text.as_bytes()).unwrap();
        written += text.len() as u64;
        written
    };
    let mut turn = 0_u64;
    while line("user", json!({"role": "user", "content": prose(&mut dice, 120)})) < bytes {
        turn += 1;
        for _ in 0..4 + dice.roll(24) {
            message += 1;
            let id = format!("msg_{message:08x}");
            let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 20_000 + dice.roll(90_000),
                "cache_creation_input_tokens": dice.roll(4000), "output_tokens": 40 + dice.roll(900)});
            let say = |content: Value| json!({"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": [content], "stop_reason": null, "usage": usage});
            line("assistant", say(json!({"type": "text", "text": prose(&mut dice, 300)})));
            let call = format!("toolu_{message:08x}");
            let fails = dice.roll(12) == 0;
            let (tool, input) = match dice.roll(3) {
                0 => ("Read", json!({"file_path": format!("/home/dev/shop/src/part{}.rs", dice.roll(200))})),
                1 => (
                    "Edit",
                    json!({"file_path": format!("/home/dev/shop/src/part{}.rs", dice.roll(200)),
                    "old_string": prose(&mut dice, 200), "new_string": prose(&mut dice, 240)}),
                ),
                _ => (
                    "Bash",
                    json!({"command": format!("cargo test part{}", dice.roll(60)), "description": "Run tests"}),
                ),
            };
            line("assistant", say(json!({"type": "tool_use", "id": call, "name": tool, "input": input})));
            // Mostly a screenful, now and then a book, rarely an image.
            let size = match dice.roll(400) {
                0 => 1_500_000,
                1..=8 => 60_000,
                _ => 2000 + dice.roll(6000) as usize,
            };
            let mut text = prose(&mut dice, size);
            if tool == "Bash" {
                text.push_str(if fails {
                    "\ntest result: FAILED. 3 passed; 1 failed; 0 ignored\n"
                } else {
                    "\ntest result: ok. 4 passed; 0 failed; 0 ignored\n"
                });
            }
            line(
                "user",
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": text, "is_error": fails}]}),
            );
        }
    }
    assert!(turn > 0);
    out.flush().unwrap();
}
