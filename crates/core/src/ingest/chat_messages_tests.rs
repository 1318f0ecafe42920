//! What the tests of several readers share, and tests of what the readers share.

use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

use super::super::{LogFormat, LogReader, ReaderSettings, SessionReader};
use super::{ChatContent, parse_call, parse_usage};
use crate::domain::{OutputOwner, Step, TokenUsage, TrajectoryEvent};

/// What a reader tells of these lines.
pub(in crate::ingest) fn events<R: LogReader + Default>(lines: &[Value]) -> Vec<TrajectoryEvent> {
    let mut reader = R::default();
    let mut events = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        reader.read_log_line(at as u64 + 1, line.clone(), &mut events);
    }
    reader.finish_log(&mut events);
    assert_sound(&events);
    events
}

/// What a whole log tells, through detection.
pub(in crate::ingest) fn read(log: &str) -> (LogFormat, Vec<TrajectoryEvent>) {
    let mut events = Vec::new();
    let format = SessionReader::new(ReaderSettings::default()).read_log(&mut log.as_bytes(), &mut events).unwrap();
    assert_sound(&events);
    (format, events)
}

/// The steps among events.
pub(in crate::ingest) fn steps(events: &[TrajectoryEvent]) -> Vec<&Step> {
    events
        .iter()
        .filter_map(|event| if let TrajectoryEvent::Step(step) = event { Some(&**step) } else { None })
        .collect()
}

/// Who spoke, and what.
pub(in crate::ingest) fn said(events: &[TrajectoryEvent]) -> Vec<(&str, &str)> {
    steps(events).into_iter().map(|step| (step.speaker.as_str(), step.text.as_str())).collect()
}

/// Outputs: the call's id or the step's number, the text, whether it failed.
pub(in crate::ingest) fn outputs(events: &[TrajectoryEvent]) -> Vec<(String, &str, Option<bool>)> {
    let of = |of: &OutputOwner| match of {
        OutputOwner::Call(id) => id.clone(),
        OutputOwner::Step(step) => format!("step {step}"),
    };
    events
        .iter()
        .filter_map(|event| {
            if let TrajectoryEvent::Output(whose, output) = event {
                Some((of(whose), output.text.as_str(), output.failed))
            } else {
                None
            }
        })
        .collect()
}

/// Calls: the step's number, the id, the tool, the arguments.
pub(in crate::ingest) fn calls(events: &[TrajectoryEvent]) -> Vec<(u32, &str, &str, &Value)> {
    events
        .iter()
        .filter_map(|event| {
            if let TrajectoryEvent::Call(step, call) = event {
                Some((*step, call.id.as_str(), call.tool.as_str(), &call.arguments))
            } else {
                None
            }
        })
        .collect()
}

/// Numbers rise by one within a trajectory, and nothing names a step that was not told.
pub(in crate::ingest) fn assert_sound(events: &[TrajectoryEvent]) {
    let mut last = 0;
    for event in events {
        match event {
            TrajectoryEvent::Begin => last = 0,
            TrajectoryEvent::Step(step) => {
                assert_eq!(step.number, last + 1, "{events:?}");
                last = step.number;
            }
            TrajectoryEvent::Call(step, _)
            | TrajectoryEvent::Output(OutputOwner::Step(step), _)
            | TrajectoryEvent::Spent(step, _) => {
                assert!((1..=last).contains(step), "{event:?} after step {last}");
            }
            TrajectoryEvent::Happened(step, _, _) => assert!(*step <= last),
            _ => {}
        }
    }
}

/// Any JSON.
pub(in crate::ingest) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Lines of a log, some of them damaged: a key dropped, a value exchanged, a string cut.
pub(in crate::ingest) fn damaged(log: &'static str) -> impl Strategy<Value = Vec<Value>> {
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let lines = if lines.is_empty() { vec![serde_json::from_str(log).unwrap()] } else { lines };
    let hurts = prop::collection::vec((any::<prop::sample::Index>(), any::<u16>(), json()), 1..12);
    hurts.prop_map(move |hurts| {
        let mut lines = lines.clone();
        for (line, place, other) in hurts {
            let at = line.index(lines.len());
            hurt(&mut lines[at], place.into(), other);
        }
        lines.retain(Value::is_object);
        lines
    })
}

/// Walks down to one value, by a number, and harms it.
fn hurt(value: &mut Value, place: usize, other: Value) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            let key = object.keys().nth(place % object.len()).unwrap().clone();
            match place % 3 {
                0 => drop(object.remove(&key)),
                _ => hurt(object.get_mut(&key).unwrap(), place / 3, other),
            }
        }
        Value::Array(array) if !array.is_empty() && !place.is_multiple_of(4) => {
            let at = place % array.len();
            hurt(&mut array[at], place / 4, other);
        }
        Value::String(text) if place.is_multiple_of(2) => *text = text.chars().take(place % 7).collect(),
        value => *value = other,
    }
}

#[test]
fn contents_of_all_shapes_give_words_thoughts_calls_and_outputs() {
    assert_eq!(ChatContent::from_value(json!("hello")).text, "hello");
    assert_eq!(ChatContent::from_value(Value::Null).text, "");
    let content = ChatContent::from_value(json!([
        "bare",
        {"type": "text", "text": "one"},
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "tool_use", "id": "t", "name": "ls", "input": {"path": "."}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "a b"}], "is_error": true},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "output_text", "text": "two"}
    ]));
    assert_eq!(content.text, "bare\none\n[image]\ntwo");
    assert_eq!(content.reasoning, "hm");
    assert_eq!(content.calls.len(), 1);
    assert_eq!(content.calls[0].arguments, json!({"path": "."}));
    assert_eq!(content.outputs[0].0, "t");
    assert_eq!((content.outputs[0].1.text.as_str(), content.outputs[0].1.failed), ("a b", Some(true)));
}

#[test]
fn calls_of_all_shapes() {
    let cases = [
        (json!({"id": "1", "name": "f", "arguments": {"a": 1}}), "1", "f", json!({"a": 1})),
        (json!({"id": "1", "function": {"name": "f", "arguments": "{\"a\":1}"}}), "1", "f", json!({"a": 1})),
        (json!({"id": "1", "name": "f", "arguments": "{broken"}), "1", "f", json!("{broken")),
        (json!({"name": "f", "input": "ls -l"}), "", "f", json!("ls -l")),
        (json!({}), "", "", Value::Null),
    ];
    for (line, id, tool, arguments) in cases {
        let call = parse_call(line).unwrap();
        assert_eq!((call.id.as_str(), call.tool.as_str(), call.arguments), (id, tool, arguments));
    }
    assert!(parse_call(json!("no call")).is_none());
}

#[test]
fn prompts_include_what_was_cached_however_it_is_counted() {
    let of = |value: Value| parse_usage(value.as_object().unwrap());
    let all = |prompt, completion, cached, write| TokenUsage {
        prompt_tokens: prompt,
        completion_tokens: completion,
        cached_tokens: cached,
        cache_write_tokens: write,
        cost_usd: None,
    };
    let openai = json!({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 80}});
    assert_eq!(of(openai), all(Some(100), Some(5), Some(80), None));
    let anthropic = json!({"input_tokens": 10, "cache_read_input_tokens": 80, "cache_creation_input_tokens": 7, "output_tokens": 5});
    assert_eq!(of(anthropic), all(Some(97), Some(5), Some(80), Some(7)));
    assert_eq!(of(json!({"input_tokens": 10, "cached_tokens": 4})), all(Some(10), None, Some(4), None));
    assert_eq!(of(json!({"prompt_tokens": 90, "cache_read_input_tokens": 80})), all(Some(90), None, Some(80), None));
    assert!(of(json!({"prompt_tokens": "many"})).is_unknown());
}
