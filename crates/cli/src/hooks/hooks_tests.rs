use insta::assert_debug_snapshot;
use proptest::prelude::*;

use super::*;

fn fixture(agent: HookAgent, event: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks");
    std::fs::read_to_string(folder.join(agent.as_str()).join(format!("{event}.json"))).unwrap()
}

/// What sort of thing was heard, and the call.
fn told(heard: HookEvent) -> (&'static str, Option<HookCall>) {
    match heard {
        HookEvent::Ended(call) => ("ended", Some(call)),
        HookEvent::Paused(call) => ("paused", Some(call)),
        HookEvent::Started(call) => ("started", Some(call)),
        HookEvent::Prompted(call, _) => ("prompted", Some(call)),
        HookEvent::Rescued(call) => ("rescued", Some(call)),
        HookEvent::Ignored(_) => ("ignored", None),
    }
}

#[test]
fn every_event_of_every_agent_is_understood() {
    let check = |agent, event, expected, reason: Option<&str>, logs| {
        let (sort, call) = told(interpret_hook(agent, event, &fixture(agent, event)));
        let call = call.unwrap_or_else(|| panic!("{agent} {event} was ignored"));
        assert_eq!((sort, call.reason.as_deref(), call.transcript.len()), (expected, reason, logs), "{agent} {event}");
        assert_eq!(call.directory.as_deref(), Some("/home/ada/shop"), "{agent} {event}");
    };
    check(HookAgent::ClaudeCode, "session-start", "started", Some("compact"), 1);
    check(HookAgent::ClaudeCode, "prompt-submit", "prompted", None, 1);
    check(HookAgent::ClaudeCode, "stop", "paused", None, 1);
    check(HookAgent::ClaudeCode, "subagent-stop", "paused", None, 2);
    check(HookAgent::ClaudeCode, "pre-compact", "paused", Some("auto"), 1);
    check(HookAgent::ClaudeCode, "session-end", "ended", Some("clear"), 1);
    check(HookAgent::Codex, "session-start", "started", Some("startup"), 1);
    check(HookAgent::Codex, "prompt-submit", "prompted", None, 1);
    check(HookAgent::Codex, "stop", "paused", None, 0);
    check(HookAgent::Codex, "session-end", "ended", Some("other"), 0);
    check(HookAgent::Codex, "notify", "paused", None, 0);
    check(HookAgent::Gemini, "session-start", "started", Some("resume"), 1);
    check(HookAgent::Gemini, "before-agent", "prompted", None, 1);
    check(HookAgent::Gemini, "after-agent", "paused", None, 1);
    check(HookAgent::Gemini, "pre-compress", "paused", Some("manual"), 1);
    check(HookAgent::Gemini, "session-end", "ended", Some("exit"), 1);
    check(HookAgent::Generic, "session-end", "ended", None, 2);
    check(HookAgent::Healer, "complete", "rescued", Some("VerificationFailed"), 0);
}

#[test]
fn a_subagent_belongs_to_its_parents_session_and_nothing_it_said_is_kept() {
    assert_debug_snapshot!(interpret_hook(HookAgent::ClaudeCode, "SubagentStop", &fixture(HookAgent::ClaudeCode, "subagent-stop")), @r#"
    Paused(
        HookCall {
            agent: ClaudeCode,
            session: SessionId(
                "5b1d7c2e-8f0a-4c37-9a61-2f4e6d90c1b3",
            ),
            transcript: [
                "/home/ada/.claude/projects/-home-ada-shop/5b1d7c2e-8f0a-4c37-9a61-2f4e6d90c1b3.jsonl",
                "/home/ada/.claude/projects/-home-ada-shop/5b1d7c2e-8f0a-4c37-9a61-2f4e6d90c1b3/subagents/agent-a81f3c.jsonl",
            ],
            directory: Some(
                "/home/ada/shop",
            ),
            task: None,
            subtask: None,
            reason: None,
            status: None,
            healer_status: None,
            model: None,
        },
    )
    "#);
}

#[test]
fn a_path_that_starts_at_home_stays_as_it_is() {
    let (_, call) =
        told(interpret_hook(HookAgent::ClaudeCode, "pre-compact", &fixture(HookAgent::ClaudeCode, "pre-compact")));
    assert!(call.unwrap().transcript[0].starts_with("~/.claude/"));
}

#[test]
fn a_prompt_is_kept_up_to_a_length_and_an_empty_one_is_none() {
    let prompted = |prompt: &str| {
        let payload = serde_json::json!({"session_id": "s-1", "prompt": prompt}).to_string();
        match interpret_hook(HookAgent::Codex, "UserPromptSubmit", &payload) {
            HookEvent::Prompted(_, prompt) => Some(prompt),
            _ => None,
        }
    };
    assert_eq!(prompted("Fix it.").as_deref(), Some("Fix it."));
    assert_eq!(prompted(&"é".repeat(100_000)).unwrap().chars().count(), MAX_PROMPT_CHARACTERS);
    assert_eq!(prompted("  "), None);
}

#[test]
fn events_are_known_by_our_words_and_by_the_agents_own() {
    let check = |agent: HookAgent, event: &str, expected: &str| {
        let payload = r#"{"session_id": "s-1", "sessionId": "s-1", "prompt": "p"}"#;
        assert_eq!(told(interpret_hook(agent, event, payload)).0, expected, "{agent} {event}");
    };
    check(HookAgent::ClaudeCode, "SessionEnd", "ended");
    check(HookAgent::ClaudeCode, "session_end", "ended");
    check(HookAgent::ClaudeCode, " session-end ", "ended");
    check(HookAgent::ClaudeCode, "StopFailure", "paused");
    check(HookAgent::ClaudeCode, "UserPromptSubmit", "prompted");
    check(HookAgent::ClaudeCode, "AfterAgent", "ignored");
    check(HookAgent::ClaudeCode, "PostToolUse", "ignored");
    check(HookAgent::ClaudeCode, "notify", "ignored");
    check(HookAgent::ClaudeCode, "", "ignored");
    check(HookAgent::Codex, "agent-turn-complete", "paused");
    check(HookAgent::Gemini, "AfterAgent", "paused");
    check(HookAgent::Gemini, "stop", "paused");
    check(HookAgent::Gemini, "prompt-submit", "prompted");
    check(HookAgent::Gemini, "BeforeTool", "ignored");
    check(HookAgent::Generic, "stop", "paused");
    check(HookAgent::Generic, "prompt-submit", "prompted");
    check(HookAgent::Healer, "session-end", "rescued");
    check(HookAgent::Healer, "stop", "ignored");
    check(HookAgent::Healer, "session-start", "ignored");
}

#[test]
fn the_payload_knows_better_than_the_command_line_which_event_it_is() {
    let check = |agent, event, payload: &str, expected| {
        assert_eq!(told(interpret_hook(agent, event, payload)).0, expected, "{payload}");
    };
    check(HookAgent::ClaudeCode, "session-end", r#"{"session_id":"s","hook_event_name":"Stop"}"#, "paused");
    check(HookAgent::ClaudeCode, "stop", r#"{"session_id":"s","hook_event_name":"PostToolUse"}"#, "ignored");
    check(HookAgent::Codex, "notify", r#"{"thread-id":"s","type":"approval-requested"}"#, "ignored");
    check(HookAgent::ClaudeCode, "stop", r#"{"session_id":"s","hook_event_name":null}"#, "paused");
    check(HookAgent::ClaudeCode, "stop", r#"{"session_id":"s","hook_event_name":7}"#, "paused");
}

#[test]
fn what_makes_no_sense_is_ignored_with_a_reason_that_quotes_nothing() {
    let check = |payload: &str, expected: &str| {
        let heard = interpret_hook(HookAgent::ClaudeCode, "stop", payload);
        assert_eq!(heard, HookEvent::Ignored(expected.to_owned()), "{payload}");
    };
    check("", "there is no payload");
    check(" \n", "there is no payload");
    check("\u{feff}", "there is no payload");
    check("hunter2", "the payload is no JSON object");
    check("[1]", "the payload is no JSON object");
    check("null", "the payload is no JSON object");
    check(r#"{"session_id": "s-1""#, "the payload is not JSON");
    check("{hunter2}", "the payload is not JSON");
    check("{}", "the payload names no session");
    check(r#"{"session_id": null}"#, "the payload names no session");
    check(r#"{"session_id": ["s"]}"#, "the payload names no session");
    check(r#"{"session_id": "../../etc/passwd"}"#, "the payload's session id is not safe to use");
    check(r#"{"session_id": "a b"}"#, "the payload's session id is not safe to use");
    let HookEvent::Ignored(why) = interpret_hook(HookAgent::Gemini, "hunter2", "{}") else { panic!() };
    assert_eq!(why, "gemini has no event of that name that matters");
}

#[test]
fn strange_members_do_no_harm() {
    let payload = "\u{feff}\n{\"session_id\": 42, \"transcript_path\": {\"a\": 1}, \"cwd\": 7, \"reason\": \"a whole \
                   sentence\", \"model\": [], \"session_id\": \"s-2\", \"prompt\": null, \"deep\": [[[[]]]]} trailing";
    let (sort, call) = told(interpret_hook(HookAgent::ClaudeCode, "session-end", payload));
    let call = call.unwrap();
    assert_eq!((sort, call.session.as_str()), ("ended", "s-2"));
    assert_eq!((call.transcript, call.directory, call.reason, call.model), (vec![], None, None, None));
    let (_, call) = told(interpret_hook(HookAgent::ClaudeCode, "stop", r#"{"session_id": 42}"#));
    assert_eq!(call.unwrap().session.as_str(), "42");
}

#[test]
fn what_is_deep_or_long_is_read_over() {
    let deep = format!(r#"{{"x": {}{}, "session_id": "s-1"}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(told(interpret_hook(HookAgent::Codex, "stop", &deep)).0, "paused");
    let wanted = format!(r#"{{"cwd": {}{}, "session_id": "s-1"}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(told(interpret_hook(HookAgent::Codex, "stop", &wanted)).0, "ignored");
    let long = serde_json::json!({"last_assistant_message": "x".repeat(50_000_000), "session_id": "s-1"}).to_string();
    assert_eq!(told(interpret_hook(HookAgent::Codex, "stop", &long)).0, "paused");
}

#[test]
fn a_trigger_or_any_part_of_one_will_do() {
    let check = |agent, payload: &str, expected: (&str, Option<EpisodeStatus>, Option<&str>)| {
        let (sort, call) = told(interpret_hook(agent, "session-end", payload));
        let call = call.unwrap();
        assert_eq!((sort, call.status, call.healer_status.as_deref()), expected, "{payload}");
    };
    let failed = || Some(EpisodeStatus::Failed);
    check(HookAgent::Generic, r#"{"sessionId":"s"}"#, ("ended", None, None));
    check(HookAgent::Generic, r#"{"session_id":"s","scenario":"session_failed"}"#, ("ended", failed(), None));
    check(HookAgent::Generic, r#"{"session_id":"s","scenario":"timeout"}"#, ("ended", failed(), None));
    check(HookAgent::Generic, r#"{"session_id":"s","outcome":"FAILED"}"#, ("ended", failed(), None));
    let partial = || Some(EpisodeStatus::Partial);
    check(
        HookAgent::Generic,
        r#"{"session_id":"s","status":"blocked","scenario":"session_complete"}"#,
        ("ended", partial(), None),
    );
    check(HookAgent::Generic, r#"{"session_id":"s","scenario":"healer_invocation"}"#, ("rescued", None, None));
    check(
        HookAgent::Generic,
        r#"{"sessionId":"s","healerStatus":"Unresolved"}"#,
        ("rescued", failed(), Some("unresolved")),
    );
    check(HookAgent::Healer, r#"{"sessionId":"s","status":"contained"}"#, ("rescued", partial(), Some("contained")));
    check(HookAgent::Healer, r#"{"sessionId":"s","outcome":"skipped"}"#, ("rescued", None, Some("skipped")));
    check(HookAgent::Healer, r#"{"sessionId":"s","status":"whatever"}"#, ("rescued", None, None));
}

#[test]
fn an_agent_is_known_by_its_word_and_a_slip_is_told() {
    for agent in HookAgent::ALL {
        assert_eq!(HookAgent::parse(agent.as_str()), Ok(agent));
    }
    let check = |word, expected: &str| assert_eq!(HookAgent::parse(word).unwrap_err().to_string(), expected);
    check("claude", "`claude` is not an agent: did you mean claude-code?");
    check("claude_code", "`claude_code` is not an agent: did you mean claude-code?");
    check("codx", "`codx` is not an agent: did you mean codex?");
    check("cursor", "`cursor` is not an agent: it is one of claude-code, codex, gemini, generic, healer");
    check("", "`` is not an agent: it is one of claude-code, codex, gemini, generic, healer");
}

fn any_agent() -> impl Strategy<Value = HookAgent> {
    prop::sample::select(HookAgent::ALL.to_vec())
}

fn any_event() -> impl Strategy<Value = String> {
    let known = ["session-end", "stop", "SessionStart", "prompt-submit", "notify", "AfterAgent", "complete"];
    prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,20}"]
}

fn any_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<u64>().prop_map(serde_json::Value::from),
        ".{0,40}".prop_map(serde_json::Value::from),
        "[a-z0-9./~-]{0,20}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(serde_json::Value::from))
}

proptest! {
    #[test]
    fn no_payload_is_too_strange(agent in any_agent(), event in any_event(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = interpret_hook(agent, &event, &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn every_call_is_safe_to_use(
        agent in any_agent(),
        event in any_event(),
        values in prop::collection::vec(any_value(), 12),
    ) {
        let names = ["session_id", "sessionId", "thread-id", "transcript_path", "logPaths", "cwd", "projectRoot",
            "reason", "status", "scenario", "taskId", "prompt"];
        let payload: serde_json::Map<_, _> = names.map(str::to_owned).into_iter().zip(values).collect();
        let (_, call) = told(interpret_hook(agent, &event, &serde_json::Value::Object(payload).to_string()));
        if let Some(call) = call {
            prop_assert!(SessionId::parse(call.session.as_str()).is_ok());
            let texts = call.transcript.iter().chain(&call.directory).chain(&call.task).chain(&call.reason);
            for text in texts {
                prop_assert!(!text.contains(char::is_control));
            }
        }
    }
}
