//! The `inject` command: selects the lessons to put into a prompt.

use std::cmp::Reverse;

use serde::Serialize;

use super::error::ArcheFlowError;
use super::finding::GENERAL;
use super::folder::{AUDIT, ArcheFlowFolder, LESSONS};
use super::lesson::ArcheFlowLesson;
use super::lesson_file::LessonLines;
use super::{format_log_line, format_timestamp, is_preference, to_json_line};
use archivist_core::domain::Timestamp;
use archivist_core::recall::{BlockFrame, LessonBlockStyle, sanitize_for_prompt};

#[cfg(test)]
#[path = "inject_tests.rs"]
mod tests;

/// The number of sightings that confirms a lesson; a finding of a single run may be chance.
const CONFIRMED: u64 = 2;
/// The number of sightings from which a lesson applies to every domain and archetype.
const UNIVERSAL: u64 = 5;
/// The most lessons in one injection.
const MAX_LESSONS: usize = 10;

/// The maximum length of a lesson's text in a prompt.
const MAX_CHARACTERS: usize = 1_000;
const MAX_NAME_CHARACTERS: usize = 60;

/// The lessons to put into a prompt, as text and as ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArcheFlowInjection {
    /// The block with its heading; empty if there are no lessons.
    pub block: String,
    /// The ids of the lessons in the block, in their order.
    pub lessons: Vec<String>,
    /// The number of universally applicable lessons that were left out for lack of space.
    pub left_out: usize,
    /// The number of lines that are not lessons.
    pub strangers: usize,
}

impl ArcheFlowInjection {
    /// Returns the messages to print besides the block.
    pub fn message_lines(&self) -> Vec<String> {
        let mut talk = Vec::new();
        if self.left_out > 0 {
            let count = self.left_out;
            talk.push(format_log_line(&format!(
                "Left out {count} lesson(s) seen {UNIVERSAL}x or more: the cap is {MAX_LESSONS}"
            )));
        }
        talk.extend(super::foreign_lines_message(self.strangers));
        talk
    }
}

/// A line of the audit file that records an injection.
#[derive(Debug, Serialize)]
struct InjectionAuditLine<'a> {
    ts: String,
    run_id: &'a str,
    domain: &'a str,
    archetype: &'a str,
    lessons_injected: &'a [String],
    lesson_count: usize,
}

/// Builds the injection for a domain and an archetype; an empty word matches all.
pub fn build_injection(
    folder: &ArcheFlowFolder,
    domain: &str,
    archetype: &str,
) -> Result<ArcheFlowInjection, ArcheFlowError> {
    Ok(choose_lessons(&folder.read_lesson_lines(LESSONS)?.unwrap_or_default(), domain, archetype))
}

/// Records the lessons injected into a run in the audit file.
pub fn record_injection(
    folder: &ArcheFlowFolder,
    run: &str,
    (domain, archetype): (&str, &str),
    injection: &ArcheFlowInjection,
    now: Timestamp,
) -> Result<(), ArcheFlowError> {
    if injection.lessons.is_empty() {
        return Ok(());
    }
    let given = InjectionAuditLine {
        ts: format_timestamp(now),
        run_id: run,
        domain,
        archetype,
        lessons_injected: &injection.lessons,
        lesson_count: injection.lessons.len(),
    };
    folder.lock_for_writing()?.append_to_file(AUDIT, &to_json_line(&given))
}

fn choose_lessons(lines: &LessonLines, domain: &str, archetype: &str) -> ArcheFlowInjection {
    let fitting = lines.lessons().filter(|lesson| is_eligible(lesson, domain, archetype));
    let mut given: Vec<EligibleLesson<'_>> = fitting.enumerate().map(EligibleLesson::from_indexed_lesson).collect();
    given.retain(|fitting| !fitting.text.is_empty());
    // Preferences come first, so that merely frequent lessons cannot crowd out what a user asked for.
    given.sort_by_key(|fitting| (!is_preference(fitting.lesson), fitting.sort_key()));
    let left_out = given.split_off(given.len().min(MAX_LESSONS));
    given.sort_by_key(EligibleLesson::sort_key);
    let rows: Vec<String> = given.iter().map(EligibleLesson::render_row).collect();
    ArcheFlowInjection {
        block: BlockFrame::new(LessonBlockStyle::KnownIssues, None).wrap_lines(&rows),
        lessons: given.iter().map(|fitting| fitting.lesson.id.clone()).collect(),
        left_out: left_out.iter().filter(|fitting| fitting.lesson.frequency >= UNIVERSAL).count(),
        strangers: lines.foreign_line_count(),
    }
}

/// A lesson that may be injected.
struct EligibleLesson<'l> {
    place: usize,
    lesson: &'l ArcheFlowLesson,
    text: String,
}

impl<'l> EligibleLesson<'l> {
    fn from_indexed_lesson((place, lesson): (usize, &'l ArcheFlowLesson)) -> Self {
        Self { place, lesson, text: sanitize_for_prompt(&lesson.description, MAX_CHARACTERS) }
    }

    /// Returns the sort key: the most frequent first, equal ones in file order.
    fn sort_key(&self) -> (Reverse<u64>, usize) {
        (Reverse(self.lesson.frequency), self.place)
    }

    fn render_row(&self) -> String {
        let source = sanitize_for_prompt(&self.lesson.source, MAX_NAME_CHARACTERS);
        let source = if source.is_empty() { "unknown" } else { &source };
        format!("- {} [seen {}x, {source}]\n", self.text, self.lesson.frequency)
    }
}

fn is_eligible(lesson: &ArcheFlowLesson, domain: &str, archetype: &str) -> bool {
    let in_domain = domain.is_empty() || lesson.domain == domain || lesson.domain == GENERAL;
    let by_archetype = archetype.is_empty() || lesson.archetype().is_none_or(|own| own == archetype);
    is_preference(lesson)
        || lesson.frequency >= UNIVERSAL
        || (lesson.frequency >= CONFIRMED && in_domain && by_archetype)
}
