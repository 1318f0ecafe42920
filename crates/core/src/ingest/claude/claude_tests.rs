use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::domain::{EpisodeStatus, OutputOwner, SessionOutcome, ToolCall, ToolOutput};
use crate::ingest::{LogFormat, ReaderSettings, SessionReader};

pub(super) const BASKET: &str = include_str!("../../../../../fixtures/logs/claude/basket.jsonl");
pub(super) const LINTER: &str =
    include_str!("../../../../../fixtures/logs/claude/basket/subagents/agent-a1b2c3d.jsonl");
pub(super) const RESUMED: &str = include_str!("../../../../../fixtures/logs/claude/basket-resumed.jsonl");
pub(super) const HEADLESS: &str = include_str!("../../../../../fixtures/logs/claude/headless.jsonl");

pub(super) fn events(lines: Vec<Value>) -> Vec<TrajectoryEvent> {
    let mut claude = ClaudeReader::default();
    let mut events = Vec::new();
    for (number, line) in (1..).zip(lines) {
        claude.read_log_line(number, line, &mut events);
    }
    claude.finish_log(&mut events);
    events
}

pub(super) fn read(reading: &mut SessionReader, log: &str) -> Vec<TrajectoryEvent> {
    let mut events = Vec::new();
    assert_eq!(reading.read_log(&mut log.as_bytes(), &mut events).unwrap(), LogFormat::ClaudeCode);
    events
}

pub(super) fn read_alone(log: &str) -> Vec<TrajectoryEvent> {
    read(&mut SessionReader::new(ReaderSettings::default()), log)
}

pub(super) fn about(events: &[TrajectoryEvent]) -> SessionDetails {
    let mut about = SessionDetails::default();
    for event in events {
        if let TrajectoryEvent::About(more) = event {
            about.fill_from((**more).clone());
        }
    }
    about
}

/// Steps with everything that was added to them later.
pub(super) fn steps(events: &[TrajectoryEvent]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for event in events {
        match event {
            TrajectoryEvent::Step(step) => steps.push((**step).clone()),
            TrajectoryEvent::More(step, text, reasoning) => {
                let step = &mut steps[*step as usize - 1];
                step.text.push_str(text);
                step.reasoning = step.reasoning.take().or_else(|| reasoning.clone());
            }
            TrajectoryEvent::Call(step, call) => steps[*step as usize - 1].calls.push(call.clone()),
            TrajectoryEvent::Output(OutputOwner::Call(id), output) => {
                for call in steps.iter_mut().flat_map(|step| &mut step.calls).filter(|call| call.id == *id) {
                    call.output = Some(output.clone());
                }
            }
            _ => {}
        }
    }
    steps
}

pub(super) fn said(events: &[TrajectoryEvent]) -> Vec<(Speaker, String)> {
    steps(events).into_iter().map(|step| (step.speaker, step.text)).collect()
}

pub(super) fn happenings(events: &[TrajectoryEvent]) -> Vec<(u32, Happening, String)> {
    let happened = |event: &TrajectoryEvent| match event {
        TrajectoryEvent::Happened(step, what, text) => Some((*step, what.clone(), text.clone())),
        _ => None,
    };
    events.iter().filter_map(happened).collect()
}

pub(super) fn spent(events: &[TrajectoryEvent]) -> BTreeMap<u32, TokenUsage> {
    let spent = |event: &TrajectoryEvent| match event {
        TrajectoryEvent::Spent(step, usage) => Some((*step, *usage)),
        _ => None,
    };
    events.iter().filter_map(spent).collect()
}

pub(super) fn total(events: &[TrajectoryEvent]) -> TokenUsage {
    spent(events).into_values().fold(TokenUsage::default(), TokenUsage::add_usage)
}

pub(super) fn calls(events: &[TrajectoryEvent]) -> BTreeMap<String, ToolCall> {
    steps(events).into_iter().flat_map(|step| step.calls).map(|call| (call.id.clone(), call)).collect()
}

pub(super) fn outputs(events: &[TrajectoryEvent]) -> Vec<(OutputOwner, ToolOutput)> {
    let output = |event: &TrajectoryEvent| match event {
        TrajectoryEvent::Output(of, output) => Some((of.clone(), output.clone())),
        _ => None,
    };
    events.iter().filter_map(output).collect()
}

pub(super) fn agent(id: &str, content: Value, output_tokens: Value) -> Value {
    json!({"type": "assistant", "message": {"id": id, "role": "assistant", "model": "claude-opus-5", "content": content,
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5,
            "output_tokens": output_tokens}}})
}

pub(super) fn user(content: Value) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content}})
}

pub(super) fn with(mut line: Value, more: Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        line[key] = value.clone();
    }
    line
}

#[test]
fn a_whole_session_reads() {
    use Speaker::{Agent, System, User};
    let events = read_alone(BASKET);
    let about = about(&events);
    assert_eq!(about.agent.as_deref(), Some("claude-code"));
    assert_eq!(about.agent_version.as_deref(), Some("2.1.120"));
    assert_eq!(about.session_id.as_deref(), Some("5b0c7d1e-0000-4000-8000-000000000001"));
    assert_eq!(about.trajectory_id, None);
    assert_eq!(about.directory.as_deref(), Some("/home/dev/shop"));
    assert_eq!(about.branch.as_deref(), Some("basket"));
    assert_eq!(about.model.as_deref(), Some("claude-opus-5"));
    assert_eq!(about.title.as_deref(), Some("Fix the basket total"));
    assert_eq!(about.started_at.unwrap().to_rfc3339(), "2026-03-02T09:00:01+00:00");
    assert_eq!(about.finished_at.unwrap().to_rfc3339(), "2026-03-02T09:00:31+00:00");

    let told: Vec<(Speaker, String)> = said(&events);
    let told: Vec<(Speaker, &str)> = told.iter().map(|(speaker, text)| (speaker.clone(), text.as_str())).collect();
    assert_eq!(
        told,
        [
            (System, "Today is Monday."),
            (User, "The basket total is wrong, please fix it"),
            (Agent, "I run the tests first."),
            (Agent, ""),
            (User, "use the parse function of the money module"),
            (Agent, ""),
            (Agent, "Fixed: the prices were strings."),
            (System, "Stop hook feedback:\n[lint.sh]: run the linter too"),
            (Agent, ""),
            (Agent, "The linter has no findings."),
            (System, "/review"),
            (User, "only the basket module"),
            (System, "Review the changes. Focus: only the basket module"),
            (Agent, "Two remarks."),
            (User, "Forget the review. Write a changelog entry"),
            (User, "in British English, please"),
            (
                System,
                "This session is being continued from a previous conversation that ran out of context. The basket \
                 was fixed."
            ),
            (Agent, ""),
        ]
    );
    assert_eq!(
        happenings(&events),
        [
            (7, Happening::HookFeedback, "run the linter too".to_owned()),
            (14, Happening::Interrupted, "[Request interrupted by user]".to_owned()),
            (14, Happening::RolledBack, "steps 11 to 14 were taken back".to_owned()),
            (16, Happening::ApiError, "529 Overloaded (retry 1 of 10)".to_owned()),
            (16, Happening::ApiError, "API Error: 529 Overloaded".to_owned()),
            (16, Happening::Compacted, "auto, 155000 tokens before".to_owned()),
        ]
    );
    let steps = steps(&events);
    assert_eq!(steps[2].reasoning.as_deref(), Some("Look at the tests first."));
    assert_eq!(steps[2].calls.len(), 2);
    assert_eq!(steps[2].model, None);
    assert_eq!(steps[17].model.as_deref(), Some("claude-haiku-4-5"));
    let calls = calls(&events);
    assert_eq!(calls.len(), 6);
    assert_eq!(calls["toolu_01"].output.as_ref().unwrap().failed, Some(true));
    assert_eq!(calls["toolu_02"].output.as_ref().unwrap().failed, None);
    assert!(calls["toolu_03"].output.as_ref().unwrap().interrupted);
    let ran = calls["toolu_04"].output.as_ref().unwrap();
    assert_eq!((ran.text.as_str(), ran.duration_ms), ("12 passing\nnpm warn old lockfile", Some(2100)));
    assert_eq!(calls["toolu_05"].output.as_ref().unwrap().duration_ms, Some(9000));
    assert!(events.iter().any(
        |event| matches!(event, TrajectoryEvent::Elsewhere(elsewhere) if elsewhere.id.as_deref() == Some("a1b2c3d"))
    ));
    assert!(!events.iter().any(|event| matches!(event, TrajectoryEvent::Skipped(_))));
}

#[test]
fn a_message_is_counted_once_though_it_is_spread_over_lines() {
    let per_line = |log: &str, key: &str| -> u64 {
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["message"]["usage"][key].as_u64()).sum()
    };
    let events = read_alone(BASKET);
    let spent = spent(&events);
    assert_eq!(spent[&3].completion_tokens, Some(160), "the last word counts");
    assert_eq!(spent[&3].prompt_tokens, Some(10 + 2000 + 300));
    assert_eq!(spent[&18].completion_tokens, None, "null is unknown");
    let total = total(&events);
    assert_eq!(total.completion_tokens, Some(160 + 60 + 70 + 20 + 30 + 12 + 40));
    assert_eq!(per_line(BASKET, "output_tokens"), 490, "what a sum over lines would give");
    assert_ne!(total.cached_tokens, Some(per_line(BASKET, "cache_read_input_tokens")));
}

#[test]
fn a_subagents_file_is_a_trajectory_of_its_own() {
    let events = read_alone(LINTER);
    let about = about(&events);
    assert_eq!(about.trajectory_id.as_deref(), Some("agent-a1b2c3d"));
    assert_eq!(about.parent_session_id.as_deref(), Some("5b0c7d1e-0000-4000-8000-000000000001"));
    assert_eq!(about.model.as_deref(), Some("claude-haiku-4-5"));
    let steps = steps(&events);
    assert_eq!(steps[0].speaker, Speaker::OtherAgent);
    assert_eq!(steps.len(), 3);
    assert!(steps.iter().all(|step| step.subagent.is_none() && step.model.is_none()));
}

#[test]
fn a_subagents_lines_among_others() {
    let side = json!({"isSidechain": true});
    let events = events(vec![
        with(user(json!("go")), json!({"isSidechain": false})),
        with(user(json!("find it")), json!({"isSidechain": true, "agentId": "abc"})),
        with(
            json!({"type": "assistant", "message": {"id": "s1", "model": "claude-haiku-4-5", "content": "found"}}),
            side.clone(),
        ),
        agent("m1", json!("thanks"), json!(1)),
        with(user(json!("from the stream")), json!({"parent_tool_use_id": "toolu_9"})),
    ]);
    let steps = steps(&events);
    let told: Vec<_> = steps.iter().map(|step| (step.speaker.clone(), step.subagent.as_deref())).collect();
    assert_eq!(
        told,
        [
            (Speaker::User, None),
            (Speaker::OtherAgent, Some("abc")),
            (Speaker::Agent, Some("sidechain")),
            (Speaker::Agent, None),
            (Speaker::OtherAgent, Some("toolu_9")),
        ]
    );
    assert_eq!(about(&events).model.as_deref(), Some("claude-opus-5"), "the first model of the main chain");
    assert_eq!(steps[2].model.as_deref(), Some("claude-haiku-4-5"));
}

#[test]
fn copies_in_a_resumed_file_are_told_once() {
    let alone = read_alone(RESUMED);
    let mut reading = SessionReader::new(ReaderSettings::default());
    let first = read(&mut reading, BASKET);
    let second = read(&mut reading, RESUMED);
    assert_eq!(first, read_alone(BASKET));
    assert!(steps(&alone).len() > 2);
    let told = said(&second);
    assert_eq!(told, [(Speaker::User, "Also round to cents".to_owned()), (Speaker::Agent, "Done.".to_owned())]);
    assert_eq!(steps(&second)[0].number, 1);
    assert_eq!(about(&second).session_id.as_deref(), Some("5b0c7d1e-0000-4000-8000-000000000002"));
    assert_eq!(total(&second).completion_tokens, Some(7));
    assert_eq!(happenings(&second), [], "the copied parent is no rewind");
    assert_eq!(steps(&read(&mut reading, RESUMED)), []);
}

#[test]
fn copies_that_got_a_new_id_are_marked() {
    let mut claude = ClaudeReader::default();
    let mut first = Vec::new();
    claude.read_log_line(1, agent("m1", json!("hello"), json!(4)), &mut first);
    claude.finish_log(&mut first);
    let mut second = Vec::new();
    claude.read_log_line(1, agent("m1", json!("hello"), json!(4)), &mut second);
    assert!(steps(&second)[0].copied);
    assert_eq!(total(&second), TokenUsage::default());

    let fork = json!({"forkedFrom": {"sessionId": "older", "messageUuid": "x"}, "uuid": "x"});
    let forked = events(vec![with(agent("m2", json!("hi"), json!(4)), fork), agent("m3", json!("new"), json!(2))]);
    assert_eq!(steps(&forked).iter().map(|step| step.copied).collect::<Vec<_>>(), [true, false]);
    assert_eq!(about(&forked).parent_session_id.as_deref(), Some("older"));
    assert_eq!(total(&forked).completion_tokens, Some(2));
}

#[test]
fn a_headless_run() {
    let events = read_alone(HEADLESS);
    let about = about(&events);
    assert_eq!(about.session_id.as_deref(), Some("5b0c7d1e-0000-4000-8000-000000000003"));
    assert_eq!(about.model.as_deref(), Some("claude-opus-5"));
    assert_eq!(about.agent_version.as_deref(), Some("2.1.120"));
    assert_eq!(about.directory.as_deref(), Some("/home/dev/shop"));
    assert_eq!(steps(&events).len(), 2);
    assert_eq!(total(&events).completion_tokens, Some(34));
    assert!(events.contains(&TrajectoryEvent::Total(TokenUsage { cost_usd: Some(0.0123), ..TokenUsage::default() })));
    let outcome =
        SessionOutcome { status: EpisodeStatus::Success, reward: None, error: None, from: "result".to_owned() };
    assert!(events.contains(&TrajectoryEvent::Outcome(outcome)));
}

#[test]
fn which_title_counts() {
    let line = |uuid: &str| with(user(json!("hi")), json!({"uuid": uuid}));
    let summary = |leaf: Value| json!({"type": "summary", "summary": "S", "leafUuid": leaf});
    let ai = json!({"type": "ai-title", "aiTitle": "A"});
    let custom = json!({"type": "custom-title", "customTitle": "C"});
    let table = [
        (vec![summary(json!("elsewhere")), line("u1")], None),
        (vec![summary(json!("u1")), line("u1")], Some("S")),
        (vec![line("u1"), summary(json!(null))], Some("S")),
        (vec![ai.clone(), line("u1"), summary(json!("u1"))], Some("A")),
        (vec![custom, line("u1"), ai], Some("C")),
    ];
    for (lines, expected) in table {
        assert_eq!(about(&events(lines)).title.as_deref(), expected);
    }
}

#[test]
fn unknown_lines_are_reported_once_and_known_ones_never() {
    let kind = |kind: &str| json!({"type": kind});
    let system = |kind: &str| json!({"type": "system", "subtype": kind});
    let mut lines = vec![kind("new"), kind("new"), json!({}), system("odd"), system("odd"), json!({"type": 7})];
    lines.extend(KNOWN_METADATA.iter().map(|known| kind(known)));
    lines.extend(["turn_duration", "informational", "away_summary"].map(system));
    lines.extend([kind("progress"), kind("attachment"), kind("summary"), kind("ai-title"), kind("custom-title")]);
    let skipped: Vec<_> = events(lines)
        .into_iter()
        .filter_map(|event| match event {
            TrajectoryEvent::Skipped(skipped) => Some((skipped.line, skipped.why)),
            _ => None,
        })
        .collect();
    assert_eq!(
        skipped,
        [
            (1, "unknown type `new`".to_owned()),
            (3, "a line without a type".to_owned()),
            (4, "unknown system line `odd`".to_owned()),
        ]
    );
}

#[test]
fn what_was_met_lately_is_bounded() {
    let mut recent = RecentEntries::new(10);
    for key in 0..100 {
        recent.insert(key, ());
        assert!((key.saturating_sub(9)..=key).all(|key| recent.get(key).is_some()));
    }
    assert!(recent.get(50).is_none());
}
