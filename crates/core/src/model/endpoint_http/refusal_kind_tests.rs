use serde_json::json;

use super::*;

fn fault(status: u16, body: &str) -> EndpointFailure {
    EndpointFailure::from_status(StatusCode::from_u16(status).unwrap(), None, body, &KeyMask::new(None))
}

fn kind(fault: &EndpointFailure) -> String {
    serde_json::to_value(&fault.error).unwrap()["kind"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check(status: u16, message: &str, expected: &str) {
    let body = json!({"error": {"message": message, "type": "invalid_request_error", "code": null}});
    assert_eq!(kind(&fault(status, &body.to_string())), expected, "{status} {message}");
    assert_eq!(kind(&fault(status, message)), expected, "{status} {message}");
}

#[test]
fn a_question_that_is_too_long_is_known_in_many_words() {
    for (status, message) in [
        (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
        (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
        (400, "the request exceeds the available context size, try increasing it"),
        (
            500,
            "the request exceeds the available context size. try increasing the context size or enable context shift",
        ),
        (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        (400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
        (400, "Please reduce the length of the messages or completion."),
        (400, "The number of tokens to keep from the initial prompt is greater than the context length."),
        (400, "Trying to keep the first 9000 tokens when context the overflows."),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
        (400, "Input is too long for requested model."),
        (400, "too many tokens: total number of tokens in the prompt cannot exceed 4081"),
        (413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000"),
        (429, "Request too large for m on tokens per min (TPM): Limit 10000, Requested 20000."),
        (413, "Payload Too Large"),
    ] {
        check(status, message, "too_long");
    }
    let labelled = json!({"error": {"message": "no", "code": "context_length_exceeded"}}).to_string();
    assert_eq!(kind(&fault(400, &labelled)), "too_long");
}

#[test]
fn what_only_sounds_like_it_is_not_too_long() {
    check(429, "Too many tokens, please wait before trying again.", "rate_limited");
    check(429, "Rate limit reached for tokens per minute", "rate_limited");
    check(400, "max_tokens is too large: 5000. This model supports at most 4096 completion tokens.", "bad_request");
    check(401, "context length exceeded", "unauthorized");
    check(503, "prompt is too long", "server");
}

#[test]
fn a_model_that_is_not_there_is_not_found() {
    check(400, "The model `gpt-9` does not exist or you do not have access to it.", "not_found");
    check(400, "invalid model ID", "not_found");
    check(400, "small is not a valid model ID", "not_found");
    check(404, "model \"small\" not found, try pulling it first", "not_found");
    check(400, "tool_choice is not supported by this model", "bad_request");
    check(400, "parameter does not exist", "bad_request");
    let labelled = json!({"error": {"message": "no", "code": "model_not_found"}}).to_string();
    assert_eq!(kind(&fault(400, &labelled)), "not_found");
    let EndpointFailure { error: ModelError::NotFound { said }, .. } = fault(404, r#"{"error": "model x not found"}"#)
    else {
        panic!("found")
    };
    assert_eq!(said, "model x not found", "the path is right, so there is no hint");
}

#[test]
fn a_bad_key_and_a_filter_are_known_by_their_words() {
    check(400, "API key not valid. Please pass a valid API key.", "unauthorized");
    let filtered = json!({"error": {"message": "flagged", "code": "content_filter", "status": 400}}).to_string();
    assert_eq!(kind(&fault(400, &filtered)), "declined");
}

#[test]
fn nobody_waits_for_money() {
    check(429, "You exceeded your current quota, please check your plan and billing details.", "bad_request");
    let labelled = json!({"error": {"message": "no", "type": "insufficient_quota"}}).to_string();
    assert_eq!(kind(&fault(429, &labelled)), "bad_request");
    assert_eq!(kind(&fault(429, "insufficient_quota")), "bad_request");
}

#[test]
fn a_refused_parameter_is_recognised() {
    let refused = |message: &str, param: Option<&str>| {
        let body = json!({"error": {"message": message, "code": "unsupported_value", "param": param}});
        fault(400, &body.to_string()).refused
    };
    let max_tokens =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    assert_eq!(refused(max_tokens, None), Some(OptionalParameter::MaxTokens));
    assert_eq!(refused("`temperature` is deprecated for this model.", None), Some(OptionalParameter::Temperature));
    assert_eq!(
        refused("Unsupported value, as is max_tokens", Some("temperature")),
        Some(OptionalParameter::Temperature)
    );
    assert_eq!(refused("'tools' is not supported", None), None);
    assert_eq!(fault(400, "max_tokens is too large: 5000").refused, None);
    assert_eq!(fault(400, "'max_tokens' is not allowed: this exceeds the maximum context length").refused, None);
    assert_eq!(fault(500, max_tokens).refused, None);
}

#[test]
fn an_error_that_calls_itself_a_success_is_read_by_its_words() {
    let kind_of = |error| kind(&EndpointFailure::from_refusal(&RefusalMessage::from_json(&error), &KeyMask::new(None)));
    assert_eq!(kind_of(json!({"message": "a", "code": 429})), "rate_limited");
    assert_eq!(kind_of(json!({"message": "a", "code": 502})), "server");
    assert_eq!(kind_of(json!({"message": "a", "type": "authentication_error"})), "unauthorized");
    assert_eq!(kind_of(json!({"message": "a", "type": "rate_limit_error"})), "rate_limited");
    assert_eq!(kind_of(json!({"message": "a", "type": "insufficient_quota"})), "bad_request");
    assert_eq!(kind_of(json!({"message": "a", "type": "not_found_error"})), "not_found");
    assert_eq!(kind_of(json!({"message": "a", "type": "invalid_request_error"})), "bad_request");
    assert_eq!(kind_of(json!({"message": "exceeds the available context size"})), "too_long");
    assert_eq!(kind_of(json!("overloaded")), "server");
}
