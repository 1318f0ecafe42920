use serde_json::json;

use super::*;
use crate::ingest::codex::tests::{event, item, told};

fn script(id: &str, input: &str) -> Value {
    item(json!({"type": "custom_tool_call", "name": "exec", "call_id": id, "input": input}))
}

fn function(id: &str, name: &str, arguments: &Value) -> Value {
    item(json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments.to_string()}))
}

fn output(id: &str, content: &Value) -> Value {
    item(json!({"type": "function_call_output", "call_id": id, "output": content}))
}

fn printed(id: &str, seconds: &str, texts: &[&str]) -> Value {
    let head = format!("Script completed\nWall time {seconds} seconds\nOutput:\n");
    let parts: Vec<Value> = std::iter::once(head.as_str())
        .chain(texts.iter().copied())
        .map(|text| json!({"type": "input_text", "text": text}))
        .collect();
    output(id, &json!(parts))
}

const RUN: &str = r#"const r = await tools.exec_command({cmd: "cargo test", workdir: "/x"}); text(JSON.stringify(r));"#;

#[test]
fn a_script_is_the_command_that_it_runs() {
    let lines = [script("c1", RUN), printed("c1", "1.5", &[r#"{"exit_code":101,"output":"FAILED"}"#])];
    assert_eq!(
        told(&lines),
        [
            "1 agent: ",
            r#"1 calls c1 exec_command {"cmd":"cargo test","workdir":"/x"}"#,
            "c1 gives FAILED exit 101 failed 1500 ms",
        ]
    );
    let lines = [script("c1", "text(ALL_TOOLS.length)"), printed("c1", "0.0", &["12"])];
    assert_eq!(
        told(&lines),
        ["1 agent: ", r#"1 calls c1 exec {"input":"text(ALL_TOOLS.length)"}"#, "c1 gives 12 0 ms"]
    );
}

#[test]
fn several_commands_share_an_output_or_the_last_has_it() {
    let two = |print: &str| {
        format!(
            "const [a, b] = await Promise.all([tools.exec_command({{cmd: 'a'}}), tools.exec_command({{cmd: 'b'}})]);{print}"
        )
    };
    let calls = ["1 agent: ", r#"1 calls c1/1 exec_command {"cmd":"a"}"#, r#"1 calls c1 exec_command {"cmd":"b"}"#];
    let apart = [script("c1", &two("text(a.output); text(b.output)")), printed("c1", "1", &["one", "two"])];
    assert_eq!(told(&apart), [calls.as_slice(), &["c1/1 gives one", "c1 gives two"]].concat());
    let whole = [script("c1", &two("text(a.output + b.output)")), printed("c1", "1", &["one two"])];
    assert_eq!(told(&whole), [calls.as_slice(), &["c1 gives one two 1000 ms"]].concat());
}

#[test]
fn a_poll_of_a_cell_carries_the_command() {
    let running = "Script running with cell ID 7\nWall time 10.0 seconds\nOutput:\n";
    let wait = |id: &str| function(id, "wait", &json!({"cell_id": "7"}));
    let lines = [
        script("c1", RUN),
        output("c1", &json!(running)),
        wait("c2"),
        output("c2", &json!(running)),
        wait("c3"),
        printed("c3", "2.0", &[r#"{"exit_code":1,"output":"no"}"#]),
        wait("c4"),
    ];
    let poll = |id: &str| format!(r#"1 calls {id} write_stdin {{"cell_id":"7","cmd":"cargo test","workdir":"/x"}}"#);
    assert_eq!(
        told(&lines),
        [
            "1 agent: ",
            r#"1 calls c1 exec_command {"cmd":"cargo test","workdir":"/x"}"#,
            "c1 gives Command running in background (cell 7) 10000 ms",
            &poll("c2"),
            "c2 gives Command running in background (cell 7) 10000 ms",
            &poll("c3"),
            "c3 gives no exit 1 failed 2000 ms",
            r#"1 calls c4 wait {"cell_id":"7"}"#,
        ]
    );
}

#[test]
fn a_poll_of_a_session_carries_the_command() {
    let poll = |id: &str| {
        script(id, "const r = await tools.write_stdin({session_id: 9, chars: '', yield_time_ms: 1000}); text(r.output)")
    };
    let call = |id: &str| {
        format!(
            r#"1 calls {id} write_stdin {{"chars":"","cmd":"cargo test","session_id":9,"workdir":"/x","yield_time_ms":1000}}"#
        )
    };
    let lines = [
        script("c1", RUN),
        printed("c1", "10", &[r#"{"chunk_id":"a","session_id":9,"output":"begun"}"#]),
        poll("c2"),
        printed("c2", "5.0", &["half"]),
        poll("c3"),
        printed("c3", "3.2", &["done"]),
    ];
    assert_eq!(
        told(&lines),
        [
            "1 agent: ",
            r#"1 calls c1 exec_command {"cmd":"cargo test","workdir":"/x"}"#,
            "c1 gives Command running in background (session 9)⏎begun 10000 ms",
            &call("c2"),
            "c2 gives Command running in background (session 9)⏎half 5000 ms",
            &call("c3"),
            "c3 gives done 3200 ms",
        ]
    );
}

#[test]
fn plain_calls_are_polled_in_the_same_way() {
    let lines = [
        function("c1", "exec_command", &json!({"cmd": "cargo test"})),
        output("c1", &json!("Chunk ID: a\nWall time: 10.0 seconds\nProcess running with session ID 9\nOutput:\nbegun")),
        function("c2", "write_stdin", &json!({"session_id": 9})),
        output("c2", &json!("Wall time: 1.0 seconds\nProcess exited with code 101\nOutput:\nFAILED")),
        function("c3", "exec_command", &json!({"cmd": "cat log"})),
        output("c3", &json!("Process exited with code 0\nOutput:\nProcess running with session ID 4")),
    ];
    assert_eq!(
        told(&lines),
        [
            "1 agent: ",
            r#"1 calls c1 exec_command {"cmd":"cargo test"}"#,
            "c1 gives Command running in background (session 9)⏎Chunk ID: a⏎Wall time: 10.0 seconds⏎Process running with session ID 9⏎Output:⏎begun 10000 ms",
            r#"1 calls c2 write_stdin {"cmd":"cargo test","session_id":9}"#,
            "c2 gives Wall time: 1.0 seconds⏎Process exited with code 101⏎Output:⏎FAILED exit 101 failed 1000 ms",
            r#"1 calls c3 exec_command {"cmd":"cat log"}"#,
            "c3 gives Process exited with code 0⏎Output:⏎Process running with session ID 4 exit 0 fine",
        ]
    );
}

#[test]
fn what_an_event_tells_of_a_script_is_told_once() {
    let patch = r#"const patch = "*** Begin Patch\n*** Update File: a.rs\n*** End Patch"; text(await tools.apply_patch(patch));"#;
    let ended = event(
        json!({"type": "patch_apply_end", "call_id": "exec-1", "stdout": "Success.", "success": true, "changes": {"a.rs": {}}}),
    );
    let lines = [script("c1", patch), ended.clone(), printed("c1", "0.1", &["{}"]), ended];
    assert_eq!(
        told(&lines),
        [
            "1 agent: ",
            r#"1 calls c1 apply_patch {"input":"*** Begin Patch\n*** Update File: a.rs\n*** End Patch"}"#,
            "c1 gives Success. fine 100 ms",
            r#"1 calls exec-1 apply_patch {"changes":{"a.rs":{}}}"#,
            "exec-1 gives Success. fine",
        ]
    );
}

#[test]
fn a_script_that_failed_has_failed() {
    let failed = json!([{"text": "Script failed\nWall time 0.0 seconds\nOutput:\n"}, {"text": "Script error:\nUnknown process id 9"}]);
    let lines = [script("c1", RUN), output("c1", &failed)];
    assert_eq!(told(&lines).last().unwrap(), "c1 gives Script error:⏎Unknown process id 9 failed 0 ms");
}

#[test]
fn a_poll_that_goes_wrong_says_nothing_of_the_command() {
    let error = "write_stdin failed: Unknown process id 9";
    let failed = json!([{"text": "Script failed\nWall time 0.0 seconds\nOutput:\n"}, {"text": format!("Script error:\n{error}")}]);
    let poll = "const r = await tools.write_stdin({session_id: 9}); text(r.output)";
    let lines = [script("c1", poll), output("c1", &failed)];
    assert_eq!(
        told(&lines).last().unwrap(),
        "c1 gives Command running in background (session 9)⏎Script error:⏎write_stdin failed: Unknown process id 9 0 ms"
    );
    let lines = [function("c1", "write_stdin", &json!({"session_id": 9})), output("c1", &json!(error))];
    assert_eq!(
        told(&lines).last().unwrap(),
        "c1 gives Command running in background (session 9)⏎write_stdin failed: Unknown process id 9"
    );
}

#[test]
fn a_wait_for_permission_is_no_slowness() {
    let run = |more: &str| format!("const r = await tools.exec_command({{cmd: 'make'{more}}}); text(r.output)");
    let last = |script_text: &str| told(&[script("c1", script_text), printed("c1", "90.0", &["done"])]).pop().unwrap();
    assert_eq!(last(&run("")), "c1 gives done 90000 ms");
    assert_eq!(last(&run(", sandbox_permissions: 'use_default'")), "c1 gives done 90000 ms");
    assert_eq!(last(&run(", sandbox_permissions: 'require_escalated'")), "c1 gives done");
    let reported = printed("c1", "90.0", &[r#"{"exit_code":0,"output":"done","wall_time_seconds":2.5}"#]);
    let whole = RUN.replace("workdir", "sandbox_permissions: 'require_escalated', workdir");
    assert_eq!(told(&[script("c1", &whole), reported]).pop().unwrap(), "c1 gives done exit 0 fine 2500 ms");
}
