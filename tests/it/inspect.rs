//! `archivist inspect` as people and programs meet it.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::World;

fn write(path: &std::path::Path, text: &str) {
    fs::write(path, text).unwrap();
}

/// A session in which something fails, is fixed, and is corrected.
fn session() -> String {
    let lines = [
        json!({"session": {"id": "shop-7", "agent": "helper", "agentVersion": "2.3", "model": "large-1", "title": "Round the tax"}}),
        json!({"role": "user", "content": "Round the tax to cents.", "timestamp": "2026-02-11T09:00:00Z"}),
        json!({"role": "assistant", "content": "Testing first.", "tool_calls": [{"id": "a", "name": "shell", "arguments": {"command": "cargo test tax"}}],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 60, "cached_tokens": 900, "cost_usd": 0.01}}),
        json!({"role": "tool", "tool_call_id": "a", "exit_code": 101, "content": "test tax::rounds ... FAILED\n\nfailures:\n    tax::rounds\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored"}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "b", "name": "edit", "arguments": {"path": "src/tax.rs", "old_string": "trunc()", "new_string": "round()"}}]}),
        json!({"role": "tool", "tool_call_id": "b", "content": "edited"}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "shell", "arguments": {"command": "cargo test tax"}}]}),
        json!({"role": "tool", "tool_call_id": "c", "exit_code": 0, "content": "test result: ok. 4 passed; 0 failed; 0 ignored"}),
        json!({"role": "assistant", "content": "Fixed with floats."}),
        json!({"role": "user", "content": "No, don't use floats for money.", "timestamp": "2026-02-11T09:12:00Z"}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_log_is_told_in_a_few_lines() {
    let world = World::new();
    write(&world.project().join("session.log"), &session());
    assert_snapshot!(world.run(&["inspect", "session.log"]));
}

#[test]
fn a_log_is_told_as_json() {
    let world = World::new();
    write(&world.project().join("session.log"), &session());
    let report: Value = serde_json::from_str(&world.ok(&["inspect", "--json", "session.log"])).unwrap();
    insta::assert_json_snapshot!(report);
}

#[test]
fn many_logs_are_told_in_order_and_strangers_in_folders_are_passed_over() {
    let world = World::new();
    let logs = world.project().join("logs");
    fs::create_dir_all(logs.join("deep/node_modules")).unwrap();
    for name in ["b.jsonl", "a.jsonl", "deep/c.json", "deep/node_modules/d.jsonl"] {
        write(&logs.join(name), &session());
    }
    write(&logs.join("notes.md"), "# Shopping\n");
    write(&logs.join("empty.jsonl"), "");
    write(&logs.join("program.rs"), &session());
    let output = world.run(&["inspect", "--json", "logs"]);
    let paths: Vec<String> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(paths, ["logs/a.jsonl", "logs/b.jsonl", "logs/deep/c.json"]);
    assert_eq!((output.status, output.stderr.as_str()), (0, "passed over 2 files that are no logs\n"));
}

#[test]
fn what_cannot_be_read_is_named_with_a_next_step() {
    let world = World::new();
    write(&world.project().join("empty"), "");
    write(&world.project().join("letter"), "Dear all,");
    write(&world.project().join("data.json"), "{\"a\": 1}");
    assert_snapshot!(world.run(&["inspect", "empty", "letter", "data.json"]), @r"
    ! error: empty: it is empty
    ! error: letter: it is in no format that is known here: it is neither JSON nor progress notes
    ! error: data.json: it is in no format that is known here: none of its first lines is one of a session log
    ! hint: docs/formats.md lists the formats that are read
    exit 1
    ");
    assert_snapshot!(world.run(&["inspect", "nowhere"]), @r"
    ! error: nowhere: No such file or directory (os error 2)
    ! hint: give the path of a session log, or of a folder that holds some
    exit 1
    ");
    fs::create_dir(world.project().join("folder")).unwrap();
    assert_snapshot!(world.run(&["inspect", "folder"]), @r"
    ! error: no logs were found
    ! hint: name a session log or a folder that holds some
    exit 1
    ");
}

#[test]
fn broken_rules_are_found_only_when_asked_for() {
    let world = World::new();
    let trajectory = json!({
        "schema_version": "ATIF-v1.6", "session_id": "s", "agent": {"name": "helper", "version": "1", "colour": "red"},
        "steps": [{"step_id": 1, "source": "user", "message": "hi"}, {"step_id": 3, "source": "robot", "message": "ho"}],
    });
    write(&world.project().join("t.json"), &trajectory.to_string());
    assert_eq!(world.run(&["inspect", "t.json"]).status, 0);
    let output = world.run(&["inspect", "--strict", "--json", "t.json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let paths: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    assert_eq!((output.status, report["steps"].as_u64()), (1, Some(2)));
}

#[test]
fn a_context_has_everything_a_reflection_looks_at() {
    let world = World::new();
    world.ok(&["add", "Round money with decimals, not floats: cargo test tax fails otherwise", "--tag", "tax"]);
    write(
        &world.project().join(".openagents/progress.md"),
        "# Session Progress\n\n## Session Info\n- **Session ID**: s\n",
    );
    write(&world.project().join("session.log"), &session());
    let context: Value = serde_json::from_str(&world.ok(&["inspect", "--context", "session.log"])).unwrap();
    assert_eq!(context["episode"]["sessionId"], "shop-7");
    assert_eq!(context["episode"]["status"], "partial");
    assert_eq!(context["episode"]["statusBasis"], "person");
    assert_eq!(context["trajectories"].as_array().unwrap().len(), 1);
    assert_eq!(context["sessions"][0]["toolCalls"], 3);
    assert_eq!(context["existingMemories"].as_array().unwrap().len(), 1);
    assert!(context["progressMd"].as_str().unwrap().starts_with("# Session Progress"));
    assert_eq!(context["missing"], json!(["config", "apmSnapshot", "relatedEpisodes"]));
}

#[test]
fn a_digest_stays_within_its_budget() {
    let world = World::new();
    write(&world.project().join("session.log"), &session());
    let digest = world.ok(&["inspect", "--digest", "session.log"]);
    for passage in ["tax::rounds", "cargo test tax", "round()", "No, don't use floats for money."] {
        assert!(digest.contains(passage), "{passage} is not in\n{digest}");
    }
    assert!(world.ok(&["inspect", "--digest", "--budget", "60", "session.log"]).len() < 600);
}

#[test]
fn no_secret_of_a_log_is_printed() {
    let world = World::new();
    let secret = ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let log = session().replace("Testing first.", &format!("Testing with {secret}."));
    let log = log.replace("cargo test tax", &format!("TOKEN={secret} cargo test tax"));
    write(&world.project().join("session.log"), &log);
    for flags in [&["--json"][..], &["--context"], &["--digest"], &[]] {
        let output = world.run(&[&["inspect", "session.log"], flags].concat());
        assert_eq!(output.status, 0);
        assert!(!output.stdout.contains("16C7e42F"), "{flags:?}: {}", output.stdout);
    }
}
