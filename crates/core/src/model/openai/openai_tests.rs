use crate::domain::TokenUsage;
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::super::{AnswerSchema, ModelMessage, ModelTool, ModelToolCall};
use super::*;

pub(super) const KEY: &str = "sk-test-0123456789abcdef";

pub(super) fn endpoint(base_url: &str) -> ChatEndpoint {
    ChatEndpoint {
        base_url: base_url.to_owned(),
        model: "small".to_owned(),
        key: Some(SecretString::from(KEY)),
        attempt_timeout: Duration::from_secs(10),
        max_reply_bytes: 1 << 20,
        temperature: Some(0.5),
    }
}

pub(super) fn model(base_url: &str) -> OpenAiModel {
    OpenAiModel::new(endpoint(base_url)).unwrap()
}

pub(super) fn request(form: RequestedFormat) -> ModelRequest {
    ModelRequest { messages: vec![ModelMessage::User { text: "Why?".to_owned() }], form, max_output_tokens: 100 }
}

pub(super) fn tools() -> Vec<ModelTool> {
    let parameters = json!({"type": "object", "properties": {"at": {"type": "integer"}}});
    vec![ModelTool { name: "look".to_owned(), description: "Looks".to_owned(), parameters }]
}

pub(super) fn completion(message: &Value) -> Value {
    json!({"id": "1", "object": "chat.completion", "created": 1, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
}

/// A server that gives the same reply to everything.
pub(super) async fn server(reply: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(reply).mount(&server).await;
    server
}

/// What such a server was asked, in the end.
pub(super) async fn bodies(server: &MockServer) -> Vec<Value> {
    server.received_requests().await.unwrap().iter().map(|request| request.body_json().unwrap()).collect()
}

/// Asks in text form a server that gives this reply.
pub(super) async fn answer(reply: ResponseTemplate) -> Result<ModelReply, ModelError> {
    let server = server(reply).await;
    let answer = model(&format!("{}/v1", server.uri())).send_request(&request(RequestedFormat::Text)).await;
    assert_eq!(bodies(&server).await.len(), 1, "one question is one request");
    answer
}

fn hello() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(completion(&json!({"role": "assistant", "content": "Hello"})))
}

#[tokio::test]
async fn a_question_gets_its_answer() {
    let reply = ResponseTemplate::new(200).set_body_json(json!({
        "id": "chatcmpl-1", "created": 1, "model": "small-2",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Because."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    }));
    let usage = TokenUsage {
        prompt_tokens: Some(12),
        completion_tokens: Some(3),
        cached_tokens: Some(8),
        ..TokenUsage::default()
    };
    let expected = ModelReply { text: "Because.".to_owned(), calls: vec![], finish: Finish::Stop, usage };
    assert_eq!(answer(reply).await, Ok(expected));
}

#[tokio::test]
async fn a_text_question_has_neither_tools_nor_a_format() {
    let server = server(hello()).await;
    let model = model(&format!("{}/v1/", server.uri()));
    assert_eq!(model.name(), "small");
    model.send_request(&request(RequestedFormat::Text)).await.unwrap();
    let expected = json!({
        "model": "small", "messages": [{"role": "user", "content": "Why?"}],
        "stream": false, "max_tokens": 100, "temperature": 0.5
    });
    assert_eq!(bodies(&server).await, [expected]);
    let requests = server.received_requests().await.unwrap();
    let header = |name: &str| requests[0].headers.get(name).unwrap().to_str().unwrap();
    assert_eq!(header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(header("content-type"), "application/json");
    assert!(header("user-agent").starts_with("archivist/"));
}

#[tokio::test]
async fn each_form_is_asked_for_in_its_own_way() {
    let schema = AnswerSchema { name: "lessons".to_owned(), schema: json!({"type": "object"}) };
    let function = json!({"name": "look", "description": "Looks", "parameters": tools()[0].parameters});
    let cases = [
        (RequestedFormat::Tools(tools()), json!([[{"type": "function", "function": function}], "auto", null])),
        (RequestedFormat::Tools(vec![]), json!([null, null, null])),
        (
            RequestedFormat::Schema(schema),
            json!([null, null, {"type": "json_schema", "json_schema": {"name": "lessons", "schema": {"type": "object"}, "strict": true}}]),
        ),
        (RequestedFormat::Json, json!([null, null, {"type": "json_object"}])),
        (RequestedFormat::Text, json!([null, null, null])),
    ];
    for (form, expected) in cases {
        let server = server(hello()).await;
        model(&format!("{}/v1", server.uri())).send_request(&request(form.clone())).await.unwrap();
        let body = bodies(&server).await.remove(0);
        let sent = json!([body.get("tools"), body.get("tool_choice"), body.get("response_format")]);
        assert_eq!(sent, expected, "{form:?}");
    }
}

#[tokio::test]
async fn without_a_key_no_authorization_goes_out() {
    let server = server(hello()).await;
    let endpoint = ChatEndpoint { key: None, temperature: None, ..endpoint(&format!("{}/v1", server.uri())) };
    OpenAiModel::new(endpoint).unwrap().send_request(&request(RequestedFormat::Text)).await.unwrap();
    let requests = server.received_requests().await.unwrap();
    assert!(!requests[0].headers.contains_key("authorization"));
    assert!(bodies(&server).await[0].get("temperature").is_none());
}

#[tokio::test]
async fn a_query_in_the_base_url_comes_behind_the_path() {
    let server = server(hello()).await;
    model(&format!("{}/v1/?api-version=2024-10-21", server.uri()))
        .send_request(&request(RequestedFormat::Text))
        .await
        .unwrap();
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].url.path(), "/v1/chat/completions");
    assert_eq!(requests[0].url.query(), Some("api-version=2024-10-21"));
}

#[tokio::test]
async fn calls_and_their_results_go_back_to_the_model() {
    let call = |id: &str, arguments: &str| ModelToolCall {
        id: id.to_owned(),
        name: "look".to_owned(),
        arguments: arguments.to_owned(),
    };
    let messages = vec![
        ModelMessage::System { text: "Be brief".to_owned() },
        ModelMessage::Assistant { text: "Hm".to_owned(), calls: vec![] },
        ModelMessage::Assistant { text: String::new(), calls: vec![call("a", r#"{"at": 1}"#), call("b", "{at: 2,")] },
        ModelMessage::ToolResult { call_id: "a".to_owned(), text: "one".to_owned() },
    ];
    let server = server(hello()).await;
    let request = ModelRequest { messages, ..request(RequestedFormat::Tools(tools())) };
    model(&format!("{}/v1", server.uri())).send_request(&request).await.unwrap();
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": arguments}});
    let expected = json!([
        {"role": "system", "content": "Be brief"},
        {"role": "assistant", "content": "Hm"},
        {"role": "assistant", "content": null, "tool_calls": [call("a", r#"{"at": 1}"#), call("b", r#"{"at":2}"#)]},
        {"role": "tool", "tool_call_id": "a", "content": "one"},
    ]);
    assert_eq!(bodies(&server).await[0]["messages"], expected);
}

#[tokio::test]
async fn a_call_printed_in_the_content_is_used_where_tools_were_asked_for() {
    let content = "Sure:\n```json\n{\"name\": \"look\", \"arguments\": {\"at\": 1}}\n```";
    let reply = ResponseTemplate::new(200).set_body_json(completion(&json!({"content": content})));
    let server = server(reply).await;
    let model = model(&format!("{}/v1", server.uri()));
    let called = model.send_request(&request(RequestedFormat::Tools(tools()))).await.unwrap();
    let call = ModelToolCall { id: "call_1".to_owned(), name: "look".to_owned(), arguments: r#"{"at":1}"#.to_owned() };
    assert_eq!((called.calls, called.finish, called.text.as_str()), (vec![call], Finish::ToolCalls, content));
    let told = model.send_request(&request(RequestedFormat::Text)).await.unwrap();
    assert_eq!((told.calls, told.finish), (vec![], Finish::Stop));
}

/// Refuses a parameter as OpenAI does.
fn refusing(name: &'static str, message: &'static str) -> Mock {
    let refusal = json!({"error": {"message": message, "type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}});
    Mock::given(move |request: &wiremock::Request| request.body_json::<Value>().unwrap().get(name).is_some())
        .respond_with(ResponseTemplate::new(400).set_body_json(refusal))
}

#[tokio::test]
async fn a_refused_parameter_is_left_out_and_stays_out() {
    let server = MockServer::start().await;
    let instead =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let only_default = "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.";
    refusing("max_tokens", instead).mount(&server).await;
    refusing("temperature", only_default).mount(&server).await;
    Mock::given(method("POST")).respond_with(hello()).mount(&server).await;
    let model = model(&format!("{}/v1", server.uri()));
    assert_eq!(model.send_request(&request(RequestedFormat::Text)).await.unwrap().text, "Hello");
    assert_eq!(model.send_request(&request(RequestedFormat::Text)).await.unwrap().text, "Hello");
    let sent: Vec<Value> = bodies(&server)
        .await
        .iter()
        .map(|body| json!([body.get("max_tokens"), body.get("max_completion_tokens"), body.get("temperature")]))
        .collect();
    let expected =
        [json!([100, null, 0.5]), json!([null, 100, 0.5]), json!([null, 100, null]), json!([null, 100, null])];
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn what_leaving_out_does_not_help_is_not_remembered() {
    let message = "Unsupported: {'max_tokens': 100, 'tool_choice': 'auto'}";
    let server = server(ResponseTemplate::new(400).set_body_json(json!({"error": message}))).await;
    let model = model(&format!("{}/v1", server.uri()));
    for _ in 0..2 {
        let error = model.send_request(&request(RequestedFormat::Text)).await.unwrap_err();
        assert_eq!(error, ModelError::BadRequest { status: 400, said: message.to_owned() });
    }
    let sent: Vec<bool> = bodies(&server).await.iter().map(|body| body.get("max_tokens").is_some()).collect();
    assert_eq!(sent, [true, false, true, false]);
}

#[test]
fn a_temperature_that_is_none_is_refused() {
    for temperature in [f64::NAN, f64::INFINITY, -0.1] {
        let endpoint = ChatEndpoint { temperature: Some(temperature), ..endpoint("http://localhost/v1") };
        assert!(matches!(OpenAiModel::new(endpoint), Err(ModelError::Misconfigured { .. })), "{temperature}");
    }
}

#[test]
fn debug_output_never_shows_the_key() {
    let endpoint = endpoint("http://localhost:1/v1?secret=query");
    let model = OpenAiModel::new(endpoint.clone()).unwrap();
    for shown in [format!("{endpoint:?}"), format!("{model:?}"), format!("{model:#?}"), format!("{:?}", model.mask)] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    assert_eq!(format!("{model:?}"), r#"OpenAiModel { model: "small", base_url: "http://localhost:1/v1", .. }"#);
}

#[test]
fn a_client_can_be_shared_between_tasks() {
    fn shared<T: Send + Sync>(_: &T) {}
    let model: Box<dyn LanguageModel> = Box::new(model("http://localhost:1/v1"));
    shared(&model);
}
