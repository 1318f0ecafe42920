//! The models: which fields there are, of which kind, and what they forbid each other.

use std::collections::HashSet;

use serde_json::Value;

use super::lax;
use super::time;
use crate::domain::Breach;
use crate::domain::Event;
use crate::domain::Sink;
use crate::ingest::pick::Object;

/// What a value must be.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// A whole number, not below this.
    Whole(i128),
    Amount,
    /// An amount that is not negative.
    Length,
    TextOrAmount,
    Flag,
    Object,
    OneOf(&'static [&'static str]),
    Timestamp,
    /// Text, or parts.
    Content,
    /// A media type of sound, under any of its names.
    Sound,
    Source,
    Part,
    Reference,
    Model(&'static [Field]),
    ListOf(&'static Kind),
}

/// Whether a field must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    /// May be missing, may be null.
    Optional,
    /// May be missing, may not be null.
    Defaulted,
}

struct Field(&'static str, Need, Kind);

use Need::{Defaulted, Optional, Required};

const ANY: Kind = Kind::Whole(i128::MIN);

const ROOT: &[Field] = &[
    Field("schema_version", Defaulted, Kind::OneOf(VERSIONS)),
    Field("session_id", Optional, Kind::Text),
    Field("trajectory_id", Optional, Kind::Text),
    Field("agent", Required, Kind::Model(AGENT)),
    Field("notes", Optional, Kind::Text),
    Field("final_metrics", Optional, Kind::Model(FINAL_METRICS)),
    Field("continued_trajectory_ref", Optional, Kind::Text),
    Field("extra", Optional, Kind::Object),
];

const VERSIONS: &[&str] = &[
    "ATIF-v1.0",
    "ATIF-v1.1",
    "ATIF-v1.2",
    "ATIF-v1.3",
    "ATIF-v1.4",
    "ATIF-v1.5",
    "ATIF-v1.6",
    "ATIF-v1.7",
    "ATIF-v1.8",
];

const AGENT: &[Field] = &[
    Field("name", Required, Kind::Text),
    Field("version", Required, Kind::Text),
    Field("model_name", Optional, Kind::Text),
    Field("tool_definitions", Optional, Kind::ListOf(&Kind::Object)),
    Field("extra", Optional, Kind::Object),
];

const FINAL_METRICS: &[Field] = &[
    Field("total_prompt_tokens", Optional, ANY),
    Field("total_completion_tokens", Optional, ANY),
    Field("total_cached_tokens", Optional, ANY),
    Field("total_cost_usd", Optional, Kind::Amount),
    Field("total_steps", Optional, Kind::Whole(0)),
    Field("extra", Optional, Kind::Object),
];

const STEP: &[Field] = &[
    Field("step_id", Required, Kind::Whole(1)),
    Field("timestamp", Optional, Kind::Timestamp),
    Field("source", Required, Kind::OneOf(&["system", "user", "agent"])),
    Field("model_name", Optional, Kind::Text),
    Field("reasoning_effort", Optional, Kind::TextOrAmount),
    Field("message", Required, Kind::Content),
    Field("reasoning_content", Optional, Kind::Text),
    Field("tool_calls", Optional, Kind::ListOf(&Kind::Model(TOOL_CALL))),
    Field("observation", Optional, Kind::Model(OBSERVATION)),
    Field("metrics", Optional, Kind::Model(METRICS)),
    Field("is_copied_context", Optional, Kind::Flag),
    Field("llm_call_count", Optional, Kind::Whole(0)),
    Field("extra", Optional, Kind::Object),
];

const AGENT_ONLY: &[&str] = &["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];

const TOOL_CALL: &[Field] = &[
    Field("tool_call_id", Required, Kind::Text),
    Field("function_name", Required, Kind::Text),
    Field("arguments", Required, Kind::Object),
    Field("extra", Optional, Kind::Object),
];

const OBSERVATION: &[Field] = &[Field("results", Required, Kind::ListOf(&Kind::Model(RESULT)))];

const RESULT: &[Field] = &[
    Field("source_call_id", Optional, Kind::Text),
    Field("content", Optional, Kind::Content),
    Field("subagent_trajectory_ref", Optional, Kind::ListOf(&Kind::Reference)),
    Field("extra", Optional, Kind::Object),
];

const REFERENCE: &[Field] = &[
    Field("trajectory_id", Optional, Kind::Text),
    Field("session_id", Optional, Kind::Text),
    Field("trajectory_path", Optional, Kind::Text),
    Field("extra", Optional, Kind::Object),
];

const METRICS: &[Field] = &[
    Field("prompt_tokens", Optional, ANY),
    Field("completion_tokens", Optional, ANY),
    Field("cached_tokens", Optional, ANY),
    Field("cost_usd", Optional, Kind::Amount),
    Field("prompt_token_ids", Optional, Kind::ListOf(&ANY)),
    Field("completion_token_ids", Optional, Kind::ListOf(&ANY)),
    Field("logprobs", Optional, Kind::ListOf(&Kind::Amount)),
    Field("extra", Optional, Kind::Object),
];

const PART: &[Field] = &[
    Field("type", Required, Kind::OneOf(&["text", "image", "audio"])),
    Field("text", Optional, Kind::Text),
    Field("source", Optional, Kind::Source),
];

const IMAGE: &[Field] = &[
    Field("media_type", Required, Kind::OneOf(&["image/jpeg", "image/png", "image/gif", "image/webp"])),
    Field("path", Required, Kind::Text),
];

const AUDIO: &[Field] = &[
    Field("media_type", Required, Kind::Sound),
    Field("path", Required, Kind::Text),
    Field("duration_sec", Optional, Kind::Length),
];

const SOUNDS: &[&str] = &[
    "audio/wav",
    "audio/mpeg",
    "audio/mp4",
    "audio/aac",
    "audio/ogg",
    "audio/flac",
    "audio/webm",
    "audio/aiff",
    "audio/mp3",
    "audio/mpga",
    "audio/x-mpeg",
    "audio/x-wav",
    "audio/wave",
    "audio/vnd.wave",
    "audio/x-m4a",
    "audio/m4a",
    "audio/x-aac",
    "audio/x-flac",
    "audio/x-aiff",
];

/// Looks at values, knows where they stand, and tells what is wrong with them.
pub(super) struct Check<'s> {
    path: String,
    sink: &'s mut dyn Sink,
}

impl<'s> Check<'s> {
    pub(super) fn new(path: String, sink: &'s mut dyn Sink) -> Self {
        Self { path, sink }
    }

    pub(super) fn breach(&mut self, problem: &str) {
        self.sink.hear(Event::Breach(Breach { path: self.path.clone(), problem: problem.to_owned() }));
    }

    pub(super) fn within<T>(&mut self, segment: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(segment);
        let seen = look(self);
        self.path.truncate(length);
        seen
    }

    pub(super) fn root_field(&mut self, key: &str, value: &Value) {
        self.field(ROOT, key, value);
    }

    pub(super) fn step(&mut self, index: usize, step: &Value) {
        let Some(step) = self.model(step, STEP) else { return };
        let there = |key: &str| step.get(key).filter(|value| !value.is_null());
        if let Some(id) = there("step_id").and_then(lax::whole)
            && i128::try_from(index + 1) != Ok(id)
        {
            let problem = format!("expected {}: steps are numbered from 1, without gaps", index + 1);
            self.within("step_id", |check| check.breach(&problem));
        }
        let source = step.get("source").and_then(Value::as_str).unwrap_or_default();
        for key in AGENT_ONLY {
            if matches!(source, "user" | "system") && there(key).is_some() {
                self.within(key, |check| check.breach("only a step of the agent may have it"));
            }
        }
        if source == "agent" && there("llm_call_count").and_then(lax::whole) == Some(0) {
            for key in ["metrics", "reasoning_content"] {
                if there(key).is_some() {
                    self.within(key, |check| check.breach("must be absent where llm_call_count is 0"));
                }
            }
        }
        self.results_of_calls(step);
    }

    /// Every result that names a call names one of its own step.
    fn results_of_calls(&mut self, step: &Object) {
        let calls = step.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ids: HashSet<&str> =
            calls.iter().filter_map(|call| call.get("tool_call_id").and_then(Value::as_str)).collect();
        let results = step.get("observation").and_then(|observation| observation.get("results"));
        for (index, result) in results.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let Some(id) = result.get("source_call_id").and_then(Value::as_str) else { continue };
            if !ids.contains(id) {
                let path = format!("observation.results.{index}.source_call_id");
                self.within(&path, |check| check.breach("no call of this step has this id"));
            }
        }
    }

    fn reference(&mut self, value: &Value) {
        let Some(reference) = self.model(value, REFERENCE) else { return };
        if ["trajectory_id", "trajectory_path"].iter().all(|key| reference.get(*key).is_none_or(Value::is_null)) {
            self.breach("needs a trajectory_id or a trajectory_path");
        }
    }

    fn part(&mut self, value: &Value) {
        let Some(part) = self.model(value, PART) else { return };
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let there = |key: &str| part.get(key).filter(|value| !value.is_null());
        let (needed, forbidden) = match kind {
            "text" => ("text", "source"),
            "image" | "audio" => ("source", "text"),
            _ => return,
        };
        if there(needed).is_none() {
            self.within(needed, |check| check.breach(&format!("required where the type is {kind}")));
        }
        if there(forbidden).is_some() {
            self.within(forbidden, |check| check.breach(&format!("not allowed where the type is {kind}")));
        }
        if let Some(source) = there("source")
            && ((kind == "image" && fits(source, AUDIO)) || (kind == "audio" && fits(source, IMAGE)))
        {
            self.within("source", |check| check.breach(&format!("not a source of {kind}")));
        }
    }

    /// An object with these fields and no others.
    fn model<'v>(&mut self, value: &'v Value, fields: &[Field]) -> Option<&'v Object> {
        let Value::Object(object) = value else {
            self.expected("an object", value);
            return None;
        };
        for (key, value) in object {
            self.field(fields, key, value);
        }
        for Field(key, need, _) in fields {
            if *need == Required && !object.contains_key(*key) {
                self.within(key, |check| check.breach("required field is missing"));
            }
        }
        Some(object)
    }

    fn field(&mut self, fields: &[Field], key: &str, value: &Value) {
        self.within(key, |check| match fields.iter().find(|Field(name, ..)| *name == key) {
            None => check.breach("not a field of ATIF"),
            Some(Field(_, Optional, _)) if value.is_null() => {}
            Some(Field(_, _, kind)) => check.kind(value, *kind),
        });
    }

    fn kind(&mut self, value: &Value, kind: Kind) {
        match kind {
            Kind::Text if !value.is_string() => self.expected("a string", value),
            Kind::Object if !value.is_object() => self.expected("an object", value),
            Kind::Flag if !lax::is_flag(value) => self.expected("true or false", value),
            Kind::Amount if lax::amount(value).is_none() => self.expected("a number", value),
            Kind::TextOrAmount if !value.is_string() && lax::amount(value).is_none() => {
                self.expected("a string or a number", value);
            }
            Kind::Length if !lax::amount(value).is_some_and(|length| length >= 0.0) => {
                self.expected("a number that is not negative", value);
            }
            Kind::Whole(least) => match lax::whole(value) {
                None => self.expected("a whole number", value),
                Some(number) if number < least => self.breach(&format!("expected {least} or more")),
                Some(_) => {}
            },
            Kind::OneOf(words) if !value.as_str().is_some_and(|word| words.contains(&word)) => {
                self.breach(&format!("expected one of {}, got {}", words.join(", "), shown(value)));
            }
            Kind::Sound if !value.as_str().is_some_and(is_sound) => self.expected("a media type of sound", value),
            Kind::Timestamp => match value.as_str() {
                None => self.expected("a string", value),
                Some(text) if !time::is_timestamp(text) => self.expected("an ISO 8601 timestamp", value),
                Some(_) => {}
            },
            Kind::Content => match value {
                Value::String(_) => {}
                Value::Array(_) => self.kind(value, Kind::ListOf(&Kind::Part)),
                _ => self.expected("a string or a list of parts", value),
            },
            Kind::Source if fits(value, IMAGE) || fits(value, AUDIO) => {}
            Kind::Source => {
                let is_sound = value.get("media_type").and_then(Value::as_str).is_some_and(is_sound);
                self.model(value, if is_sound { AUDIO } else { IMAGE });
            }
            Kind::Part => self.part(value),
            Kind::Reference => self.reference(value),
            Kind::Model(fields) => {
                self.model(value, fields);
            }
            Kind::ListOf(kind) => match value {
                Value::Array(values) => {
                    for (index, value) in values.iter().enumerate() {
                        self.within(&index.to_string(), |check| check.kind(value, *kind));
                    }
                }
                _ => self.expected("a list", value),
            },
            _ => {}
        }
    }

    fn expected(&mut self, what: &str, value: &Value) {
        self.breach(&format!("expected {what}, got {}", shown(value)));
    }
}

fn is_sound(media_type: &str) -> bool {
    SOUNDS.contains(&media_type.trim().to_lowercase().as_str())
}

/// Whether a value is an object of these fields, without a word about it.
fn fits(value: &Value, fields: &[Field]) -> bool {
    let mut breaches = Vec::new();
    Check::new(String::new(), &mut breaches).model(value, fields);
    breaches.is_empty()
}

/// A value in a message: short ones as they are.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.len() <= 40 => format!("`{}`", text.escape_debug()),
        Value::String(_) => "a long string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
