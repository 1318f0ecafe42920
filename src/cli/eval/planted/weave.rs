//! A scenario made into a script: slots filled, quiet steps woven in, every step with its time.

use std::collections::BTreeMap;

use super::scenario::{Book, Expect, Line, Scenario, ScenarioError};
use crate::cli::eval::draw::Draw;

#[cfg(test)]
#[path = "weave_tests.rs"]
mod tests;

/// No session begins before this moment (2026-01-12, 08:00 UTC), in milliseconds.
const FIRST_START_MS: u64 = 1_768_204_800_000;

/// They begin within so many seconds of it.
const STARTS_WITHIN_SECONDS: u64 = 120 * 24 * 3600;

/// One in so many places in the middle of a session gets a quiet step.
const QUIET_ONE_IN: u64 = 4;

/// What is written into a log, step by step.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Where it happens.
    pub(super) root: String,
    pub(super) branch: String,
    /// Sixteen hexadecimal digits that name the session.
    pub(super) id: String,
    pub(super) turns: Vec<Turn>,
    /// What is expected, with its slots filled.
    pub(super) expect: Option<Expect>,
}

/// One thing that happens.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) does: Does,
    pub(super) mark: String,
    /// When it begins, and when its call comes back.
    pub(super) at_ms: u64,
    pub(super) done_ms: u64,
}

#[derive(Debug, Clone)]
pub(super) enum Does {
    /// A person speaks.
    User(String),
    /// The agent speaks, thinks, calls a tool.
    Agent { text: String, thought: String, call: Option<Call> },
    /// A person presses the stop key.
    Stop,
    /// The model's provider answers with an error.
    Provider { status: u16, text: String },
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) act: Act,
    pub(super) output: String,
    pub(super) exit: i32,
    /// The tool itself could not do it.
    pub(super) fails: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Run(String),
    Read(String),
    Edit { path: String, old: String, new: String },
    Write { path: String, content: String },
}

/// Makes one of the many sessions that a scenario stands for.
pub(super) fn weave(scenario: &Scenario, book: &Book, draw: &mut Draw) -> Result<Script, ScenarioError> {
    let slots = Slots::draw(scenario, book, draw);
    let filled = |text: &str| slots.fill(text).map_err(|why| ScenarioError::of(&scenario.id, why));
    let lines = with_noise(scenario, book, draw);
    let mut now = FIRST_START_MS + draw.between(0, STARTS_WITHIN_SECONDS) * 1000;
    let mut turns = Vec::new();
    for line in &lines {
        now += draw.between(2_000, 24_000);
        let took = if line.took > 0 { line.took * 1000 } else { draw.between(40, 3_900) };
        let does = does(line, &filled).map_err(|error| match error {
            Strange::Slot(error) => error,
            Strange::Line(why) => ScenarioError::of(&scenario.id, why),
        })?;
        let done_ms = now + took;
        turns.push(Turn { does, mark: line.mark.clone(), at_ms: now, done_ms });
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
    Ok(Script { root: filled("{{root}}")?, branch, id: format!("{:016x}", draw.number()), turns, expect })
}

enum Strange {
    Slot(ScenarioError),
    Line(&'static str),
}

impl From<ScenarioError> for Strange {
    fn from(error: ScenarioError) -> Self {
        Self::Slot(error)
    }
}

fn does(line: &Line, filled: &impl Fn(&str) -> Result<String, ScenarioError>) -> Result<Does, Strange> {
    let output = filled(line.out.trim_end_matches('\n'))?;
    if line.stop {
        return Ok(Does::Stop);
    }
    if line.provider > 0 {
        return Ok(Does::Provider { status: line.provider, text: output });
    }
    if !line.user.is_empty() {
        return Ok(Does::User(filled(line.user.trim_end())?));
    }
    let act = match line {
        Line { run, .. } if !run.is_empty() => Some(Act::Run(filled(run.trim_end())?)),
        Line { read, .. } if !read.is_empty() => Some(Act::Read(filled(read)?)),
        Line { edit, .. } if !edit.is_empty() => Some(Act::Edit {
            path: filled(edit)?,
            old: filled(line.old.trim_end_matches('\n'))?,
            new: filled(line.new.trim_end_matches('\n'))?,
        }),
        Line { write, .. } if !write.is_empty() => {
            Some(Act::Write { path: filled(write)?, content: filled(&line.new)? })
        }
        Line { say, .. } if say.is_empty() => return Err(Strange::Line("a step of it does nothing")),
        _ => None,
    };
    let call = act.map(|act| Call { act, output, exit: line.exit, fails: line.fails });
    Ok(Does::Agent { text: filled(line.say.trim_end())?, thought: filled(line.think.trim_end())?, call })
}

/// The scenario's steps, with looks and passing checks before, between and behind them.
fn with_noise(scenario: &Scenario, book: &Book, draw: &mut Draw) -> Vec<Line> {
    let fits = |stack: &str| stack == "any" || stack == scenario.stack;
    let mut noise: Vec<&Line> = book.noise.iter().filter(|noise| fits(&noise.stack)).map(|noise| &noise.line).collect();
    let mut quiet = |lines: &mut Vec<Line>, draw: &mut Draw, count: u64| {
        for _ in 0..count {
            lines.extend(draw.take(&mut noise).cloned());
        }
    };
    let mut lines = vec![Line { user: scenario.order.clone(), ..Line::default() }];
    let acts = |line: &Line| line.user.is_empty() && !line.stop && line.provider == 0;
    // A question that is answered at once stays one.
    let has_calls = scenario.lines.iter().any(|line| acts(line) && !(line.run.is_empty() && line.edit.is_empty()));
    let last = scenario.lines.len().saturating_sub(1);
    for (index, line) in scenario.lines.iter().enumerate() {
        if has_calls && acts(line) && !line.close {
            let count = match index {
                0 => draw.between(1, 3),
                index if index == last => draw.between(0, 2),
                _ => u64::from(draw.between(1, QUIET_ONE_IN) == 1),
            };
            quiet(&mut lines, draw, count);
        }
        lines.push(line.clone());
    }
    lines
}

/// What stands for `{{name}}` in one session.
struct Slots(BTreeMap<String, String>);

impl Slots {
    fn draw(scenario: &Scenario, book: &Book, draw: &mut Draw) -> Self {
        let mut lists: BTreeMap<&str, &[String]> = BTreeMap::new();
        for (name, values) in book.slots.iter().chain(&scenario.slots) {
            lists.insert(name, values);
        }
        let mut chosen: BTreeMap<String, String> = BTreeMap::new();
        for (name, values) in lists {
            chosen.extend(draw.one(values).map(|value| (name.to_owned(), value.clone())));
        }
        let root = format!("/home/dev/{}", chosen.get("project").map_or("work", String::as_str));
        chosen.insert("root".to_owned(), root);
        Self(chosen)
    }

    /// The text with every `{{name}}` replaced. Braces with anything but a bare name between them are the text's own.
    fn fill(&self, text: &str) -> Result<String, String> {
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
