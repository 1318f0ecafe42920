//! A question as chat completions want it.

use serde_json::{Map, Value, json};

use super::super::wire::Parameter;
use super::super::{Form, Message, Request, ToolCall, loose};

/// What this endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dialect {
    /// `max_tokens`, which most take; otherwise `max_completion_tokens`.
    pub(super) max_tokens: bool,
    pub(super) temperature: Option<f64>,
}

impl Dialect {
    /// The same without a parameter; `None` if it was not there.
    pub(super) fn without(self, parameter: Parameter) -> Option<Self> {
        match parameter {
            Parameter::MaxTokens => self.max_tokens.then_some(Self { max_tokens: false, ..self }),
            Parameter::Temperature => self.temperature.map(|_| Self { temperature: None, ..self }),
        }
    }
}

pub(super) fn body(model: &str, request: &Request, dialect: Dialect) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
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
        // An empty list of tools is refused by most.
        Form::Tools(tools) if tools.is_empty() => {}
        Form::Tools(tools) => {
            let tools: Vec<Value> = tools
                .iter()
                .map(|tool| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}}))
                .collect();
            set("tools", Value::Array(tools));
            set("tool_choice", json!("auto"));
        }
        Form::Schema(schema) => {
            let json_schema = json!({"name": schema.name, "schema": schema.schema, "strict": true});
            set("response_format", json!({"type": "json_schema", "json_schema": json_schema}));
        }
        Form::Json => {
            set("response_format", json!({"type": "json_object"}));
        }
        Form::Text => {}
    }
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let calls: Vec<Value> = calls.iter().map(call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::ToolResult { call_id, text } => json!({"role": "tool", "tool_call_id": call_id, "content": text}),
    }
}

fn call(call: &ToolCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments(&call.arguments)}})
}

/// Some endpoints parse the arguments of earlier calls and refuse the whole question if one is no JSON object.
fn arguments(written: &str) -> String {
    if serde_json::from_str::<Map<String, Value>>(written).is_ok() {
        return written.to_owned();
    }
    match loose::json(written) {
        Some(found) if found.value.is_object() => found.value.to_string(),
        _ => "{}".to_owned(),
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
