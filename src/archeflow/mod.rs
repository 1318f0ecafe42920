//! ArcheFlow's own memory of its runs, kept as ArcheFlow keeps it: lines of JSON below `.archeflow/memory`.
//!
//! It stands in for the script that ArcheFlow brings along. Files, messages and exit codes are the script's; what a
//! run teaches is counted once for each run. Functions here say what came of a command, and what there is to tell about
//! it; the command line prints that.

mod lesson;

mod edit;
mod folder;
mod ids;
mod lines;
mod sidecar;
mod trouble;

mod events;
mod finding;

mod check;
mod decay;
mod extract;
mod inject;
mod manage;
mod regression;

#[cfg(test)]
mod test_support;

pub use self::check::{Audited, Effectiveness, Verdict, audit_check};
pub use self::decay::{Decayed, decay};
pub use self::extract::{Extracted, extract};
pub use self::finding::{Finding, Severity};
pub use self::folder::Folder;
pub use self::inject::{Injection, inject, note_injection};
pub use self::lesson::ArcheLesson;
pub use self::manage::{Added, Kind, Listing, add, forget, list};
pub use self::regression::{Regressed, Regression, Skipped, regression_check};
pub use self::trouble::{Trouble, is_safe_name};

use serde::Serialize;

use crate::domain::Timestamp;
use crate::text::words_of;

/// What a lesson is found by: so many of its first words that have so many letters.
const MAX_TAGS: usize = 5;
const FEWEST_TAG_CHARACTERS: usize = 4;

/// A line that the script would say.
fn log_line(text: &str) -> String {
    format!("[archeflow-memory] {text}")
}

/// That a file holds lines that are no lessons, if it does.
fn strangers_line(count: usize) -> Option<String> {
    (count > 0).then(|| log_line(&format!("Left {count} line(s) alone that are no lessons")))
}

fn stamp(now: Timestamp) -> String {
    now.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn tags_of(description: &str) -> Vec<String> {
    words_of(description, FEWEST_TAG_CHARACTERS).into_iter().take(MAX_TAGS).collect()
}

fn is_preference(lesson: &ArcheLesson) -> bool {
    lesson.kind == Kind::Preference.as_str()
}

/// A value on a line of its own.
fn json_line(value: &impl Serialize) -> Vec<u8> {
    // Texts, numbers and lists of them are always JSON.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}
