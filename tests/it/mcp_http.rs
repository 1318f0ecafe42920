//! `/mcp` of `archivist serve`: the same tools over HTTP, behind the same guard as everything else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{hello, words};
use crate::support::World;

const TOKEN: &str = "a-long-and-secret-word";

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn new(world: &World, variables: &[(&str, &str)]) -> Self {
        let mut command = world.command(&["serve", "--port", "0"]);
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a server");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a stdout")).read_line(&mut line).expect("an address");
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// Sends one request with these headers beside the usual ones; gives the status and the body.
    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let usual = [
            ("Host", self.address.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        let mut head = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in usual.iter().filter(|(name, _)| !headers.iter().any(|(other, _)| other == name)) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        // A server that has read enough may be gone before the rest is written.
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let answer = String::from_utf8(bytes).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, body.to_owned())
    }

    fn ask(&self, headers: &[(&str, &str)], method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, body) = self.send("POST", headers, &message.to_string());
        assert_eq!(status, 200, "{body}");
        let mut answer: Value = serde_json::from_str(&body).expect("JSON");
        match answer.get_mut("result") {
            Some(result) => result.take(),
            None => json!({"error": answer["error"]}),
        }
    }

    fn call(&self, headers: &[(&str, &str)], tool: &str, arguments: Value) -> String {
        words(&self.ask(headers, "tools/call", json!({"name": tool, "arguments": arguments})))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_same_tools_answer_over_http() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep in this repository"]);
    let server = Server::new(&world, &[]);
    assert_eq!(server.ask(&[], "initialize", hello())["serverInfo"]["name"], "archivist");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(server.send("POST", &[], &initialized.to_string()).0, 202);
    assert_eq!(server.ask(&[], "tools/list", json!({}))["tools"].as_array().unwrap().len(), 5);
    assert!(server.call(&[], "recall", json!({"text": "rg or grep"})).contains("Prefer rg"));
    assert!(server.call(&[], "why", json!({"lesson": "m-001"})).contains("It is active"));
    assert!(
        server.call(&[], "record_lesson", json!({"text": "The linter needs node 22"})).contains("waits for a person")
    );
    assert_eq!(server.ask(&[], "resources/list", json!({}))["resources"].as_array().unwrap().len(), 1);
    let lost = server.ask(&[], "resources/read", json!({"uri": "archivist://lessons/m-404"}));
    assert_eq!(lost["error"]["code"], -32002);
}

#[test]
fn the_guard_stands_before_it() {
    let world = World::new();
    let server = Server::new(&world, &[]);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let status = |headers: &[(&str, &str)]| server.send("POST", headers, &list).0;
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&[("Host", "evil.example")]), 421);
    assert_eq!(status(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(status(&[("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(status(&[("Content-Type", "text/plain")]), 415);
    assert_eq!(server.send("GET", &[("Accept", "text/event-stream")], "").0, 405);
    assert_eq!(server.send("DELETE", &[], "").0, 405);
    assert_eq!(server.send("POST", &[], &"x".repeat(1_100_000)).0, 413);
}

#[test]
fn tools_that_write_need_what_writing_needs() {
    let world = World::new();
    world.ok(&["add", "Prefer rg over grep in this repository"]);
    let writing = [
        ("record_lesson", json!({"text": "The linter needs node 22"})),
        ("feedback", json!({"verdict": "ignore", "lessons": ["m-001"], "run": "run-1"})),
        ("reflect_session", json!({"session": "s-1"})),
        ("recall", json!({"text": "rg or grep", "run": "run-1"})),
    ];
    let bearer = format!("Bearer {TOKEN}");
    let server = Server::new(&world, &[("ARCHIVIST__SERVE__WRITES", "token"), ("ARCHIVIST_TOKEN", TOKEN)]);
    assert!(server.call(&[], "recall", json!({"text": "rg or grep"})).contains("Prefer rg"));
    for (tool, arguments) in &writing {
        let refused = server.call(&[], tool, arguments.clone());
        assert!(refused.starts_with("refused: a token is needed\nhint: "), "{tool}: {refused}");
        let refused = server.call(&[("Authorization", "Bearer guess")], tool, arguments.clone());
        assert_eq!(refused, "refused: the token is wrong", "{tool}");
    }
    assert_eq!(world.ok(&["list", "--json", "--all"]).matches("\"summary\"").count(), 1);
    let granted =
        server.call(&[("Authorization", &bearer)], "record_lesson", json!({"text": "The linter needs node 22"}));
    assert!(granted.contains("waits for a person"), "{granted}");
    drop(server);
    let server = Server::new(&world, &[("ARCHIVIST__SERVE__WRITES", "closed")]);
    assert!(server.call(&[], "recall", json!({"text": "rg or grep"})).contains("Prefer rg"));
    for (tool, arguments) in &writing {
        let refused = server.call(&[], tool, arguments.clone());
        assert!(refused.starts_with("refused: this server changes nothing"), "{tool}: {refused}");
    }
}

#[test]
fn off_this_machine_nothing_is_read_without_the_token() {
    let world = World::new();
    let server = Server::new(&world, &[("ARCHIVIST__SERVE__ADDRESS", "0.0.0.0:0"), ("ARCHIVIST_TOKEN", TOKEN)]);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    assert_eq!(server.send("POST", &[], &list).0, 401);
    assert_eq!(server.send("POST", &[("Authorization", &format!("Bearer {TOKEN}"))], &list).0, 200);
}

#[cfg(unix)]
#[test]
fn an_agent_that_stays_connected_does_not_keep_the_server_from_ending() {
    let world = World::new();
    let mut server = Server::new(&world, &[]);
    server.ask(&[], "initialize", hello());
    let _idle = TcpStream::connect(&server.address).unwrap();
    let began = Instant::now();
    let killed = std::process::Command::new("kill").args(["-TERM", &server.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(30));
}
