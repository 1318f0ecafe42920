//! What tests of this room share.

use serde_json::json;

use super::finding::Finding;
use super::lines::Lines;
use crate::domain::Timestamp;

pub(super) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

pub(super) fn lines(lines: &[&str]) -> Lines {
    Lines::of(lines.join("\n").as_bytes())
}

pub(super) fn finding(severity: &str, description: &str, category: &str) -> Finding {
    let value = json!({"severity": severity, "description": description, "category": category});
    Finding::of(value, "guardian").unwrap()
}
