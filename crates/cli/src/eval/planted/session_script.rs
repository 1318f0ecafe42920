//! Turns a scenario into a session script: slots filled, routine steps inserted, every turn with its time.

use std::collections::BTreeMap;

use super::scenario::{PlantedScenario, ScenarioCatalog, ScenarioError, ScenarioExpectation, ScenarioStep};
use crate::eval::seeded_choice::SeededRandom;

#[cfg(test)]
#[path = "session_script_tests.rs"]
mod tests;

/// The earliest start of a session (2026-01-12, 08:00 UTC), in milliseconds.
const FIRST_START_MS: u64 = 1_768_204_800_000;

/// The number of seconds after the earliest start within which all sessions start.
const STARTS_WITHIN_SECONDS: u64 = 120 * 24 * 3600;

/// A routine step is inserted at one in this many places in the middle of a session.
const QUIET_ONE_IN: u64 = 4;

/// The turns that are written into a log, and the session they belong to.
#[derive(Debug, Clone)]
pub(super) struct SessionScript {
    /// The root directory of the project.
    pub(super) root: String,
    pub(super) branch: String,
    /// The session's id of sixteen hexadecimal digits.
    pub(super) id: String,
    pub(super) turns: Vec<ScriptTurn>,
    /// The expected lesson, with its slots filled.
    pub(super) expect: Option<ScenarioExpectation>,
}

/// One turn of a session script.
#[derive(Debug, Clone)]
pub(super) struct ScriptTurn {
    pub(super) does: TurnContent,
    pub(super) mark: String,
    /// The time in milliseconds at which the turn starts; `done_ms` is the time at which its call returns.
    pub(super) at_ms: u64,
    pub(super) done_ms: u64,
}

#[derive(Debug, Clone)]
pub(super) enum TurnContent {
    /// A message of the user.
    User(String),
    /// A turn of the agent: message, thought and tool call.
    Agent { text: String, thought: String, call: Option<ScriptedCall> },
    /// An interruption by the user.
    Stop,
    /// An error of the model's provider.
    Provider { status: u16, text: String },
}

#[derive(Debug, Clone)]
pub(super) struct ScriptedCall {
    pub(super) act: CallAction,
    pub(super) output: String,
    pub(super) exit: i32,
    /// True if the tool itself fails.
    pub(super) fails: bool,
}

#[derive(Debug, Clone)]
pub(super) enum CallAction {
    Run(String),
    Read(String),
    Edit { path: String, old: String, new: String },
    Write { path: String, content: String },
}

/// Builds one of the many sessions that can be made from a scenario.
pub(super) fn build_script(
    scenario: &PlantedScenario,
    book: &ScenarioCatalog,
    draw: &mut SeededRandom,
) -> Result<SessionScript, ScenarioError> {
    let slots = SlotValues::draw_values(scenario, book, draw);
    let filled = |text: &str| slots.fill_text(text).map_err(|why| ScenarioError::for_scenario(&scenario.id, why));
    let lines = add_noise_steps(scenario, book, draw);
    let mut now = FIRST_START_MS + draw.number_between(0, STARTS_WITHIN_SECONDS) * 1000;
    let mut turns = Vec::new();
    for line in &lines {
        now += draw.number_between(2_000, 24_000);
        let took = if line.took > 0 { line.took * 1000 } else { draw.number_between(40, 3_900) };
        let does = build_turn_content(line, &filled).map_err(|error| match error {
            TurnError::Slot(error) => error,
            TurnError::Line(why) => ScenarioError::for_scenario(&scenario.id, why),
        })?;
        let done_ms = now + took;
        turns.push(ScriptTurn { does, mark: line.mark.clone(), at_ms: now, done_ms });
        now = done_ms;
    }
    let expect = match &scenario.expect {
        None => None,
        Some(expect) => {
            let mut expect = expect.clone();
            for word in expect.mention.iter_mut().flatten() {
                *word = filled(word)?;
            }
            Some(expect)
        }
    };
    let branch = filled("{{branch}}")?;
    Ok(SessionScript { root: filled("{{root}}")?, branch, id: format!("{:016x}", draw.next_number()), turns, expect })
}

enum TurnError {
    Slot(ScenarioError),
    Line(&'static str),
}

impl From<ScenarioError> for TurnError {
    fn from(error: ScenarioError) -> Self {
        Self::Slot(error)
    }
}

fn build_turn_content(
    line: &ScenarioStep,
    filled: &impl Fn(&str) -> Result<String, ScenarioError>,
) -> Result<TurnContent, TurnError> {
    let output = filled(line.out.trim_end_matches('\n'))?;
    if line.stop {
        return Ok(TurnContent::Stop);
    }
    if line.provider > 0 {
        return Ok(TurnContent::Provider { status: line.provider, text: output });
    }
    if !line.user.is_empty() {
        return Ok(TurnContent::User(filled(line.user.trim_end())?));
    }
    let act = match line {
        ScenarioStep { run, .. } if !run.is_empty() => Some(CallAction::Run(filled(run.trim_end())?)),
        ScenarioStep { read, .. } if !read.is_empty() => Some(CallAction::Read(filled(read)?)),
        ScenarioStep { edit, .. } if !edit.is_empty() => Some(CallAction::Edit {
            path: filled(edit)?,
            old: filled(line.old.trim_end_matches('\n'))?,
            new: filled(line.new.trim_end_matches('\n'))?,
        }),
        ScenarioStep { write, .. } if !write.is_empty() => {
            Some(CallAction::Write { path: filled(write)?, content: filled(&line.new)? })
        }
        ScenarioStep { say, .. } if say.is_empty() => return Err(TurnError::Line("a step of it does nothing")),
        _ => None,
    };
    let call = act.map(|act| ScriptedCall { act, output, exit: line.exit, fails: line.fails });
    Ok(TurnContent::Agent { text: filled(line.say.trim_end())?, thought: filled(line.think.trim_end())?, call })
}

/// Returns the scenario's steps with routine steps inserted before and between them.
fn add_noise_steps(scenario: &PlantedScenario, book: &ScenarioCatalog, draw: &mut SeededRandom) -> Vec<ScenarioStep> {
    let fits = |stack: &str| stack == "any" || stack == scenario.stack;
    let mut noise: Vec<&ScenarioStep> =
        book.noise.iter().filter(|noise| fits(&noise.stack)).map(|noise| &noise.line).collect();
    let mut quiet = |lines: &mut Vec<ScenarioStep>, draw: &mut SeededRandom, count: u64| {
        for _ in 0..count {
            lines.extend(draw.remove_one(&mut noise).cloned());
        }
    };
    let mut lines = vec![ScenarioStep { user: scenario.order.clone(), ..ScenarioStep::default() }];
    let acts = |line: &ScenarioStep| line.user.is_empty() && !line.stop && line.provider == 0;
    // A scenario without commands or edits gets no routine steps.
    let has_calls = scenario.lines.iter().any(|line| acts(line) && !(line.run.is_empty() && line.edit.is_empty()));
    let last = scenario.lines.len().saturating_sub(1);
    for (index, line) in scenario.lines.iter().enumerate() {
        if has_calls && acts(line) && !line.close {
            let count = match index {
                0 => draw.number_between(1, 3),
                index if index == last => draw.number_between(0, 2),
                _ => u64::from(draw.number_between(1, QUIET_ONE_IN) == 1),
            };
            quiet(&mut lines, draw, count);
        }
        lines.push(line.clone());
    }
    lines
}

/// The value of each `{{name}}` slot in one session.
struct SlotValues(BTreeMap<String, String>);

impl SlotValues {
    fn draw_values(scenario: &PlantedScenario, book: &ScenarioCatalog, draw: &mut SeededRandom) -> Self {
        let mut lists: BTreeMap<&str, &[String]> = BTreeMap::new();
        for (name, values) in book.slots.iter().chain(&scenario.slots) {
            lists.insert(name, values);
        }
        let mut chosen: BTreeMap<String, String> = BTreeMap::new();
        for (name, values) in lists {
            chosen.extend(draw.pick_one(values).map(|value| (name.to_owned(), value.clone())));
        }
        let root = format!("/home/dev/{}", chosen.get("project").map_or("work", String::as_str));
        chosen.insert("root".to_owned(), root);
        Self(chosen)
    }

    /// Returns the text with every `{{name}}` replaced; other double braces are kept as they are.
    fn fill_text(&self, text: &str) -> Result<String, String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            filled.push_str(before);
            let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            match behind.split_once("}}").filter(|(name, _)| is_name(name)) {
                Some((name, after)) => {
                    let value = self.0.get(name).ok_or_else(|| format!("it has no slot `{name}`"))?;
                    filled.push_str(value);
                    rest = after;
                }
                None => {
                    filled.push_str("{{");
                    rest = behind;
                }
            }
        }
        filled.push_str(rest);
        Ok(filled)
    }
}
