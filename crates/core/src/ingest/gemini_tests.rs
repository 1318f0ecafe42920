use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ingest::LogFormat;
use crate::ingest::codex::script::{any_json, events, fixture, is_in_order, lines, mutate, script};

fn check(name: &str, expected: &[&str]) {
    assert_eq!(script(&fixture(&format!("gemini/{name}"), LogFormat::Gemini)), expected, "{name}");
}

#[test]
fn a_document_is_read() {
    check(
        "chat.json",
        &[
            "about agent=gemini-cli finishedAt=2026-02-01T10:01:00Z sessionId=aa11-session startedAt=2026-02-01T10:00:00Z title=Fix the tests",
            "1 user: Why do the tests fail?",
            "2 system: Update available.",
            "about model=gemini-3-pro",
            "3 agent:  (Plan: Run them.)",
            r#"3 calls run_shell_command-1 run_shell_command {"command":"npm test"}"#,
            "run_shell_command-1 gives Output: 1 failing⏎Exit Code: 1 exit 1 failed",
            "3 spent in 1205 out 80 cached 800 written ?",
            "4 agent by gemini-3-flash: One test is stale.",
            "4 spent in 1300 out 10 cached 1200 written ?",
            "after 4 api_error: [API Error: quota]",
            "after 4 interrupted: Request cancelled.",
            "5 user: Fix @a.ts",
            "6 system: ⏎--- Content from referenced files ---⏎⏎Content from @a.ts:⏎",
        ],
    );
}

#[test]
fn a_message_that_is_written_again_is_told_once() {
    check(
        "chat.jsonl",
        &[
            "about agent=gemini-cli finishedAt=2026-02-01T10:01:00Z sessionId=aa11-session startedAt=2026-02-01T10:00:00Z",
            "1 user: Why do the tests fail?",
            "about finishedAt=2026-02-01T10:00:02Z startedAt=2026-02-01T10:00:02Z",
            "about model=gemini-3-pro",
            "2 agent:  (Plan: Run them.)",
            "2 spent in 1205 out 80 cached 800 written ?",
            r#"2 calls run_shell_command-1 run_shell_command {"command":"npm test"}"#,
            "2 spent in 1205 out 80 cached 800 written ?",
            "2 more: I ran them.",
            "run_shell_command-1 gives Output: 1 failing⏎Exit Code: 1 exit 1 failed",
            "2 spent in 1205 out 80 cached 800 written ?",
            "3 agent: One test is stale.",
            "3 spent in 1300 out 10 cached 1200 written ?",
            "after 3 rolled_back: to message m4",
            "4 system: <state_snapshot>short</state_snapshot>",
            "skipped 11: unknown type `hologram`",
        ],
    );
}

#[test]
fn what_a_person_saw_is_what_they_said() {
    let lines = [json!({"id": "a", "type": "user", "content": [{"text": "/review expanded to much more"}],
        "displayContent": [{"text": "/review"}]})];
    assert_eq!(script(&events(&mut GeminiReader::default(), &lines)), ["1 user: /review"]);
}

#[test]
fn prompts_of_a_subagent_are_another_agents() {
    let lines = [
        json!({"sessionId": "s", "projectHash": "p", "kind": "subagent"}),
        json!({"id": "a", "type": "user", "content": "Look for it."}),
    ];
    assert_eq!(script(&events(&mut GeminiReader::default(), &lines))[1], "1 other_agent: Look for it.");
}

#[test]
fn ends_of_calls_are_read() {
    let output = |call: Value| {
        let line = json!({"id": "a", "type": "gemini", "content": "", "toolCalls": [call]});
        script(&events(&mut GeminiReader::default(), &[line]))
            .into_iter()
            .filter(|line| line.contains(" gives "))
            .collect::<String>()
    };
    for (call, expected) in [
        (json!({"id": "1", "name": "x", "status": "executing"}), ""),
        (json!({"id": "1", "name": "x", "status": "cancelled"}), "1 gives  interrupted"),
        (
            json!({"id": "1", "name": "x", "status": "error", "resultDisplay": "no such file"}),
            "1 gives no such file failed",
        ),
        (
            json!({"id": "1", "name": "x", "status": "success", "result": {"response": 1}}),
            r#"1 gives {"response":1} fine"#,
        ),
        (json!({"id": "1", "name": "x", "status": "success", "result": "plain"}), "1 gives plain fine"),
        (
            json!({"id": "1", "name": "x", "status": "success",
                "result": [{"functionResponse": {"id": "1", "response": {"error": "denied"}}}]}),
            "1 gives denied failed",
        ),
        (
            json!({"id": "1", "name": "x", "status": "success",
                "result": [{"functionResponse": {"id": "1", "response": {"output": "Exit Code: (none)"}}}]}),
            "1 gives Exit Code: (none) fine",
        ),
        (
            json!({"id": "1", "name": "x", "status": "success", "result": [{"functionResponse": {"id": "1",
                "response": {"output": "no\nExit Code: 1\n\n<hook_context>1\n2\n3\n4\n5\n6\n7\n8\n9</hook_context>"}}}]}),
            "1 gives no⏎Exit Code: 1⏎⏎<hook_context>1⏎2⏎3⏎4⏎5⏎6⏎7⏎8⏎9</hook_context> exit 1 failed",
        ),
    ] {
        assert_eq!(output(call), expected);
    }
}

const WORDS: &[&str] = &[
    "id",
    "type",
    "user",
    "gemini",
    "content",
    "text",
    "thoughts",
    "subject",
    "tokens",
    "input",
    "output",
    "toolCalls",
    "name",
    "args",
    "result",
    "status",
    "success",
    "functionResponse",
    "response",
    "functionCall",
    "$set",
    "$rewindTo",
    "messages",
    "sessionId",
    "projectHash",
    "displayContent",
    "timestamp",
    "error",
    "info",
];

proptest! {
    #[test]
    fn any_json_is_read_without_harm(lines in prop::collection::vec(any_json(WORDS), 0..12)) {
        prop_assert!(is_in_order(&events(&mut GeminiReader::default(), &lines)));
    }

    #[test]
    fn damaged_chats_are_read_without_harm(
        which in 0..2usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<prop::sample::Index>(), 0..8), any::<u8>()), 1..10),
    ) {
        let mut lines = lines(["gemini/chat.json", "gemini/chat.jsonl"][which]);
        for (line, path, how) in changes {
            let at = line.index(lines.len());
            mutate(&mut lines[at], &path, how);
        }
        prop_assert!(is_in_order(&events(&mut GeminiReader::default(), &lines)));
    }
}

#[test]
fn what_a_hook_adds_to_a_prompt_is_not_the_persons() {
    let hook = "<hook_context>Remember &lt;x&gt;.</hook_context>";
    let table = [
        (format!("{hook}\n\nFix it."), vec!["1 user: Fix it.".to_owned(), format!("2 system: {hook}")]),
        (format!("Fix it.\n\n{hook}"), vec!["1 user: Fix it.".to_owned(), format!("2 system: {hook}")]),
        (hook.to_owned(), vec![format!("1 system: {hook}")]),
        (format!("Why {hook}"), vec![format!("1 user: Why {hook}")]),
        ("<hook_context>never ends".to_owned(), vec!["1 system: <hook_context>never ends".to_owned()]),
    ];
    for (text, expected) in table {
        let message = json!({"type": "user", "id": "m1", "content": [{"text": text}]});
        assert_eq!(script(&events(&mut GeminiReader::default(), &[message])), expected, "{text}");
    }
}
