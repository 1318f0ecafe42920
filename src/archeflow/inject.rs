//! `inject`: the lessons that a prompt is given.

use std::cmp::Reverse;

use serde::Serialize;

use super::finding::GENERAL;
use super::folder::{AUDIT, Folder, LESSONS};
use super::lesson::ArcheLesson;
use super::lines::Lines;
use super::trouble::Trouble;
use super::{is_preference, json_line, log_line, stamp};
use crate::domain::Timestamp;
use crate::recall::{Frame, Style, inert};

#[cfg(test)]
#[path = "inject_tests.rs"]
mod tests;

/// A finding of a single run may be chance.
const CONFIRMED: u64 = 2;
/// What was seen this often holds everywhere and for everybody.
const UNIVERSAL: u64 = 5;
/// No prompt is given more.
const MAX_LESSONS: usize = 10;

/// The longest that a text gets, and a name.
const MAX_CHARACTERS: usize = 1_000;
const MAX_NAME_CHARACTERS: usize = 60;

/// What a prompt is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Injection {
    /// The section, its heading included; empty if there is nothing to say.
    pub block: String,
    /// The lessons in it, in their order.
    pub lessons: Vec<String>,
    /// How many lessons that hold everywhere found no place.
    pub left_out: usize,
    /// How many lines are no lessons.
    pub strangers: usize,
}

impl Injection {
    /// What there is to say besides.
    pub fn talk(&self) -> Vec<String> {
        let mut talk = Vec::new();
        if self.left_out > 0 {
            let count = self.left_out;
            talk.push(log_line(&format!(
                "Left out {count} lesson(s) seen {UNIVERSAL}x or more: the cap is {MAX_LESSONS}"
            )));
        }
        talk.extend(super::strangers_line(self.strangers));
        talk
    }
}

/// A line of the audit.
#[derive(Debug, Serialize)]
struct Given<'a> {
    ts: String,
    run_id: &'a str,
    domain: &'a str,
    archetype: &'a str,
    lessons_injected: &'a [String],
    lesson_count: usize,
}

/// The lessons for a domain and an archetype; an empty word asks for all.
pub fn inject(folder: &Folder, domain: &str, archetype: &str) -> Result<Injection, Trouble> {
    Ok(chosen(&folder.lines(LESSONS)?.unwrap_or_default(), domain, archetype))
}

/// Notes what a run was given.
pub fn note_injection(
    folder: &Folder,
    run: &str,
    (domain, archetype): (&str, &str),
    injection: &Injection,
    now: Timestamp,
) -> Result<(), Trouble> {
    if injection.lessons.is_empty() {
        return Ok(());
    }
    let given = Given {
        ts: stamp(now),
        run_id: run,
        domain,
        archetype,
        lessons_injected: &injection.lessons,
        lesson_count: injection.lessons.len(),
    };
    folder.lock()?.append(AUDIT, &json_line(&given))
}

fn chosen(lines: &Lines, domain: &str, archetype: &str) -> Injection {
    let fitting = lines.lessons().filter(|lesson| is_for(lesson, domain, archetype));
    let mut given: Vec<Fitting<'_>> = fitting.enumerate().map(Fitting::of).collect();
    given.retain(|fitting| !fitting.text.is_empty());
    // Preferences come first, so that what is merely frequent cannot crowd out what somebody asked for.
    given.sort_by_key(|fitting| (!is_preference(fitting.lesson), fitting.rank()));
    let left_out = given.split_off(given.len().min(MAX_LESSONS));
    given.sort_by_key(Fitting::rank);
    let rows: Vec<String> = given.iter().map(Fitting::row).collect();
    Injection {
        block: Frame::new(Style::KnownIssues, None).around(&rows),
        lessons: given.iter().map(|fitting| fitting.lesson.id.clone()).collect(),
        left_out: left_out.iter().filter(|fitting| fitting.lesson.frequency >= UNIVERSAL).count(),
        strangers: lines.strangers(),
    }
}

/// A lesson that may be given.
struct Fitting<'l> {
    place: usize,
    lesson: &'l ArcheLesson,
    text: String,
}

impl<'l> Fitting<'l> {
    fn of((place, lesson): (usize, &'l ArcheLesson)) -> Self {
        Self { place, lesson, text: inert(&lesson.description, MAX_CHARACTERS) }
    }

    /// The most frequent first, in the order of the file among equals.
    fn rank(&self) -> (Reverse<u64>, usize) {
        (Reverse(self.lesson.frequency), self.place)
    }

    fn row(&self) -> String {
        let source = inert(&self.lesson.source, MAX_NAME_CHARACTERS);
        let source = if source.is_empty() { "unknown" } else { &source };
        format!("- {} [seen {}x, {source}]\n", self.text, self.lesson.frequency)
    }
}

fn is_for(lesson: &ArcheLesson, domain: &str, archetype: &str) -> bool {
    let in_domain = domain.is_empty() || lesson.domain == domain || lesson.domain == GENERAL;
    let by_archetype = archetype.is_empty() || lesson.archetype().is_none_or(|own| own == archetype);
    is_preference(lesson)
        || lesson.frequency >= UNIVERSAL
        || (lesson.frequency >= CONFIRMED && in_domain && by_archetype)
}
