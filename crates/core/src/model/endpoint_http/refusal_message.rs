//! The message of an endpoint's refusal.

use serde_json::{Map, Value};

/// The deepest nesting at which a message is searched.
const MAX_DEPTH: u8 = 5;

/// The most messages of a list that are kept.
const MAX_MESSAGES: usize = 3;

/// The longest page title that is kept.
const MAX_TITLE_BYTES: usize = 200;

/// The message of a refusal, in any vendor's dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::model) struct RefusalMessage {
    /// The message for people.
    pub(in crate::model) message: String,
    /// The labels for programs: codes, types, states, the parameter, in lower case.
    pub(in crate::model) labels: Vec<String>,
    /// The HTTP status that the body contains.
    pub(in crate::model) status: Option<u16>,
    /// True if the body was JSON, so that its author knows the API.
    pub(in crate::model) is_json: bool,
}

impl RefusalMessage {
    /// Reads a body of any kind.
    pub(in crate::model) fn from_body(body: &str) -> Self {
        if let Ok(value) = serde_json::from_str::<Value>(body.trim_start_matches('\u{FEFF}')) {
            return Self::from_json(&value);
        }
        let message = if is_html_page(body) { html_page_title(body) } else { body.trim().to_owned() };
        Self { message, ..Self::default() }
    }

    /// Reads an error that came as JSON.
    pub(in crate::model) fn from_json(value: &Value) -> Self {
        let mut words = Self { is_json: true, ..Self::default() };
        let mut messages = Vec::new();
        words.collect_messages(value, MAX_DEPTH, &mut messages);
        messages.dedup();
        words.message = messages.join("; ");
        if words.message.is_empty() {
            words.message = value.to_string();
        }
        words
    }

    fn collect_messages(&mut self, value: &Value, depth: u8, messages: &mut Vec<String>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Value::String(text) if !text.trim().is_empty() => messages.push(text.trim().to_owned()),
            Value::Array(list) => {
                for item in list.iter().take(MAX_MESSAGES) {
                    self.collect_messages(item, depth, messages);
                }
            }
            Value::Object(object) => {
                self.collect_labels(object);
                let inner = ["error", "message", "detail", "errors", "msg", "error_description", "title", "reason"];
                if let Some(inner) = inner.iter().filter_map(|key| object.get(*key)).find(|inner| has_content(inner)) {
                    self.collect_messages(inner, depth, messages);
                }
            }
            _ => {}
        }
    }

    fn collect_labels(&mut self, object: &Map<String, Value>) {
        for key in ["code", "type", "status", "param", "error_code", "error"] {
            match object.get(key) {
                Some(Value::String(label)) if label.len() <= 100 => self.labels.push(label.to_lowercase()),
                Some(Value::Number(number)) => {
                    let status = number.as_u64().and_then(|number| u16::try_from(number).ok());
                    self.status = self.status.or(status.filter(|status| (400..600).contains(status)));
                }
                _ => {}
            }
        }
    }
}

/// Returns true if the value has text, or may contain some.
pub(in crate::model) fn has_content(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        _ => false,
    }
}

/// Returns true if a body is an HTML page.
pub(in crate::model) fn is_html_page(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
    ["<!doctype", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

fn html_page_title(body: &str) -> String {
    let head: String = body.chars().take(4096).collect();
    // Lower-case ASCII keeps every byte position.
    let lower = head.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|start| {
        let length = lower.get(start..)?.find("</title>")?;
        head.get(start..start + length.min(MAX_TITLE_BYTES))
    });
    format!("an HTML page, {}", title.map_or("untitled".to_owned(), |title| format!("\"{}\"", title.trim())))
}

#[cfg(test)]
#[path = "refusal_message_tests.rs"]
mod tests;
