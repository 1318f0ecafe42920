//! A file of lessons, line by line, with both the bytes and the parsed lesson of each line.

use serde_json::Value;

use super::lesson::ArcheFlowLesson;
use super::line_edit::{set_json_fields, strip_byte_order_mark};

#[cfg(test)]
#[path = "lesson_file_tests.rs"]
mod tests;

/// All lines of a lessons file, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LessonLines {
    pub(super) list: Vec<LessonLine>,
}

/// One line of a lessons file. A line that is not a lesson is kept as it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LessonLine {
    /// The bytes of the line, without the line break.
    raw: Vec<u8>,
    pub(super) lesson: Option<ArcheFlowLesson>,
}

impl LessonLines {
    /// Splits the bytes of a file into lines; a last line without a line break counts as well.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut list: Vec<LessonLine> = bytes.split(|byte| *byte == b'\n').map(LessonLine::from_bytes).collect();
        list.pop_if(|last| last.raw.is_empty());
        Self { list }
    }

    /// Returns the bytes of the file, with a line break after every line.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.list.iter().map(|line| line.raw.len() + 1).sum());
        for line in &self.list {
            bytes.extend_from_slice(&line.raw);
            bytes.push(b'\n');
        }
        bytes
    }

    /// Returns the lessons among the lines.
    pub(super) fn lessons(&self) -> impl Iterator<Item = &ArcheFlowLesson> {
        self.list.iter().filter_map(|line| line.lesson.as_ref())
    }

    /// Returns the number of lines that are neither blank nor lessons.
    pub(super) fn foreign_line_count(&self) -> usize {
        self.list.iter().filter(|line| line.lesson.is_none() && !line.raw.trim_ascii().is_empty()).count()
    }

    /// Returns true if a line contains the same lesson, whatever its timestamp.
    pub(super) fn contains_lesson(&self, lesson: &ArcheFlowLesson) -> bool {
        self.lessons()
            .any(|own| own.id == lesson.id && ArcheFlowLesson { ts: lesson.ts.clone(), ..own.clone() } == *lesson)
    }
}

impl LessonLine {
    fn from_bytes(raw: &[u8]) -> Self {
        let text = std::str::from_utf8(raw).unwrap_or_default();
        Self { raw: raw.to_vec(), lesson: ArcheFlowLesson::parse(strip_byte_order_mark(text)).ok() }
    }

    /// Creates the line of a new lesson.
    pub(super) fn new(lesson: ArcheFlowLesson) -> Self {
        Self { raw: lesson.to_line().into_bytes(), lesson: Some(lesson) }
    }

    /// Sets these fields and keeps all others; a line that is not a JSON object stays as it is.
    pub(super) fn set_fields(&mut self, fields: &[(&str, Value)]) {
        let edited = std::str::from_utf8(&self.raw).ok().and_then(|text| set_json_fields(text, fields));
        if let Some(edited) = edited {
            *self = Self::from_bytes(edited.as_bytes());
        }
    }

    /// Returns the bytes to append to another file, with a line break.
    pub(super) fn to_line_bytes(&self) -> Vec<u8> {
        let text = self.raw.trim_ascii_end();
        let mut bytes = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).to_vec();
        bytes.push(b'\n');
        bytes
    }
}
