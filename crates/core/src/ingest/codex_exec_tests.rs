use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ingest::LogFormat;
use crate::ingest::codex::script::{any_json, events, fixture, is_in_order, lines, mutate, script};

fn check(name: &str, expected: &[&str]) {
    assert_eq!(script(&fixture(&format!("codex-exec/{name}.jsonl"), LogFormat::CodexExec)), expected, "{name}");
}

#[test]
fn a_run_is_told_item_by_item() {
    check(
        "run",
        &[
            "about agent=codex sessionId=019f-exec",
            "1 agent:  (**Running the tests**)",
            r#"1 calls item_1 shell {"command":"bash -lc 'cargo test'"}"#,
            "item_1 gives 1 failed exit 101 failed",
            r#"1 calls item_3 apply_patch {"changes":[{"kind":"update","path":"src/cart.rs"}]}"#,
            "item_3 gives  fine",
            r#"1 calls item_4 mcp__tickets__close {"id":4}"#,
            "item_4 gives closed fine",
            r#"1 calls item_5 web_search {"query":"rust rounding"}"#,
            "after 1 api_error: the model is slow today",
            "2 agent: Fixed.",
            r#"2 calls item_2 todo_list {"items":[{"completed":true,"text":"Fix"}]}"#,
            "3 agent: Anything else?",
            "total in 1000 out 88 cached 450 written ?",
        ],
    );
}

#[test]
fn a_failed_run_says_so() {
    check(
        "failed",
        &[
            "about agent=codex sessionId=019f-bad",
            "after 0 api_error: You've hit your usage limit.",
            "1 agent: ",
            r#"1 calls item_0 shell {"command":"sleep 900"}"#,
            "failed by turn.failed: You've hit your usage limit.",
        ],
    );
}

#[test]
fn a_turn_that_went_well_after_an_error_is_no_failure() {
    let lines = [
        json!({"type": "turn.started"}),
        json!({"type": "error", "message": "Reconnecting... 1/5"}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 5, "cached_input_tokens": 0, "output_tokens": 1}}),
    ];
    let told = script(&events(&mut CodexExecReader::default(), &lines));
    assert_eq!(told, ["after 0 api_error: Reconnecting... 1/5", "total in 5 out 1 cached 0 written ?"]);
}

#[test]
fn turns_count_the_whole_thread() {
    let thread = |id: &str| json!({"type": "thread.started", "thread_id": id});
    let turn = |input: u64, output: u64| json!({"type": "turn.completed", "usage": {"input_tokens": input, "output_tokens": output}});
    for (lines, expected) in [
        (vec![turn(100, 10), turn(250, 25)], "total in 250 out 25 cached ? written ?"),
        (vec![turn(250, 25), turn(30, 3)], "total in 280 out 28 cached ? written ?"),
        (vec![turn(250, 25), turn(30, 3), turn(50, 5)], "total in 300 out 30 cached ? written ?"),
        (vec![turn(100, 10), turn(100, 10)], "total in 100 out 10 cached ? written ?"),
        (
            vec![thread("a"), turn(100, 10), thread("b"), turn(200, 20), thread("a"), turn(150, 15)],
            "total in 350 out 35 cached ? written ?",
        ),
    ] {
        let told = script(&events(&mut CodexExecReader::default(), &lines));
        assert_eq!(told.last().map(String::as_str), Some(expected), "{lines:?}");
    }
}

#[test]
fn unknown_lines_are_reported_once() {
    let lines = [
        json!({"type": "turn.imagined"}),
        json!({"type": "turn.imagined"}),
        json!({"type": "item.completed", "item": {"id": "1", "type": "hologram"}}),
        json!({"type": "item.completed"}),
    ];
    let told = script(&events(&mut CodexExecReader::default(), &lines));
    assert_eq!(told, ["skipped 1: unknown type `turn.imagined`", "skipped 3: unknown type `hologram`"]);
}

#[test]
fn agents_that_were_started_are_named() {
    let lines =
        [json!({"type": "item.completed", "item": {"id": "1", "type": "collab_tool_call", "tool": "spawn_agent",
        "sender_thread_id": "a", "receiver_thread_ids": ["b"], "prompt": "Look.", "status": "completed"}})];
    let told = script(&events(&mut CodexExecReader::default(), &lines));
    assert_eq!(
        told,
        ["1 agent: ", r#"1 calls 1 spawn_agent {"prompt":"Look."}"#, "1 gives  fine", "subagent elsewhere: b"]
    );
}

const WORDS: &[&str] = &[
    "type",
    "item",
    "id",
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.completed",
    "command_execution",
    "agent_message",
    "reasoning",
    "text",
    "command",
    "exit_code",
    "status",
    "in_progress",
    "usage",
    "input_tokens",
    "error",
    "message",
    "mcp_tool_call",
    "result",
    "content",
    "todo_list",
    "items",
];

proptest! {
    #[test]
    fn any_json_is_read_without_harm(lines in prop::collection::vec(any_json(WORDS), 0..12)) {
        prop_assert!(is_in_order(&events(&mut CodexExecReader::default(), &lines)));
    }

    #[test]
    fn damaged_streams_are_read_without_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<prop::sample::Index>(), 0..5), any::<u8>()), 1..10),
    ) {
        let mut lines = lines("codex-exec/run.jsonl");
        for (line, path, how) in changes {
            let at = line.index(lines.len());
            mutate(&mut lines[at], &path, how);
        }
        prop_assert!(is_in_order(&events(&mut CodexExecReader::default(), &lines)));
    }
}
