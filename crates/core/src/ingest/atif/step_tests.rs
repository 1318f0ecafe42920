use serde_json::Value;
use serde_json::json;

use crate::domain::Happening;
use crate::domain::OutputOwner;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::TokenUsage;
use crate::domain::ToolCall;
use crate::domain::TrajectoryEvent;
use crate::ingest::atif::trajectory_state::AtifTrajectoryReader;

/// What steps tell, one after the other.
fn told(steps: Value) -> Vec<TrajectoryEvent> {
    let mut events = Vec::new();
    let mut told = AtifTrajectoryReader::new(None);
    for step in steps.as_array().expect("a list").clone() {
        told.read_step(step, &mut events);
    }
    told.finish_trajectory(&mut events);
    events
}

fn first_step(step: Value) -> Step {
    let found = told(json!([step])).into_iter().find_map(|event| match event {
        TrajectoryEvent::Step(step) => Some(*step),
        _ => None,
    });
    found.expect("a step")
}

fn calls(step: Value) -> Vec<ToolCall> {
    let call = |event| match event {
        TrajectoryEvent::Call(_, call) => Some(call),
        _ => None,
    };
    told(json!([step])).into_iter().filter_map(call).collect()
}

/// Calls and outputs in their order: `call c`, `c: text`, `2: text`.
fn exchange(steps: Value) -> Vec<String> {
    let told = told(steps).into_iter().filter_map(|event| match event {
        TrajectoryEvent::Call(_, call) => Some(format!("call {}", call.id)),
        TrajectoryEvent::Output(OutputOwner::Call(id), output) => Some(format!("{id}: {}", output.text)),
        TrajectoryEvent::Output(OutputOwner::Step(step), output) => Some(format!("{step}: {}", output.text)),
        _ => None,
    });
    told.collect()
}

#[test]
fn messages_have_many_shapes() {
    for (message, text) in [
        (json!("hi"), "hi"),
        (json!(null), ""),
        (json!([{"type": "text", "text": "a"}, {"text": "b"}]), "a\nb"),
        (json!([{"role": "user", "content": "a"}, {"role": "user", "content": [{"text": "b"}]}]), "a\nb"),
    ] {
        assert_eq!(first_step(json!({"source": "user", "message": message.clone()})).text, text, "{message}");
    }
    assert_eq!(first_step(json!({"source": "agent"})).text, "");
    assert_eq!(first_step(json!("just words")).text, "just words");
}

#[test]
fn speakers_are_found_without_a_source() {
    for (step, speaker) in [
        (json!({"source": "user"}), Speaker::User),
        (json!({"source": "agent"}), Speaker::Agent),
        (json!({"source": "system"}), Speaker::System),
        (json!({"source": "tool"}), Speaker::Tool),
        (json!({"role": "assistant"}), Speaker::Agent),
        (json!({"tool_calls": [{}]}), Speaker::Agent),
        (json!({"message": "?"}), Speaker::System),
        (json!({"source": 7}), Speaker::System),
        (json!({"source": "user", "extra": {"is_sidechain": true}}), Speaker::OtherAgent),
    ] {
        assert_eq!(first_step(step.clone()).speaker, speaker, "{step}");
    }
}

#[test]
fn times_may_be_naive_missing_or_strange() {
    let at = |time: Value| first_step(json!({"source": "user", "timestamp": time})).at.map(|at| at.to_rfc3339());
    for time in [json!("2026-01-02T03:04:05"), json!("2026-01-02 03:04:05"), json!("2026-01-02T04:04:05+01:00")] {
        assert_eq!(at(time.clone()).as_deref(), Some("2026-01-02T03:04:05+00:00"), "{time}");
    }
    for time in [json!(null), json!("yesterday"), json!({}), json!("")] {
        assert_eq!(at(time.clone()), None, "{time}");
    }
}

#[test]
fn calls_have_many_shapes() {
    let expected = |id: &str, tool: &str, arguments: Value| ToolCall {
        id: id.to_owned(),
        tool: tool.to_owned(),
        arguments,
        output: None,
    };
    for (call, expected) in [
        (
            json!({"tool_call_id": "c", "function_name": "f", "arguments": {"a": 1}}),
            expected("c", "f", json!({"a": 1})),
        ),
        (json!({"id": "c", "name": "f", "arguments": "{\"a\": 1}"}), expected("c", "f", json!({"a": 1}))),
        (json!({"id": "c", "function": {"name": "f", "arguments": "{\"a\": 1}"}}), expected("c", "f", json!({"a": 1}))),
        (json!({"call_id": "c", "function": "f", "input": "ls"}), expected("c", "f", json!({"input": "ls"}))),
        (json!({"function_name": "f", "arguments": null}), expected("", "f", json!({}))),
        (json!({}), expected("", "", json!({}))),
        (json!("what"), expected("", "", json!("what"))),
    ] {
        assert_eq!(calls(json!({"source": "agent", "tool_calls": [call.clone()]})), [expected], "{call}");
    }
    assert_eq!(calls(json!({"tool_calls": {"id": "c"}})).len(), 1);
}

#[test]
fn results_find_their_calls() {
    let calls = |ids: &[&str]| ids.iter().map(|id| json!({"tool_call_id": id})).collect::<Vec<_>>();
    let step = |ids: &[&str], results: Value| json!({"source": "agent", "tool_calls": calls(ids), "observation": {"results": results}});
    let cases = [
        (
            "by id, whatever the order",
            json!([step(
                &["a", "b"],
                json!([{"source_call_id": "b", "content": "2"}, {"source_call_id": "a", "content": "1"}])
            )]),
            vec!["call a", "a: 1", "call b", "b: 2"],
        ),
        (
            "one id twice",
            json!([step(
                &["a", "a"],
                json!([{"source_call_id": "a", "content": "1"}, {"source_call_id": "a", "content": "2"}])
            )]),
            vec!["call a", "a: 1", "call a", "a: 2"],
        ),
        (
            "by place, if the numbers fit",
            json!([step(&["a", "b"], json!([{"content": "1"}, {"content": "2"}]))]),
            vec!["call a", "a: 1", "call b", "b: 2"],
        ),
        (
            "the one without an id takes the call that is left",
            json!([step(&["a", "b"], json!([{"content": "1"}, {"source_call_id": "b", "content": "2"}]))]),
            vec!["call a", "a: 1", "call b", "b: 2"],
        ),
        (
            "a batch with one output belongs to the step",
            json!([step(&["a", "b"], json!([{"content": "both"}]))]),
            vec!["call a", "call b", "1: both"],
        ),
        (
            "an earlier call",
            json!([step(&["a"], json!([])), step(&[], json!([{"source_call_id": "a", "content": "late"}]))]),
            vec!["call a", "a: late"],
        ),
        (
            "a later call",
            json!([
                {"source": "system", "message": "Tool result for toolu_1", "observation": {"type": "tool_result", "content": "early"}},
                {"source": "agent", "tool_calls": [{"id": "toolu_1", "name": "Write"}]},
            ]),
            vec!["call toolu_1", "toolu_1: early"],
        ),
        (
            "no call at all",
            json!([step(&[], json!([{"source_call_id": "x", "content": "lost"}])), {"source": "user"}]),
            vec!["1: lost"],
        ),
        (
            "calls without an id get one where they need it",
            json!([step(&["", ""], json!([{"content": "1"}, {"content": "2"}]))]),
            vec!["call step-1-call-1", "step-1-call-1: 1", "call step-1-call-2", "step-1-call-2: 2"],
        ),
        (
            "ids that do not match, but numbers that do",
            json!([step(&["a"], json!([{"source_call_id": "fc_a", "content": "1"}]))]),
            vec!["call a", "a: 1"],
        ),
    ];
    for (what, steps, expected) in cases {
        assert_eq!(exchange(steps), expected, "{what}");
    }
}

#[test]
fn outputs_do_not_wait_for_ever() {
    let steps: Vec<Value> = (0..200)
        .map(|n| json!({"source": "system", "observation": {"results": [{"source_call_id": n.to_string(), "content": "x"}]}}))
        .collect();
    assert_eq!(exchange(Value::Array(steps)).len(), 200);
    let long = "x".repeat(2_000_000);
    let step = json!([{"source": "system", "observation": {"results": [{"source_call_id": "c", "content": long}]}}]);
    assert_eq!(exchange(step).len(), 1);
}

#[test]
fn signs_beside_the_result_are_read() {
    for (extra, call_extra, failed, exit_code, duration_ms) in [
        (
            json!({"tool_call_details": {"c": {"metadata": {"exit_code": 2, "duration_seconds": 0.25}}}}),
            json!({}),
            true,
            Some(2),
            Some(250),
        ),
        (json!({"tool_metadata": {"exit_code": 0}}), json!({}), false, Some(0), None),
        (json!({"tool_metadata": {"c": {"exit_code": 1}}}), json!({}), true, Some(1), None),
        (json!({"tool_result_is_error": true}), json!({}), true, None, None),
        (json!({}), json!({"tool_metadata": {"exit_code": 9}}), true, Some(9), None),
        (
            json!({}),
            json!({"invocation": {"status": "error", "start_timestamp": 10.0, "end_timestamp": 11.5}}),
            true,
            None,
            Some(1500),
        ),
    ] {
        let events = told(json!([{
            "source": "agent", "extra": extra,
            "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}, "extra": call_extra}],
            "observation": {"results": [{"source_call_id": "c", "content": "x"}]},
        }]));
        let output = events.iter().find_map(|event| match event {
            TrajectoryEvent::Output(_, output) => Some(output),
            _ => None,
        });
        let output = output.expect("an output");
        let found = (output.failed, output.exit_code, output.duration_ms);
        assert_eq!(found, (Some(failed), exit_code, duration_ms), "{extra} {call_extra}");
    }
}

#[test]
fn the_unknown_is_kept_if_it_is_small() {
    let step = first_step(json!({
        "step_id": 1, "source": "agent", "message": "m", "llm_call_count": 1, "reasoning_effort": "high",
        "mood": "good", "nothing": null, "huge": "x".repeat(5000),
        "extra": {"stop_reason": "end_turn", "raw": ["y".repeat(5000)], "mood": "bad"},
    }));
    assert_eq!(Value::Object(step.extra), json!({"mood": "bad", "stop_reason": "end_turn"}));
}

#[test]
fn copied_steps_are_marked_in_many_ways() {
    for (flag, copied) in [
        (json!(true), true),
        (json!(1), true),
        (json!("true"), true),
        (json!("Yes"), true),
        (json!(0), false),
        (json!("false"), false),
        (json!(null), false),
        (json!([true]), false),
    ] {
        let step = first_step(json!({"source": "agent", "is_copied_context": flag.clone()}));
        assert_eq!(step.copied, copied, "{flag}");
    }
}

#[test]
fn very_many_calls_find_their_results() {
    let id = |n: usize| format!("call_with_a_long_common_prefix_{n}");
    let calls: Vec<Value> = (0..20_000).map(|n| json!({"tool_call_id": id(n), "function_name": "f"})).collect();
    let results: Vec<Value> =
        (0..20_000).rev().map(|n| json!({"source_call_id": id(n), "content": n.to_string()})).collect();
    let told = exchange(json!([{"source": "agent", "tool_calls": calls, "observation": {"results": results}}]));
    assert_eq!((told.len(), told[1].as_str()), (40_000, "call_with_a_long_common_prefix_0: 0"));
}

#[test]
fn results_of_calls_with_one_id_go_to_them_in_order() {
    let step = json!([{
        "source": "agent",
        "tool_calls": [{"tool_call_id": "c", "function_name": "a"}, {"tool_call_id": "c", "function_name": "b"}],
        "observation": {"results": [
            {"source_call_id": "c", "content": "one"},
            {"source_call_id": "c", "content": "two"},
            {"source_call_id": "c", "content": "three"},
        ]},
    }]);
    assert_eq!(exchange(step), ["call c", "c: one", "call c", "c: two", "c: three"]);
}

#[test]
fn copied_steps_cost_nothing() {
    let metrics = json!({"prompt_tokens": 5});
    let events = told(json!([
        {"source": "agent", "is_copied_context": true, "metrics": metrics, "tool_calls": [{"tool_call_id": "c"}]},
        {"source": "agent", "is_copied_context": false, "metrics": metrics},
    ]));
    let spent: Vec<&TrajectoryEvent> =
        events.iter().filter(|event| matches!(event, TrajectoryEvent::Spent(..))).collect();
    assert_eq!(spent, [&TrajectoryEvent::Spent(2, TokenUsage { prompt_tokens: Some(5), ..TokenUsage::default() })]);
    assert!(matches!(&events[0], TrajectoryEvent::Step(step) if step.copied));
    assert!(matches!(&events[1], TrajectoryEvent::Call(1, _)));
}

#[test]
fn compaction_and_interruption_happen() {
    let happened = |step: Value| {
        told(json!([step])).into_iter().find_map(|event| match event {
            TrajectoryEvent::Happened(1, happening, detail) => Some((happening, detail)),
            _ => None,
        })
    };
    let managed = |kind: &str, boundary: &str| json!({"source": "system", "message": "m", "extra": {"context_management": {"type": kind, "boundary": boundary}}});
    assert_eq!(
        happened(managed("compaction", "replace")),
        Some((Happening::Compacted, "compaction, replace".to_owned()))
    );
    assert_eq!(happened(managed("injection", "append")), None);
    let user = |text: &str| json!({"source": "user", "message": text});
    let continued = "This session is being continued from a previous conversation that ran out of context.";
    assert_eq!(happened(user(continued)), Some((Happening::Compacted, String::new())));
    assert_eq!(happened(user("[Request interrupted by user]")), Some((Happening::Interrupted, String::new())));
    assert_eq!(happened(user("Go on.")), None);
}

#[test]
fn the_model_of_a_step_is_told_if_it_is_another() {
    let mut events = Vec::new();
    let mut told = AtifTrajectoryReader::new(None);
    told.read_field("agent", json!({"name": "a", "model": {"provider": "p", "name": "m-1"}}), &mut events);
    for model in ["m-1", "m-2"] {
        told.read_step(json!({"source": "agent", "model_name": model}), &mut events);
    }
    assert!(matches!(&events[0], TrajectoryEvent::About(about) if about.model.as_deref() == Some("m-1")));
    assert!(matches!(&events[1], TrajectoryEvent::Step(step) if step.model.is_none()));
    assert!(matches!(&events[2], TrajectoryEvent::Step(step) if step.model.as_deref() == Some("m-2")));
}

#[test]
fn what_is_no_step_is_reported_once() {
    let events = told(json!([{"source": "user"}, null, 7, [], {"source": "user"}]));
    let skipped = events.iter().filter(|event| matches!(event, TrajectoryEvent::Skipped(_))).count();
    assert_eq!((events.len(), skipped), (3, 1));
}
