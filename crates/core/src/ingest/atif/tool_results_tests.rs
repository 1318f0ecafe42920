use serde_json::Value;
use serde_json::json;

use super::list_results;
use super::read_result;
use crate::domain::LogReference;
use crate::domain::Part;
use crate::domain::ToolOutput;

fn output(result: Value) -> ToolOutput {
    read_result(result).output.expect("an output")
}

/// Text, failure and exit code.
fn told(result: Value) -> (String, Option<bool>, Option<i32>) {
    let output = output(result);
    (output.text, output.failed, output.exit_code)
}

#[test]
fn contents_have_many_shapes() {
    for (content, text) in [
        (json!("plain"), "plain"),
        (json!([{"type": "text", "text": "a"}, {"type": "image", "source": {"path": "x.png"}}]), "a\n[image]"),
        (json!([{"text": "a"}, "b", {"role": "tool", "content": "c"}]), "a\nb\nc"),
        (json!({"command": "bun test", "passed": true, "output": "ok"}), "$ bun test\nok"),
        (json!({"stdout": "", "stderr": "warn"}), "warn"),
        (json!({"answer": 42}), r#"{"answer":42}"#),
        (json!(42), "42"),
    ] {
        assert_eq!(output(json!({"content": content.clone()})).text, text, "{content}");
    }
    assert_eq!(output(json!("bare")).text, "bare");
    assert_eq!(output(json!({"output": "elsewhere"})).text, "elsewhere");
}

#[test]
fn failures_are_marked_in_many_places() {
    let text = |text: &str| text.to_owned();
    for (result, expected) in [
        (json!({"content": "x"}), (text("x"), None, None)),
        (json!({"content": "x", "extra": {"tool_result_is_error": true}}), (text("x"), Some(true), None)),
        (json!({"content": "x", "extra": {"tool_result_is_error": false}}), (text("x"), Some(false), None)),
        (json!({"content": "x", "is_error": true}), (text("x"), Some(true), None)),
        (
            json!({"content": {"command": "make", "passed": false, "output": "no"}}),
            (text("$ make\nno"), Some(true), None),
        ),
        (
            json!({"type": "tool_result", "content": "denied", "result": {"success": false, "error": "denied"}}),
            (text("denied"), Some(true), None),
        ),
        (json!({"error": "gone"}), (text("gone"), Some(true), None)),
        (
            json!({"content": "x\n[exit_code] 2\n\n[error] tool reported failure"}),
            (text("x\n[exit_code] 2\n\n[error] tool reported failure"), Some(true), Some(2)),
        ),
        (json!({"content": "Exit code 1\nno"}), (text("Exit code 1\nno"), Some(true), Some(1))),
        (
            json!({"content": r#"{"output":"hi","metadata":{"exit_code":0,"duration_seconds":0.5}}"#}),
            (text("hi"), Some(false), Some(0)),
        ),
        (
            json!({"content": "x", "extra": {"tool_result_metadata": {"tool_use_result": {"exitCode": 3}}}}),
            (text("x"), Some(true), Some(3)),
        ),
        (json!({"content": "see `Exit code: 1` above"}), (text("see `Exit code: 1` above"), None, None)),
    ] {
        assert_eq!(told(result.clone()), expected, "{result}");
    }
}

#[test]
fn a_header_of_codex_is_read() {
    let header = "Chunk ID: 12ab\nWall time: 1.25 seconds\nProcess exited with code 101\nOutput:\nExit code: 7\n";
    let output = output(json!({"content": header}));
    assert_eq!((output.exit_code, output.duration_ms, output.failed), (Some(101), Some(1250), Some(true)));
    let older = output_of("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nProcess exited with code 5");
    assert_eq!((older.exit_code, older.duration_ms, older.failed), (Some(0), Some(100), Some(false)));
}

fn output_of(text: &str) -> ToolOutput {
    output(json!({"content": text}))
}

#[test]
fn references_may_be_a_list_or_one() {
    let expected = |path: Option<&str>, id: Option<&str>| {
        vec![LogReference { part: Part::Subagent, path: path.map(str::to_owned), id: id.map(str::to_owned) }]
    };
    for (reference, elsewhere) in [
        (json!([{"trajectory_path": "a.json", "session_id": "s"}]), expected(Some("a.json"), Some("s"))),
        (json!({"trajectory_id": "t", "session_id": "s"}), expected(None, Some("t"))),
        (json!("a.json"), expected(Some("a.json"), None)),
        (json!([{}, 7, null]), Vec::new()),
    ] {
        let found = read_result(json!({"subagent_trajectory_ref": reference.clone()}));
        assert_eq!((found.elsewhere, found.output), (elsewhere, None), "{reference}");
    }
}

#[test]
fn observations_have_many_shapes() {
    for (observation, count) in [
        (json!(null), 0),
        (json!({}), 0),
        (json!({"results": []}), 0),
        (json!({"results": [{"content": "a"}, {"content": "b"}]}), 2),
        (json!({"results": {"content": "a"}}), 1),
        (json!([{"content": "a"}]), 1),
        (json!({"content": "a"}), 1),
        (json!("a"), 1),
    ] {
        assert_eq!(list_results(observation.clone()).len(), count, "{observation}");
    }
}

#[test]
fn a_result_that_says_nothing_is_none() {
    for result in [json!(null), json!({}), json!({"content": null}), json!({"extra": {"a": 1}})] {
        assert_eq!(read_result(result.clone()).output, None, "{result}");
    }
    assert_eq!(read_result(json!({"source_call_id": "c", "content": null})).output, Some(ToolOutput::default()));
}
