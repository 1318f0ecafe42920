use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::json;

use super::script::{any_json, counts, events, fixture, is_in_order, lines, mutate, script};
use super::*;
use crate::ingest::{LogFormat, ReaderSettings, SessionReader};

fn check(name: &str, expected: &[&str]) {
    let events = fixture(&format!("codex/{name}.jsonl"), LogFormat::Codex);
    assert!(is_in_order(&events));
    assert_eq!(script(&events), expected, "{name}");
}

/// What is told of lines, but for what is said about the session.
pub(super) fn told(lines: &[Value]) -> Vec<String> {
    let mut told = script(&events(&mut CodexRolloutReader::default(), lines));
    told.retain(|line| !line.starts_with("about "));
    told
}

pub(super) fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-01-01T10:00:00Z", "type": "response_item", "payload": payload})
}

pub(super) fn event(payload: Value) -> Value {
    json!({"timestamp": "2026-01-01T10:00:00Z", "type": "event_msg", "payload": payload})
}

pub(super) fn user(text: &str) -> Value {
    item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
}

pub(super) fn prompt(text: &str) -> Value {
    event(json!({"type": "user_message", "message": text}))
}

pub(super) fn says(text: &str) -> Value {
    item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}))
}

#[test]
fn a_rollout_is_told_once_with_its_failures() {
    check(
        "rollout",
        &[
            "about agent=codex agentVersion=0.101.0 branch=fix-totals directory=/home/dev/shop finishedAt=2026-03-04T09:00:00.500Z repository=https://example.org/shop.git sessionId=019a-shop startedAt=2026-03-04T09:00:00.500Z",
            "1 system: <permissions instructions>⏎Ask before writing.⏎</permissions instructions>",
            "2 system: # AGENTS.md instructions for /home/dev/shop⏎⏎<INSTRUCTIONS>⏎Run cargo test.⏎</INSTRUCTIONS>⏎<environment_context>⏎  <cwd>/home/dev/shop</cwd>⏎</environment_context>",
            "about model=gpt-5.3-codex",
            "3 user: The cart total is wrong for discounts. Fix it.",
            "4 agent:  (**Looking at the tests**)",
            "4 more: I run the tests first.",
            r#"4 calls call_1 exec_command {"cmd":"cargo test","workdir":"/home/dev/shop"}"#,
            "5 system: Remember to keep steps small.",
            "call_1 gives Chunk ID: 8a1⏎Wall time: 2.5000 seconds⏎Process exited with code 101⏎Original token count: 40⏎Output:⏎test totals ... FAILED⏎Exit code: 0 exit 101 failed 2500 ms",
            "4 spent in 1000 out 100 cached 0 written ?",
            "6 agent: ",
            r#"6 calls call_2 apply_patch {"input":"*** Begin Patch\n*** Update File: src/cart.rs\n*** End Patch"}"#,
            "call_2 gives Could not find the lines in src/cart.rs failed",
            "6 spent in 1200 out 50 cached 900 written ?",
            "7 agent: ",
            r#"7 calls web_search_call-22 web_search {"query":"rust decimal rounding","type":"search"}"#,
            r#"7 calls call_3 local_shell {"command":["bash","-lc","sleep 600"],"timeout_ms":1000,"type":"exec"}"#,
            "call_3 gives aborted by user after 4.1s interrupted",
            r#"7 calls call_4 mcp__tickets__search {"q":"discount"}"#,
            "after 7 interrupted: interrupted",
            "8 system: <turn_aborted>⏎The user interrupted the previous turn on purpose.⏎</turn_aborted>",
            "9 user extra: No, round half up instead.",
            "after 9 rolled_back: 1 turns",
            "after 9 compacted: The cart total was off.",
            "10 agent by gpt-5.3-codex-mini: Rounded half up; the tests pass.",
            "10 spent in 1800 out 250 cached 1100 written ?",
            "call_4 gives server is down failed 1500 ms",
            "total in 4000 out 400 cached 2000 written ?",
            "about finishedAt=2026-03-04T09:00:24.160Z startedAt=2026-03-04T09:00:00.500Z",
        ],
    );
}

#[test]
fn what_a_subagent_inherits_is_copied_and_not_counted() {
    check(
        "subagent",
        &[
            "about agent=codex agentVersion=0.146.0 directory=/home/dev/shop finishedAt=2026-03-04T10:00:01Z parentSessionId=019a-root sessionId=019b-child startedAt=2026-03-04T10:00:01Z title=Ada (worker)",
            "1 user copied: Make the shop faster.",
            "2 agent copied: I ask another agent to look at the tests.",
            r#"2 calls call_p spawn_agent {"task_name":"tests"}"#,
            "3 other_agent: Find the slow tests.",
            "about model=gpt-5.6",
            "4 agent: ",
            r#"4 calls call_c exec_command {"input":"cargo test --timings"}"#,
            "call_c gives Exit code: 0⏎Wall time: 3 seconds⏎Output:⏎ok exit 0 fine 3000 ms",
            "4 spent in 1200 out 100 cached 1000 written ?",
            "5 agent: Two tests sleep.",
            "5 spent in 800 out 50 cached 500 written ?",
            "total in 2000 out 150 cached 1500 written ?",
            "about finishedAt=2026-03-04T10:00:07.080Z startedAt=2026-03-04T10:00:01Z",
        ],
    );
}

#[test]
fn what_a_fork_copies_is_not_counted() {
    check(
        "fork",
        &[
            "about agent=codex agentVersion=0.120.0 directory=/home/dev/shop finishedAt=2026-03-04T11:00:00.900Z parentSessionId=019a-shop sessionId=019c-fork startedAt=2026-03-04T11:00:00.900Z",
            "1 user copied: Add a basket.",
            "2 agent copied: Added.",
            "3 user: Now remove it.",
            "about model=gpt-5.3-codex",
            "4 agent: Removed.",
            "4 spent in 900 out 90 cached 600 written ?",
            "total in 900 out 90 cached 600 written ?",
            "about finishedAt=2026-03-04T11:00:33.007Z startedAt=2026-03-04T11:00:00.900Z",
        ],
    );
}

#[test]
fn a_paginated_rollout_is_told_once() {
    check(
        "paginated",
        &[
            "about agent=codex agentVersion=0.146.0 directory=/home/dev/shop finishedAt=2026-03-04T12:00:01Z sessionId=019d-pages startedAt=2026-03-04T12:00:01Z",
            "1 system: <environment_context>⏎<cwd>/home/dev/shop</cwd>⏎</environment_context>",
            "about model=gpt-5.6",
            "2 user: Which files are large?",
            "3 agent:  (Listing)",
            r#"3 calls call_1 exec_command {"cmd":"ls -S"}"#,
            "call_1 gives ls: no exit 2 failed 20 ms",
            r#"3 calls exec-7 shell {"command":["bash","-lc","du -s ."],"cwd":"/home/dev/shop"}"#,
            "exec-7 gives 12 . exit 0 fine",
            r#"3 calls fc-1 apply_patch {"changes":{"a.rs":{"content":"x","type":"add"}}}"#,
            "fc-1 gives Success. fine",
            r#"3 calls mcp-1 mcp__tickets__search {"q":1}"#,
            "mcp-1 gives no such server failed",
            r#"3 calls ws_2 web_search {"action":{"query":"du flags","type":"search"},"query":"du flags"}"#,
            "subagent elsewhere: 019e-helper",
            "3 more: src/cart.rs is the largest.",
            "3 spent in 500 out 50 cached 100 written ?",
            "after 3 compacted: ",
            "skipped 22: unknown type `Hologram`",
            "total in 500 out 50 cached 100 written ?",
            "about finishedAt=2026-03-04T12:00:14.080Z startedAt=2026-03-04T12:00:01Z",
        ],
    );
}

#[test]
fn a_flat_rollout_of_2025_is_read() {
    check(
        "flat",
        &[
            "about agent=codex branch=main finishedAt=2025-07-01T08:00:00Z repository=https://example.org/shop.git sessionId=5a-flat startedAt=2025-07-01T08:00:00Z",
            "about directory=/home/dev/shop",
            "1 system: <environment_context>⏎Current working directory: /home/dev/shop⏎</environment_context>",
            "2 user: Why does the build fail?",
            "3 agent:  (Build it.)",
            r#"3 calls call_1 shell {"command":["cargo","build"]}"#,
            "call_1 gives error[E0425]: no `x`⏎ exit 101 failed 1500 ms",
            "4 agent: ",
            r#"4 calls call_2 shell {"input":"{\"command\":[\"cargo\""}"#,
            "call_2 gives failed to parse function arguments: EOF failed",
            "5 agent: `x` is not defined.",
            "6 user: Define it.",
            "7 agent: ",
            r#"7 calls call_3 shell {"command":["ls"]}"#,
            "about finishedAt=2025-07-01T08:00:00Z startedAt=2025-07-01T08:00:00Z",
        ],
    );
}

#[test]
fn a_prompt_is_told_once_whichever_line_comes_first() {
    let cases: &[(&[Value], &[&str])] = &[
        (&[user("Go."), prompt("Go."), says("Ok.")], &["1 user: Go.", "2 agent: Ok."]),
        (&[prompt("Go."), user("Go."), says("Ok.")], &["1 user: Go.", "2 agent: Ok."]),
        (&[user("Go."), says("Ok.")], &["1 user: Go.", "2 agent: Ok."]),
        (
            &[prompt("Go on."), user("Go on."), says("Ok."), prompt("Go on."), user("Go on."), says("Done.")],
            &["1 user: Go on.", "2 agent: Ok.", "3 user: Go on.", "4 agent: Done."],
        ),
        (
            &[user("Go on."), prompt("Go on."), says("Ok."), user("Go on."), prompt("Go on."), says("Ok.")],
            &["1 user: Go on.", "2 agent: Ok.", "3 user: Go on.", "4 agent: Ok."],
        ),
        // Where events say what a person says, the rest is the harness.
        (
            &[user("You may use skill X."), user("Go."), prompt("Go."), user("Mind the time."), says("Ok.")],
            &["1 system: You may use skill X.", "2 user: Go.", "3 system: Mind the time.", "4 agent: Ok."],
        ),
        (
            &[prompt("<environment_context>a</environment_context>")],
            &["1 system: <environment_context>a</environment_context>"],
        ),
        (&[user("")], &[]),
    ];
    for (lines, expected) in cases {
        assert_eq!(told(lines), *expected);
    }
}

#[test]
fn a_message_with_images_and_a_context_is_taken_apart() {
    let parts = item(json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "<environment_context>a</environment_context>"},
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "What is this?"}]}));
    let expected = ["1 system: <environment_context>a</environment_context>", "2 user: What is this?"];
    assert_eq!(told(&[parts.clone(), prompt("What is this?")]), expected);
    assert_eq!(told(&[parts]), expected);
    let image =
        item(json!({"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "x"}]}));
    assert_eq!(told(&[image.clone(), prompt("")]), ["1 user: [image]"]);
}

#[test]
fn words_of_the_agent_are_told_once() {
    let message = |text: &str| event(json!({"type": "agent_message", "message": text}));
    let cases: &[(&[Value], &[&str])] = &[
        (&[message("Hi."), says("Hi.")], &["1 agent: Hi."]),
        (&[says("Hi."), message("Hi.")], &["1 agent: Hi."]),
        (&[says("Hi."), says("Hi.")], &["1 agent: Hi.", "1 more: Hi."]),
        (
            &[says("Hi."), message("Hi."), prompt("What?"), says("Hi."), message("Hi.")],
            &["1 agent: Hi.", "2 user: What?", "3 agent: Hi."],
        ),
        (&[event(json!({"type": "task_complete", "last_agent_message": "Hi."}))], &[]),
    ];
    for (lines, expected) in cases {
        assert_eq!(told(lines), *expected);
    }
}

#[test]
fn calls_of_all_kinds_are_told() {
    let lines = [
        item(json!({"type": "function_call", "name": "shell", "arguments": "not json", "call_id": "a"})),
        item(json!({"type": "function_call", "name": "shell", "arguments": "[1]", "call_id": "b"})),
        item(json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin", "call_id": "c"})),
        item(json!({"type": "local_shell_call", "id": "d", "call_id": null, "action": {"command": ["ls"]}})),
        item(json!({"type": "tool_search_call", "call_id": "e", "arguments": {"q": "x"}})),
        item(json!({"type": "tool_search_output", "call_id": "e", "tools": [{"name": "y"}]})),
        item(json!({"type": "image_generation_call", "id": "f", "revised_prompt": "a cat", "result": "AAAA"})),
        item(json!({"type": "web_search_call", "action": {"type": "search", "query": "q"}})),
        item(
            json!({"type": "function_call", "namespace": "agents", "name": "wait", "arguments": "{}", "call_id": "g"}),
        ),
        item(json!({"type": "function_call_output", "call_id": "lost", "output": "late"})),
        item(json!({"type": "function_call_output", "output": "whose?"})),
    ];
    let expected = [
        "1 agent: ",
        r#"1 calls a shell {"input":"not json"}"#,
        r#"1 calls b shell {"input":"[1]"}"#,
        r#"1 calls c apply_patch {"input":"*** Begin"}"#,
        r#"1 calls d local_shell {"command":["ls"]}"#,
        r#"1 calls e tool_search {"q":"x"}"#,
        r#"e gives {"name":"y"}"#,
        r#"1 calls f image_generation {"input":"a cat"}"#,
        r#"1 calls web_search_call-8 web_search {"query":"q","type":"search"}"#,
        "1 calls g agents.wait {}",
        "lost gives late",
        "step 1 gives whose?",
    ];
    assert_eq!(told(&lines), expected);
}

#[test]
fn calls_with_the_same_id_are_two_calls() {
    let call = item(json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "call_0"}));
    let output = |text: &str| item(json!({"type": "function_call_output", "call_id": "call_0", "output": text}));
    let told = told(&[call.clone(), output("one"), call, output("two")]);
    assert_eq!(
        told,
        ["1 agent: ", "1 calls call_0 shell {}", "call_0 gives one", "1 calls call_0 shell {}", "call_0 gives two"]
    );
}

#[test]
fn a_typed_item_may_come_before_its_call() {
    let done =
        event(json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "a", "command": ["ls"],
        "status": "completed", "exit_code": 0, "aggregated_output": "x"}}));
    let call = item(json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "a"}));
    let output = item(json!({"type": "function_call_output", "call_id": "a", "output": "x"}));
    let expected = ["1 agent: ", r#"1 calls a shell {"command":["ls"]}"#, "a gives x exit 0 fine"];
    assert_eq!(told(&[done, call, output]), expected);
}

#[test]
fn other_agents_are_no_people() {
    let mail = json!({"author": "/root/tests", "recipient": "/root", "other_recipients": [], "content": "Done.", "trigger_turn": false});
    let lines = [
        json!({"type": "inter_agent_communication", "payload": mail.clone()}),
        says(&mail.to_string()),
        item(json!({"type": "agent_message", "author": "/root", "content": [
            {"type": "encrypted_content", "encrypted_content": "AAAA"}, {"type": "output_text", "text": "Go."}]})),
    ];
    assert_eq!(told(&lines), ["1 other_agent of /root/tests: Done.", "2 other_agent: Go."]);
    let child = json!({"type": "session_meta", "payload": {"id": "c", "parent_thread_id": "p"}});
    assert_eq!(told(&[child, prompt("Find it.")]), ["1 other_agent: Find it."]);
}

#[test]
fn known_metadata_is_silent_and_the_unknown_is_reported_once() {
    let payload = json!({"a": 1});
    let mut lines: Vec<Value> =
        ["world_state", "security_risk_score", "inter_agent_communication_metadata", "token_usage_record"]
            .iter()
            .map(|kind| json!({"type": kind, "payload": payload}))
            .collect();
    for kind in ["exec_command_begin", "warning", "agent_message_delta", "thread_goal_updated", "task_complete"] {
        lines.push(event(json!({"type": kind})));
    }
    lines.push(item(json!({"type": "ghost_snapshot", "ghost_commit": {}})));
    assert_eq!(told(&lines), [""; 0]);
    let strange = [
        json!({"type": "hologram", "payload": payload}),
        item(json!({"type": "smell"})),
        item(json!({"type": "smell"})),
        json!({"x": 1}),
    ];
    assert_eq!(
        told(&strange),
        ["skipped 1: unknown type `hologram`", "skipped 2: unknown type `smell`", "skipped 4: no type"]
    );
}

#[test]
fn errors_of_the_provider_are_told() {
    let lines =
        [prompt("Go."), event(json!({"type": "error", "message": "usage limit", "codex_error_info": "usage_limit"}))];
    assert_eq!(told(&lines), ["1 user: Go.", "after 1 api_error: usage limit"]);
}

#[test]
fn a_packed_rollout_is_unpacked() {
    let path = format!("{}/../../fixtures/logs/codex/rollout.jsonl", env!("CARGO_MANIFEST_DIR"));
    let plain = std::fs::read(path).unwrap();
    let packed = ruzstd::encoding::compress_to_vec(plain.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let mut events = Vec::new();
    let format = SessionReader::new(ReaderSettings::default()).read_log(&mut packed.as_slice(), &mut events).unwrap();
    assert_eq!(format, LogFormat::Codex);
    assert_eq!(events, fixture("codex/rollout.jsonl", LogFormat::Codex));
}

/// Steps, calls and prompts, and tokens of prompts and completions.
type Figures = ([usize; 3], [Option<u64>; 2]);

/// Figures of public files. Calls, prompts and tokens were counted by a script of its own, steps by eye.
const CORPUS: &[(&str, Figures)] = &[
    ("rollout-2025-08-06T18-02-11-05997ac9-0e06-4251-8576-cc16266d3022.jsonl", ([28, 26, 1], [None, None])),
    ("rollout-newlines.jsonl", ([2, 0, 1], [None, None])),
    ("2026-05-12T08-00-00-parent.jsonl", ([0, 0, 0], [Some(1000), Some(200)])),
    ("2026-05-12T08-02-00-branch.jsonl", ([0, 0, 0], [Some(1600), Some(450)])),
    ("session-alpha.jsonl", ([0, 0, 0], [Some(3500), Some(425)])),
    ("codex_0146_rollout_exec_turn.jsonl", ([8, 1, 1], [Some(42665), Some(173)])),
    ("smoke-root.jsonl", ([2, 0, 0], [None, None])),
    ("smoke-child.jsonl", ([2, 1, 0], [None, None])),
    ("codex-rollout.sample.jsonl", ([4, 2, 1], [Some(82056), Some(340)])),
];

#[test]
fn public_rollouts_are_read() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS").map(PathBuf::from) else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let expected: Value = serde_json::from_slice(&std::fs::read(corpus.join("expected.json")).unwrap()).unwrap();
    let mut paths = vec![corpus.join("codex")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let mut events = Vec::new();
        let format =
            SessionReader::new(ReaderSettings::default()).read_log(&mut bytes.as_slice(), &mut events).unwrap();
        assert_eq!(format, LogFormat::Codex, "{}", path.display());
        assert!(is_in_order(&events), "{}", path.display());
        let (steps, calls, prompts, usage) = counts(&events);
        let key = path.strip_prefix(&corpus).unwrap().to_string_lossy().into_owned();
        if let Some(tool_calls) = expected[&key]["toolCalls"].as_u64() {
            assert_eq!(calls as u64, tool_calls, "{key}");
        }
        let name = path.file_name().unwrap().to_string_lossy();
        for (_, figures) in CORPUS.iter().filter(|(known, _)| *known == name) {
            assert_eq!(([steps, calls, prompts], [usage.prompt_tokens, usage.completion_tokens]), *figures, "{key}");
        }
    }
}

const WORDS: &[&str] = &[
    "timestamp",
    "type",
    "payload",
    "ordinal",
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "message",
    "role",
    "user",
    "assistant",
    "content",
    "text",
    "reasoning",
    "summary",
    "function_call",
    "call_id",
    "name",
    "arguments",
    "function_call_output",
    "output",
    "metadata",
    "token_count",
    "info",
    "total_token_usage",
    "input_tokens",
    "last_token_usage",
    "user_message",
    "item_completed",
    "item",
    "CommandExecution",
    "id",
    "status",
    "command",
    "source",
    "subagent",
    "web_search_call",
    "action",
    "query",
    "agent_message",
    "record_type",
    "patch_apply_end",
    "success",
    "mcp_tool_call_end",
    "result",
    "Err",
    "duration",
    "2026-01-01T00:00:00Z",
];

proptest! {
    #[test]
    fn any_json_is_read_without_harm(lines in prop::collection::vec(any_json(WORDS), 0..12)) {
        prop_assert!(is_in_order(&events(&mut CodexRolloutReader::default(), &lines)));
    }

    #[test]
    fn damaged_rollouts_are_read_without_harm(
        which in 0..5usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<prop::sample::Index>(), 0..6), any::<u8>()), 1..12),
    ) {
        let name = ["rollout", "subagent", "fork", "paginated", "flat"][which];
        let mut lines = lines(&format!("codex/{name}.jsonl"));
        for (line, path, how) in changes {
            let at = line.index(lines.len());
            if how == 255 { lines.swap(0, at) } else { mutate(&mut lines[at], &path, how) }
        }
        prop_assert!(is_in_order(&events(&mut CodexRolloutReader::default(), &lines)));
    }
}
