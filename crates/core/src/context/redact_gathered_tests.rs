use serde_json::json;

use super::super::signal::SignalKind;
use super::*;
use crate::domain::{Extra, FormatViolation, LogReference, SkippedLogLine};

/// A key of its own for every corner, and none that a scanner of this repository takes for one.
fn key(number: u32) -> String {
    format!("{}{}C7e42F292c6912E7710c838347Ae178B{number:02}", ["gh", "p_"].concat(), "16")
}

fn some(number: u32) -> Option<String> {
    Some(format!("x {}", key(number)))
}

fn clean(mut given: Value) -> Value {
    redact_value(&mut given, &Redactor::new());
    given
}

#[test]
fn secrets_leave_every_corner() {
    let about = SessionDetails {
        session_id: Some(key(1)),
        trajectory_id: some(2),
        schema_version: some(3),
        agent: some(4),
        agent_version: some(5),
        model: some(6),
        directory: some(7),
        branch: some(8),
        repository: some(9),
        parent_session_id: some(10),
        task_id: some(11),
        subtask_id: some(12),
        title: some(13),
        started_at: None,
        finished_at: None,
    };
    let output = |number| ToolOutput { text: format!("out {}", key(number)), ..ToolOutput::default() };
    let mut extra = Extra::new();
    extra.insert("password".to_owned(), json!("hunter2-Correct9"));
    extra.insert(key(14), json!({"deep": [key(15)]}));
    let call = ToolCall {
        id: key(16),
        tool: format!("tool_{}", key(17)),
        arguments: json!({"deep": [{"env": format!("TOKEN={}", key(18))}], key(19): "v", "password": "hunter2-Correct9"}),
        output: Some(output(20)),
    };
    let step = Step {
        speaker: Speaker::Other(key(21)),
        text: key(22),
        reasoning: some(23),
        model: some(24),
        subagent: some(25),
        calls: vec![call],
        outputs: vec![output(26)],
        extra,
        ..Step::default()
    };
    let outcome = SessionOutcome {
        status: EpisodeStatus::Other(key(27)),
        reward: None,
        error: some(28),
        from: format!("x/{}", key(29)),
    };
    let signal = Signal {
        kind: SignalKind::FailedCall,
        error_family: None,
        error_class: None,
        trajectory: 0,
        step: 1,
        steps: Vec::new(),
        also: Vec::new(),
        times: 1,
        tool: Some(key(30)),
        alternative: false,
        text: key(31),
        quote: some(32),
        extra: Extra::new(),
    };
    let survey = LogStatistics {
        happenings: BTreeMap::from([(key(33), 2), ("compacted".to_owned(), 1)]),
        skipped: vec![SkippedLogLine { line: 1, why: format!("unknown type `{}`", key(34)) }],
        findings: vec![FormatViolation { path: key(35), problem: key(36) }],
        elsewhere: vec![LogReference { part: Part::Other(key(37)), path: some(38), id: some(39) }],
        ..LogStatistics::default()
    };
    let trajectory = Trajectory { about, steps: vec![step], outcome: Some(outcome), ..Trajectory::default() };
    let mut all = GatheredLogs {
        trajectories: vec![trajectory],
        signals: vec![signal],
        survey,
        given: vec![key(40)],
        clipped: Vec::new(),
    };
    redact_logs(&mut all, &Redactor::new());
    let shown = format!("{all:?}");
    for number in 1..=40 {
        assert!(!shown.contains(&key(number)), "{number} in {shown}");
    }
    assert!(!shown.contains("hunter2") && shown.contains("\"compacted\": 1"), "{shown}");
    assert_eq!(shown.matches("[redacted:").count(), 42, "{shown}");
}

#[test]
fn a_name_reaches_down_to_its_values() {
    for given in [
        json!({"password": 73_519_284_651_u64}),
        json!({"passwords": ["Tr0ub4dor3xyzzy9S", "other"]}),
        json!({"passwords": {"admin": "Tr0ub4dor3xyzzy9S"}}),
        json!({"secret": {"value": "Tr0ub4dor3xyzzy9T"}}),
        json!({"secret": [{"data": {"value": "Tr0ub4dor3xyzzy9T"}}]}),
        json!({"env": {"name": "DB_PASSWORD", "value": "Tr0ub4dor3xyzzy9R"}}),
        json!([{"key": "api_key", "value": "Tr0ub4dor3xyzzy9R"}]),
        json!({"headers": [{"name": "Authorization", "value": "Bearer Tr0ub4dor3xyzzy9Q"}]}),
        json!({"password": "Tr0ub4dor \"3xyzzy\"\n9Q"}),
    ] {
        let shown = clean(given.clone()).to_string();
        assert!(!shown.contains("Tr0ub") && !shown.contains("73519") && !shown.contains("3xyzzy"), "{given}: {shown}");
        assert!(shown.contains("[redacted:"), "{given}: {shown}");
    }
}

#[test]
fn what_is_only_near_a_secret_stays() {
    for given in [
        json!({"command": "cargo test", "timeout": 120_000, "file_path": "/home/dev/shop/src/token.rs"}),
        json!({"max_tokens": 200_000, "usage": {"prompt_tokens": 123_456, "total_tokens": 9_999_999}}),
        json!({"secret": {"name": "production-database", "type": "opaque"}}),
        json!({"password_policy": {"length": 12, "description": "at least twelve letters"}}),
        json!({"auth": {"type": "basic", "username": "dev"}}),
        json!(["git", "commit", "-m", "hash the password of a user", "--no-verify"]),
        json!(["password", "username", "email"]),
        json!({"name": "README.md", "value": "how to set a password"}),
        json!({"id": "toolu_01A09q90qw90lq917835lq9", "call_id": "call_FzFJXdzNtbTgnZsqvVbXDhYR"}),
    ] {
        assert_eq!(clean(given.clone()), given);
    }
}

#[test]
fn the_words_of_a_command_are_read_together() {
    let mark = |word: &Value| word.as_str().is_some_and(|word| word.starts_with("[redacted:"));
    let shown = clean(json!(["mysql", "-u", "root", "--password", "Tr0ub4dor&3xyzzy", "-e", "select 1"]));
    assert!(mark(&shown[4]), "{shown}");
    assert_eq!((&shown[3], &shown[6]), (&json!("--password"), &json!("select 1")));
    let shown = clean(json!({"argv": ["curl", "-u", "admin:Tr0ub4dor&3xyzzy", "https://example.com"]}));
    assert!(shown["argv"][2].as_str().unwrap().starts_with("admin:[redacted:"), "{shown}");
    assert_eq!(shown["argv"][3], "https://example.com");
    let shown = clean(json!(["deploy", "--password", "Tr0ub4dor3 xyzzy9 Correct7"]));
    assert!(mark(&shown[2]) && !shown.to_string().contains("xyzzy9"), "{shown}");
    let shown = clean(json!(["deploy", "--password", 73_519_284_651_u64, null, "now"]));
    assert!(mark(&shown[2]) && shown[4] == "now", "{shown}");
}

#[test]
fn a_log_cannot_make_gaps_in_what_is_not_clipped() {
    let forged = json!({"note": "before \u{e0c1}12\u{e0c1} after"});
    assert_eq!(clean(forged.clone()), forged);
}

#[test]
fn an_action_shows_no_secret_however_it_is_shortened() {
    let redactor = Redactor::new();
    let run = |command: String| {
        redact_action(ToolAction::Run { command }, &redactor).command().unwrap_or_default().to_owned()
    };
    let long = format!("deploy {} {}", "y".repeat(140), key(1));
    assert!(run(long).ends_with(']'));
    let cut = format!("{} {}", "y ".repeat(2030), key(1));
    assert!(!run(cut.get(..4094).unwrap().to_owned()).contains(key(1).get(..12).unwrap()));
    assert_eq!(run("cargo test".to_owned()), "cargo test");
}
