//! Made-up sessions of a project, as an agent would leave them behind.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::World;

/// What a session met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// One of so many kinds of failure, and its cure.
    Failure(usize),
    /// Nothing to speak of.
    Routine,
}

/// Each is another matter: a command, what it says when it fails, and what helps.
pub(crate) const FAILURES: [(&str, &str, &str); 8] = [
    (
        "pytest tests/billing -q",
        "ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
        "docker compose up -d redis",
    ),
    ("npm run e2e", "Error: Cannot find module 'playwright'", "npm install playwright"),
    ("cargo sqlx prepare", "error: DATABASE_URL must be set", "export DATABASE_URL=postgres://localhost/shop"),
    ("make docs", "make: mkdocs: command not found", "pip install mkdocs"),
    ("terraform plan", "Error: Backend initialization required, please run \"terraform init\"", "terraform init"),
    ("go generate ./...", "protoc: command not found", "apt-get install -y protobuf-compiler"),
    ("bundle exec rspec", "PG::ConnectionBad: could not connect to server: Connection refused", "pg_ctl start"),
    ("gradle build", "Unsupported class file major version 65", "sdk use java 21"),
];

/// The lines of a session's log in the generic format.
pub(crate) fn lines(name: &str, number: usize, directory: &Path, met: Met) -> Vec<Value> {
    let at = |minute: usize| {
        let moment = chrono::DateTime::from_timestamp(1_771_000_000 + (number as i64) * 600 + (minute as i64) * 60, 0);
        moment.unwrap().to_rfc3339()
    };
    let call = |minute: usize, command: &str, exit: i32, output: &str| {
        let id = format!("c{minute}");
        [
            json!({"role": "assistant", "content": "", "timestamp": at(minute),
                   "tool_calls": [{"id": id, "name": "bash", "arguments": {"command": command}}]}),
            json!({"role": "tool", "tool_call_id": id, "exit_code": exit, "content": output, "timestamp": at(minute)}),
        ]
    };
    let mut lines = vec![
        json!({"session": {"id": name, "agent": "helper", "model": "large-1", "directory": directory}}),
        json!({"role": "user", "content": "Please make it work.", "timestamp": at(0)}),
    ];
    match met {
        Met::Failure(kind) => {
            let (command, error, cure) = FAILURES[kind % FAILURES.len()];
            lines.extend(call(1, command, 1, error));
            lines.extend(call(2, cure, 0, "done"));
            lines.extend(call(3, command, 0, "ok, all passed"));
        }
        Met::Routine => lines.extend(call(1, "ls src", 0, "main.rs")),
    }
    lines
}

/// Writes a session where OpenAgents keeps them: below the project, so that it is found.
pub(crate) fn write(world: &World, number: usize, met: Met) -> (String, PathBuf) {
    let name = format!("session-{number:05}");
    let folder = world.project().join(".openagents/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    let lines: Vec<String> = lines(&name, number, &world.project(), met).iter().map(Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    (name, path)
}
