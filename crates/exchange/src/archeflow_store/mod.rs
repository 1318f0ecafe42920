//! ArcheFlow's own memory of its runs, in ArcheFlow's own format: JSON lines below `.archeflow/memory`.
//!
//! This module replaces the script that comes with ArcheFlow. Files, messages and exit codes are those of the script;
//! each run counts once for each lesson. The functions return the result of a command and the messages about it, which
//! the command line prints. Conversion to and from Archivist's lessons is not done here but in `exchange`.

mod lesson;

mod error;
mod folder;
mod ids;
mod lesson_file;
mod line_edit;
mod run_record;

mod events;
mod finding;

mod check;
mod decay;
mod extract;
mod inject;
mod lesson_commands;
mod regression;

#[cfg(test)]
mod test_support;

pub use self::check::{AuditCheckOutcome, EffectivenessVerdict, LessonEffectiveness, run_audit_check};
pub use self::decay::{DecayReport, decay_lessons};
pub use self::error::{ArcheFlowError, is_safe_name};
pub use self::extract::{ExtractReport, extract_lessons};
pub use self::finding::{FindingSeverity, ReviewFinding};
pub use self::folder::ArcheFlowFolder;
pub use self::inject::{ArcheFlowInjection, build_injection, record_injection};
pub use self::lesson::ArcheFlowLesson;
pub use self::lesson_commands::{
    AddedLesson, ArcheFlowLessonKind, LessonTable, add_lesson, forget_lesson, list_lessons,
};
pub use self::regression::{Regression, RegressionReport, RegressionSkipReason, run_regression_check};

use serde::Serialize;

use archivist_core::domain::Timestamp;
use archivist_core::text::words_of_length;

/// A lesson is tagged with at most this many of its first words of at least `FEWEST_TAG_CHARACTERS` letters.
const MAX_TAGS: usize = 5;
const FEWEST_TAG_CHARACTERS: usize = 4;

/// Returns a message with the prefix that the script uses.
fn format_log_line(text: &str) -> String {
    format!("[archeflow-memory] {text}")
}

/// Returns the message about lines that are not lessons, if there are any.
fn foreign_lines_message(count: usize) -> Option<String> {
    (count > 0).then(|| format_log_line(&format!("Left {count} line(s) alone that are no lessons")))
}

fn format_timestamp(now: Timestamp) -> String {
    now.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn extract_tags(description: &str) -> Vec<String> {
    words_of_length(description, FEWEST_TAG_CHARACTERS).into_iter().take(MAX_TAGS).collect()
}

fn is_preference(lesson: &ArcheFlowLesson) -> bool {
    lesson.kind == ArcheFlowLessonKind::Preference.as_str()
}

/// Returns a value as a line of JSON, with its line break.
fn to_json_line(value: &impl Serialize) -> Vec<u8> {
    // Texts, numbers and lists of them can always be written as JSON.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
