//! A file of lessons, line by line, with the bytes of each beside what it says.

use serde_json::Value;

use super::edit::{object_of, with_fields};
use super::lesson::ArcheLesson;

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;

/// All lines of a file, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lines {
    pub(super) list: Vec<Line>,
}

/// One line. What is no lesson stays where it is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// Its bytes, without the line break.
    raw: Vec<u8>,
    pub(super) lesson: Option<ArcheLesson>,
}

impl Lines {
    /// The lines of a file's bytes; the last one counts whether or not a line break follows.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut list: Vec<Line> = bytes.split(|byte| *byte == b'\n').map(Line::of).collect();
        list.pop_if(|last| last.raw.is_empty());
        Self { list }
    }

    /// The bytes of the file, every line with its end.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.list.iter().map(|line| line.raw.len() + 1).sum());
        for line in &self.list {
            bytes.extend_from_slice(&line.raw);
            bytes.push(b'\n');
        }
        bytes
    }

    /// What the lines say, as far as they are lessons.
    pub(super) fn lessons(&self) -> impl Iterator<Item = &ArcheLesson> {
        self.list.iter().filter_map(|line| line.lesson.as_ref())
    }

    /// How many lines hold something that is no lesson.
    pub(super) fn strangers(&self) -> usize {
        self.list.iter().filter(|line| line.lesson.is_none() && !line.raw.trim_ascii().is_empty()).count()
    }

    /// Whether a line says the same, whenever it says it was written.
    pub(super) fn holds(&self, lesson: &ArcheLesson) -> bool {
        self.lessons().any(|own| own.id == lesson.id && ArcheLesson { ts: lesson.ts.clone(), ..own.clone() } == *lesson)
    }
}

impl Line {
    fn of(raw: &[u8]) -> Self {
        let text = std::str::from_utf8(raw).unwrap_or_default();
        Self { raw: raw.to_vec(), lesson: ArcheLesson::parse(object_of(text)).ok() }
    }

    /// A line of a lesson that was just made.
    pub(super) fn new(lesson: ArcheLesson) -> Self {
        Self { raw: lesson.to_line().into_bytes(), lesson: Some(lesson) }
    }

    /// The line with these fields set and all others as they were; a line that is no lesson stays as it is.
    pub(super) fn set(&mut self, fields: &[(&str, Value)]) {
        let edited = std::str::from_utf8(&self.raw).ok().and_then(|text| with_fields(text, fields));
        if let Some(edited) = edited {
            *self = Self::of(edited.as_bytes());
        }
    }

    /// Its bytes as a line of another file.
    pub(super) fn copied(&self) -> Vec<u8> {
        let text = self.raw.trim_ascii_end();
        let mut bytes = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text).to_vec();
        bytes.push(b'\n');
        bytes
    }
}
