//! The schema of Harbor's models: their fields, the kinds of values, and the rules between fields.

use std::collections::HashSet;

use serde_json::Value;

use super::lenient_values;
use super::timestamps;
use crate::domain::EventSink;
use crate::domain::FormatViolation;
use crate::domain::TrajectoryEvent;
use crate::ingest::json_fields::Object;

/// The kind of value that a field must hold.
#[derive(Clone, Copy)]
enum AtifValueKind {
    Text,
    /// A whole number of at least this value.
    Whole(i128),
    Amount,
    /// A number that is not negative.
    Length,
    TextOrAmount,
    Flag,
    Object,
    OneOf(&'static [&'static str]),
    Timestamp,
    /// A text, or a list of parts.
    Content,
    /// An audio media type, under any of its names.
    Sound,
    Source,
    Part,
    Reference,
    Model(&'static [AtifField]),
    ListOf(&'static AtifValueKind),
}

/// The requirement for a field to be present.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldRequirement {
    Required,
    /// The field may be missing or null.
    Optional,
    /// The field may be missing but not null.
    Defaulted,
}

struct AtifField(&'static str, FieldRequirement, AtifValueKind);

use FieldRequirement::{Defaulted, Optional, Required};

const ANY: AtifValueKind = AtifValueKind::Whole(i128::MIN);

const ROOT: &[AtifField] = &[
    AtifField("schema_version", Defaulted, AtifValueKind::OneOf(VERSIONS)),
    AtifField("session_id", Optional, AtifValueKind::Text),
    AtifField("trajectory_id", Optional, AtifValueKind::Text),
    AtifField("agent", Required, AtifValueKind::Model(AGENT)),
    AtifField("notes", Optional, AtifValueKind::Text),
    AtifField("final_metrics", Optional, AtifValueKind::Model(FINAL_METRICS)),
    AtifField("continued_trajectory_ref", Optional, AtifValueKind::Text),
    AtifField("extra", Optional, AtifValueKind::Object),
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

const AGENT: &[AtifField] = &[
    AtifField("name", Required, AtifValueKind::Text),
    AtifField("version", Required, AtifValueKind::Text),
    AtifField("model_name", Optional, AtifValueKind::Text),
    AtifField("tool_definitions", Optional, AtifValueKind::ListOf(&AtifValueKind::Object)),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const FINAL_METRICS: &[AtifField] = &[
    AtifField("total_prompt_tokens", Optional, ANY),
    AtifField("total_completion_tokens", Optional, ANY),
    AtifField("total_cached_tokens", Optional, ANY),
    AtifField("total_cost_usd", Optional, AtifValueKind::Amount),
    AtifField("total_steps", Optional, AtifValueKind::Whole(0)),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const STEP: &[AtifField] = &[
    AtifField("step_id", Required, AtifValueKind::Whole(1)),
    AtifField("timestamp", Optional, AtifValueKind::Timestamp),
    AtifField("source", Required, AtifValueKind::OneOf(&["system", "user", "agent"])),
    AtifField("model_name", Optional, AtifValueKind::Text),
    AtifField("reasoning_effort", Optional, AtifValueKind::TextOrAmount),
    AtifField("message", Required, AtifValueKind::Content),
    AtifField("reasoning_content", Optional, AtifValueKind::Text),
    AtifField("tool_calls", Optional, AtifValueKind::ListOf(&AtifValueKind::Model(TOOL_CALL))),
    AtifField("observation", Optional, AtifValueKind::Model(OBSERVATION)),
    AtifField("metrics", Optional, AtifValueKind::Model(METRICS)),
    AtifField("is_copied_context", Optional, AtifValueKind::Flag),
    AtifField("llm_call_count", Optional, AtifValueKind::Whole(0)),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const AGENT_ONLY: &[&str] = &["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];

const TOOL_CALL: &[AtifField] = &[
    AtifField("tool_call_id", Required, AtifValueKind::Text),
    AtifField("function_name", Required, AtifValueKind::Text),
    AtifField("arguments", Required, AtifValueKind::Object),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const OBSERVATION: &[AtifField] =
    &[AtifField("results", Required, AtifValueKind::ListOf(&AtifValueKind::Model(RESULT)))];

const RESULT: &[AtifField] = &[
    AtifField("source_call_id", Optional, AtifValueKind::Text),
    AtifField("content", Optional, AtifValueKind::Content),
    AtifField("subagent_trajectory_ref", Optional, AtifValueKind::ListOf(&AtifValueKind::Reference)),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const REFERENCE: &[AtifField] = &[
    AtifField("trajectory_id", Optional, AtifValueKind::Text),
    AtifField("session_id", Optional, AtifValueKind::Text),
    AtifField("trajectory_path", Optional, AtifValueKind::Text),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const METRICS: &[AtifField] = &[
    AtifField("prompt_tokens", Optional, ANY),
    AtifField("completion_tokens", Optional, ANY),
    AtifField("cached_tokens", Optional, ANY),
    AtifField("cost_usd", Optional, AtifValueKind::Amount),
    AtifField("prompt_token_ids", Optional, AtifValueKind::ListOf(&ANY)),
    AtifField("completion_token_ids", Optional, AtifValueKind::ListOf(&ANY)),
    AtifField("logprobs", Optional, AtifValueKind::ListOf(&AtifValueKind::Amount)),
    AtifField("extra", Optional, AtifValueKind::Object),
];

const PART: &[AtifField] = &[
    AtifField("type", Required, AtifValueKind::OneOf(&["text", "image", "audio"])),
    AtifField("text", Optional, AtifValueKind::Text),
    AtifField("source", Optional, AtifValueKind::Source),
];

const IMAGE: &[AtifField] = &[
    AtifField("media_type", Required, AtifValueKind::OneOf(&["image/jpeg", "image/png", "image/gif", "image/webp"])),
    AtifField("path", Required, AtifValueKind::Text),
];

const AUDIO: &[AtifField] = &[
    AtifField("media_type", Required, AtifValueKind::Sound),
    AtifField("path", Required, AtifValueKind::Text),
    AtifField("duration_sec", Optional, AtifValueKind::Length),
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

/// Checks values against the schema and reports each breach with its path.
pub(super) struct AtifSchemaCheck<'s> {
    path: String,
    sink: &'s mut dyn EventSink,
}

impl<'s> AtifSchemaCheck<'s> {
    pub(super) fn new(path: String, sink: &'s mut dyn EventSink) -> Self {
        Self { path, sink }
    }

    pub(super) fn report_breach(&mut self, problem: &str) {
        self.sink.receive_event(TrajectoryEvent::Breach(FormatViolation {
            path: self.path.clone(),
            problem: problem.to_owned(),
        }));
    }

    pub(super) fn check_within<T>(&mut self, segment: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(segment);
        let seen = look(self);
        self.path.truncate(length);
        seen
    }

    pub(super) fn check_root_field(&mut self, key: &str, value: &Value) {
        self.check_field(ROOT, key, value);
    }

    pub(super) fn check_step(&mut self, index: usize, step: &Value) {
        let Some(step) = self.check_object(step, STEP) else { return };
        let there = |key: &str| step.get(key).filter(|value| !value.is_null());
        if let Some(id) = there("step_id").and_then(lenient_values::coerce_integer)
            && i128::try_from(index + 1) != Ok(id)
        {
            let problem = format!("expected {}: steps are numbered from 1, without gaps", index + 1);
            self.check_within("step_id", |check| check.report_breach(&problem));
        }
        let source = step.get("source").and_then(Value::as_str).unwrap_or_default();
        for key in AGENT_ONLY {
            if matches!(source, "user" | "system") && there(key).is_some() {
                self.check_within(key, |check| check.report_breach("only a step of the agent may have it"));
            }
        }
        if source == "agent" && there("llm_call_count").and_then(lenient_values::coerce_integer) == Some(0) {
            for key in ["metrics", "reasoning_content"] {
                if there(key).is_some() {
                    self.check_within(key, |check| check.report_breach("must be absent where llm_call_count is 0"));
                }
            }
        }
        self.check_result_ids(step);
    }

    /// Checks that every result which names a call names one of its own step.
    fn check_result_ids(&mut self, step: &Object) {
        let calls = step.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ids: HashSet<&str> =
            calls.iter().filter_map(|call| call.get("tool_call_id").and_then(Value::as_str)).collect();
        let results = step.get("observation").and_then(|observation| observation.get("results"));
        for (index, result) in results.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let Some(id) = result.get("source_call_id").and_then(Value::as_str) else { continue };
            if !ids.contains(id) {
                let path = format!("observation.results.{index}.source_call_id");
                self.check_within(&path, |check| check.report_breach("no call of this step has this id"));
            }
        }
    }

    fn check_reference(&mut self, value: &Value) {
        let Some(reference) = self.check_object(value, REFERENCE) else { return };
        if ["trajectory_id", "trajectory_path"].iter().all(|key| reference.get(*key).is_none_or(Value::is_null)) {
            self.report_breach("needs a trajectory_id or a trajectory_path");
        }
    }

    fn check_content_part(&mut self, value: &Value) {
        let Some(part) = self.check_object(value, PART) else { return };
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let there = |key: &str| part.get(key).filter(|value| !value.is_null());
        let (needed, forbidden) = match kind {
            "text" => ("text", "source"),
            "image" | "audio" => ("source", "text"),
            _ => return,
        };
        if there(needed).is_none() {
            self.check_within(needed, |check| check.report_breach(&format!("required where the type is {kind}")));
        }
        if there(forbidden).is_some() {
            self.check_within(forbidden, |check| check.report_breach(&format!("not allowed where the type is {kind}")));
        }
        if let Some(source) = there("source")
            && ((kind == "image" && matches_fields(source, AUDIO))
                || (kind == "audio" && matches_fields(source, IMAGE)))
        {
            self.check_within("source", |check| check.report_breach(&format!("not a source of {kind}")));
        }
    }

    /// Checks that a value is an object with these fields and no others.
    fn check_object<'v>(&mut self, value: &'v Value, fields: &[AtifField]) -> Option<&'v Object> {
        let Value::Object(object) = value else {
            self.report_expected("an object", value);
            return None;
        };
        for (key, value) in object {
            self.check_field(fields, key, value);
        }
        for AtifField(key, need, _) in fields {
            if *need == Required && !object.contains_key(*key) {
                self.check_within(key, |check| check.report_breach("required field is missing"));
            }
        }
        Some(object)
    }

    fn check_field(&mut self, fields: &[AtifField], key: &str, value: &Value) {
        self.check_within(key, |check| match fields.iter().find(|AtifField(name, ..)| *name == key) {
            None => check.report_breach("not a field of ATIF"),
            Some(AtifField(_, Optional, _)) if value.is_null() => {}
            Some(AtifField(_, _, kind)) => check.check_value(value, *kind),
        });
    }

    fn check_value(&mut self, value: &Value, kind: AtifValueKind) {
        match kind {
            AtifValueKind::Text if !value.is_string() => self.report_expected("a string", value),
            AtifValueKind::Object if !value.is_object() => self.report_expected("an object", value),
            AtifValueKind::Flag if !lenient_values::is_flag(value) => self.report_expected("true or false", value),
            AtifValueKind::Amount if lenient_values::coerce_number(value).is_none() => {
                self.report_expected("a number", value);
            }
            AtifValueKind::TextOrAmount if !value.is_string() && lenient_values::coerce_number(value).is_none() => {
                self.report_expected("a string or a number", value);
            }
            AtifValueKind::Length if !lenient_values::coerce_number(value).is_some_and(|length| length >= 0.0) => {
                self.report_expected("a number that is not negative", value);
            }
            AtifValueKind::Whole(least) => match lenient_values::coerce_integer(value) {
                None => self.report_expected("a whole number", value),
                Some(number) if number < least => self.report_breach(&format!("expected {least} or more")),
                Some(_) => {}
            },
            AtifValueKind::OneOf(words) if !value.as_str().is_some_and(|word| words.contains(&word)) => {
                self.report_breach(&format!("expected one of {}, got {}", words.join(", "), describe_value(value)));
            }
            AtifValueKind::Sound if !value.as_str().is_some_and(is_audio_type) => {
                self.report_expected("a media type of sound", value);
            }
            AtifValueKind::Timestamp => match value.as_str() {
                None => self.report_expected("a string", value),
                Some(text) if !timestamps::is_timestamp(text) => self.report_expected("an ISO 8601 timestamp", value),
                Some(_) => {}
            },
            AtifValueKind::Content => match value {
                Value::String(_) => {}
                Value::Array(_) => self.check_value(value, AtifValueKind::ListOf(&AtifValueKind::Part)),
                _ => self.report_expected("a string or a list of parts", value),
            },
            AtifValueKind::Source if matches_fields(value, IMAGE) || matches_fields(value, AUDIO) => {}
            AtifValueKind::Source => {
                let is_sound = value.get("media_type").and_then(Value::as_str).is_some_and(is_audio_type);
                self.check_object(value, if is_sound { AUDIO } else { IMAGE });
            }
            AtifValueKind::Part => self.check_content_part(value),
            AtifValueKind::Reference => self.check_reference(value),
            AtifValueKind::Model(fields) => {
                self.check_object(value, fields);
            }
            AtifValueKind::ListOf(kind) => match value {
                Value::Array(values) => {
                    for (index, value) in values.iter().enumerate() {
                        self.check_within(&index.to_string(), |check| check.check_value(value, *kind));
                    }
                }
                _ => self.report_expected("a list", value),
            },
            _ => {}
        }
    }

    fn report_expected(&mut self, what: &str, value: &Value) {
        self.report_breach(&format!("expected {what}, got {}", describe_value(value)));
    }
}

fn is_audio_type(media_type: &str) -> bool {
    SOUNDS.contains(&media_type.trim().to_lowercase().as_str())
}

/// Returns true if a value is an object with these fields, without reporting breaches.
fn matches_fields(value: &Value, fields: &[AtifField]) -> bool {
    let mut breaches = Vec::new();
    AtifSchemaCheck::new(String::new(), &mut breaches).check_object(value, fields);
    breaches.is_empty()
}

/// Returns a value for a message: short values as they are, others as their type.
fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.len() <= 40 => format!("`{}`", text.escape_debug()),
        Value::String(_) => "a long string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
