//! Whole stories, with the real binary: runs fail, lessons are learned, later runs are spared.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::endpoint::{Endpoint, words};
use crate::support::{World, text};

/// A stub agent that works in a stub repository: it really runs what it runs, and writes down what came back.
struct Agent<'w> {
    world: &'w World,
    name: &'static str,
    session: String,
    lines: Vec<Value>,
    failures: usize,
}

impl<'w> Agent<'w> {
    fn new(world: &'w World, name: &'static str, session: &str, task: &str, order: &str) -> Self {
        let about = json!({"session": {
            "id": session, "agent": name, "model": "large-1", "taskId": task, "directory": world.project(),
        }});
        let order = json!({"role": "user", "content": order, "timestamp": "2026-02-12T10:00:00Z"});
        Self { world, name, session: session.to_owned(), lines: vec![about, order], failures: 0 }
    }

    /// Runs a command in the repository. After so many seconds on its own clock, its harness gives up on it.
    fn runs(&mut self, command: &str) -> bool {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.world.project())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("AGENT", self.name)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let (id, exit) = (format!("c{}", self.lines.len()), output.status.code().unwrap());
        self.lines.push(json!({
            "role": "assistant", "content": "",
            "tool_calls": [{"id": id, "name": "bash", "arguments": {"command": command}}],
        }));
        self.lines.push(json!({"role": "tool", "tool_call_id": id, "exit_code": exit, "content": said}));
        self.failures += usize::from(exit != 0);
        exit == 0
    }

    /// The run is over: the log is there, and the orchestrator's hook says so.
    fn ends(self, outcome: &str, variables: &[(&str, &str)]) -> Value {
        let log = self.world.project().join(format!("{}.jsonl", self.session));
        let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        std::fs::write(&log, lines.join("\n") + "\n").unwrap();
        let payload = json!({"sessionId": self.session, "cwd": self.world.project(), "outcome": outcome,
            "logPaths": [text(&log)]});
        let variables: Vec<(&str, &str)> = [("ARCHIVIST__HOOKS__START_WORKER", "false")]
            .into_iter()
            .chain([("ARCHIVIST__WORKER__SETTLE_SECONDS", "0")])
            .chain(variables.iter().copied())
            .collect();
        let hook = self.world.run_with(&["hook", "generic", "session-end"], &variables, &payload.to_string());
        assert_eq!((hook.status, hook.stdout.as_str(), hook.stderr.as_str()), (0, "", ""));
        let worked = self.world.run_with(&["worker", "--once"], &variables, "");
        assert_eq!(worked.status, 0, "{worked}");
        let jobs: Value = serde_json::from_str(&self.world.ok(&["status", "--json"])).unwrap();
        let job = jobs["jobs"].as_array().unwrap().iter().find(|job| job["session"] == self.session.as_str()).unwrap();
        assert_eq!(job["place"], "done", "{job}");
        job.clone()
    }
}

fn script(path: &Path, body: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A model that answers with one lesson, asked for JSON by a schema.
fn model(lesson: &Value) -> Endpoint {
    let answer = json!({
        "outcome_summary": "The tests failed and were made to pass.",
        "what_worked": [], "what_failed": [], "key_decisions": [], "candidates": [lesson],
    });
    Endpoint::answering([words(&answer.to_string())])
}

fn asking(url: &str) -> Vec<(&str, &str)> {
    vec![
        ("ARCHIVIST__MODEL__BASE_URL", url),
        ("ARCHIVIST__MODEL__NAME", "tiny"),
        ("ARCHIVIST__MODEL__FORM", "json_schema"),
    ]
}

/// A test suite that needs a service which is not up. Every run finds it down, starts it and goes on; the lesson is
/// learned, and the run that is given it does not fail at all.
fn learning_from_failure(variables: &[(&str, &str)]) {
    let world = World::new();
    let repository = world.project();
    script(
        &repository.join("check.sh"),
        "[ -e cache.up ] && { echo '3 passed'; exit 0; }\n\
         echo 'E   ConnectionError: Error 111 connecting to localhost:6379. Connection refused.'\n\
         echo '2 failed, 1 passed'; exit 1",
    );
    script(&repository.join("start-cache.sh"), "touch cache.up; echo 'cache started'");
    let prompt = || world.ok(&["recall", "make the tests of ./check.sh pass", "--point", "orchestrator"]);
    assert_eq!(prompt(), "", "nothing is known at first");
    for run in ["run-1", "run-2"] {
        let _ = std::fs::remove_file(repository.join("cache.up"));
        let mut agent = Agent::new(&world, "helper", run, "oa-1", "Make the tests pass.");
        assert!(!agent.runs("./check.sh"));
        assert!(agent.runs("./start-cache.sh"));
        assert!(agent.runs("./check.sh"));
        agent.ends("success", variables);
    }
    let prompt = prompt();
    assert!(prompt.contains("### Project Lessons\n"), "{prompt}");
    assert!(prompt.contains("./start-cache.sh"), "{prompt}");

    // The third run obeys what stands in its prompt.
    std::fs::remove_file(repository.join("cache.up")).unwrap();
    let mut agent = Agent::new(&world, "helper", "run-3", "oa-1", &format!("{prompt}\nMake the tests pass."));
    if prompt.contains("`./start-cache.sh`") {
        agent.runs("./start-cache.sh");
    }
    assert!(agent.runs("./check.sh"));
    assert_eq!(agent.failures, 0);
    agent.ends("success", variables);
    let lessons: Value = serde_json::from_str(&world.ok(&["list", "--json"])).unwrap();
    assert_eq!(lessons.as_array().unwrap().len(), 1, "{lessons}");
    assert_eq!(lessons[0]["counters"]["sightings"], 2, "what was given back is no evidence: {lessons}");
}

#[test]
fn e2e_learning_from_failure() {
    learning_from_failure(&[]);
    let endpoint = model(&json!({
        "quotes": [
            {"step": "t0.s2", "text": "ConnectionError: Error 111 connecting to localhost:6379. Connection refused."},
            {"step": "t0.s3", "text": "./start-cache.sh"},
        ],
        "summary": "The tests of `./check.sh` need the cache: start it with `./start-cache.sh` first.",
        "rule": {"if": "you are about to run `./check.sh`", "then": "run `./start-cache.sh` first"},
        "detail": "", "category": "infra", "scope": "project", "tool": "", "provider": "", "component": "",
        "tags": ["cache"], "importance": 0.6, "importance_reason": "it fails every time", "same_as": [],
    }));
    learning_from_failure(&asking(&endpoint.url()));
    assert_eq!(endpoint.asked().len(), 4, "one question a run, and one more for what did not happen in the third");
}

/// One provider's harness gives up on a heavy command, another one's does not.
fn provider_heuristic(variables: &[(&str, &str)]) {
    let world = World::new();
    script(
        &world.project().join("suite.sh"),
        "[ \"$AGENT\" = minimal ] && { echo '900 passed'; exit 0; }\n\
         echo 'Command timed out after 2m 0.0s'; exit 124",
    );
    let run = |session: &str, agent: &'static str| {
        let mut agent = Agent::new(&world, agent, session, "oa-7", "Run the whole suite.");
        let passed = agent.runs("./suite.sh");
        if !passed {
            agent.runs("./suite.sh");
        }
        agent.ends(if passed { "success" } else { "failed" }, variables);
    };
    // An unrelated lesson that both may see.
    world.ok(&["add", "Run the suite from the root of the repository", "--kind", "lesson", "--tag", "suite"]);
    run("claude-1", "claude-code");
    run("minimal-1", "minimal");
    run("claude-2", "claude-code");
    run("claude-3", "claude-code");
    let ask = |provider: &str| -> Vec<String> {
        let arguments = ["recall", "run ./suite.sh", "--provider", provider, "--tool", "bash", "--json"];
        let reply: Value = serde_json::from_str(&world.ok(&arguments)).unwrap();
        reply["items"].as_array().unwrap().iter().map(|item| item["summary"].as_str().unwrap().to_owned()).collect()
    };
    let (own, others) = (ask("claude-code"), ask("minimal"));
    assert!(own[0].contains("./suite.sh") && own[0].contains("claude-code"), "{own:?}");
    assert!(others.iter().all(|lesson| !lesson.contains("claude-code")), "{others:?}");
}

#[test]
fn e2e_provider_heuristic() {
    provider_heuristic(&[]);
    let endpoint = model(&json!({
        "quotes": [
            {"step": "t0.s2", "text": "./suite.sh"},
            {"step": "t0.s2", "text": "Command timed out after 2m 0.0s"},
        ],
        "summary": "`./suite.sh` takes longer than claude-code lets a command run: give it to the minimal subagent.",
        "rule": {"if": "claude-code is about to run `./suite.sh`", "then": "give it to the minimal subagent"},
        "detail": "", "category": "provider_quirk", "scope": "provider", "tool": "bash", "provider": "claude-code",
        "component": "", "tags": ["timeout"], "importance": 0.8, "importance_reason": "it loses the run",
        "same_as": [],
    }));
    provider_heuristic(&asking(&endpoint.url()));
}
