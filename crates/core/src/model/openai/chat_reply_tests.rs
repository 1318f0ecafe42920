use proptest::prelude::*;
use serde_json::json;

use super::*;

fn mask() -> KeyMask {
    KeyMask::new(None)
}

fn reply(body: &Value) -> Result<ModelReply, ModelError> {
    read_reply(body.to_string().as_bytes(), false, &mask()).map_err(|fault| fault.error)
}

/// The reply to a message with nothing around it.
fn said(message: &Value) -> ModelReply {
    reply(&json!({"choices": [{"message": message}]})).unwrap()
}

fn declined(body: &Value) -> String {
    match reply(body) {
        Err(ModelError::Declined { said, .. }) => said,
        other => panic!("{body}: {other:?}"),
    }
}

#[test]
fn the_least_that_is_an_answer_is_one() {
    let expected =
        ModelReply { text: "a".to_owned(), calls: vec![], finish: Finish::Stop, usage: TokenUsage::default() };
    assert_eq!(said(&json!({"content": "a"})), expected);
    assert_eq!(reply(&json!([{"choices": [{"message": {"content": "a"}}]}])), Ok(expected.clone()));
    assert_eq!(reply(&json!({"choices": [{"text": "a"}], "error": null})), Ok(expected.clone()));
    assert_eq!(reply(&json!({"choices": [{"delta": {"content": "a"}}], "error": {}, "usage": 7})), Ok(expected));
}

#[test]
fn content_comes_in_many_shapes() {
    for (content, text) in [
        (json!(null), ""),
        (json!("a"), "a"),
        (json!([]), ""),
        (json!([{"type": "text", "text": "a"}, {"type": "image"}, "b", {"type": "output_text", "text": "c"}]), "abc"),
        (json!({"type": "text", "text": "a"}), "a"),
        (json!(7), ""),
    ] {
        assert_eq!(said(&json!({"content": content})).text, text, "{content}");
    }
    assert_eq!(said(&json!({})).text, "");
}

#[test]
fn calls_come_in_many_shapes() {
    let cases = [
        json!({"tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]}),
        json!({"tool_calls": [{"id": "a", "function": {"name": " f ", "arguments": {"x": 1}}}]}),
        json!({"tool_calls": [{"id": "a", "name": "f", "arguments": {"x": 1}}], "content": null}),
        json!({"tool_calls": {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}}),
        json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}, {"function": {}}, 7]}),
    ];
    let expected = vec![ModelToolCall { id: "a".to_owned(), name: "f".to_owned(), arguments: r#"{"x":1}"#.to_owned() }];
    for message in cases {
        let reply = said(&message);
        assert_eq!((reply.calls, reply.finish), (expected.clone(), Finish::ToolCalls), "{message}");
    }
    let legacy = said(&json!({"content": null, "function_call": {"name": "f", "arguments": ""}}));
    assert_eq!(
        legacy.calls,
        [ModelToolCall { id: "call_1".to_owned(), name: "f".to_owned(), arguments: "{}".to_owned() }]
    );
}

#[test]
fn every_call_gets_an_id_of_its_own() {
    let ids = |given: Value| -> Vec<String> {
        let calls: Vec<Value> = given
            .as_array()
            .unwrap()
            .iter()
            .map(|id| json!({"id": id, "function": {"name": "f", "arguments": "{}"}}))
            .collect();
        said(&json!({"tool_calls": calls})).calls.into_iter().map(|call| call.id).collect()
    };
    assert_eq!(ids(json!([null, null])), ["call_1", "call_2"]);
    assert_eq!(ids(json!(["a", "a", "b", "a"])), ["a", "call_1", "b", "call_2"]);
    assert_eq!(ids(json!(["", "call_1", 7])), ["call_2", "call_1", "7"]);
}

#[test]
fn reasons_to_end_come_in_many_words() {
    let finish = |reason: Value, message: Value| {
        reply(&json!({"choices": [{"message": message, "finish_reason": reason}]})).unwrap().finish
    };
    let words = || json!({"content": "a"});
    let call = || json!({"tool_calls": [{"function": {"name": "f"}}]});
    for reason in [json!(null), json!(""), json!("stop"), json!("STOP"), json!("end_turn"), json!(7)] {
        assert_eq!(finish(reason.clone(), words()), Finish::Stop, "{reason}");
        assert_eq!(finish(reason.clone(), call()), Finish::ToolCalls, "{reason}");
    }
    for reason in ["length", "MAX_TOKENS"] {
        assert_eq!(finish(json!(reason), words()), Finish::Length);
        assert_eq!(finish(json!(reason), call()), Finish::Length);
    }
    assert_eq!(finish(json!("tool_use"), call()), Finish::ToolCalls);
    assert_eq!(finish(json!("tired"), words()), Finish::Other("tired".to_owned()));
    assert_eq!(finish(json!("x".repeat(1000)), words()), Finish::Other("x".repeat(64)));
}

#[test]
fn a_refusal_is_no_answer() {
    assert_eq!(declined(&json!({"choices": [{"message": {"content": null, "refusal": "I\ncan't"}}]})), "I can't");
    let filtered = json!({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]});
    assert_eq!(declined(&filtered), "a content filter objected");
    let half = json!({"choices": [{"message": {"content": "Well"}, "finish_reason": "content_filter"}]});
    assert_eq!(declined(&half), "Well");
    assert_eq!(said(&json!({"content": "a", "refusal": null})).text, "a");
    assert_eq!(said(&json!({"content": "a", "refusal": ""})).text, "a");
}

#[test]
fn what_is_no_answer_is_unreadable() {
    let unreadable = |body: &str| match read_reply(body.as_bytes(), false, &mask()).map_err(|fault| fault.error) {
        Err(ModelError::Unreadable { why }) => why,
        other => panic!("{body}: {other:?}"),
    };
    assert_eq!(unreadable(r#"{"choices": []}"#), "it has no choices");
    assert_eq!(unreadable(" \n"), "it is empty");
    assert_eq!(unreadable(r#"{"message": "Welcome"}"#), "it is no chat completion: Welcome");
    assert_eq!(unreadable(r#"{"choices": {}, "x": 1}"#), r#"it is no chat completion: {"choices":{},"x":1}"#);
    for body in ["7", "[]", "null", "{}", "OK", "{\"choices\": [", "{\"choices\": [{}]} x", "<html>", "\u{0}"] {
        unreadable(body);
    }
}

#[test]
fn an_error_with_a_status_of_success_is_an_error() {
    let said = "No".to_owned();
    let server = |status| ModelError::Server { status, retry_after: None, said: said.clone() };
    assert_eq!(reply(&json!({"error": "No"})), Err(server(200)));
    assert_eq!(reply(&json!({"error": {"message": "No", "code": 502}})), Err(server(502)));
    assert_eq!(reply(&json!([{"error": {"message": "No", "code": 502}}])), Err(server(502)));
    let inner = json!({"choices": [{"error": {"message": "No", "code": 502}, "message": {"content": ""}}]});
    assert_eq!(reply(&inner), Err(server(502)));
    let rate_limited = Err(ModelError::RateLimited { retry_after: None, said: said.clone() });
    assert_eq!(reply(&json!({"choices": [], "error": {"message": "No", "code": 429}})), rate_limited);
    let half = json!({"choices": [{"message": {"content": "a"}}], "error": {"message": "No"}});
    assert_eq!(reply(&half).unwrap().text, "a", "an answer is an answer");
}

#[test]
fn numbers_of_tokens_may_be_anything() {
    let count = |number: Value| {
        let usage = json!({"prompt_tokens": number, "prompt_tokens_details": {"cached_tokens": number}});
        let usage = reply(&json!({"choices": [{"message": {}}], "usage": usage})).unwrap().usage;
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (usage.cached_tokens, None));
        usage.prompt_tokens
    };
    assert_eq!(count(json!(7)), Some(7));
    assert_eq!(count(json!(7.0)), Some(7));
    assert_eq!(count(json!(u64::MAX)), Some(u64::MAX));
    for number in [json!(-1), json!(-7.5), json!(1e300), json!(null), json!("7"), json!([7]), json!({})] {
        assert_eq!(count(number.clone()), None, "{number}");
    }
}

#[test]
fn a_mark_at_the_start_of_the_body_does_not_matter() {
    let body = format!("\u{FEFF}\n{}", json!({"choices": [{"message": {"content": "a"}}]}));
    assert_eq!(read_reply(body.as_bytes(), false, &mask()).unwrap().text, "a");
}

proptest! {
    #[test]
    fn any_body_is_survived(body in prop::collection::vec(any::<u8>(), 0..100), is_stream in any::<bool>()) {
        let _ = read_reply(&body, is_stream, &mask());
    }

    #[test]
    fn any_reply_survives_its_way_through_the_client(text in any::<String>(), reason in any::<String>()) {
        let body = json!({"choices": [{"message": {"content": text}, "finish_reason": reason}]});
        if let Ok(reply) = reply(&body) {
            prop_assert_eq!(serde_json::from_slice::<ModelReply>(&serde_json::to_vec(&reply).unwrap()).unwrap(), reply);
        }
    }
}
