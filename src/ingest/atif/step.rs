//! One step, with its calls and what came back for them.

use std::collections::HashMap;

use serde_json::Value;

use super::result;
use super::result::Found;
use super::result::Signs;
use super::spent;
use super::told;
use super::told::Told;
use crate::domain::Call;
use crate::domain::Event;
use crate::domain::Extra;
use crate::domain::Happening;
use crate::domain::Output;
use crate::domain::OutputOf;
use crate::domain::Sink;
use crate::domain::Skipped;
use crate::domain::Speaker;
use crate::domain::Step;
use crate::domain::Usage;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;

/// What is larger is not kept among the unknown.
const MAX_EXTRA_BYTES: usize = 4096;

/// The keys that are read here, and those of the format that nobody asks for.
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

/// The harness told the agent what it did before, for want of room.
const CONTINUED: &str = "This session is being continued from a previous conversation";

/// A person stopped the agent.
const INTERRUPTED: &str = "[Request interrupted by user";

impl Told {
    /// Tells a step.
    pub(super) fn step(&mut self, value: Value, sink: &mut dyn Sink) {
        if let Some(strict) = &mut self.strict {
            strict.step(&value, sink);
        }
        let mut object = match value {
            Value::Object(object) => object,
            Value::String(text) => Object::from_iter([("message".to_owned(), Value::String(text))]),
            _ => return self.skip(sink),
        };
        self.tell_about(sink);
        self.steps = self.steps.saturating_add(1);
        let number = self.steps;

        let extra = pick::take_object(&mut object, "extra").unwrap_or_default();
        self.place(&extra);
        let text = result::words(object.get_mut("message").map(Value::take).unwrap_or_default());
        let calls = calls(&mut object);
        let found = found(&mut object, &text, &calls, &extra);
        if !calls.is_empty() || !found.is_empty() {
            self.chat.saw_tools();
        }
        let usage = usage(&object);
        let error = failure(&mut object);
        let copied = object.get("is_copied_context").is_some_and(is_set);
        let speaker = self.speaker(&object, &text, &extra, copied, !calls.is_empty());
        let model = pick::string(&object, "model_name");
        if self.step_model.is_none() {
            self.step_model.clone_from(&model);
        }
        let step = Step {
            number,
            speaker,
            text,
            reasoning: reasoning(&mut object),
            model: model.filter(|model| self.model.as_ref() != Some(model)),
            at: pick::time(&object, "timestamp"),
            copied,
            ..Step::default()
        };
        let happening = happening(&step, &extra);
        let ended = pick::str(&extra, "event_type").filter(|event| *event == "session_complete");
        let outcome = ended.and_then(|_| told::outcome(&extra));
        let at = step.at;

        sink.hear(Event::Step(Box::new(Step { extra: kept(extra, object), ..step })));
        if let Some((happening, detail)) = happening {
            sink.hear(Event::Happened(number, happening, detail));
        }
        self.exchange(number, calls, found, at, sink);
        if let Some(output) = error {
            sink.hear(Event::Output(OutputOf::Step(number), output));
        }
        if !copied && !usage.is_unknown() {
            self.spent = self.spent.plus(usage);
            sink.hear(Event::Spent(number, usage));
        }
        told::tell_outcome(outcome, "session_complete", sink);
    }

    fn skip(&mut self, sink: &mut dyn Sink) {
        if !std::mem::replace(&mut self.has_skipped, true) {
            let why = format!("what should be step {} is no object", self.steps.saturating_add(1));
            sink.hear(Event::Skipped(Skipped { line: 0, why }));
        }
    }

    fn speaker(&mut self, step: &Object, text: &str, extra: &Object, copied: bool, has_calls: bool) -> Speaker {
        let source = pick::str(step, "source").or_else(|| pick::str(step, "role")).unwrap_or_default();
        match source {
            "user" | "human" => match self.chat.user(text) {
                Speaker::User if !copied && (self.is_child || pick::flag(extra, "is_sidechain") == Some(true)) => {
                    Speaker::OtherAgent
                }
                speaker => speaker,
            },
            "tool" | "environment" | "function" => Speaker::Tool,
            "agent" | "assistant" | "model" | "ai" => {
                self.chat.saw_agent(text);
                Speaker::Agent
            }
            _ if has_calls || step.contains_key("metrics") || step.contains_key("reasoning_content") => Speaker::Agent,
            _ => Speaker::System,
        }
    }

    /// Tells calls, and each output right behind its call.
    fn exchange(
        &mut self,
        number: u32,
        calls: Vec<(Call, Signs)>,
        found: Vec<Found>,
        at: Option<crate::domain::Timestamp>,
        sink: &mut dyn Sink,
    ) {
        let owners = self.owners(&calls, &found);
        let mut owned: Vec<Vec<Output>> = calls.iter().map(|_| Vec::new()).collect();
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
            sink.hear(Event::Call(number, call));
            self.called(&id, sink);
            for mut output in outputs {
                signs.mark(&mut output);
                sink.hear(Event::Output(OutputOf::Call(id.clone()), output));
            }
        }
        for (id, mut output) in others {
            match id {
                Some(id) => {
                    output.at = output.at.or(at);
                    if self.is_called(&id) {
                        sink.hear(Event::Output(OutputOf::Call(id), output));
                    } else {
                        self.wait(id, output, sink);
                    }
                }
                None => sink.hear(Event::Output(OutputOf::Step(number), output)),
            }
        }
        elsewhere.into_iter().for_each(|elsewhere| sink.hear(Event::Elsewhere(elsewhere)));
    }

    /// The call of this step to which each result belongs: by id, and where none is named, by place if the numbers fit.
    fn owners(&self, calls: &[(Call, Signs)], found: &[Found]) -> Vec<Option<usize>> {
        let mut is_free = vec![true; calls.len()];
        let mut by_id: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, (call, _)) in calls.iter().enumerate().rev() {
            by_id.entry(call.id.as_str()).or_default().push(index);
        }
        let mut owners = Vec::with_capacity(found.len());
        for result in found {
            // The last call of an id takes all results that are left.
            let mut of_id = result.call_id.as_deref().and_then(|id| by_id.get_mut(id));
            let owner =
                of_id.as_mut().and_then(|of_id| if of_id.len() > 1 { of_id.pop() } else { of_id.last().copied() });
            if let Some(free) = owner.and_then(|owner| is_free.get_mut(owner)) {
                *free = false;
            }
            owners.push(owner);
        }
        let free: Vec<usize> = is_free.iter().enumerate().filter(|(_, free)| **free).map(|(index, _)| index).collect();
        let is_loose =
            |result: &Found| result.output.is_some() && !result.call_id.as_ref().is_some_and(|id| self.is_called(id));
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

/// Whether a flag is set, in any of the ways in which Harbor takes one.
fn is_set(flag: &Value) -> bool {
    match flag {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() == Some(1.0),
        Value::String(text) => ["1", "on", "t", "true", "y", "yes"].iter().any(|word| word.eq_ignore_ascii_case(text)),
        _ => false,
    }
}

/// The calls of a step, and what their `extra` says about how they went.
fn calls(step: &mut Object) -> Vec<(Call, Signs)> {
    pick::take_array(step, "tool_calls").into_iter().map(call).collect()
}

fn call(value: Value) -> (Call, Signs) {
    let mut call = match value {
        Value::Object(call) => call,
        arguments => return (Call { arguments, ..Call::default() }, Signs::default()),
    };
    let mut function = pick::take_object(&mut call, "function").unwrap_or_default();
    let named = |object: &Object, keys: &[&str]| keys.iter().find_map(|key| pick::string(object, key));
    let tool = named(&call, &["function_name", "name", "function", "tool_name", "tool"])
        .or_else(|| named(&function, &["name"]))
        .unwrap_or_default();
    let arguments = ["arguments", "input", "args", "parameters"]
        .iter()
        .find_map(|key| call.get_mut(*key).or_else(|| function.get_mut(*key)).map(Value::take));
    let signs = call.get("extra").and_then(Value::as_object).map(Signs::of).unwrap_or_default();
    let id = named(&call, &["tool_call_id", "id", "call_id"]).unwrap_or_default();
    (Call { id, tool, arguments: readable(arguments), output: None }, signs)
}

/// Arguments should be an object; some producers write that object into a string.
fn readable(arguments: Option<Value>) -> Value {
    match arguments {
        None | Some(Value::Null) => Value::Object(Object::new()),
        Some(Value::String(text)) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::Object(Object::from_iter([("input".to_owned(), Value::String(text))])),
        },
        Some(arguments) => arguments,
    }
}

/// What came back in a step, with the signs that its `extra` holds for each call.
fn found(step: &mut Object, text: &str, calls: &[(Call, Signs)], extra: &Object) -> Vec<Found> {
    let results = result::results(step.get_mut("observation").map(Value::take).unwrap_or_default());
    let is_only = results.len() == 1;
    let mut found: Vec<Found> = results.into_iter().map(result::read).collect();
    if let [one] = found.as_mut_slice()
        && one.call_id.is_none()
        && calls.is_empty()
    {
        one.call_id = text.strip_prefix("Tool result for ").and_then(one_word);
    }
    for found in &mut found {
        let Some(output) = &mut found.output else { continue };
        let id = found.call_id.as_deref().or(match calls {
            [(call, _)] if is_only => Some(call.id.as_str()),
            _ => None,
        });
        for key in ["tool_call_details", "tool_metadata", "tool_result_metadata"] {
            let details = id.and_then(|id| extra.get(key)?.get(id)?.as_object());
            details.map(Signs::of).unwrap_or_default().mark(output);
        }
        if is_only {
            Signs::of(extra).mark(output);
        }
    }
    found
}

fn one_word(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && !text.contains(char::is_whitespace)).then(|| text.to_owned())
}

fn usage(step: &Object) -> Usage {
    let read = |key: &str| step.get(key).and_then(Value::as_object).map(spent::of_step).unwrap_or_default();
    read("metrics").or(read("usage"))
}

fn reasoning(step: &mut Object) -> Option<String> {
    let reasoning = result::words(step.get_mut("reasoning_content").map(Value::take)?);
    Some(reasoning).filter(|reasoning| !reasoning.is_empty())
}

/// OpenAgents marks steps that failed.
fn failure(step: &mut Object) -> Option<Output> {
    let text = match step.get_mut("error").map(Value::take) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Object(mut error)) => match error.get_mut("message").map(Value::take) {
            Some(Value::String(message)) => Some(message),
            _ => Some(Value::Object(error).to_string()),
        },
        Some(error) => Some(result::words(error)),
    };
    let is_failed = matches!(pick::str(step, "status"), Some("failed" | "failure" | "error"));
    (is_failed || text.is_some()).then(|| Output {
        text: text.unwrap_or_default(),
        failed: Some(true),
        ..Output::default()
    })
}

fn happening(step: &Step, extra: &Object) -> Option<(Happening, String)> {
    if let Some(management) = extra.get("context_management").and_then(Value::as_object) {
        let kind = pick::str(management, "type").unwrap_or_default();
        let boundary = pick::str(management, "boundary").unwrap_or_default();
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

/// What nobody here knows, if it is small: a producer's `extra`, and keys that are not the format's.
fn kept(mut extra: Extra, step: Object) -> Extra {
    extra.retain(|_, value| is_small(value));
    for (key, value) in step {
        if !KNOWN.contains(&key.as_str()) && !value.is_null() && is_small(&value) && !extra.contains_key(&key) {
            extra.insert(key, value);
        }
    }
    extra
}

fn is_small(value: &Value) -> bool {
    fn left(value: &Value, room: usize) -> Option<usize> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => room.checked_sub(8),
            Value::String(text) => room.checked_sub(text.len() + 2),
            Value::Array(values) => values.iter().try_fold(room.checked_sub(2)?, |room, value| left(value, room)),
            Value::Object(object) => object
                .iter()
                .try_fold(room.checked_sub(2)?, |room, (key, value)| left(value, room.checked_sub(key.len() + 4)?)),
        }
    }
    left(value, MAX_EXTRA_BYTES).is_some()
}
