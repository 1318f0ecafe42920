//! A running `archivist serve`, and a client that says exactly what a test wants it to say.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::World;

/// The token that a person knows, and no agent.
const PERSONS_TOKEN: &str = "only-a-person-knows-this";

/// A server in a world of its own, gone when the test ends.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    _stdout: BufReader<ChildStdout>,
}

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Server {
    /// Serves the world's project at a free port.
    pub(crate) fn start(world: &World) -> Self {
        Self::start_with(world, &[], &[])
    }

    pub(crate) fn start_with(world: &World, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_archivist"));
        command.args(["serve", "--port", "0"]).args(arguments).current_dir(world.project());
        command
            .env_clear()
            .env("HOME", world.home())
            .env("ARCHIVIST_TOKEN", PERSONS_TOKEN)
            .envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').parse();
        Self { child, address: address.unwrap_or_else(|_| panic!("no address: {line:?}")), _stdout: stdout }
    }

    /// A connection with nothing said on it yet.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes as they are and reads until the server closes.
    pub(crate) fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may have closed before it has heard everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// One request with these headers besides Host, and its answer.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        let answer = self.raw(format!("{request}\r\n{body}").as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, &[("Content-Type", "application/json")], body)
    }

    /// Posts what a person decides.
    pub(crate) fn decide(&self, path: &str, body: &str) -> Answer {
        let token = format!("Bearer {PERSONS_TOKEN}");
        self.ask("POST", path, &[("Content-Type", "application/json"), ("Authorization", &token)], body)
    }

    /// Whether it still answers.
    pub(crate) fn is_alive(&self) -> bool {
        self.get("/v1/health").status == 200
    }

    /// A stream of events, and what it says line by line.
    pub(crate) fn listen(&self, path: &str) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).unwrap();
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while !line.starts_with(": listening") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "the stream ended");
        }
        lines
    }

    /// Asks it to end, as an operator would, and says how long that took.
    #[cfg(unix)]
    pub(crate) fn stop(mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        (self.child.wait().unwrap().code(), began.elapsed())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line that begins with this.
pub(crate) fn next_line(lines: &mut impl BufRead, start: &str) -> String {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the stream ended before {start}");
        if line.starts_with(start) {
            return line.trim_end().to_owned();
        }
    }
}
