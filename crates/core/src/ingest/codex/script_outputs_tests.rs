use serde_json::json;

use super::*;
use crate::ingest::codex::scripts::read_script;

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn envelopes_are_opened() {
    let part = |text: &str| json!({"type": "input_text", "text": text});
    let reply =
        |ending, duration_ms, printed: &[&str]| Some(ScriptReply { ending, duration_ms, texts: texts(printed) });
    let running = ScriptEnding::Running("7".to_owned());
    let table = [
        (
            json!([part("Script completed\nWall time 0.1 seconds\nOutput:\n"), part("a"), part("b")]),
            reply(ScriptEnding::Completed, Some(100), &["a", "b"]),
        ),
        (
            json!("Script completed\nWall time 2 seconds\nOutput:\na\n"),
            reply(ScriptEnding::Completed, Some(2000), &["a\n"]),
        ),
        (json!("Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n"), reply(running, Some(10_000), &[])),
        (
            json!([part("Script failed\nWall time 0.0 seconds\nOutput:\n"), part("Script error:\nno")]),
            reply(ScriptEnding::Failed, Some(0), &["Script error:\nno"]),
        ),
        (json!("Script of a play"), None),
        (json!("aborted by user"), None),
        (json!({}), None),
        (json!([]), None),
    ];
    for (content, expected) in table {
        assert_eq!(open_envelope(&content), expected, "{content}");
    }
}

#[test]
fn results_are_told_apart_where_that_can_be_done() {
    let pair = |print: &str| {
        read_script(&format!(
            "const [a, b] = await Promise.all([tools.exec_command({{cmd: 'a'}}), tools.exec_command({{cmd: 'b'}})]);{print}"
        ))
    };
    let outputs = pair("for (const r of [a, b]) text(r.output)");
    let objects = pair("text(JSON.stringify([a, b]))");
    let labelled = pair(r#"text("A\n" + a.output + "\nB\n" + b.output)"#);
    let bad = r#"{"exit_code":2,"output":"no"}"#;
    let both = format!("[{bad},{{\"exit_code\":0,\"output\":\"\"}}]");
    let table = [
        (&outputs, vec!["one", "two"], Some(vec![("one", None), ("two", None)])),
        (&outputs, vec!["# a", "one\n1", "# b", "two\n2"], Some(vec![("one\n1", None), ("two\n2", None)])),
        (&outputs, vec![bad, "two"], Some(vec![(bad, None), ("two", None)])),
        (&objects, vec![both.as_str()], Some(vec![("no", Some(2)), ("", Some(0))])),
        (&objects, vec![bad, bad], Some(vec![("no", Some(2)), ("no", Some(2))])),
        (&labelled, vec!["A\none\nB\ntwo"], Some(vec![("one", None), ("two", None)])),
        (&labelled, vec!["A\none\nB\ntwo\nB\nthree"], None),
        (&outputs, vec!["all of it"], None),
        (&outputs, vec!["1", "2", "3"], None),
    ];
    for (script, printed, expected) in table {
        let shared = assign_texts_to_calls(script, &texts(&printed));
        let shared =
            shared.as_ref().map(|all| all.iter().map(|one| (one.text.as_str(), one.exit_code)).collect::<Vec<_>>());
        assert_eq!(shared, expected, "{printed:?}");
    }
}

#[test]
fn all_that_was_printed_can_be_joined() {
    let script = read_script(
        "const {output, ...rest} = await tools.exec_command({cmd: 'a'}); text(rest); text(output); if (0) text(`S=${rest.session_id}`)",
    );
    let joined =
        join_texts(&script, texts(&[r#"{"chunk_id":"a","exit_code":3,"wall_time_seconds":1.5}"#, "out", "S=12"]));
    let expected = PrintedResult {
        text: "out".to_owned(),
        exit_code: Some(3),
        session: Some("12".to_owned()),
        duration_ms: Some(1500),
        ..PrintedResult::default()
    };
    assert_eq!(joined, expected);
    let other = r#"{"exit_code":1,"name":"x"}"#;
    assert_eq!(join_texts(&script, texts(&[other])).text, other, "a command's own JSON stays");
}
