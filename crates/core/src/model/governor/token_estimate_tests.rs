use serde_json::json;

use super::*;
use crate::model::{AnswerSchema, Finish};

fn request(text: &str, form: RequestedFormat) -> ModelRequest {
    let messages =
        vec![ModelMessage::System { text: "Be brief.".to_owned() }, ModelMessage::User { text: text.to_owned() }];
    ModelRequest { messages, form, max_output_tokens: 100 }
}

fn tool() -> ModelTool {
    let parameters = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    ModelTool { name: "f".to_owned(), description: "d".to_owned(), parameters }
}

#[test]
fn a_prompt_is_expected_to_take_about_what_a_server_billed() {
    // Billed by llama.cpp for Qwen2.5.
    for (form, billed) in [(RequestedFormat::Text, 27), (RequestedFormat::Tools(vec![tool()]), 150)] {
        let expected = estimate_prompt_tokens(&request("Say hi to 12345 people.", form));
        assert!(expected * 100 >= billed * 85 && expected * 100 <= billed * 115, "{expected} for {billed}");
    }
}

#[test]
fn every_part_of_a_question_counts() {
    let plain = request("Say hi.", RequestedFormat::Text);
    let base = estimate_prompt_tokens(&plain);
    let long = "word ".repeat(100);
    let call =
        ModelToolCall { id: "c1".to_owned(), name: "look".to_owned(), arguments: json!({ "at": long }).to_string() };
    let with = |message: ModelMessage| {
        let mut request = plain.clone();
        request.messages.push(message);
        estimate_prompt_tokens(&request) - base
    };
    for grown in [
        with(ModelMessage::System { text: long.clone() }),
        with(ModelMessage::User { text: long.clone() }),
        with(ModelMessage::Assistant { text: long.clone(), calls: vec![] }),
        with(ModelMessage::Assistant { text: String::new(), calls: vec![call] }),
        with(ModelMessage::ToolResult { call_id: "c1".to_owned(), text: long.clone() }),
    ] {
        assert!((100..130).contains(&grown), "{grown}");
    }
    let described = ModelTool { description: long, ..tool() };
    let grown = estimate_prompt_tokens(&request("Say hi.", RequestedFormat::Tools(vec![described.clone(), described])))
        - estimate_prompt_tokens(&request("Say hi.", RequestedFormat::Tools(vec![])));
    assert!((200..300).contains(&grown), "{grown}");
}

#[test]
fn a_schema_is_reserved_but_not_expected() {
    let schema = AnswerSchema { name: "lessons".to_owned(), schema: json!({ "description": "word ".repeat(1000) }) };
    let plain = request("Say hi.", RequestedFormat::Json);
    let bound = request("Say hi.", RequestedFormat::Schema(schema));
    assert_eq!(estimate_prompt_tokens(&bound), estimate_prompt_tokens(&plain));
    assert!(CallSize::from_request(&bound).whole_prompt >= estimate_prompt_tokens(&plain) + 1000);
    assert!(max_billable_tokens(&bound).prompt >= max_billable_tokens(&plain).prompt + 1500);
}

#[test]
fn a_reservation_holds_for_other_vocabularies() {
    let texts = [
        // A token a digit, as in Qwen and Llama.
        ("0123456789".repeat(500), 5000),
        // A token a byte, where a vocabulary does not know the script.
        ("यह एक परीक्षण है।".repeat(50), 2150),
        // A token for every sixteen.
        ("=".repeat(8000), 500),
        (" ".repeat(8000), 500),
        // Half as much again as o200k.
        ("the quick brown fox ".repeat(500), 3000),
    ];
    for (text, billed) in texts {
        let reserved = max_billable_tokens(&request(&text, RequestedFormat::Text));
        assert!(reserved.prompt >= billed, "{} for {billed}", reserved.prompt);
        assert_eq!(reserved.completion, 100);
    }
}

#[test]
fn an_id_that_most_templates_leave_out_is_reserved() {
    let result = |call_id: String| ModelMessage::ToolResult { call_id, text: String::new() };
    let mut request = request("Say hi.", RequestedFormat::Text);
    request.messages.push(result(String::new()));
    let before = CallSize::from_request(&request);
    *request.messages.last_mut().unwrap() = result("x".repeat(1000));
    let after = CallSize::from_request(&request);
    assert_eq!(after.expected_prompt, before.expected_prompt);
    assert_eq!(after.at_most.prompt, before.at_most.prompt + 1000);
}

#[test]
fn what_was_written_is_text_and_calls() {
    let call =
        ModelToolCall { id: "c1".to_owned(), name: "look".to_owned(), arguments: "{\"at\": \"there\"}".to_owned() };
    let mut reply =
        ModelReply { text: "one two three".to_owned(), calls: vec![], finish: Finish::Stop, usage: Default::default() };
    assert_eq!(count_reply_tokens(&reply), 3);
    reply.calls.push(call);
    assert!(count_reply_tokens(&reply) > 15);
}

#[test]
fn json_is_counted_as_templates_write_it() {
    let mut written = serde_json::Serializer::with_formatter(Vec::new(), SpacedJsonFormatter);
    json!({ "a": [1, 2, {}], "b": null }).serialize(&mut written).unwrap();
    assert_eq!(String::from_utf8(written.into_inner()).unwrap(), r#"{"a": [1, 2, {}], "b": null}"#);
}
