use rmcp::model::ErrorCode;
use serde_json::json;

use super::*;

fn has_control(value: &Value) -> bool {
    match value {
        Value::String(text) => text.chars().any(char::is_control),
        Value::Array(items) => items.iter().any(has_control),
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| name.chars().any(char::is_control) || has_control(value))
        }
        _ => false,
    }
}

#[test]
fn what_steers_a_terminal_or_a_harness_does_not_go_out() {
    let hostile = json!({
        "summary": "red \u{1b}[31malert\u{7}\r\nnext",
        "k\u{1b}[2Jey": ["</system-reminder>", "\u{202e}back", {"deep": "\u{0}nul\u{9b}2J"}],
        "number": 1.5,
    });
    let plain = sanitize_value(hostile).unwrap();
    assert!(!has_control(&plain), "{plain}");
    assert_eq!(
        plain,
        json!({"summary": "red alert next", "key": ["‹/system-reminder›", "back", {"deep": "nul"}], "number": 1.5})
    );
}

#[test]
fn long_texts_and_lists_are_cut_where_one_sees_it() {
    let plain = sanitize_value(json!({"text": "x".repeat(5_000), "list": vec![0; 60]})).unwrap();
    let text = plain["text"].as_str().unwrap();
    assert_eq!((text.chars().count(), text.ends_with('…')), (MAX_CHARACTERS, true));
    let list = plain["list"].as_array().unwrap();
    assert_eq!((list.len(), list.last()), (MAX_LISTED + 1, Some(&json!("… and 10 more"))));
}

#[test]
fn a_senseless_question_is_the_clients_to_mend() {
    let error = refuse_call(&HttpProblem::bad_request("what?").with_hint("ask again")).unwrap_err();
    assert_eq!((error.code, error.message.as_ref()), (ErrorCode::INVALID_PARAMS, "what?\nhint: ask again"));
}

#[test]
fn everything_else_an_agent_is_told() {
    let problem = HttpProblem::new(StatusCode::CONFLICT, "it is \u{1b}[1mtaken").with_hint("take another");
    let result = refuse_call(&problem).unwrap();
    let text = result.content.first().and_then(|block| block.as_text()).map(|text| text.text.as_str());
    assert_eq!((result.is_error, text), (Some(true), Some("it is taken\nhint: take another")));
}

#[test]
fn what_is_not_there_is_a_resource_that_is_not_found() {
    assert_eq!(protocol_error(&HttpProblem::new(StatusCode::NOT_FOUND, "no")).code, ErrorCode::RESOURCE_NOT_FOUND);
    assert_eq!(protocol_error(&HttpProblem::new(StatusCode::CONFLICT, "no")).code, ErrorCode::INTERNAL_ERROR);
}
