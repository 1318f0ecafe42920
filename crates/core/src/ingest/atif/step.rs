//! Reads a step with its calls and their results.

use std::collections::HashMap;

use serde_json::Value;

use super::tool_results;
use super::tool_results::AtifToolResult;
use super::tool_results::OutputStatusHints;
use super::trajectory_state;
use super::trajectory_state::AtifTrajectoryReader;
use super::usage;
use crate::domain::EventSink;
use crate::domain::Extra;
use crate::domain::Happening;
use crate::domain::OutputOwner;
use crate::domain::SkippedLogLine;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::TokenUsage;
use crate::domain::ToolCall;
use crate::domain::ToolOutput;
use crate::domain::TrajectoryEvent;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;
use crate::ingest::user_turns::UserTurn;

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;

/// The maximum size of an unknown field that is kept.
const MAX_EXTRA_BYTES: usize = 4096;

/// The format's own keys: those read here and those ignored on purpose.
const KNOWN: &[&str] = &[
    "step_id",
    "timestamp",
    "source",
    "role",
    "model_name",
    "reasoning_effort",
    "reasoning_content",
    "message",
    "tool_calls",
    "observation",
    "metrics",
    "usage",
    "is_copied_context",
    "llm_call_count",
    "extra",
    "error",
];

/// The opening of the summary that a harness writes when the context is full.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// The opening of the notice that a person stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user";

impl AtifTrajectoryReader {
    /// Reads a step and emits its events.
    pub(super) fn read_step(&mut self, value: Value, sink: &mut dyn EventSink) {
        if let Some(strict) = &mut self.strict {
            strict.check_step(&value, sink);
        }
        let mut object = match value {
            Value::Object(object) => object,
            Value::String(text) => Object::from_iter([("message".to_owned(), Value::String(text))]),
            _ => return self.report_skipped_step(sink),
        };
        self.emit_about(sink);
        self.steps = self.steps.saturating_add(1);
        let number = self.steps;

        let mut extra = json_fields::take_object(&mut object, "extra").unwrap_or_default();
        self.read_location(&extra);
        let text = tool_results::join_content_text(object.get_mut("message").map(Value::take).unwrap_or_default());
        let calls = take_calls(&mut object);
        let found = take_results(&mut object, &text, &calls, &extra);
        let usage = read_usage(&object);
        let error = take_failure(&mut object);
        let copied = object.get("is_copied_context").is_some_and(is_flag_set);
        let mut turn = self.attribute_step(&object, text, &extra, copied, (calls.len(), found.len()));
        turn.keep_harness_text(&mut extra);
        let UserTurn { speaker, text, .. } = turn;
        let model = json_fields::get_string(&object, "model_name");
        if self.step_model.is_none() {
            self.step_model.clone_from(&model);
        }
        let step = Step {
            number,
            speaker,
            text,
            reasoning: take_reasoning(&mut object),
            model: model.filter(|model| self.model.as_ref() != Some(model)),
            at: json_fields::get_time(&object, "timestamp"),
            copied,
            ..Step::default()
        };
        let happening = detect_session_event(&step, &extra);
        let ended = json_fields::get_str(&extra, "event_type").filter(|event| *event == "session_complete");
        let outcome = ended.and_then(|_| trajectory_state::read_outcome(&extra));
        let at = step.at;

        sink.receive_event(TrajectoryEvent::Step(Box::new(Step { extra: keep_unknown_fields(extra, object), ..step })));
        if let Some((happening, detail)) = happening {
            sink.receive_event(TrajectoryEvent::Happened(number, happening, detail));
        }
        self.emit_calls_and_outputs(number, calls, found, at, sink);
        if let Some(output) = error {
            sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(number), output));
        }
        if !copied && !usage.is_unknown() {
            self.spent = self.spent.add_usage(usage);
            sink.receive_event(TrajectoryEvent::Spent(number, usage));
        }
        trajectory_state::emit_outcome(outcome, "session_complete", sink);
    }

    fn report_skipped_step(&mut self, sink: &mut dyn EventSink) {
        if !std::mem::replace(&mut self.has_skipped, true) {
            let why = format!("what should be step {} is no object", self.steps.saturating_add(1));
            sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: 0, why }));
        }
    }

    /// Decides who speaks in a step with so many calls and results.
    fn attribute_step(
        &mut self,
        step: &Object,
        text: String,
        extra: &Object,
        copied: bool,
        (calls, results): (usize, usize),
    ) -> UserTurn {
        let source =
            json_fields::get_str(step, "source").or_else(|| json_fields::get_str(step, "role")).unwrap_or_default();
        let speaker = match source {
            "user" | "human" if calls + results == 0 => {
                let mut turn = self.turns.attribute_turn(text);
                let is_of_subagent = self.is_child || json_fields::get_flag(extra, "is_sidechain") == Some(true);
                if turn.speaker == Speaker::User && !copied && is_of_subagent {
                    turn.speaker = Speaker::OtherAgent;
                }
                return turn;
            }
            // A person neither calls tools nor gives back what they printed.
            "user" | "human" => Speaker::System,
            "tool" | "environment" | "function" => Speaker::Tool,
            "agent" | "assistant" | "model" | "ai" => {
                self.turns.note_agent_turn(&text, calls);
                Speaker::Agent
            }
            _ if calls > 0 || step.contains_key("metrics") || step.contains_key("reasoning_content") => {
                self.turns.note_agent_turn(&text, calls);
                Speaker::Agent
            }
            _ => Speaker::System,
        };
        // One result may be that of several calls; a tool's own step holds its result in the text.
        if results > 0 || speaker == Speaker::Tool {
            self.turns.note_all_results();
        }
        UserTurn { speaker, text, ..UserTurn::default() }
    }

    /// Emits the calls, and each output directly after its call.
    fn emit_calls_and_outputs(
        &mut self,
        number: u32,
        calls: Vec<(ToolCall, OutputStatusHints)>,
        found: Vec<AtifToolResult>,
        at: Option<crate::domain::Timestamp>,
        sink: &mut dyn EventSink,
    ) {
        let owners = self.match_results_to_calls(&calls, &found);
        let mut owned: Vec<Vec<ToolOutput>> = calls.iter().map(|_| Vec::new()).collect();
        let mut others = Vec::new();
        let mut elsewhere = Vec::new();
        for (found, owner) in found.into_iter().zip(owners) {
            elsewhere.extend(found.elsewhere);
            let Some(output) = found.output else { continue };
            match owner.and_then(|owner| owned.get_mut(owner)) {
                Some(outputs) => outputs.push(output),
                None => others.push((found.call_id, output)),
            }
        }
        for (index, ((mut call, signs), outputs)) in calls.into_iter().zip(owned).enumerate() {
            if call.id.is_empty() && !outputs.is_empty() {
                call.id = format!("step-{number}-call-{}", index + 1);
            }
            let id = call.id.clone();
            sink.receive_event(TrajectoryEvent::Call(number, call));
            self.record_call(&id, sink);
            for mut output in outputs {
                signs.apply_to(&mut output);
                sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id.clone()), output));
            }
        }
        for (id, mut output) in others {
            match id {
                Some(id) => {
                    output.at = output.at.or(at);
                    if self.is_known_call(&id) {
                        sink.receive_event(TrajectoryEvent::Output(OutputOwner::Call(id), output));
                    } else {
                        self.defer_output(id, output, sink);
                    }
                }
                None => sink.receive_event(TrajectoryEvent::Output(OutputOwner::Step(number), output)),
            }
        }
        elsewhere.into_iter().for_each(|elsewhere| sink.receive_event(TrajectoryEvent::Elsewhere(elsewhere)));
    }

    /// Returns the call of this step for each result: by id or, without one, by position if the numbers match.
    fn match_results_to_calls(
        &self,
        calls: &[(ToolCall, OutputStatusHints)],
        found: &[AtifToolResult],
    ) -> Vec<Option<usize>> {
        let mut is_free = vec![true; calls.len()];
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, (call, _)) in calls.iter().enumerate().rev() {
            by_id.entry(call.id.as_str()).or_default().push(index);
        }
        let mut owners = Vec::with_capacity(found.len());
        for result in found {
            // The last call with an id gets all remaining results.
            let mut of_id = result.call_id.as_deref().and_then(|id| by_id.get_mut(id));
            let owner =
                of_id.as_mut().and_then(|of_id| if of_id.len() > 1 { of_id.pop() } else { of_id.last().copied() });
            if let Some(free) = owner.and_then(|owner| is_free.get_mut(owner)) {
                *free = false;
            }
            owners.push(owner);
        }
        let free: Vec<usize> = is_free.iter().enumerate().filter(|(_, free)| **free).map(|(index, _)| index).collect();
        let is_loose = |result: &AtifToolResult| {
            result.output.is_some() && !result.call_id.as_ref().is_some_and(|id| self.is_known_call(id))
        };
        let loose: Vec<&mut Option<usize>> = owners
            .iter_mut()
            .zip(found)
            .filter(|(owner, result)| owner.is_none() && is_loose(result))
            .map(|(owner, _)| owner)
            .collect();
        if loose.len() == free.len() {
            loose.into_iter().zip(free).for_each(|(owner, call)| *owner = Some(call));
        }
        owners
    }
}

/// Returns true if a flag is set, in any form that Harbor accepts.
fn is_flag_set(flag: &Value) -> bool {
    match flag {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() == Some(1.0),
        Value::String(text) => ["1", "on", "t", "true", "y", "yes"].iter().any(|word| word.eq_ignore_ascii_case(text)),
        _ => false,
    }
}

/// Takes the calls out of a step, each with the status hints of its `extra`.
fn take_calls(step: &mut Object) -> Vec<(ToolCall, OutputStatusHints)> {
    json_fields::take_array(step, "tool_calls").into_iter().map(parse_call).collect()
}

fn parse_call(value: Value) -> (ToolCall, OutputStatusHints) {
    let mut call = match value {
        Value::Object(call) => call,
        arguments => return (ToolCall { arguments, ..ToolCall::default() }, OutputStatusHints::default()),
    };
    let mut function = json_fields::take_object(&mut call, "function").unwrap_or_default();
    let named = |object: &Object, keys: &[&str]| keys.iter().find_map(|key| json_fields::get_string(object, key));
    let tool = named(&call, &["function_name", "name", "function", "tool_name", "tool"])
        .or_else(|| named(&function, &["name"]))
        .unwrap_or_default();
    let arguments = ["arguments", "input", "args", "parameters"]
        .iter()
        .find_map(|key| call.get_mut(*key).or_else(|| function.get_mut(*key)).map(Value::take));
    let signs = call.get("extra").and_then(Value::as_object).map(OutputStatusHints::from_extra).unwrap_or_default();
    let id = named(&call, &["tool_call_id", "id", "call_id"]).unwrap_or_default();
    (ToolCall { id, tool, arguments: normalize_arguments(arguments), output: None }, signs)
}

/// Returns the arguments as an object; some producers write that object into a string.
fn normalize_arguments(arguments: Option<Value>) -> Value {
    match arguments {
        None | Some(Value::Null) => Value::Object(Object::new()),
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::Object(Object::from_iter([("input".to_owned(), Value::String(text))])),
        },
        Some(arguments) => arguments,
    }
}

/// Takes the results out of a step and adds the status hints of the step's `extra`.
fn take_results(
    step: &mut Object,
    text: &str,
    calls: &[(ToolCall, OutputStatusHints)],
    extra: &Object,
) -> Vec<AtifToolResult> {
    let results = tool_results::list_results(step.get_mut("observation").map(Value::take).unwrap_or_default());
    let is_only = results.len() == 1;
    let mut found: Vec<AtifToolResult> = results.into_iter().map(tool_results::read_result).collect();
    if let [one] = found.as_mut_slice()
        && one.call_id.is_none()
        && calls.is_empty()
    {
        one.call_id = text.strip_prefix("Tool result for ").and_then(parse_single_word);
    }
    for found in &mut found {
        let Some(output) = &mut found.output else { continue };
        let id = found.call_id.as_deref().or(match calls {
            [(call, _)] if is_only => Some(call.id.as_str()),
            _ => None,
        });
        for key in ["tool_call_details", "tool_metadata", "tool_result_metadata"] {
            let details = id.and_then(|id| extra.get(key)?.get(id)?.as_object());
            details.map(OutputStatusHints::from_extra).unwrap_or_default().apply_to(output);
        }
        if is_only {
            OutputStatusHints::from_extra(extra).apply_to(output);
        }
    }
    found
}

fn parse_single_word(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| text.to_owned())
}

fn read_usage(step: &Object) -> TokenUsage {
    let read = |key: &str| step.get(key).and_then(Value::as_object).map(usage::read_step_usage).unwrap_or_default();
    read("metrics").or_usage(read("usage"))
}

fn take_reasoning(step: &mut Object) -> Option<String> {
    let reasoning = tool_results::join_content_text(step.get_mut("reasoning_content").map(Value::take)?);
    Some(reasoning).filter(|reasoning| !reasoning.is_empty())
}

/// Returns the failure that OpenAgents records in a step.
fn take_failure(step: &mut Object) -> Option<ToolOutput> {
    let text = match step.get_mut("error").map(Value::take) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Object(mut error)) => match error.get_mut("message").map(Value::take) {
            Some(Value::String(message)) => Some(message),
            _ => Some(Value::Object(error).to_string()),
        },
        Some(error) => Some(tool_results::join_content_text(error)),
    };
    let is_failed = matches!(json_fields::get_str(step, "status"), Some("failed" | "failure" | "error"));
    (is_failed || text.is_some()).then(|| ToolOutput {
        text: text.unwrap_or_default(),
        failed: Some(true),
        ..ToolOutput::default()
    })
}

fn detect_session_event(step: &Step, extra: &Object) -> Option<(Happening, String)> {
    if let Some(management) = extra.get("context_management").and_then(Value::as_object) {
        let kind = json_fields::get_str(management, "type").unwrap_or_default();
        let boundary = json_fields::get_str(management, "boundary").unwrap_or_default();
        let is_compacted = matches!(kind, "compaction" | "pruning" | "summarization" | "truncation")
            || matches!(boundary, "replace" | "truncate");
        return is_compacted.then(|| {
            let words: Vec<&str> = [kind, boundary].into_iter().filter(|word| !word.is_empty()).collect();
            (Happening::Compacted, words.join(", "))
        });
    }
    if step.speaker != Speaker::System || step.copied {
        return None;
    }
    let text = step.text.trim_start();
    if text.starts_with(CONTINUED) {
        Some((Happening::Compacted, String::new()))
    } else if text.starts_with(INTERRUPTED) {
        Some((Happening::Interrupted, String::new()))
    } else {
        None
    }
}

/// Returns the small fields that are unknown here: a producer's `extra`, and keys outside the format.
fn keep_unknown_fields(mut extra: Extra, step: Object) -> Extra {
    extra.retain(|_, value| is_small_value(value));
    for (key, value) in step {
        if !KNOWN.contains(&key.as_str()) && !value.is_null() && is_small_value(&value) && !extra.contains_key(&key) {
            extra.insert(key, value);
        }
    }
    extra
}

fn is_small_value(value: &Value) -> bool {
    fn remaining_room(value: &Value, room: usize) -> Option<usize> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => room.checked_sub(8),
            Value::String(text) => room.checked_sub(text.len() + 2),
            Value::Array(values) => {
                values.iter().try_fold(room.checked_sub(2)?, |room, value| remaining_room(value, room))
            }
            Value::Object(object) => object.iter().try_fold(room.checked_sub(2)?, |room, (key, value)| {
                remaining_room(value, room.checked_sub(key.len() + 4)?)
            }),
        }
    }
    remaining_room(value, MAX_EXTRA_BYTES).is_some()
}
