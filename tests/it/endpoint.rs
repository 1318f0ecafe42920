//! An OpenAI-compatible endpoint that says what a test wants it to say.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

/// A server on loopback with a script: one answer after the other, the last one for ever.
pub(crate) struct Endpoint {
    runtime: Runtime,
    server: MockServer,
}

struct Script(Mutex<VecDeque<ResponseTemplate>>);

impl Respond for Script {
    fn respond(&self, _: &Request) -> ResponseTemplate {
        let mut answers = self.0.lock().unwrap();
        match answers.len() {
            0 | 1 => answers.front().cloned().unwrap_or_else(|| ResponseTemplate::new(500)),
            _ => answers.pop_front().unwrap(),
        }
    }
}

impl Endpoint {
    pub(crate) fn answering(answers: impl IntoIterator<Item = ResponseTemplate>) -> Self {
        Self::responding(Script(Mutex::new(answers.into_iter().collect())))
    }

    /// A server that makes up its answers.
    pub(crate) fn responding(answers: impl Respond + 'static) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(answers).mount(&server).await;
            server
        });
        Self { runtime, server }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/v1", self.server.uri())
    }

    /// What it was asked, as JSON.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.received().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }

    /// What it was asked, with headers and all.
    pub(crate) fn received(&self) -> Vec<Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }
}

/// An answer in words.
pub(crate) fn words(text: &str) -> ResponseTemplate {
    completion(json!({ "role": "assistant", "content": text }), "stop")
}

/// An answer in calls of tools: ids, names, arguments.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> ResponseTemplate {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments.to_string() } })
        })
        .collect();
    completion(json!({ "role": "assistant", "content": null, "tool_calls": calls }), "tool_calls")
}

/// A whole answer around a message.
pub(crate) fn completion(message: Value, finish: &str) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "tiny",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100 },
    }))
}

/// A server of bytes: it reads a request, writes what it is told to, and hangs up. For what no HTTP library would send.
pub(crate) struct Wire {
    address: String,
    _thread: JoinHandle<()>,
}

impl Wire {
    /// `answer` is called for each connection, after the whole request was read.
    pub(crate) fn answering(answer: impl Fn(&mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                if read_request(&mut stream).is_some() {
                    answer(&mut stream);
                }
            }
        });
        Self { address, _thread: thread }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

fn read_request(stream: &mut TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length: usize =
                head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
            if bytes.len() >= end + length {
                return Some(());
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// The head of an answer of so many bytes.
pub(crate) fn head(stream: &mut TcpStream, length: usize) {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
}
