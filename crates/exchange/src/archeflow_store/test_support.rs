//! What tests of this room share.

use serde_json::json;

use super::finding::ReviewFinding;
use super::lesson_file::LessonLines;
use archivist_core::domain::Timestamp;

pub(super) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

pub(super) fn lines(lines: &[&str]) -> LessonLines {
    LessonLines::from_bytes(lines.join("\n").as_bytes())
}

pub(super) fn finding(severity: &str, description: &str, category: &str) -> ReviewFinding {
    let value = json!({"severity": severity, "description": description, "category": category});
    ReviewFinding::from_json(value, "guardian").unwrap()
}
