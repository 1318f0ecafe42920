//! Buffers the steps of a trajectory in memory, and drops some when there are too many.

use serde_json::Value;

use super::text_clipping;
use crate::domain::{Speaker, Step, ToolCall, ToolOutput};

#[cfg(test)]
#[path = "step_buffer_tests.rs"]
mod tests;

/// The number of steps that are always kept at the beginning of a trajectory.
const HEAD_STEPS: usize = 64;

/// The number of steps kept at the end of a trajectory: the first is tried first, the second if that is too much.
const TAIL_STEPS: [usize; 2] = [512, 16];

/// Limits of a step: the number of its calls, the bytes of a text, the bytes of an argument's key. What exceeds them is
/// not kept.
const MAX_CALLS_OF_A_STEP: usize = 256;
const MAX_STEP_BYTES: usize = 64 * 1024;
const MAX_KEY_BYTES: usize = 256;

/// The approximate size of a step without its texts.
const STEP_BYTES: usize = 400;

/// The kept steps in the order of their numbers.
#[derive(Debug)]
pub(super) struct StepBuffer {
    steps: Vec<Step>,
    bytes: usize,
    /// The number of bytes that the kept steps of a trajectory may take.
    room: usize,
    /// The number of bytes that finished trajectories take.
    finished_bytes: usize,
}

impl StepBuffer {
    pub(super) fn new(room: usize) -> Self {
        Self { steps: Vec::new(), bytes: 0, room, finished_bytes: 0 }
    }

    pub(super) fn push_step(&mut self, step: Step) {
        self.bytes += STEP_BYTES + step.text.len() + step.reasoning.as_ref().map_or(0, String::len);
        self.steps.push(step);
    }

    pub(super) fn append_text(&mut self, number: u32, text: &str, reasoning: Option<&str>) {
        let Some(step) = self.find_step(number) else { return };
        let added = append_whole(&mut step.text, text);
        let thought = reasoning.map_or(0, |reasoning| append_whole(step.reasoning.get_or_insert_default(), reasoning));
        self.bytes += added + thought;
    }

    pub(super) fn push_call(&mut self, number: u32, call: ToolCall) {
        let bytes = STEP_BYTES + value_size(&call.arguments);
        let Some(step) = self.find_step(number).filter(|step| step.calls.len() < MAX_CALLS_OF_A_STEP) else { return };
        step.calls.push(call);
        self.bytes += bytes;
    }

    pub(super) fn push_output(&mut self, number: u32, call: Option<&str>, output: ToolOutput) {
        let Some(step) = self.find_step(number) else { return };
        let bytes = STEP_BYTES + output.text.len();
        let waiting = |known: &&mut ToolCall| Some(known.id.as_str()) == call && known.output.is_none();
        match step.calls.iter_mut().rev().find(waiting) {
            Some(call) => call.output = Some(output),
            None if step.outputs.len() < MAX_CALLS_OF_A_STEP => step.outputs.push(output),
            None => return,
        }
        self.bytes += bytes;
    }

    /// Clips the middle of long values in arguments.
    pub(super) fn clip_arguments(&self, mut arguments: Value) -> Value {
        let mut room = 2 * text_clipping::KEPT_BYTES;
        shorten_value(&mut arguments, &mut room);
        arguments
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > self.room
    }

    /// Drops quiet steps, oldest first except for the head, until half of the room is free; returns how many.
    pub(super) fn drop_quiet_steps(&mut self, is_pinned: impl Fn(u32) -> bool) -> u64 {
        let before = self.steps.len();
        let [tail, short_tail] = TAIL_STEPS;
        self.drop_before_tail(tail, |step| is_pinned(step.number) || step.speaker == Speaker::User);
        self.drop_before_tail(tail, |_| false);
        self.drop_before_tail(short_tail, |_| false);
        (before - self.steps.len()) as u64
    }

    /// Drops steps that are neither spared nor among the last `tail`.
    fn drop_before_tail(&mut self, tail: usize, is_spared: impl Fn(&Step) -> bool) {
        let enough = self.room / 2;
        let last = self.steps.len().saturating_sub(tail);
        let mut place = 0;
        let mut bytes = self.bytes;
        self.steps.retain(|step| {
            place += 1;
            let stays = bytes <= enough || place <= HEAD_STEPS || place > last || is_spared(step);
            if !stays {
                bytes = bytes.saturating_sub(step_size(step));
            }
            stays
        });
        self.bytes = bytes;
    }

    /// Returns true if earlier trajectories left so little room that only pinned steps of the current one are kept.
    pub(super) fn is_crowded(&self) -> bool {
        self.finished_bytes + self.bytes > self.room
    }

    /// Takes the steps of a finished trajectory and the number dropped; all trajectories share twice the room of one.
    pub(super) fn take_steps(&mut self, is_pinned: impl Fn(u32) -> bool) -> (Vec<Step>, u64) {
        let mut steps = std::mem::take(&mut self.steps);
        let before = steps.len();
        if self.finished_bytes + self.bytes > 2 * self.room {
            steps.clear();
        } else if self.is_crowded() {
            steps.retain(|step| is_pinned(step.number));
            self.bytes = steps.iter().map(step_size).sum();
        }
        if !steps.is_empty() {
            self.finished_bytes += self.bytes;
        }
        self.bytes = 0;
        let shed = (before - steps.len()) as u64;
        (steps, shed)
    }

    /// Finds a step that is still kept.
    fn find_step(&mut self, number: u32) -> Option<&mut Step> {
        let at = self.steps.binary_search_by_key(&number, |step| step.number).ok()?;
        self.steps.get_mut(at)
    }
}

/// Returns the approximate size of a step.
fn step_size(step: &Step) -> usize {
    let output = |output: &ToolOutput| STEP_BYTES + output.text.len();
    let calls: usize = step
        .calls
        .iter()
        .map(|call| STEP_BYTES + call.output.as_ref().map_or(0, output) + value_size(&call.arguments))
        .sum();
    let outputs: usize = step.outputs.iter().map(output).sum();
    STEP_BYTES + step.text.len() + step.reasoning.as_ref().map_or(0, String::len) + calls + outputs
}

/// Appends a whole text or nothing, because cutting here would come before redaction.
fn append_whole(text: &mut String, more: &str) -> usize {
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

/// Returns the approximate size of a value.
fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 32 + text.len(),
        Value::Array(values) => 32 + values.iter().map(value_size).sum::<usize>(),
        Value::Object(fields) => {
            32 + fields.iter().map(|(key, field)| 48 + key.len() + value_size(field)).sum::<usize>()
        }
    }
}

/// Clips long strings, and drops values after the room is used up.
fn shorten_value(value: &mut Value, room: &mut usize) {
    match value {
        Value::String(text) => {
            let (short, _) = text_clipping::clip_middle(std::mem::take(text));
            *room = room.saturating_sub(short.len());
            *text = short;
        }
        Value::Array(values) => {
            let mut kept = 0;
            for value in values.iter_mut().by_ref() {
                if *room == 0 {
                    break;
                }
                shorten_value(value, room);
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
                shorten_value(&mut field, room);
                fields.insert(key, field);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => *room = room.saturating_sub(8),
    }
}
