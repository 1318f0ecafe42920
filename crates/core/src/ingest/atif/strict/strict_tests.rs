use serde_json::Value;
use serde_json::json;

use crate::domain::TrajectoryEvent;
use crate::ingest::ReaderSettings;
use crate::ingest::atif::read_documents;

/// Where a document breaks Harbor's rules.
fn breaches(document: &Value) -> Vec<String> {
    breaches_of(document.to_string().as_bytes())
}

fn breaches_of(mut bytes: &[u8]) -> Vec<String> {
    let mut events: Vec<TrajectoryEvent> = Vec::new();
    read_documents(&mut bytes, ReaderSettings { strict: true }, &mut events).expect("memory does not fail");
    let path = |event| match event {
        TrajectoryEvent::Breach(breach) => Some(breach.path),
        _ => None,
    };
    events.into_iter().filter_map(path).collect()
}

fn valid() -> Value {
    json!({
        "schema_version": "ATIF-v1.8",
        "session_id": null,
        "agent": {"name": "a", "version": "1", "tool_definitions": [{}], "extra": {"anything": [1]}},
        "steps": [
            {"step_id": "1", "source": "user", "timestamp": "2026-01-02", "message": [
                {"type": "text", "text": ""},
                {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
                {"type": "audio", "source": {"media_type": " Audio/X-WAV ", "path": "a.wav", "duration_sec": "0"}},
            ]},
            {"step_id": 2.0, "source": "agent", "message": "", "reasoning_effort": 0.5, "is_copied_context": "no",
             "tool_calls": [
                 {"tool_call_id": "c", "function_name": "f", "arguments": {}},
                 {"tool_call_id": "c", "function_name": "f", "arguments": {}, "extra": null},
             ],
             "observation": {"results": [
                 {"source_call_id": "c", "content": null, "subagent_trajectory_ref": [{"trajectory_path": "p"}]},
                 {},
             ]},
             "metrics": {"prompt_tokens": true, "prompt_token_ids": ["1", 2.0], "logprobs": [1], "cost_usd": "nan"}},
            {"step_id": 3, "source": "agent", "message": "", "llm_call_count": 0, "metrics": null},
            {"step_id": 4, "source": "system", "message": "", "observation": {"results": []}, "tool_calls": null},
        ],
        "final_metrics": {"total_steps": 0},
        "subagent_trajectories": [
            {"trajectory_id": "s", "agent": {"name": "", "version": ""},
             "steps": [{"step_id": 1, "source": "user", "message": ""}]},
        ],
    })
}

#[test]
fn what_harbor_takes_breaks_nothing() {
    assert_eq!(breaches(&valid()), Vec::<String>::new());
    let unversioned =
        json!({"agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": ""}]});
    assert_eq!(breaches(&unversioned), Vec::<String>::new());
}

#[test]
fn every_rule_is_kept() {
    let cases = [
        ("/schema_version", json!("ATIF-v1.9"), "schema_version"),
        ("/schema_version", json!("1.4"), "schema_version"),
        ("/schema_version", json!(null), "schema_version"),
        ("/session_id", json!(7), "session_id"),
        ("/notes", json!([]), "notes"),
        ("/model", json!("m"), "model"),
        ("/agent", json!("a"), "agent"),
        ("/agent/version", json!(1), "agent.version"),
        ("/agent/model", json!({}), "agent.model"),
        ("/agent/tool_definitions/0", json!("f"), "agent.tool_definitions.0"),
        ("/steps", json!([]), "steps"),
        ("/steps", json!(null), "steps"),
        ("/steps", json!({}), "steps"),
        ("/steps/0", json!("hi"), "steps.0"),
        ("/steps/0/step_id", json!(2), "steps.0.step_id"),
        ("/steps/0/step_id", json!("x"), "steps.0.step_id"),
        ("/steps/0/timestamp", json!("yesterday"), "steps.0.timestamp"),
        ("/steps/0/timestamp", json!(5), "steps.0.timestamp"),
        ("/steps/0/source", json!("tool"), "steps.0.source"),
        ("/steps/0/message", json!(null), "steps.0.message"),
        ("/steps/0/message", json!({"text": "x"}), "steps.0.message"),
        ("/steps/0/message/0/text", json!(null), "steps.0.message.0.text"),
        ("/steps/0/message/0/type", json!("video"), "steps.0.message.0.type"),
        ("/steps/0/message/0/role", json!("user"), "steps.0.message.0.role"),
        ("/steps/0/message/1/text", json!("x"), "steps.0.message.1.text"),
        ("/steps/0/message/1/type", json!("audio"), "steps.0.message.1.source"),
        ("/steps/0/message/1/source/media_type", json!("image/bmp"), "steps.0.message.1.source.media_type"),
        ("/steps/0/message/2/source/duration_sec", json!(-1), "steps.0.message.2.source.duration_sec"),
        ("/steps/0/tool_calls", json!([]), "steps.0.tool_calls"),
        ("/steps/0/metrics", json!({}), "steps.0.metrics"),
        ("/steps/0/usage", json!({}), "steps.0.usage"),
        ("/steps/1/reasoning_effort", json!([]), "steps.1.reasoning_effort"),
        ("/steps/1/is_copied_context", json!("perhaps"), "steps.1.is_copied_context"),
        ("/steps/1/tool_calls", json!({}), "steps.1.tool_calls"),
        ("/steps/1/tool_calls/0/arguments", json!("{}"), "steps.1.tool_calls.0.arguments"),
        ("/steps/1/tool_calls/0/id", json!("c"), "steps.1.tool_calls.0.id"),
        ("/steps/1/observation/results/0/source_call_id", json!("d"), "steps.1.observation.results.0.source_call_id"),
        ("/steps/1/observation/results/0/content", json!({}), "steps.1.observation.results.0.content"),
        (
            "/steps/1/observation/results/0/subagent_trajectory_ref",
            json!([{"session_id": "s"}]),
            "steps.1.observation.results.0.subagent_trajectory_ref.0",
        ),
        (
            "/steps/1/observation/results/0/subagent_trajectory_ref",
            json!({"trajectory_path": "p"}),
            "steps.1.observation.results.0.subagent_trajectory_ref",
        ),
        ("/steps/1/metrics/prompt_tokens", json!(1.5), "steps.1.metrics.prompt_tokens"),
        ("/steps/1/metrics/logprobs/0", json!(null), "steps.1.metrics.logprobs.0"),
        ("/steps/2/metrics", json!({}), "steps.2.metrics"),
        ("/steps/2/llm_call_count", json!(-1), "steps.2.llm_call_count"),
        ("/final_metrics/total_steps", json!(-1), "final_metrics.total_steps"),
        ("/final_metrics/total_input_tokens", json!(1), "final_metrics.total_input_tokens"),
        ("/subagent_trajectories/0/trajectory_id", json!(null), "subagent_trajectories.0.trajectory_id"),
        ("/subagent_trajectories/0/steps/0/step_id", json!(2), "subagent_trajectories.0.steps.0.step_id"),
        ("/subagent_trajectories", json!({}), "subagent_trajectories"),
        ("/subagent_trajectories/0", json!(1), "subagent_trajectories.0"),
    ];
    for (pointer, value, path) in cases {
        let mut document = valid();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        match document.pointer_mut(parent).expect("a parent") {
            Value::Object(object) => drop(object.insert(key.to_owned(), value)),
            Value::Array(list) => list[key.parse::<usize>().expect("an index")] = value,
            _ => panic!("{pointer} leads nowhere"),
        }
        let found = breaches(&document);
        assert!(found.contains(&format!("trajectory.{path}")), "{pointer}: {found:?}");
    }
}

#[test]
fn what_is_required_is_missed() {
    for (pointer, path) in [
        ("/agent", "agent"),
        ("/agent/name", "agent.name"),
        ("/steps/0/step_id", "steps.0.step_id"),
        ("/steps/0/source", "steps.0.source"),
        ("/steps/0/message", "steps.0.message"),
        ("/steps/0/message/0/type", "steps.0.message.0.type"),
        ("/steps/0/message/1/source", "steps.0.message.1.source"),
        ("/steps/1/tool_calls/0/function_name", "steps.1.tool_calls.0.function_name"),
        ("/steps/1/observation/results", "steps.1.observation.results"),
    ] {
        let mut document = valid();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        document.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(key);
        assert_eq!(breaches(&document), [format!("trajectory.{path}")], "{pointer}");
    }
    assert_eq!(breaches(&json!({"agent": {"name": "a", "version": "1"}})), ["trajectory.steps"]);
}

#[test]
fn all_breaches_are_told() {
    let document = json!({"agent": {}, "steps": [{"step_id": 1, "source": "user"}, {"step_id": 3, "message": 1}]});
    assert_eq!(
        breaches(&document),
        [
            "trajectory.agent.name",
            "trajectory.agent.version",
            "trajectory.steps.0.message",
            "trajectory.steps.1.message",
            "trajectory.steps.1.source",
            "trajectory.steps.1.step_id",
        ]
    );
}

#[test]
fn embedded_ids_are_unique_among_siblings() {
    let mut document = valid();
    let child = document["subagent_trajectories"][0].clone();
    document["subagent_trajectories"].as_array_mut().expect("a list").push(child.clone());
    assert_eq!(breaches(&document), ["trajectory.subagent_trajectories.1.trajectory_id"]);
    let mut nested = valid();
    nested["subagent_trajectories"][0]["subagent_trajectories"] = json!([child]);
    assert_eq!(breaches(&nested), Vec::<String>::new());
}

#[test]
fn only_one_whole_json_object_is_a_trajectory() {
    let text = valid().to_string();
    for broken in [
        format!("\u{feff}{text}"),
        format!("[{text}]"),
        format!("{text}\n{text}"),
        format!("{text} x"),
        text.replace("\"ATIF", "\"\u{1}ATIF"),
        text.trim_end_matches('}').to_owned(),
    ] {
        assert!(breaches_of(broken.as_bytes()).contains(&"trajectory".to_owned()), "{broken}");
    }
    let mut bytes = text.into_bytes();
    bytes.insert(20, 0xff);
    assert!(breaches_of(&bytes).contains(&"trajectory".to_owned()));
}

#[test]
fn infinity_is_a_number_but_no_whole_one() {
    let document = |metrics: &str| {
        let step = format!(r#"{{"step_id": 1, "source": "agent", "message": "", "metrics": {metrics}}}"#);
        format!(r#"{{"agent": {{"name": "a", "version": "1"}}, "steps": [{step}]}}"#)
    };
    let fine = document(r#"{"logprobs": [-Infinity, NaN], "cost_usd": Infinity}"#);
    assert_eq!(breaches_of(fine.as_bytes()), Vec::<String>::new());
    let wrong = document(r#"{"prompt_tokens": NaN}"#);
    assert_eq!(breaches_of(wrong.as_bytes()), ["trajectory.steps.0.metrics.prompt_tokens"]);
}
