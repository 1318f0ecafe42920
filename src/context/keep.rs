//! The steps that are kept in memory, and which of them go when there are too many.

use serde_json::Value;

use super::clip;
use crate::domain::{Call, Output, Speaker, Step};

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;

/// The beginning of a trajectory stays.
const HEAD_STEPS: usize = 64;

/// So does its end: first this much of it, and when that is too much, so much.
const TAIL_STEPS: [usize; 2] = [512, 16];

/// A step has no more calls than this, a text of it no more bytes, a key of an argument no more bytes; what goes beyond
/// is counted, not kept.
const MAX_CALLS_OF_A_STEP: usize = 256;
const MAX_STEP_BYTES: usize = 64 * 1024;
const MAX_KEY_BYTES: usize = 256;

/// What a step takes beside its texts, roughly.
const STEP_BYTES: usize = 400;

/// Steps in order of their numbers.
#[derive(Debug)]
pub(super) struct Keep {
    steps: Vec<Step>,
    bytes: usize,
    /// What all kept steps of a trajectory may take.
    room: usize,
    /// What those of finished trajectories take.
    finished_bytes: usize,
}

impl Keep {
    pub(super) fn new(room: usize) -> Self {
        Self { steps: Vec::new(), bytes: 0, room, finished_bytes: 0 }
    }

    pub(super) fn step(&mut self, step: Step) {
        self.bytes += STEP_BYTES + step.text.len() + step.reasoning.as_ref().map_or(0, String::len);
        self.steps.push(step);
    }

    pub(super) fn more(&mut self, number: u32, text: &str, reasoning: Option<&str>) {
        let Some(step) = self.find(number) else { return };
        let added = append(&mut step.text, text);
        let thought = reasoning.map_or(0, |reasoning| append(step.reasoning.get_or_insert_default(), reasoning));
        self.bytes += added + thought;
    }

    pub(super) fn call(&mut self, number: u32, call: Call) {
        let bytes = STEP_BYTES + size(&call.arguments);
        let Some(step) = self.find(number).filter(|step| step.calls.len() < MAX_CALLS_OF_A_STEP) else { return };
        step.calls.push(call);
        self.bytes += bytes;
    }

    pub(super) fn output(&mut self, number: u32, call: Option<&str>, output: Output) {
        let Some(step) = self.find(number) else { return };
        let bytes = STEP_BYTES + output.text.len();
        let waiting = |known: &&mut Call| Some(known.id.as_str()) == call && known.output.is_none();
        match step.calls.iter_mut().rev().find(waiting) {
            Some(call) => call.output = Some(output),
            None if step.outputs.len() < MAX_CALLS_OF_A_STEP => step.outputs.push(output),
            None => return,
        }
        self.bytes += bytes;
    }

    /// Arguments without the middle of long values.
    pub(super) fn clip_arguments(&self, mut arguments: Value) -> Value {
        let mut room = 2 * clip::KEPT_BYTES;
        shorten(&mut arguments, &mut room);
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

    /// Whether earlier trajectories left so little room that a finished one keeps only what it must.
    pub(super) fn is_crowded(&self) -> bool {
        self.finished_bytes + self.bytes > self.room
    }

    /// The steps of a trajectory that is over, and how many were shed: all trajectories share twice the room of one.
    pub(super) fn take(&mut self, is_pinned: impl Fn(u32) -> bool) -> (Vec<Step>, u64) {
        let mut steps = std::mem::take(&mut self.steps);
        let before = steps.len();
        if self.finished_bytes + self.bytes > 2 * self.room {
            steps.clear();
        } else if self.is_crowded() {
            steps.retain(|step| is_pinned(step.number));
            self.bytes = steps.iter().map(weight).sum();
        }
        if !steps.is_empty() {
            self.finished_bytes += self.bytes;
        }
        self.bytes = 0;
        let shed = (before - steps.len()) as u64;
        (steps, shed)
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
    let calls: usize =
        step.calls.iter().map(|call| STEP_BYTES + call.output.as_ref().map_or(0, output) + size(&call.arguments)).sum();
    let outputs: usize = step.outputs.iter().map(output).sum();
    STEP_BYTES + step.text.len() + step.reasoning.as_ref().map_or(0, String::len) + calls + outputs
}

/// Appends a whole text or nothing: to cut here would be to cut before secrets are out.
fn append(text: &mut String, more: &str) -> usize {
    let before = text.len();
    if before + more.len() > MAX_STEP_BYTES || more.is_empty() {
        return 0;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
    text.len() - before
}

/// What a value takes, roughly.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 32 + text.len(),
        Value::Array(values) => 32 + values.iter().map(size).sum::<usize>(),
        Value::Object(fields) => 32 + fields.iter().map(|(key, field)| 48 + key.len() + size(field)).sum::<usize>(),
    }
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
            let before = std::mem::take(fields);
            for (key, mut field) in before {
                if *room == 0 || key.len() > MAX_KEY_BYTES {
                    continue;
                }
                *room = room.saturating_sub(key.len());
                shorten(&mut field, room);
                fields.insert(key, field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => *room = room.saturating_sub(8),
    }
}
