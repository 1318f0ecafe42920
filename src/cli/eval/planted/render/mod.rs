//! Scripts written as agents write their logs.

mod atif;
mod claude;
mod codex;
mod gemini;
mod opencode;

use chrono::{DateTime, SecondsFormat};
use serde_json::Value;

use super::scenario::Agent;
use super::weave::{Script, Turn};

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;

/// A log, and where in it everything stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) log: Vec<u8>,
    /// The number of the step that each turn becomes; what is no step of its own has that of the step before.
    pub(super) steps: Vec<u32>,
    /// How many steps there are.
    pub(super) last: u32,
}

/// Writes a script as an agent's log.
pub(super) fn render(script: &Script, agent: Agent) -> Rendered {
    match agent {
        Agent::Claude => claude::render(script),
        Agent::Codex => codex::render(script),
        Agent::Gemini => gemini::render(script),
        Agent::Opencode => opencode::render(script),
        Agent::Atif => atif::render(script),
    }
}

/// Counts the steps of a log while it is written.
#[derive(Debug, Default)]
struct Places {
    last: u32,
    steps: Vec<u32>,
}

impl Places {
    /// A step that belongs to no turn.
    fn extra(&mut self) {
        self.last += 1;
    }

    /// A turn that is a step.
    fn step(&mut self) {
        self.last += 1;
        self.steps.push(self.last);
    }

    /// A turn that is none.
    fn none(&mut self) {
        self.steps.push(self.last);
    }

    fn with(self, log: Vec<u8>) -> Rendered {
        Rendered { log, steps: self.steps, last: self.last }
    }
}

/// Lines of JSON.
fn lines(lines: &[Value]) -> Vec<u8> {
    let mut log = Vec::new();
    for line in lines {
        log.extend_from_slice(line.to_string().as_bytes());
        log.push(b'\n');
    }
    log
}

/// One document of JSON.
fn document(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// A moment as logs write it.
fn time(ms: u64) -> String {
    let moment = i64::try_from(ms).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// When the session began: a little before its first words.
fn began(script: &Script) -> u64 {
    script.turns.first().map_or(0, |turn| turn.at_ms.saturating_sub(700))
}

/// When its last words were said.
fn ended(script: &Script) -> u64 {
    script.turns.last().map_or(0, |turn| turn.done_ms)
}

/// A name in the way of a UUID, made of the session's own.
fn uuid(script: &Script, number: usize) -> String {
    let (first, rest) = script.id.split_at_checked(8).unwrap_or((&script.id, ""));
    let (second, third) = rest.split_at_checked(4).unwrap_or((rest, ""));
    format!("{first}-{second}-4{}-8000-{number:012}", third.get(..3).unwrap_or("000"))
}

/// A file's whole path.
fn whole(script: &Script, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", script.root) }
}

/// What a turn cost: new tokens, those from the cache, those written.
struct Cost {
    fresh: u64,
    cached: u64,
    written: u64,
}

fn cost(turn: &Turn, index: usize) -> Cost {
    let index = u64::try_from(index).unwrap_or_default();
    Cost { fresh: 180 + turn.at_ms % 700, cached: 11_000 + index * 640, written: 45 + turn.done_ms % 260 }
}
