//! Generates a large memory and the tasks that are put to it.
//!
//! Lessons are combined from hand-written parts (`fixtures/recall`): a topic, placed in a component of a large
//! repository. So lessons on one component, and lessons on one tool, compete with each other. A task meets the topic
//! without knowing the lesson: in words of which the lesson contains about half, in words of which it contains nearly
//! none, or with nothing but an error message. The other tasks are about something that no lesson covers. Each wording
//! was assigned by the words it shares with its lesson, never by where a search ranks that lesson.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, TimeDelta};
use serde::Deserialize;

use super::super::seeded_choice::SeededRandom;
use archivist_core::domain::{
    AgentMemory, Importance, ImportanceScale, MemoryCategory, MemoryId, MemoryKind, MemorySource, MemoryState,
    Timestamp,
};

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;

const MATTERS: &str = include_str!("../../../../../fixtures/recall/matters.toml");
const COMPONENTS: &str = include_str!("../../../../../fixtures/recall/components.toml");
const UNMATCHED: &str = include_str!("../../../../../fixtures/recall/unmatched.toml");

/// The number of lessons in the memory.
const LESSONS: usize = 2_000;
/// The number of tasks that a lesson helps with, and also of those that none helps with.
const TASKS: usize = 300;
/// The number of tasks that have nearly no word in common with the lesson that helps.
const APART: usize = 100;

/// The time of all queries, 2026-07-01, in seconds.
const ASKED_AT: i64 = 1_782_864_000;
/// The greatest age of a lesson at that time, in days.
const DAYS: u64 = 180;

/// One in this many tasks on a topic with an error message reports nothing but that message.
const BY_ERROR: u64 = 3;

/// The wordings in which a lesson names its component.
const PLACES: &[&str] =
    &["in `{path}`, {says}", "{says} ({component})", "{component}: {says}", "{says}; this is about `{path}`"];

/// The wordings in which a task reports an error.
const ERRORS: &[&str] = &[
    "{component}, while working on {entity}:\n{error}",
    "I get this in {component} and do not know why:\n\n    {error}\n\nIt is about {entity}, I think.",
    "{error}\n\nThis comes up with {entity}, see {path}",
];

/// The wordings around a task.
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

/// The text of a task, and the index of the one lesson that helps with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecallTask {
    pub(super) text: String,
    pub(super) right: Option<usize>,
}

/// A memory and the tasks that are put to it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecallTrial {
    pub(super) lessons: Vec<AgentMemory>,
    /// The tasks that a lesson helps with, followed by those that none helps with.
    pub(super) tasks: Vec<RecallTask>,
    /// Tasks that a lesson helps with, worded with almost none of its words.
    pub(super) apart: Vec<RecallTask>,
    pub(super) asked_at: Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicsFile {
    matter: Vec<LessonTopic>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LessonTopic {
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
struct ComponentsFile {
    component: Vec<RepositoryComponent>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RepositoryComponent {
    name: String,
    path: String,
    entities: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnmatchedTasksFile {
    asked: Vec<String>,
}

/// A topic in a place of the repository.
#[derive(Debug, Clone, Copy)]
struct PlacedTopic<'p> {
    matter: &'p LessonTopic,
    place: TopicPlace<'p>,
}

/// A component of the repository, with the values that fill the slots of a text.
#[derive(Debug, Clone, Copy)]
struct TopicPlace<'p> {
    component: &'p RepositoryComponent,
    entity: &'p str,
    port: u64,
    minutes: u64,
    number: u64,
    version: u64,
}

/// Generates a memory and its tasks; the same seed gives the same result.
pub(super) fn generate_trial(seed: u64) -> Result<RecallTrial> {
    let TopicsFile { matter: matters } = toml::from_str(MATTERS).context("fixtures/recall/matters.toml")?;
    let ComponentsFile { component: components } =
        toml::from_str(COMPONENTS).context("fixtures/recall/components.toml")?;
    let UnmatchedTasksFile { asked: unmatched } =
        toml::from_str(UNMATCHED).context("fixtures/recall/unmatched.toml")?;
    let mut draw = SeededRandom::new(&["recall", &seed.to_string()]);
    let asked_at = DateTime::from_timestamp(ASKED_AT, 0).context("a time")?;

    let mut pairs: Vec<(&LessonTopic, &RepositoryComponent)> =
        matters.iter().flat_map(|matter| components.iter().map(move |component| (matter, component))).collect();
    let mut met: Vec<PlacedTopic<'_>> = Vec::with_capacity(LESSONS);
    while met.len() < LESSONS {
        let Some((matter, component)) = draw.remove_one(&mut pairs) else { bail!("there are too few matters") };
        met.push(PlacedTopic { matter, place: TopicPlace::draw_place(component, &mut draw)? });
    }
    let lessons = (1_u32..).zip(&met).map(|(number, met)| met.build_lesson(number, asked_at, &mut draw));
    let lessons = lessons.collect::<Result<Vec<_>>>()?;

    let mut tasks: Vec<RecallTask> = Vec::with_capacity(2 * TASKS);
    let mut left: Vec<usize> = (0..LESSONS).collect();
    let mut said: BTreeSet<String> = BTreeSet::new();
    while tasks.len() < TASKS {
        let Some(right) = draw.remove_one(&mut left) else { bail!("there are too few lessons") };
        let text = met.get(right).context("a lesson")?.draw_task_text(&mut draw)?;
        if said.insert(text.clone()) {
            tasks.push(RecallTask { text, right: Some(right) });
        }
    }
    let mut apart: Vec<RecallTask> = Vec::with_capacity(APART);
    while apart.len() < APART {
        let Some(right) = draw.remove_one(&mut left) else { bail!("there are too few lessons") };
        let PlacedTopic { matter, place } = met.get(right).context("a lesson")?;
        // Some topics have no such wording.
        let Some(asked) = draw.pick_one(&matter.apart) else { continue };
        apart.push(RecallTask { text: with_chatter(&place.fill_template(asked), &mut draw)?, right: Some(right) });
    }
    // Every text is used once, and then again with other components.
    for asked in unmatched.iter().cycle().take(20 * TASKS) {
        if tasks.len() == 2 * TASKS {
            return Ok(RecallTrial { lessons, tasks, apart, asked_at });
        }
        let component = draw.pick_one(&components).context("a component")?;
        let text = with_chatter(&TopicPlace::draw_place(component, &mut draw)?.fill_template(asked), &mut draw)?;
        if said.insert(text.clone()) {
            tasks.push(RecallTask { text, right: None });
        }
    }
    bail!("there are too few tasks that no lesson is about")
}

impl<'p> TopicPlace<'p> {
    fn draw_place(component: &'p RepositoryComponent, draw: &mut SeededRandom) -> Result<Self> {
        let entity = draw.pick_one(&component.entities).context("an entity")?;
        Ok(Self {
            component,
            entity,
            port: draw.number_between(5_001, 9_999),
            minutes: draw.number_between(2, 25),
            number: draw.number_between(12, 90),
            version: draw.number_between(16, 24),
        })
    }

    fn fill_template(&self, text: &str) -> String {
        text.replace("{component}", &self.component.name)
            .replace("{path}", &self.component.path)
            .replace("{entity}", self.entity)
            .replace("{port}", &self.port.to_string())
            .replace("{minutes}", &self.minutes.to_string())
            .replace("{number}", &self.number.to_string())
            .replace("{version}", &self.version.to_string())
    }
}

impl PlacedTopic<'_> {
    fn build_lesson(&self, number: u32, asked_at: Timestamp, draw: &mut SeededRandom) -> Result<AgentMemory> {
        let Self { matter, place } = self;
        let days = i64::try_from(draw.number_between(0, DAYS))?;
        let created_at = asked_at.checked_sub_signed(TimeDelta::days(days)).context("a time")?;
        let frame = draw.pick_one(PLACES).context("a place")?;
        let summary = capitalize_first(&place.fill_template(&frame.replace("{says}", &matter.says)));
        let id = MemoryId::parse(&format!("mem-{number:05}"))?;
        let percent = u32::try_from(draw.number_between(40, 80))?;
        let mut memory = AgentMemory::new(id, created_at, summary);
        memory.rule = Some(place.fill_template(&format!("IF {} THEN {}", matter.when, matter.then)));
        memory.detail = matter.error.as_ref().map(|error| format!("It shows as `{}`.", place.fill_template(error)));
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

    /// Returns the text of a task that meets the topic.
    fn draw_task_text(&self, draw: &mut SeededRandom) -> Result<String> {
        let Self { matter, place } = self;
        if let Some(error) = &matter.error
            && draw.number_between(1, BY_ERROR) == 1
        {
            // Numbers of processes and rows differ each time.
            let seen = TopicPlace { number: draw.number_between(12, 90), ..*place };
            let frame = draw.pick_one(ERRORS).context("an error")?;
            return Ok(seen.fill_template(&frame.replace("{error}", error)));
        }
        let asked = draw.pick_one(&matter.asked).context("a wording")?;
        with_chatter(&place.fill_template(asked), draw)
    }
}

fn with_chatter(task: &str, draw: &mut SeededRandom) -> Result<String> {
    let chatter = draw.pick_one(CHATTER).context("chatter")?;
    let is_sentence = chatter.starts_with("{task} ") || chatter.contains(" {task} ");
    let stop = if is_sentence && !task.ends_with(['.', '?', '!']) { "." } else { "" };
    Ok(capitalize_first(&chatter.replace("{task}", &format!("{}{stop}", capitalize_first(task)))))
}

fn capitalize_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
