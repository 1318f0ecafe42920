//! The steps that are kept in memory, and which of them go when there are too many.

use serde_json::Value;

use super::clip;
use crate::domain::{Call, Output, Speaker, Step, Timestamp, Trajectory};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;

/// The beginning of a trajectory stays.
const HEAD_STEPS: usize = 64;

/// So does its end: first this much of it, and when that is too much, so much.
const TAIL_STEPS: [usize; 2] = [512, 16];

/// What a step takes beside its texts, roughly.
const STEP_BYTES: usize = 400;

/// Steps in order of their numbers.
#[derive(Debug)]
pub(super) struct Keep {
    steps: Vec<Step>,
    bytes: usize,
    /// What all kept steps of a trajectory may take.
    room: usize,
}

impl Keep {
    pub(super) fn new(room: usize) -> Self {
        Self { steps: Vec::new(), bytes: 0, room }
    }

    pub(super) fn step(&mut self, step: Step) {
        self.bytes += STEP_BYTES + step.text.len() + step.reasoning.as_ref().map_or(0, String::len);
        self.steps.push(step);
    }

    pub(super) fn more(&mut self, number: u32, text: &str, reasoning: Option<&str>) {
        let Some(step) = self.find(number) else { return };
        let room = (2 * clip::KEPT_BYTES).saturating_sub(step.text.len());
        let added = append(&mut step.text, text, room);
        let thought = reasoning.map_or(0, |reasoning| append(step.reasoning.get_or_insert_default(), reasoning, room));
        self.bytes += added + thought;
    }

    pub(super) fn call(&mut self, number: u32, call: Call) {
        let Some(step) = self.find(number) else { return };
        step.calls.push(call);
        self.bytes += STEP_BYTES;
    }

    pub(super) fn output(&mut self, number: u32, call: Option<&str>, output: Output) {
        let Some(step) = self.find(number) else { return };
        let bytes = STEP_BYTES + output.text.len();
        let waiting = |known: &&mut Call| Some(known.id.as_str()) == call && known.output.is_none();
        match step.calls.iter_mut().find(waiting) {
            Some(call) => call.output = Some(output),
            None => step.outputs.push(output),
        }
        self.bytes += bytes;
    }

    /// When a kept step was taken.
    pub(super) fn time_of(&mut self, number: u32) -> Option<Timestamp> {
        self.find(number)?.at
    }

    /// Arguments without the middle of long values.
    pub(super) fn clip_arguments(&mut self, mut arguments: Value) -> Value {
        let mut room = clip::KEPT_BYTES;
        shorten(&mut arguments, &mut room);
        self.bytes += clip::KEPT_BYTES - room;
        arguments
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > self.room
    }

    /// Lets quiet steps go, oldest first but for the very beginning, until half of the room is free; says how many went.
    pub(super) fn shed(&mut self, is_pinned: impl Fn(u32) -> bool) -> u64 {
        let before = self.steps.len();
        let [tail, short_tail] = TAIL_STEPS;
        self.shed_before(tail, |step| is_pinned(step.number) || step.speaker == Speaker::User);
        self.shed_before(tail, |_| false);
        self.shed_before(short_tail, |_| false);
        (before - self.steps.len()) as u64
    }

    /// Lets steps go that are not spared and not among the last so many.
    fn shed_before(&mut self, tail: usize, is_spared: impl Fn(&Step) -> bool) {
        let enough = self.room / 2;
        let last = self.steps.len().saturating_sub(tail);
        let mut place = 0;
        let mut bytes = self.bytes;
        self.steps.retain(|step| {
            place += 1;
            let stays = bytes <= enough || place <= HEAD_STEPS || place > last || is_spared(step);
            if !stays {
                bytes = bytes.saturating_sub(weight(step));
            }
            stays
        });
        self.bytes = bytes;
    }

    /// The steps of a trajectory that is over.
    pub(super) fn take(&mut self) -> Vec<Step> {
        self.bytes = 0;
        std::mem::take(&mut self.steps)
    }

    /// A step that is still there, most likely one of the last.
    fn find(&mut self, number: u32) -> Option<&mut Step> {
        let at = self.steps.binary_search_by_key(&number, |step| step.number).ok()?;
        self.steps.get_mut(at)
    }
}

/// What a step takes.
fn weight(step: &Step) -> usize {
    let output = |output: &Output| STEP_BYTES + output.text.len();
    let calls: usize = step
        .calls
        .iter()
        .map(|call| STEP_BYTES + call.output.as_ref().map_or(0, output) + call.arguments.to_string().len())
        .sum();
    let outputs: usize = step.outputs.iter().map(output).sum();
    STEP_BYTES + step.text.len() + step.reasoning.as_ref().map_or(0, String::len) + calls + outputs
}

fn append(text: &mut String, more: &str, room: usize) -> usize {
    let before = text.len();
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more.get(..more.floor_char_boundary(room)).unwrap_or_default());
    text.len() - before
}

/// Cuts long strings, and what comes after the room is used up.
fn shorten(value: &mut Value, room: &mut usize) {
    match value {
        Value::String(text) => {
            let (short, _) = clip::clipped(std::mem::take(text));
            *room = room.saturating_sub(short.len());
            *text = short;
        }
        Value::Array(values) => {
            let mut kept = 0;
            for value in values.iter_mut().by_ref() {
                if *room == 0 {
                    break;
                }
                shorten(value, room);
                kept += 1;
            }
            values.truncate(kept);
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                if *room == 0 {
                    *field = Value::Null;
                } else {
                    shorten(field, room);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => *room = room.saturating_sub(8),
    }
}

/// Takes the secrets out of everything that is kept.
pub(super) fn settle(trajectory: &mut Trajectory, redactor: &Redactor) {
    let settle = |text: &mut String| *text = clip::settled(std::mem::take(text), redactor);
    let about = &mut trajectory.about;
    for text in [&mut about.title, &mut about.directory, &mut about.repository].into_iter().flatten() {
        settle(text);
    }
    if let Some(error) = trajectory.outcome.as_mut().and_then(|outcome| outcome.error.as_mut()) {
        settle(error);
    }
    for step in &mut trajectory.steps {
        settle(&mut step.text);
        if let Some(reasoning) = &mut step.reasoning {
            settle(reasoning);
        }
        for call in &mut step.calls {
            settle_value(&mut call.arguments, redactor);
            if let Some(output) = &mut call.output {
                settle(&mut output.text);
            }
        }
        for output in &mut step.outputs {
            settle(&mut output.text);
        }
        for value in step.extra.values_mut() {
            settle_value(value, redactor);
        }
    }
}

/// Secrets out of every string of a value. A key names its value, as in a line of a settings file.
fn settle_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = clip::settled(std::mem::take(text), redactor),
        Value::Array(values) => values.iter_mut().for_each(|value| settle_value(value, redactor)),
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                settle_value(field, redactor);
                if let Value::String(text) = field {
                    let named = format!("{key}={text}");
                    let redacted = redactor.redact(&named).text;
                    if let Some(clean) = redacted.strip_prefix(key.as_str()).and_then(|rest| rest.strip_prefix('='))
                        && clean != text
                    {
                        *text = clean.to_owned();
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
