use proptest::prelude::*;
use serde_json::json;

use super::super::chat_reply;
use super::*;
use crate::model::{Finish, ModelReply, ModelToolCall};

fn read(body: &str) -> Result<ModelReply, ModelError> {
    chat_reply::read_reply(body.as_bytes(), false, &KeyMask::new(None)).map_err(|fault| fault.error)
}

fn body(chunks: &[Value]) -> String {
    let events: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{events}data: [DONE]\n\n")
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

#[track_caller]
fn calls(parts: &[Value], expected: &[(&str, &str, &str)]) {
    let chunks: Vec<Value> = parts.iter().map(|part| delta(&json!({"tool_calls": [part]}))).collect();
    let call = |(id, name, arguments): &(&str, &str, &str)| ModelToolCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    let expected: Vec<ModelToolCall> = expected.iter().map(call).collect();
    assert_eq!(read(&body(&chunks)).unwrap().calls, expected, "{parts:?}");
}

#[test]
fn the_parts_of_an_answer_are_put_together() {
    let chunks = [
        delta(&json!({"role": "assistant", "content": ""})),
        delta(&json!({"content": "Be"})),
        json!({"choices": [{"index": 1, "delta": {"content": "Another"}}]}),
        delta(&json!({"content": "cause", "refusal": null})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}], "usage": null}),
        json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}),
    ];
    let reply = read(&body(&chunks)).unwrap();
    assert_eq!((reply.text.as_str(), reply.finish), ("Because", Finish::Length));
    assert_eq!((reply.usage.prompt_tokens, reply.usage.completion_tokens), (Some(5), Some(2)));
}

#[test]
fn the_parts_of_calls_are_put_together() {
    calls(
        &[
            json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}),
            json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}),
            json!({"index": 0, "function": {"arguments": "{\"x\":"}}),
            json!({"index": 0, "function": {"name": "f", "arguments": "1}"}}),
        ],
        &[("a", "f", r#"{"x":1}"#), ("b", "g", "{}")],
    );
    // The same index for all, or none at all.
    for index in [json!(0), Value::Null] {
        calls(
            &[
                json!({"index": index, "id": "a", "function": {"name": "f", "arguments": "{}"}}),
                json!({"index": index, "id": "b", "function": {"name": "f", "arguments": {"x": 1}}}),
            ],
            &[("a", "f", "{}"), ("b", "f", r#"{"x":1}"#)],
        );
    }
    calls(&[json!({"index": u64::MAX, "function": {"name": "f"}})], &[("call_1", "f", "{}")]);
    let legacy = [
        delta(&json!({"function_call": {"name": "f", "arguments": "{\"x\":"}})),
        delta(&json!({"function_call": {"arguments": "1}"}})),
    ];
    assert_eq!(read(&body(&legacy)).unwrap().calls[0].arguments, r#"{"x":1}"#);
}

#[test]
fn events_come_in_many_shapes() {
    let chunk = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    let pretty = serde_json::to_string_pretty(&chunk).unwrap().replace('\n', "\ndata: ");
    for body in [
        format!("data:{chunk}\n\n"),
        format!("data: {chunk}\r\n\r\ndata: [DONE]\r\n\r\n"),
        format!(": still thinking\n\nevent: message\nid: 1\ndata: {chunk}"),
        format!("data: {chunk}\ndata: [DONE]"),
        format!("data: {pretty}\n\n"),
        format!("\n\ndata: \n\ndata: {chunk}\n\n"),
    ] {
        assert_eq!(read(&body).unwrap().text, "a", "{body}");
    }
    let lines = format!("data: {}\ndata: {chunk}\ndata: [DONE]", delta(&json!({"content": "b"})));
    assert_eq!(read(&lines).unwrap().text, "ba");
    let message = json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]});
    assert_eq!(read(&body(&[message])).unwrap().text, "a");
}

#[test]
fn a_stream_that_breaks_off_is_a_failed_connection() {
    let error = read(&format!("data: {}\n\n", delta(&json!({"content": "Be"})))).unwrap_err();
    assert_eq!(error, ModelError::Connection { said: "the stream ended before the answer did".to_owned() });
}

#[test]
fn a_stream_may_be_no_answer() {
    let unreadable = |body: &str| assert!(matches!(read(body), Err(ModelError::Unreadable { .. })), "{body}");
    unreadable("data: {\"choices\": [\n\n");
    unreadable("data: [DONE]\n\n");
    unreadable(": nothing\n\n");
    unreadable(&body(&[json!({"choices": []})]));
    let error = body(&[delta(&json!({"content": "Be"})), json!({"error": {"message": "No", "code": 502}})]);
    assert_eq!(read(&error), Err(ModelError::Server { status: 502, retry_after: None, said: "No".to_owned() }));
    let refused = body(&[delta(&json!({"refusal": "I "})), delta(&json!({"refusal": "can't"}))]);
    assert_eq!(read(&refused), Err(ModelError::Declined { said: "I can't".to_owned(), written: 0 }));
}

#[test]
fn a_stream_is_known_by_its_type_too() {
    let body = json!({"choices": [{"message": {"content": "a"}}]}).to_string();
    assert_eq!(chat_reply::read_reply(body.as_bytes(), true, &KeyMask::new(None)).unwrap().text, "a");
}

#[test]
fn many_lines_of_one_event_take_linear_time() {
    let started = std::time::Instant::now();
    let _ = read(&format!("data: [{{}}\n{}", "data: ,{}\n".repeat(50_000)));
    assert!(started.elapsed().as_secs() < 3, "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn any_stream_is_survived(lines in prop::collection::vec(r#"(data: ?)?[\[\]{}":,0-9a-z ]{0,30}"#, 0..10)) {
        let _ = read(&format!("data: {}", lines.join("\n")));
    }

    #[test]
    fn a_text_in_any_pieces_is_the_same_text(pieces in prop::collection::vec(any::<String>(), 1..8)) {
        let chunks: Vec<Value> = pieces.iter().map(|piece| delta(&json!({"content": piece}))).collect();
        prop_assert_eq!(read(&body(&chunks)).unwrap().text, pieces.concat());
    }
}
