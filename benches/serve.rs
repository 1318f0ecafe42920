//! The server under load, beside one that does nothing. `cargo bench --bench serve`.
//!
//! `-- recall` asks for lessons over 10,000 of them, in turns with a bare handler that returns the same bytes;
//! `-- events` tells 10,000 messages to 200 listeners; `-- day` plays a day's traffic in a minute and watches memory.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark makes its own data and talks to whoever runs it"
)]

mod support;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use archivist_core::domain::{HudMessage, ReflectionScenario, Timestamp};
use archivist_core::hud::{FileFeedSink, HudSink};
use axum::Router;
use axum::routing::post;
use support::{build_index, write_store};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const LESSONS: usize = 10_000;
const CLIENTS: usize = 16;
const ROUND: Duration = Duration::from_secs(4);
const ROUNDS: usize = 3;

const LISTENERS: usize = 200;
const MESSAGES: usize = 10_000;

/// What 1,000 runs a day ask: a start with lessons, prompts, looks at the panel, a listener that comes and goes.
const RUNS: usize = 1_008;
const HOURS: usize = 24;

/// The file that holds the bytes a bare server returns.
const BARE: &str = "ARCHIVIST_BENCH_BARE";

const QUESTION: &str = r#"{"text":"docker cache timeout while deploying item42"}"#;

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
        Self { child, address }
    }

    fn archivist(store: &Path, home: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_archivist"));
        command.args(["--memory-dir", store.to_str().unwrap(), "serve", "--port", "0"]).current_dir(home);
        command.env_clear().env("HOME", home).env("ARCHIVIST__SERVE__REQUESTS_PER_SECOND", "0");
        Self::start(command)
    }

    /// What it takes up, in kilobytes.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection, used again and again.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    address: SocketAddr,
}

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new(), address }
    }

    /// The body of the answer, and whether it was 200.
    async fn ask(&mut self, method: &str, path: &str, body: &str) -> (bool, Vec<u8>) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await.unwrap();
        self.buffer.clear();
        loop {
            self.stream.read_buf(&mut self.buffer).await.unwrap();
            let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let whole = end + 4 + length.trim().parse::<usize>().unwrap();
            if self.buffer.len() >= whole {
                return (head.starts_with("http/1.1 200"), self.buffer[end + 4..whole].to_vec());
            }
        }
    }
}

/// How many a second, and how long the slowest hundredth took, in milliseconds.
async fn load(address: SocketAddr) -> (f64, f64) {
    let began = Instant::now();
    let clients = (0..CLIENTS).map(|_| {
        tokio::spawn(async move {
            let mut client = Client::connect(address).await;
            let mut times = Vec::new();
            while began.elapsed() < ROUND {
                let asked = Instant::now();
                let (is_well, _) = client.ask("POST", "/v1/recall", QUESTION).await;
                assert!(is_well);
                times.push(asked.elapsed());
            }
            times
        })
    });
    let mut times = Vec::new();
    for client in clients.collect::<Vec<_>>() {
        times.extend(client.await.unwrap());
    }
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    times.sort_unstable();
    (rate, times[times.len() * 99 / 100].as_secs_f64() * 1e3)
}

/// A server that returns the same bytes whatever is asked.
async fn bare(file: &str) {
    let bytes = std::fs::read(file).unwrap();
    let routes = Router::new().route(
        "/v1/recall",
        post(move |_: axum::body::Bytes| {
            let bytes = bytes.clone();
            async move { ([("content-type", "application/json")], bytes) }
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/", listener.local_addr().unwrap());
    axum::serve(listener, routes).await.unwrap();
}

async fn recall(home: &Path, store: &Path) {
    let archivist = Server::archivist(store, home);
    let (is_well, bytes) = Client::connect(archivist.address).await.ask("POST", "/v1/recall", QUESTION).await;
    assert!(is_well && bytes.len() > 500, "{}", String::from_utf8_lossy(&bytes));
    let file = home.join("answer.json");
    std::fs::write(&file, &bytes).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(BARE, &file);
    let bare = Server::start(command);
    println!("\n/v1/recall over {LESSONS} lessons, {CLIENTS} clients, {} bytes an answer", bytes.len());
    println!("{:<34}{:>14}{:>12}", "", "requests/s", "p99 ms");
    let mut rows =
        [("bare axum handler", bare.address, Vec::new()), ("archivist serve", archivist.address, Vec::new())];
    for _ in 0..ROUNDS {
        for (_, address, measured) in &mut rows {
            measured.push(load(*address).await);
        }
    }
    let mut medians = Vec::new();
    for (name, _, measured) in &mut rows {
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (rate, p99) = measured[ROUNDS / 2];
        println!("{name:<34}{rate:>14.0}{p99:>12.2}");
        medians.push((rate, p99));
    }
    println!("{:<34}{:>13.2}x{:>11.2}x", "ratio", medians[1].0 / medians[0].0, medians[1].1 / medians[0].1);
}

async fn events(home: &Path) {
    let store = home.join("events");
    std::fs::create_dir_all(&store).unwrap();
    let archivist = Server::archivist(&store, home);
    let heard = Arc::new(AtomicUsize::new(0));
    let ready = Arc::new(AtomicUsize::new(0));
    let listeners: Vec<_> = (0..LISTENERS)
        .map(|_| {
            let (heard, ready, address) = (Arc::clone(&heard), Arc::clone(&ready), archivist.address);
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                let head = format!("GET /v1/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
                stream.write_all(head.as_bytes()).await.unwrap();
                let (mut buffer, mut tail, mut count, mut lost) = (vec![0; 64 * 1024], Vec::new(), 0, 0);
                let mut is_ready = false;
                while count < MESSAGES && lost == 0 {
                    let read = stream.read(&mut buffer).await.unwrap();
                    assert!(read > 0, "the stream ended");
                    tail.extend_from_slice(&buffer[..read]);
                    if !std::mem::replace(&mut is_ready, true) {
                        ready.fetch_add(1, Ordering::Relaxed);
                    }
                    let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                    let lines = tail.drain(..whole).collect::<Vec<u8>>();
                    let text = String::from_utf8_lossy(&lines).into_owned();
                    let now = text.matches("event: archivist_memories_added").count();
                    lost += text.matches("event: lost").count();
                    count += now;
                    heard.fetch_add(now, Ordering::Relaxed);
                }
                (count, lost)
            })
        })
        .collect();
    while ready.load(Ordering::Relaxed) < LISTENERS {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let began = Instant::now();
    let told = tokio::task::spawn_blocking(move || {
        let sink = FileFeedSink::new(&store);
        for count in 0..MESSAGES {
            let (scenario, ts) = (ReflectionScenario::Manual, Timestamp::default());
            sink.send_message(&HudMessage::ArchivistMemoriesAdded { count: count as u64, scenario, ts });
        }
    });
    told.await.unwrap();
    let written = began.elapsed();
    let (mut whole, mut lost) = (0, 0);
    for listener in listeners {
        let (count, missed) = listener.await.unwrap();
        whole += usize::from(count == MESSAGES);
        lost += missed;
    }
    let took = began.elapsed();
    println!("\n{MESSAGES} messages to {LISTENERS} listeners");
    println!("  told in {:.2} s, heard by all in {:.2} s", written.as_secs_f64(), took.as_secs_f64());
    println!("  {whole} of {LISTENERS} heard every message; {lost} were told that they missed some");
    println!(
        "  {:.0} messages/s delivered; {} MB resident",
        heard.load(Ordering::Relaxed) as f64 / took.as_secs_f64(),
        archivist.resident() / 1024
    );
}

async fn day(home: &Path, store: &Path) {
    let archivist = Server::archivist(store, home);
    let mut client = Client::connect(archivist.address).await;
    println!("\nA day of {RUNS} runs, as fast as it goes: a start, five prompts, a look at the panel, a listener each");
    println!("{:>10}{:>10}{:>12}{:>14}", "hour", "runs", "requests", "resident MB");
    let mut resident = Vec::new();
    let sink = FileFeedSink::new(store);
    let mut requests = 0;
    for run in 1..=RUNS {
        for prompt in 0..6 {
            let body = format!(
                r#"{{"text":"item{} fails with a timeout while deploying","run":"run-{run}-{prompt}"}}"#,
                run * 7 % 5_000
            );
            assert!(client.ask("POST", "/v1/recall", &body).await.0);
        }
        for path in ["/v1/stats", "/v1/lessons?limit=50", "/v1/episodes?limit=50", "/v1/jobs"] {
            // Looks at everything are rarer than questions.
            if run % 10 == 0 {
                assert!(client.ask("GET", path, "").await.0, "{path}");
                requests += 1;
            }
        }
        let mut listener = TcpStream::connect(archivist.address).await.unwrap();
        let head = format!("GET /v1/events?after=0 HTTP/1.1\r\nHost: {}\r\n\r\n", archivist.address);
        listener.write_all(head.as_bytes()).await.unwrap();
        let _ = listener.read(&mut [0; 1024]).await.unwrap();
        let (scenario, ts) = (ReflectionScenario::SessionComplete, Timestamp::default());
        sink.send_message(&HudMessage::ArchivistMemoriesAdded { count: run as u64, scenario, ts });
        requests += 7;
        if run % (RUNS / HOURS) == 0 {
            let megabytes = archivist.resident() as f64 / 1024.0;
            resident.push(megabytes);
            println!("{:>10}{run:>10}{requests:>12}{megabytes:>14.1}", resident.len());
        }
    }
    let mean = |hours: &[f64]| hours.iter().sum::<f64>() / hours.len() as f64;
    let (early, late) = (mean(&resident[HOURS / 4..HOURS / 2]), mean(&resident[HOURS - HOURS / 4..]));
    println!("hours 7 to 12: {early:.1} MB, hours 19 to 24: {late:.1} MB, ratio {:.2}x", late / early);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` builds and runs benchmarks too; there is nothing to test here.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Ok(file) = std::env::var(BARE) {
        return runtime.block_on(bare(&file));
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|argument| *argument == name);
    let home = TempDir::new().unwrap();
    let store = home.path().join("store");
    write_store(&store, LESSONS);
    build_index(&store);
    runtime.block_on(async {
        if is_wanted("recall") {
            recall(home.path(), &store).await;
        }
        if is_wanted("events") {
            events(home.path()).await;
        }
        if is_wanted("day") {
            day(home.path(), &store).await;
        }
    });
}
