//! A large memory that nobody has, and what might be asked of it.
//!
//! Lessons are put together from parts written by hand (`fixtures/recall`): a matter, met in a part of a large
//! repository. So lessons on one part, and lessons on one tool, stand beside each other and compete. Whoever asks meets
//! the matter without knowing the lesson: in words of which the lesson holds about half, in words of which it holds
//! nearly none, or with nothing but an error on the screen. The rest ask for what no lesson is about. Which wording
//! belongs where was decided by the words it shares with its lesson, never by where a search puts that lesson.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, TimeDelta};
use serde::Deserialize;

use super::super::draw::Draw;
use crate::domain::{
    AgentMemory, Importance, ImportanceScale, MemoryCategory, MemoryId, MemoryKind, MemorySource, MemoryState,
    Timestamp,
};

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;

const MATTERS: &str = include_str!("../../../../fixtures/recall/matters.toml");
const COMPONENTS: &str = include_str!("../../../../fixtures/recall/components.toml");
const UNMATCHED: &str = include_str!("../../../../fixtures/recall/unmatched.toml");

/// How many lessons are known.
const LESSONS: usize = 2_000;
/// How many tasks there are that a lesson helps with, and as many that none does.
const TASKS: usize = 300;
/// How many tasks there are that have nearly no word in common with the lesson that helps.
const APART: usize = 100;

/// When all is asked: 2026-07-01.
const ASKED_AT: i64 = 1_782_864_000;
/// Lessons are at most this old then.
const DAYS: u64 = 180;

/// Of the tasks whose failure shows on a screen, one in so many says no more than that.
const BY_ERROR: u64 = 3;

/// How a lesson names the place it is about.
const PLACES: &[&str] =
    &["in `{path}`, {says}", "{says} ({component})", "{component}: {says}", "{says}; this is about `{path}`"];

/// How an error is handed on.
const ERRORS: &[&str] = &[
    "{component}, while working on {entity}:\n{error}",
    "I get this in {component} and do not know why:\n\n    {error}\n\nIt is about {entity}, I think.",
    "{error}\n\nThis comes up with {entity}, see {path}",
];

/// What stands around a task.
const CHATTER: &[&str] = &[
    "{task}",
    "{task}",
    "{task}",
    "{task}",
    "{task}",
    "{task}",
    "{task}",
    "Hi! {task} Thanks in advance.",
    "{task} I have looked at it for an hour, so please take your time.",
    "From today's stand-up: {task}",
    "Next one on the list. {task} Tell me what you changed when you are done.",
    "{task} No hurry, but it should be in before the end of the week.",
];

/// What may be asked, and the one lesson that helps, by its place among the lessons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) text: String,
    pub(super) right: Option<usize>,
}

/// A memory, and what is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    pub(super) lessons: Vec<AgentMemory>,
    /// Those that a lesson helps with first.
    pub(super) tasks: Vec<Task>,
    /// Others that a lesson helps with, told in words that it does not hold.
    pub(super) apart: Vec<Task>,
    pub(super) asked_at: Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matters {
    matter: Vec<Matter>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Matter {
    tool: String,
    category: MemoryCategory,
    says: String,
    when: String,
    then: String,
    asked: Vec<String>,
    #[serde(default)]
    apart: Vec<String>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Components {
    component: Vec<Component>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Component {
    name: String,
    path: String,
    entities: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unmatched {
    asked: Vec<String>,
}

/// A matter that was met in a place.
#[derive(Debug, Clone, Copy)]
struct Met<'p> {
    matter: &'p Matter,
    place: Place<'p>,
}

/// Where, and with which figures.
#[derive(Debug, Clone, Copy)]
struct Place<'p> {
    component: &'p Component,
    entity: &'p str,
    port: u64,
    minutes: u64,
    number: u64,
    version: u64,
}

/// Makes a memory and its tasks: the same for the same seed.
pub(super) fn trial(seed: u64) -> Result<Trial> {
    let Matters { matter: matters } = toml::from_str(MATTERS).context("fixtures/recall/matters.toml")?;
    let Components { component: components } = toml::from_str(COMPONENTS).context("fixtures/recall/components.toml")?;
    let Unmatched { asked: unmatched } = toml::from_str(UNMATCHED).context("fixtures/recall/unmatched.toml")?;
    let mut draw = Draw::new(&["recall", &seed.to_string()]);
    let asked_at = DateTime::from_timestamp(ASKED_AT, 0).context("a time")?;

    let mut pairs: Vec<(&Matter, &Component)> =
        matters.iter().flat_map(|matter| components.iter().map(move |component| (matter, component))).collect();
    let mut met: Vec<Met<'_>> = Vec::with_capacity(LESSONS);
    while met.len() < LESSONS {
        let Some((matter, component)) = draw.take(&mut pairs) else { bail!("there are too few matters") };
        met.push(Met { matter, place: Place::draw(component, &mut draw)? });
    }
    let lessons = (1_u32..).zip(&met).map(|(number, met)| met.lesson(number, asked_at, &mut draw));
    let lessons = lessons.collect::<Result<Vec<_>>>()?;

    let mut tasks: Vec<Task> = Vec::with_capacity(2 * TASKS);
    let mut left: Vec<usize> = (0..LESSONS).collect();
    let mut said: BTreeSet<String> = BTreeSet::new();
    while tasks.len() < TASKS {
        let Some(right) = draw.take(&mut left) else { bail!("there are too few lessons") };
        let text = met.get(right).context("a lesson")?.task(&mut draw)?;
        if said.insert(text.clone()) {
            tasks.push(Task { text, right: Some(right) });
        }
    }
    let mut apart: Vec<Task> = Vec::with_capacity(APART);
    while apart.len() < APART {
        let Some(right) = draw.take(&mut left) else { bail!("there are too few lessons") };
        let Met { matter, place } = met.get(right).context("a lesson")?;
        // Not every matter is told in other words altogether.
        let Some(asked) = draw.one(&matter.apart) else { continue };
        apart.push(Task { text: with_chatter(&place.fill(asked), &mut draw)?, right: Some(right) });
    }
    // Every one of them, and then again in other places.
    for asked in unmatched.iter().cycle().take(20 * TASKS) {
        if tasks.len() == 2 * TASKS {
            return Ok(Trial { lessons, tasks, apart, asked_at });
        }
        let component = draw.one(&components).context("a component")?;
        let text = with_chatter(&Place::draw(component, &mut draw)?.fill(asked), &mut draw)?;
        if said.insert(text.clone()) {
            tasks.push(Task { text, right: None });
        }
    }
    bail!("there are too few tasks that no lesson is about")
}

impl<'p> Place<'p> {
    fn draw(component: &'p Component, draw: &mut Draw) -> Result<Self> {
        let entity = draw.one(&component.entities).context("an entity")?;
        Ok(Self {
            component,
            entity,
            port: draw.between(5_001, 9_999),
            minutes: draw.between(2, 25),
            number: draw.between(12, 90),
            version: draw.between(16, 24),
        })
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{component}", &self.component.name)
            .replace("{path}", &self.component.path)
            .replace("{entity}", self.entity)
            .replace("{port}", &self.port.to_string())
            .replace("{minutes}", &self.minutes.to_string())
            .replace("{number}", &self.number.to_string())
            .replace("{version}", &self.version.to_string())
    }
}

impl Met<'_> {
    fn lesson(&self, number: u32, asked_at: Timestamp, draw: &mut Draw) -> Result<AgentMemory> {
        let Self { matter, place } = self;
        let days = i64::try_from(draw.between(0, DAYS))?;
        let created_at = asked_at.checked_sub_signed(TimeDelta::days(days)).context("a time")?;
        let frame = draw.one(PLACES).context("a place")?;
        let summary = capital(&place.fill(&frame.replace("{says}", &matter.says)));
        let id = MemoryId::parse(&format!("mem-{number:05}"))?;
        let percent = u32::try_from(draw.between(40, 80))?;
        let mut memory = AgentMemory::new(id, created_at, summary);
        memory.rule = Some(place.fill(&format!("IF {} THEN {}", matter.when, matter.then)));
        memory.detail = matter.error.as_ref().map(|error| format!("It shows as `{}`.", place.fill(error)));
        memory.facets.component = Some(place.component.path.clone());
        memory.tags = vec![matter.tool.replace(' ', "-"), place.component.name.clone()];
        memory.kind = match matter.category {
            MemoryCategory::Preference => MemoryKind::Preference,
            MemoryCategory::Decision => MemoryKind::Decision,
            _ => MemoryKind::Lesson,
        };
        memory.category = matter.category.clone();
        memory.importance = Importance::parse(f64::from(percent) / 100.0, ImportanceScale::Undeclared)?;
        memory.source = MemorySource::Archivist;
        memory.state = Some(MemoryState::Candidate);
        Ok(memory)
    }

    /// What somebody says who meets the matter.
    fn task(&self, draw: &mut Draw) -> Result<String> {
        let Self { matter, place } = self;
        if let Some(error) = &matter.error
            && draw.between(1, BY_ERROR) == 1
        {
            // Numbers of processes and of rows are others every time.
            let seen = Place { number: draw.between(12, 90), ..*place };
            let frame = draw.one(ERRORS).context("an error")?;
            return Ok(seen.fill(&frame.replace("{error}", error)));
        }
        let asked = draw.one(&matter.asked).context("a wording")?;
        with_chatter(&place.fill(asked), draw)
    }
}

fn with_chatter(task: &str, draw: &mut Draw) -> Result<String> {
    let chatter = draw.one(CHATTER).context("chatter")?;
    let is_sentence = chatter.starts_with("{task} ") || chatter.contains(" {task} ");
    let stop = if is_sentence && !task.ends_with(['.', '?', '!']) { "." } else { "" };
    Ok(capital(&chatter.replace("{task}", &format!("{}{stop}", capital(task)))))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
