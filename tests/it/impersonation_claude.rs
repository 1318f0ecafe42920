//! Logs of Claude Code in which outputs and quoted texts pretend to be a person.

use serde_json::{Value, json};

use crate::impersonation::*;

fn envelope(nth: usize, kind: &str) -> Value {
    json!({"type": kind, "uuid": format!("u{nth}"), "parentUuid": format!("u{}", nth.saturating_sub(1)),
        "timestamp": at(nth), "sessionId": "claude-1", "cwd": "/home/dev/shop", "version": "2.1.200",
        "isSidechain": false, "userType": "external"})
}

fn line(nth: usize, kind: &str, more: Value) -> Value {
    let mut line = envelope(nth, kind);
    for (key, value) in more.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

fn user(nth: usize, content: Value) -> Value {
    line(nth, "user", json!({"message": {"role": "user", "content": content}}))
}

fn call(nth: usize, channel: &OutputChannel) -> Value {
    let block =
        json!({"type": "tool_use", "id": format!("t{nth}"), "name": channel.tool, "input": channel.arguments()});
    line(nth, "assistant", json!({"message": {"id": format!("m{nth}"), "role": "assistant", "content": [block]}}))
}

/// The harness's own record of a result.
fn record(channel: &OutputChannel, text: &str) -> Value {
    match channel.tool {
        _ if channel.fails => json!(format!("Error: {text}")),
        "Bash" => json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}),
        "WebFetch" => json!({"result": text, "code": 200, "url": "https://docs.example/notes"}),
        "Task" => json!({"content": [{"type": "text", "text": text}], "totalTokens": 10, "agentId": "a1"}),
        // A server chooses the fields of what it returns.
        _ => json!({"content": text, "answers": {"Which registry?": text}, "toolDenialKind": "user-rejected"}),
    }
}

pub(crate) fn outputs(channel: &OutputChannel, texts: &[String]) -> String {
    let mut log = vec![user(0, json!("Please read the notes."))];
    for (index, text) in texts.iter().enumerate() {
        let nth = 1 + index * 2;
        let result = json!({"type": "tool_result", "tool_use_id": format!("t{nth}"), "content": text, "is_error": channel.fails});
        log.push(call(nth, channel));
        log.push(line(
            nth + 1,
            "user",
            json!({"message": {"role": "user", "content": [result]}, "toolUseResult": record(channel, text)}),
        ));
    }
    lines(&log)
}

/// Texts that the harness quotes in the user's name.
pub(crate) fn quoted(texts: &[String]) -> String {
    let mut log = vec![user(0, json!("Please read the notes.")), call(1, &CHANNELS[0])];
    for text in texts {
        let quotes = [
            format!("<ide_selection>{text}</ide_selection>\nWhat is this?"),
            format!("<ide_opened_file>{text}</ide_opened_file>"),
            format!("<bash-stdout>{text}</bash-stdout><bash-stderr></bash-stderr>"),
            format!("<bash-stdout></bash-stdout><bash-stderr>{text}</bash-stderr>"),
            format!("<local-command-stdout>{text}</local-command-stdout>"),
            format!("<task-notification>\n<summary>{text}</summary>\n</task-notification>"),
            format!("What is this?\n<system-reminder>\n{text}\n</system-reminder>"),
            format!("<system-reminder>\n{text}\n</system-reminder>\nWhat is this?"),
            format!("Stop hook feedback:\n{text}"),
        ];
        for quote in quotes {
            log.push(user(log.len(), json!(quote)));
        }
        let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": "ok"});
        log.push(user(log.len(), json!([block, {"type": "text", "text": text}])));
        for flag in [
            json!({"isMeta": true}),
            json!({"sourceToolUseID": "t1"}),
            json!({"origin": {"kind": "channel", "server": "chat"}}),
            json!({"origin": {"kind": "some-new-kind"}}),
            json!({"promptSource": "system"}),
            json!({"isSidechain": true, "agentId": "a1"}),
        ] {
            let mut line = user(log.len(), json!(text));
            for (key, value) in flag.as_object().unwrap() {
                line[key] = value.clone();
            }
            log.push(line);
        }
        let queued = json!({"type": "queued_command", "prompt": text, "commandMode": "task-notification"});
        log.push(line(log.len(), "attachment", json!({"attachment": queued})));
    }
    lines(&log)
}

/// A person who refuses a call, answers a question and sends a message while the agent works.
pub(crate) fn person() -> String {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to \
                   proceed, the user said:\nAlways run the linter before a commit in this project.";
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": refused, "is_error": true});
    let question = json!({"question": "Which package manager?", "options": []});
    let ask = json!({"type": "tool_use", "id": "t4", "name": "AskUserQuestion", "input": {"questions": [question]}});
    let answer =
        json!({"type": "tool_result", "tool_use_id": "t4", "content": "User has answered your questions: as recorded"});
    let queued = json!({"type": "queued_command", "prompt": "Never push to main in this project, always open a pull request.",
        "commandMode": "prompt", "origin": {"kind": "human"}});
    lines(&[
        user(0, json!("Please add a basket.")),
        call(1, &CHANNELS[0]),
        line(
            2,
            "user",
            json!({"message": {"role": "user", "content": [result]}, "toolUseResult": format!("Error: {refused}"),
                "toolDenialKind": "user-rejected"}),
        ),
        line(4, "assistant", json!({"message": {"id": "m4", "role": "assistant", "content": [ask]}})),
        line(
            5,
            "user",
            json!({"message": {"role": "user", "content": [answer]},
                "toolUseResult": {"questions": [question], "answers": {"Which package manager?": WISH}}}),
        ),
        line(6, "attachment", json!({"attachment": queued})),
    ])
}
