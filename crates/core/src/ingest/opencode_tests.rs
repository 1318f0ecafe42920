use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ingest::LogFormat;
use crate::ingest::codex::script::{any_json, events, fixture, is_in_order, lines, mutate, script};

fn check(name: &str, expected: &[&str]) {
    assert_eq!(script(&fixture(&format!("opencode/{name}"), LogFormat::OpenCode)), expected, "{name}");
}

#[test]
fn an_export_is_read() {
    check(
        "export.json",
        &[
            "about agent=opencode agentVersion=1.1.0 directory=/home/dev/shop finishedAt=2026-01-01T00:01:00Z sessionId=ses_1 startedAt=2026-01-01T00:00:00Z title=Fix rounding",
            "1 user: Fix the rounding.⏎[cart.ts]",
            "2 system: Called the Read tool",
            "about model=claude-sonnet-4-5",
            "subagent elsewhere: ses_2",
            "3 agent: Looking. (Look first.)",
            r#"3 calls call_1 bash {"command":"npm test"}"#,
            "call_1 gives 1 failing exit 1 failed",
            "3 spent in 160 out 25 cached 100 written 50 $0.01",
            "4 agent: ",
            r#"4 calls call_2 edit {"filePath":"cart.ts"}"#,
            "call_2 gives oldString not found in content failed",
            r#"4 calls call_3 task {"prompt":"search"}"#,
            "call_3 gives done fine",
            r#"4 calls call_4 bash {"command":"sleep 9"}"#,
            "4 spent in 130 out 30 cached 100 written 10 $0.02",
            "after 4 api_error: overloaded",
            "after 4 compacted: ",
            "5 system: We fixed rounding.",
            "5 spent in 5 out 5 cached 0 written 0 $0.5",
            "6 agent by gpt-5: Now I",
            "after 6 interrupted: The operation was aborted.",
        ],
    );
}

#[test]
fn a_message_without_steps_has_the_cost_of_the_message() {
    let document = json!({"info": {"id": "s", "parentID": "p"}, "messages": [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Look."}]},
        {"info": {"role": "assistant", "cost": 0.5, "tokens": {"input": 3, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 5}}},
            "parts": [{"type": "text", "text": "Seen."}]}]});
    assert_eq!(
        script(&events(&mut OpenCodeReader::default(), &[document])),
        [
            "about agent=opencode parentSessionId=p sessionId=s",
            "1 other_agent: Look.",
            "2 agent: Seen.",
            "2 spent in 12 out 3 cached 4 written 5 $0.5",
        ]
    );
}

#[test]
fn a_reverted_session_was_rolled_back() {
    let document = json!({"info": {"id": "s", "revert": {"messageID": "m"}}, "messages": []});
    assert_eq!(script(&events(&mut OpenCodeReader::default(), &[document]))[1], "after 0 rolled_back: ");
}

const WORDS: &[&str] = &[
    "info",
    "messages",
    "parts",
    "id",
    "role",
    "user",
    "assistant",
    "type",
    "text",
    "reasoning",
    "tool",
    "callID",
    "state",
    "status",
    "completed",
    "error",
    "input",
    "output",
    "time",
    "start",
    "end",
    "created",
    "tokens",
    "cache",
    "read",
    "write",
    "cost",
    "step-start",
    "step-finish",
    "metadata",
    "exit",
    "summary",
    "compaction",
    "name",
    "data",
    "message",
];

proptest! {
    #[test]
    fn any_json_is_read_without_harm(lines in prop::collection::vec(any_json(WORDS), 0..12)) {
        prop_assert!(is_in_order(&events(&mut OpenCodeReader::default(), &lines)));
    }

    #[test]
    fn damaged_exports_are_read_without_harm(
        changes in prop::collection::vec((prop::collection::vec(any::<prop::sample::Index>(), 0..9), any::<u8>()), 1..10),
    ) {
        let mut lines = lines("opencode/export.json");
        for (path, how) in changes {
            mutate(&mut lines[0], &path, how);
        }
        prop_assert!(is_in_order(&events(&mut OpenCodeReader::default(), &lines)));
    }
}
