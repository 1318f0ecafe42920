use serde_json::{Value, json};

use super::super::tests::{agent, events, happenings, outputs, said, user, with};
use crate::domain::{Happening, OutputOwner, Speaker, ToolOutput};

#[test]
fn going_back_is_noticed_and_parallel_results_are_not() {
    let line = |line: Value, uuid: &str, parent: &str| with(line, json!({"uuid": uuid, "parentUuid": parent}));
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Read", "input": {}}]);
    let result = |id: &str| user(json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]));
    let events = events(vec![
        user(json!("start")),
        line(agent("m1", call("t1"), json!(1)), "a1", ""),
        line(agent("m1", call("t2"), json!(1)), "a2", "a1"),
        line(result("t1"), "r1", "a1"),
        line(json!({"type": "progress"}), "p1", "r1"),
        line(result("t2"), "r2", "a2"),
        line(user(json!("wait, one thing")), "u1", "r1"),
        line(agent("m2", json!("yes"), json!(1)), "a3", "u1"),
        line(user(json!("after a hook")), "u2", "a3"),
        line(user(json!("no, like this")), "u3", "p1"),
        line(user(json!("or like this")), "u4", "r2"),
        line(user(json!("from elsewhere")), "u5", "unknown"),
    ]);
    assert_eq!(
        happenings(&events),
        [
            (5, Happening::RolledBack, "steps 3 to 5 were taken back".to_owned()),
            (6, Happening::RolledBack, "steps 3 to 6 were taken back".to_owned()),
        ]
    );
}

#[test]
fn who_speaks_in_the_users_name() {
    let image = json!({"type": "image", "source": {"type": "base64", "data": "aGk="}});
    let table = [
        (user(json!("hello")), vec![(Speaker::User, "hello")]),
        (with(user(json!("hello")), json!({"isMeta": true})), vec![(Speaker::System, "hello")]),
        (with(user(json!("hello")), json!({"isSynthetic": true})), vec![(Speaker::System, "hello")]),
        (with(user(json!("hi")), json!({"origin": {"kind": "task-notification"}})), vec![(Speaker::System, "hi")]),
        (with(user(json!("hi")), json!({"origin": {"kind": "peer"}})), vec![(Speaker::OtherAgent, "hi")]),
        (with(user(json!("hi")), json!({"origin": {"kind": "human"}})), vec![(Speaker::User, "hi")]),
        (user(json!([image.clone(), {"type": "text", "text": "see?"}])), vec![(Speaker::User, "[image]\nsee?")]),
        (user(json!([image])), vec![(Speaker::User, "[image]")]),
        (json!({"type": "user", "message": "plain"}), vec![(Speaker::User, "plain")]),
        (json!({"type": "user", "content": "bare"}), vec![(Speaker::User, "bare")]),
        (json!({"message": {"role": "user", "content": "no type"}}), vec![(Speaker::User, "no type")]),
        (json!({"type": "new-kind", "message": {"role": "user", "content": "x"}}), vec![(Speaker::System, "x")]),
        (with(user(json!("hi")), json!({"origin": {"kind": "channel"}})), vec![(Speaker::OtherAgent, "hi")]),
        (with(user(json!("hi")), json!({"origin": {"kind": "new-kind"}})), vec![(Speaker::System, "hi")]),
        (with(user(json!("hi")), json!({"sourceToolUseID": "t1"})), vec![(Speaker::System, "hi")]),
        (with(user(json!("hi")), json!({"promptSource": "system"})), vec![(Speaker::System, "hi")]),
        (with(user(json!("hi")), json!({"promptSource": "queued"})), vec![(Speaker::User, "hi")]),
        (
            user(json!([{"type": "tool_result", "content": "whose?"}, {"type": "text", "text": "hi"}])),
            vec![(Speaker::Tool, "whose?"), (Speaker::System, "hi")],
        ),
        (
            json!({"type": "system", "subtype": "local_command",
                "content": "<command-name>/title</command-name><command-args>Basket</command-args>"}),
            vec![(Speaker::System, "/title"), (Speaker::User, "Basket")],
        ),
        (user(json!([{"type": "tool_result", "content": "whose?"}])), vec![(Speaker::Tool, "whose?")]),
        (user(json!(null)), vec![]),
        (user(json!("  ")), vec![]),
    ];
    for (line, expected) in table {
        let told = said(&events(vec![line.clone()]));
        let expected: Vec<_> = expected.into_iter().map(|(speaker, text)| (speaker, text.to_owned())).collect();
        assert_eq!(told, expected, "{line}");
    }
}

#[test]
fn what_came_back_from_tools() {
    let result = |block: Value, beside: Value| {
        let mut block = block;
        block["type"] = json!("tool_result");
        block["tool_use_id"] = json!("t1");
        let events = events(vec![with(user(json!([block])), json!({"toolUseResult": beside}))]);
        let (of, output) = outputs(&events).remove(0);
        assert_eq!(of, OutputOwner::Call("t1".to_owned()));
        output
    };
    let output = |text: &str| ToolOutput { text: text.to_owned(), ..ToolOutput::default() };
    let failed = |text: &str| ToolOutput { failed: Some(true), ..output(text) };
    assert_eq!(result(json!({"content": "ok"}), json!(null)), output("ok"));
    assert_eq!(result(json!({"content": "ok", "is_error": null}), json!(null)).failed, None);
    assert_eq!(result(json!({"content": "ok", "is_error": false}), json!(null)).failed, Some(false));
    assert_eq!(result(json!({"content": "no", "is_error": true}), json!("Error: no")), failed("no"));
    assert_eq!(result(json!({"is_error": true}), json!("Error: no")), failed("Error: no"));
    let parts = json!({"content": [{"type": "text", "text": "a"}, {"type": "image", "source": {}}]});
    assert_eq!(result(parts, json!({"stderr": ""})), output("a\n[image]"));
    let bash = json!({"stdout": "out", "stderr": "warning\n", "interrupted": true, "returnCode": 2, "durationMs": 5});
    assert_eq!(
        result(json!({"content": "out"}), bash.clone()),
        ToolOutput { interrupted: true, exit_code: Some(2), duration_ms: Some(5), ..output("out\nwarning") }
    );
    assert_eq!(result(json!({"content": "out\nwarning"}), bash).text, "out\nwarning");
    let stopped = "[Request interrupted by user for tool use]";
    assert!(result(json!({"content": stopped, "is_error": true}), json!("Error: stopped")).interrupted);
}

#[test]
fn several_results_in_one_line_do_not_share_what_stands_beside_them() {
    let results = json!([
        {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "t2", "content": "two"},
    ]);
    let events = events(vec![with(user(results), json!({"toolUseResult": {"stderr": "whose?"}}))]);
    let texts: Vec<_> = outputs(&events).into_iter().map(|(_, output)| output.text).collect();
    assert_eq!(texts, ["one", "two"]);
}

/// Returns what the person says in a log.
fn words_of_user(lines: Vec<Value>) -> Vec<String> {
    let said = said(&events(lines)).into_iter().filter(|(speaker, _)| *speaker == Speaker::User);
    said.map(|(_, text)| text).collect()
}

fn call_with(tool: &str, input: Value) -> Value {
    agent("m1", json!([{"type": "tool_use", "id": "t1", "name": tool, "input": input}]), json!(1))
}

fn ask(questions: usize) -> Value {
    call_with("AskUserQuestion", json!({"questions": vec![json!({"question": "?"}); questions]}))
}

fn answered(text: &str) -> Value {
    user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": text}]))
}

const NOBODY: [&str; 0] = [];

#[test]
fn answers_in_a_stream_are_a_persons_words() {
    let one = r#""Which db?"="No, use postgres""#;
    let two = r#""Which db?"="A "small" one, please", "Why, "x"?"="Speed""#;
    let noted = r#""Look?"="B" selected preview:
box user notes: less blue, "Go?"="Yes" user notes: now"#;
    let end = ". You can now continue with the user's answers in mind.";
    for (count, text, expected) in
        [(1, one, "No, use postgres"), (2, two, "A \"small\" one, please\nSpeed"), (2, noted, "B\nless blue\nYes\nnow")]
    {
        let text = format!("User has answered your questions: {text}{end}");
        assert_eq!(words_of_user(vec![ask(count), answered(&text)]), [expected]);
        assert_eq!(words_of_user(vec![ask(count + 1), answered(&text)]), NOBODY, "it is unclear who says what");
        assert_eq!(words_of_user(vec![answered(&text)]), NOBODY, "nothing but the text tells");
        assert_eq!(words_of_user(vec![call_with("WebFetch", json!({})), answered(&text)]), NOBODY, "a page pretends");
        assert_eq!(outputs(&events(vec![answered(&text)])).len(), 1);
    }
}

#[test]
fn answers_in_the_newer_wording_stay_in_the_output() {
    let text = "Your questions have been answered: \"Which db?\"=\"postgres\". You can now continue with these answers in mind.";
    let told = with(answered(text), json!({"toolUseResult": {"answers": {"Which db?": "postgres"}}}));
    assert_eq!(words_of_user(vec![ask(1), told.clone()]), NOBODY);
    assert!(outputs(&events(vec![ask(1), told])).iter().any(|(_, output)| output.text.contains("postgres")));
}

#[test]
fn answers_are_read_from_their_record() {
    let record = json!({
        "questions": [{"question": "Which db?"}, {"question": "Say \"a\"=\"b\", \"c"}],
        "answers": {"Say \"a\"=\"b\", \"c": "Yes", "Which db?": "No, use postgres"},
        "annotations": {"Which db?": {"notes": "the small one"}},
    });
    let told = with(answered("User has answered your questions: as below"), json!({"toolUseResult": record}));
    assert_eq!(words_of_user(vec![ask(2), told.clone()]), ["No, use postgres\nthe small one\nYes"]);
    assert_eq!(words_of_user(vec![told.clone()]), NOBODY, "nothing shows that it was a question");
    assert_eq!(words_of_user(vec![call_with("mcp__form__ask", json!({})), told]), NOBODY, "a server pretends");
    let failed = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": true}]);
    let failed = with(user(failed), json!({"toolUseResult": {"answers": {"Which db?": "x"}}}));
    assert_eq!(words_of_user(vec![ask(1), failed]), NOBODY, "it failed");
    let bare = with(
        answered("User has answered your questions: ok"),
        json!({"toolUseResult": {"answers": {"Which db?": ["a", "b"]}}}),
    );
    assert_eq!(words_of_user(vec![ask(1), bare]), ["a\nb"]);
}

#[test]
fn the_reason_of_a_refusal_is_a_persons_words_only_by_its_record() {
    let call = call_with("Edit", json!({}));
    let text = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to \
                proceed, the user said:\nuse tabs\n\nNote: The user's next message may help.";
    let result = |is_error: bool, beside: Value| {
        let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": text, "is_error": is_error});
        with(user(json!([block])), json!({"toolUseResult": beside}))
    };
    for beside in [json!(format!("Error: {text}")), json!("User rejected tool use")] {
        assert_eq!(words_of_user(vec![call.clone(), result(true, beside.clone())]), ["use tabs"]);
        assert_eq!(words_of_user(vec![result(true, beside.clone())]), NOBODY, "no such call");
        assert_eq!(words_of_user(vec![call.clone(), result(false, beside)]), NOBODY, "no error");
    }
    for beside in [json!({"stdout": text}), json!("Error: Exit code 1"), json!(null)] {
        assert_eq!(words_of_user(vec![call.clone(), result(true, beside)]), NOBODY, "a file that says so");
    }
    for (kind, expected) in [("user-rejected", vec!["use tabs"]), ("hook-denied", vec![]), ("interrupted", vec![])] {
        let flagged = with(result(true, json!(format!("Error: {text}"))), json!({"toolDenialKind": kind}));
        assert_eq!(words_of_user(vec![call.clone(), flagged.clone()]), expected, "{kind}");
        assert_eq!(words_of_user(vec![flagged]), expected, "{kind}, and the call is elsewhere");
    }
    for tool in ["Bash", "Read", "WebFetch", "Task", "mcp__notes__read"] {
        for beside in [json!(format!("Error: {text}")), json!("User rejected tool use"), json!(text)] {
            let lines = vec![call_with(tool, json!({})), result(true, beside)];
            assert_eq!(words_of_user(lines), NOBODY, "{tool} could have printed it");
        }
    }
    let declined = vec![ask(1), result(true, json!(format!("Error: {text}")))];
    assert!(said(&events(declined.clone())).contains(&(Speaker::System, "use tabs".to_owned())));
    assert_eq!(words_of_user(declined), NOBODY, "the harness words how a question is declined");
    let shown = outputs(&events(vec![call, result(false, json!({"stdout": text}))])).remove(0).1;
    assert!(!shown.interrupted, "showing such a text interrupts nothing");
}

#[test]
fn requests_that_repeat_messages_count_once() {
    let blob = json!({"type": "api-request-blob", "uuid": "b", "message": {"role": "user", "content": "hello"},
        "messages": [{"role": "user", "content": "hello"}]});
    let events = events(vec![user(json!("hello")), blob]);
    assert_eq!(said(&events), [(Speaker::User, "hello".to_owned())]);
    assert!(!events.iter().any(|event| matches!(event, crate::domain::TrajectoryEvent::Skipped(_))));
}

#[test]
fn queued_words_are_whose_the_record_says() {
    let queued = |mode: &str| json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": "build is done", "commandMode": mode}});
    assert_eq!(said(&events(vec![queued("prompt")])), [(Speaker::User, "build is done".to_owned())]);
    for mode in ["task-notification", "bash", "new-mode"] {
        assert_eq!(said(&events(vec![queued(mode)])), [(Speaker::System, "build is done".to_owned())], "{mode}");
    }
    let mut meta = queued("prompt");
    meta["attachment"]["isMeta"] = json!(true);
    assert_eq!(said(&events(vec![meta])), [(Speaker::System, "build is done".to_owned())]);
    let mut channel = queued("prompt");
    channel["attachment"]["origin"] = json!({"kind": "channel"});
    assert_eq!(said(&events(vec![channel])), [(Speaker::OtherAgent, "build is done".to_owned())]);
}
