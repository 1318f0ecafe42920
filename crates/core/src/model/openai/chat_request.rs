//! A request in the format of chat completions.

use serde_json::{Map, Value, json};

use super::super::endpoint_http::OptionalParameter;
use super::super::{ModelMessage, ModelRequest, ModelToolCall, RequestedFormat, lenient_json};

/// The request parameters that the endpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RequestDialect {
    /// True if it accepts `max_tokens`, as most do; otherwise `max_completion_tokens`.
    pub(super) max_tokens: bool,
    pub(super) temperature: Option<f64>,
}

impl RequestDialect {
    /// Returns the dialect without a parameter; `None` if it was not there.
    pub(super) fn without_parameter(self, parameter: OptionalParameter) -> Option<Self> {
        match parameter {
            OptionalParameter::MaxTokens => self.max_tokens.then_some(Self { max_tokens: false, ..self }),
            OptionalParameter::Temperature => self.temperature.map(|_| Self { temperature: None, ..self }),
        }
    }
}

pub(super) fn build_request_body(model: &str, request: &ModelRequest, dialect: RequestDialect) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(encode_message).collect();
    let limit = if dialect.max_tokens { "max_tokens" } else { "max_completion_tokens" };
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", json!(model));
    set("messages", Value::Array(messages));
    set("stream", json!(false));
    set(limit, json!(request.max_output_tokens));
    if let Some(temperature) = dialect.temperature {
        set("temperature", json!(temperature));
    }
    match &request.form {
        // Most endpoints refuse an empty list of tools.
        RequestedFormat::Tools(tools) if tools.is_empty() => {}
        RequestedFormat::Tools(tools) => {
            let tools: Vec<Value> = tools
                .iter()
                .map(|tool| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}}))
                .collect();
            set("tools", Value::Array(tools));
            set("tool_choice", json!("auto"));
        }
        RequestedFormat::Schema(schema) => {
            let json_schema = json!({"name": schema.name, "schema": schema.schema, "strict": true});
            set("response_format", json!({"type": "json_schema", "json_schema": json_schema}));
        }
        RequestedFormat::Json => {
            set("response_format", json!({"type": "json_object"}));
        }
        RequestedFormat::Text => {}
    }
    Value::Object(body)
}

fn encode_message(message: &ModelMessage) -> Value {
    match message {
        ModelMessage::System { text } => json!({"role": "system", "content": text}),
        ModelMessage::User { text } => json!({"role": "user", "content": text}),
        ModelMessage::Assistant { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        ModelMessage::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls: Vec<Value> = calls.iter().map(encode_call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        ModelMessage::ToolResult { call_id, text } => json!({"role": "tool", "tool_call_id": call_id, "content": text}),
    }
}

fn encode_call(call: &ModelToolCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": repair_arguments(&call.arguments)}})
}

/// Returns arguments as a JSON object: some endpoints parse those of earlier calls and refuse the whole request
/// otherwise.
fn repair_arguments(written: &str) -> String {
    if serde_json::from_str::<Map<String, Value>>(written).is_ok() {
        return written.to_owned();
    }
    match lenient_json::find_json(written) {
        Some(found) if found.value.is_object() => found.value.to_string(),
        _ => "{}".to_owned(),
    }
}

#[cfg(test)]
#[path = "chat_request_tests.rs"]
mod tests;
