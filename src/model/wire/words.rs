//! What an endpoint says when it does not answer.

use serde_json::{Map, Value};

/// A message is looked for this deep.
const MAX_DEPTH: u8 = 5;

/// So many messages of a list are told.
const MAX_MESSAGES: usize = 3;

/// What a page is called, at most.
const MAX_TITLE_BYTES: usize = 200;

/// The words of a refusal, whoever's dialect they are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::model) struct Words {
    /// For people.
    pub(in crate::model) message: String,
    /// For programs: codes, types, states, the parameter. In lower case.
    pub(in crate::model) labels: Vec<String>,
    /// An HTTP status that stands in the body.
    pub(in crate::model) status: Option<u16>,
    /// Whether it was JSON, so that whoever wrote it knows the API.
    pub(in crate::model) is_json: bool,
}

impl Words {
    /// Reads a body of any kind.
    pub(in crate::model) fn read(body: &str) -> Self {
        if let Ok(value) = serde_json::from_str::<Value>(body.trim_start_matches('\u{FEFF}')) {
            return Self::of(&value);
        }
        let message = if is_page(body) { page_title(body) } else { body.trim().to_owned() };
        Self { message, ..Self::default() }
    }

    /// Reads an error that came as JSON.
    pub(in crate::model) fn of(value: &Value) -> Self {
        let mut words = Self { is_json: true, ..Self::default() };
        let mut messages = Vec::new();
        words.collect(value, MAX_DEPTH, &mut messages);
        messages.dedup();
        words.message = messages.join("; ");
        if words.message.is_empty() {
            words.message = value.to_string();
        }
        words
    }

    fn collect(&mut self, value: &Value, depth: u8, messages: &mut Vec<String>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match value {
            Value::String(text) if !text.trim().is_empty() => messages.push(text.trim().to_owned()),
            Value::Array(list) => {
                for item in list.iter().take(MAX_MESSAGES) {
                    self.collect(item, depth, messages);
                }
            }
            Value::Object(object) => {
                self.label(object);
                let inner = ["error", "message", "detail", "errors", "msg", "error_description", "title", "reason"];
                if let Some(inner) = inner.iter().filter_map(|key| object.get(*key)).find(|inner| says_something(inner))
                {
                    self.collect(inner, depth, messages);
                }
            }
            _ => {}
        }
    }

    fn label(&mut self, object: &Map<String, Value>) {
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

/// Whether there are words in it, or may be.
pub(in crate::model) fn says_something(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        _ => false,
    }
}

/// Whether a body is a page for people.
pub(in crate::model) fn is_page(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(9).collect::<String>().to_ascii_lowercase();
    ["<!doctype", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag))
}

fn page_title(body: &str) -> String {
    let head: String = body.chars().take(4096).collect();
    // Lower-case ASCII keeps every place where it was.
    let lower = head.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|start| {
        let length = lower.get(start..)?.find("</title>")?;
        head.get(start..start + length.min(MAX_TITLE_BYTES))
    });
    format!("an HTML page, {}", title.map_or("untitled".to_owned(), |title| format!("\"{}\"", title.trim())))
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
