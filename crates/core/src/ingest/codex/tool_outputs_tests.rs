use serde_json::json;

use super::*;

fn check(content: Value, exit_code: Option<i32>, failed: Option<bool>, duration_ms: Option<u64>) {
    let read = parse_output(content.clone());
    assert_eq!((read.exit_code, read.failed, read.duration_ms), (exit_code, failed, duration_ms), "{content}");
}

#[test]
fn the_exit_code_stands_in_the_head() {
    check(json!("Exit code: 0\nWall time: 0.5 seconds\nOutput:\nfine"), Some(0), Some(false), Some(500));
    check(
        json!("Exit code: 137\nWall time: 12 seconds\nTotal output lines: 900\nOutput:\n…"),
        Some(137),
        Some(true),
        Some(12_000),
    );
    check(
        json!("Chunk ID: a\nWall time: 1.25 seconds\nProcess exited with code 2\nOutput:\n"),
        Some(2),
        Some(true),
        Some(1250),
    );
    check(json!("Wall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"), None, None, Some(10_000));
    check(
        json!([{"type": "input_text", "text": "Script completed\nWall time 1.0 seconds\nOutput:\n"}]),
        None,
        None,
        Some(1000),
    );
    check(json!("Script failed\nWall time 0.1 seconds\nOutput:\n"), None, Some(true), Some(100));
}

#[test]
fn what_a_command_prints_is_no_head() {
    check(json!("Exit code: 0\nOutput:\nExit code: 1"), Some(0), Some(false), None);
    check(json!("hello\nExit code: 1"), None, None, None);
    check(json!("Exit code: many\nOutput:\n"), None, None, None);
    check(json!("Exit code: 99999999999999\nOutput:\n"), None, None, None);
}

#[test]
fn outputs_of_2025_are_unpacked() {
    let packed = r#"{"output":"no such file\n","metadata":{"exit_code":1,"duration_seconds":0.25}}"#;
    let read = parse_output(json!(packed));
    assert_eq!(read.text, "no such file\n");
    check(json!(packed), Some(1), Some(true), Some(250));
    check(json!({"output": "ok", "metadata": {"exit_code": 0}}), Some(0), Some(false), None);
    check(json!({"content": "no", "success": false}), None, Some(true), None);
    check(json!({"content": [{"type": "text", "text": "no"}], "isError": true}), None, Some(true), None);
}

#[test]
fn other_json_stays_as_it_is() {
    for text in [r#"{"output":"a","name":"b","metadata":{}}"#, r#"{"metadata":1}"#, r#"{"output":"#, "{}", "[1]"] {
        assert_eq!(parse_output(json!(text)).text, text);
    }
}

#[test]
fn refusals_and_interrupts_are_told() {
    for text in ["aborted", "aborted by user after 3.2s", "Wall time: 2.0 seconds\naborted by user"] {
        assert!(parse_output(json!(text)).interrupted, "{text}");
    }
    let long = format!("aborted by user{}", "x".repeat(500));
    for text in ["the run was aborted", &long] {
        assert!(!parse_output(json!(text)).interrupted, "{text}");
    }
    check(json!("failed to parse function arguments: EOF"), None, Some(true), None);
    check(json!("exec command rejected by user"), None, Some(true), None);
    check(json!("unsupported call: fly"), None, Some(true), None);
}

#[test]
fn durations_are_written_in_many_ways() {
    for (value, expected) in [
        (json!({"duration_ms": 12}), Some(12)),
        (json!({"durationMs": 12}), Some(12)),
        (json!({"duration": {"secs": 1, "nanos": 500_000_000}}), Some(1500)),
        (json!({"duration": "1.5s"}), Some(1500)),
        (json!({"duration": "20ms"}), Some(20)),
        (json!({"duration": "soon"}), None),
        (json!({"duration": {"secs": -4}}), None),
        (json!({}), None),
    ] {
        assert_eq!(read_duration_ms(value.as_object().unwrap()), expected, "{value}");
    }
}
