use serde_json::json;

use super::super::tests::{about, agent, calls, events, happenings, said, steps, total, user};
use crate::domain::{Happening, Speaker, TokenUsage, TrajectoryEvent};

#[test]
fn parts_of_a_message_that_stand_among_results() {
    let events = events(vec![
        agent("m1", json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]), json!(5)),
        user(json!([{"type": "tool_result", "tool_use_id": "t1", "content": "a.rs"}])),
        agent("m1", json!([{"type": "thinking", "thinking": "One more."}]), json!(5)),
        agent("m1", json!([{"type": "text", "text": "And now"}]), json!(5)),
        agent("m1", json!([{"type": "tool_use", "id": "t2", "name": "Read", "input": {}}]), json!(9)),
        agent(
            "m1",
            json!([{"type": "text", "text": "And now"}, {"type": "tool_use", "id": "t2", "name": "Read"}]),
            json!(null),
        ),
    ]);
    let steps = steps(&events);
    assert_eq!(steps.len(), 1);
    assert_eq!((steps[0].text.as_str(), steps[0].reasoning.as_deref()), ("And now", Some("One more.")));
    assert_eq!(steps[0].calls.len(), 2);
    let spent: Vec<_> = events.iter().filter(|event| matches!(event, TrajectoryEvent::Spent(..))).collect();
    assert_eq!(spent.len(), 2, "figures that did not change are not told again");
    assert_eq!(total(&events).completion_tokens, Some(9), "null takes nothing back");
    assert!(events.iter().any(|event| *event == TrajectoryEvent::More(1, "And now".to_owned(), None)));
}

#[test]
fn tools_of_the_provider() {
    let content = json!([
        {"type": "redacted_thinking", "data": "x"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "text", "text": "found"}]},
        {"type": "server_tool_use", "id": "s2", "name": "web_fetch", "input": {}},
        {"type": "web_fetch_tool_result", "tool_use_id": "s2",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"}},
    ]);
    let calls = calls(&events(vec![agent("m1", content, json!(1))]));
    assert_eq!(calls["s1"].tool, "web_search");
    assert_eq!(calls["s1"].output.as_ref().unwrap().text, "found");
    assert_eq!(calls["s2"].output.as_ref().unwrap().failed, Some(true));
}

#[test]
fn answers_that_no_model_gave() {
    let synthetic = |text: &str, flag: bool| {
        json!({"type": "assistant", "isApiErrorMessage": flag, "message": {"id": "x", "model": "<synthetic>",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 0, "output_tokens": 0}}})
    };
    let events = events(vec![
        synthetic("No response requested.", false),
        synthetic("Claude AI usage limit reached|1767225600", true),
        synthetic("API Error: 500", false),
        synthetic("Total cost: $0.10", false),
    ]);
    assert_eq!(said(&events), [(Speaker::System, "Total cost: $0.10".to_owned())]);
    assert_eq!(total(&events), TokenUsage::default());
    assert_eq!(
        happenings(&events),
        [
            (0, Happening::ApiError, "Claude AI usage limit reached|1767225600".to_owned()),
            (0, Happening::ApiError, "API Error: 500".to_owned()),
        ]
    );
    assert_eq!(about(&events).model, None);
}

#[test]
fn lines_that_hold_nothing_but_usage() {
    let line = |id: &str, cost: f64| {
        json!({"timestamp": "2026-01-09T10:00:00.000Z", "costUSD": cost, "requestId": "r", "version": "1.0.0",
            "message": {"id": id, "model": "claude-sonnet-4", "usage": {"input_tokens": 100, "output_tokens": 50}}})
    };
    let events = events(vec![line("m1", 0.25), line("m1", 0.5), line("m2", 0.25)]);
    assert_eq!(steps(&events).len(), 2);
    assert_eq!(
        total(&events),
        TokenUsage {
            prompt_tokens: Some(200),
            completion_tokens: Some(100),
            cost_usd: Some(0.75),
            ..TokenUsage::default()
        }
    );
}
