//! Renders session scripts as the logs of several agents.

mod atif;
mod claude;
mod codex;
mod gemini;
mod opencode;

use chrono::{DateTime, SecondsFormat};
use serde_json::Value;

use super::scenario::ScenarioAgent;
use super::session_script::{ScriptTurn, SessionScript};

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;

/// A rendered log and the step numbers of its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RenderedLog {
    pub(super) log: Vec<u8>,
    /// The step number of each turn; a turn that is no step of its own has the number of the step before it.
    pub(super) steps: Vec<u32>,
    /// The number of steps in the log.
    pub(super) last: u32,
}

/// Renders a script as the log of an agent.
pub(super) fn render_script(script: &SessionScript, agent: ScenarioAgent) -> RenderedLog {
    match agent {
        ScenarioAgent::Claude => claude::render_log(script),
        ScenarioAgent::Codex => codex::render_log(script),
        ScenarioAgent::Gemini => gemini::render_log(script),
        ScenarioAgent::Opencode => opencode::render_log(script),
        ScenarioAgent::Atif => atif::render_log(script),
    }
}

/// A counter of the steps of a log while it is rendered.
#[derive(Debug, Default)]
struct StepCounter {
    last: u32,
    steps: Vec<u32>,
}

impl StepCounter {
    /// Counts a step that belongs to no turn.
    fn count_extra_step(&mut self) {
        self.last += 1;
    }

    /// Counts a turn that is a step of its own.
    fn count_turn_step(&mut self) {
        self.last += 1;
        self.steps.push(self.last);
    }

    /// Records a turn that is no step of its own.
    fn count_turn_without_step(&mut self) {
        self.steps.push(self.last);
    }

    fn into_rendered(self, log: Vec<u8>) -> RenderedLog {
        RenderedLog { log, steps: self.steps, last: self.last }
    }
}

/// Returns the values as lines of JSON.
fn to_json_lines(lines: &[Value]) -> Vec<u8> {
    let mut log = Vec::new();
    for line in lines {
        log.extend_from_slice(line.to_string().as_bytes());
        log.push(b'\n');
    }
    log
}

/// Returns the value as one indented JSON document.
fn to_json_document(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Returns a time as an RFC 3339 timestamp with milliseconds.
fn format_timestamp(ms: u64) -> String {
    let moment = i64::try_from(ms).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Returns the start of the session, shortly before its first turn.
fn session_start_ms(script: &SessionScript) -> u64 {
    script.turns.first().map_or(0, |turn| turn.at_ms.saturating_sub(700))
}

/// Returns the time at which the last turn was done.
fn session_end_ms(script: &SessionScript) -> u64 {
    script.turns.last().map_or(0, |turn| turn.done_ms)
}

/// Returns an id in the form of a UUID, derived from the id of the session.
fn make_uuid(script: &SessionScript, number: usize) -> String {
    let (first, rest) = script.id.split_at_checked(8).unwrap_or((&script.id, ""));
    let (second, third) = rest.split_at_checked(4).unwrap_or((rest, ""));
    format!("{first}-{second}-4{}-8000-{number:012}", third.get(..3).unwrap_or("000"))
}

/// Returns the absolute path of a file in the project.
fn to_absolute_path(script: &SessionScript, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", script.root) }
}

/// The tokens of a turn: new input, input from the cache, and output.
struct TurnTokenUsage {
    fresh: u64,
    cached: u64,
    written: u64,
}

fn turn_token_usage(turn: &ScriptTurn, index: usize) -> TurnTokenUsage {
    let index = u64::try_from(index).unwrap_or_default();
    TurnTokenUsage { fresh: 180 + turn.at_ms % 700, cached: 11_000 + index * 640, written: 45 + turn.done_ms % 260 }
}
