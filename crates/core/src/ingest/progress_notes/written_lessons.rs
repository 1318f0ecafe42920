//! Finds and removes the lessons that Archivist itself wrote into the notes; they are not the words of a session.
//!
//! A section is on separate lines between two markers. The markers contain the tags that also mark lessons in a log,
//! so that Archivist does not learn its own lessons from an agent that quotes the notes.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(test)]
#[path = "written_lessons_tests.rs"]
mod tests;

const OPENING: (&str, &str) = ("<!-- <archivist-lessons session=\"", "\"> -->");
const CLOSING: &str = "<!-- </archivist-lessons> -->";

/// The section with one session's lessons in the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonSection {
    /// The id of the session.
    pub session: String,
    /// The byte range from the start of its first marker to the end of its second, without that line's ending.
    pub span: Range<usize>,
    /// The line ending that the section uses.
    pub line_end: &'static str,
}

impl LessonSection {
    /// Returns the sections of the notes in their order. A marker without its counterpart is ordinary text.
    pub fn find_all(notes: &str) -> Vec<Self> {
        let mut sections = Vec::new();
        let mut open: Vec<(&str, usize, &'static str)> = Vec::new();
        let mut at = notes.len() - strip_byte_order_mark(notes).len();
        for line in strip_byte_order_mark(notes).split_inclusive('\n') {
            let (words, line_end) = split_line_end(line);
            if let Some(session) = words.strip_prefix(OPENING.0).and_then(|rest| rest.strip_suffix(OPENING.1)) {
                open.push((session, at, line_end));
            } else if words == CLOSING
                && let Some((session, start, line_end)) = open.pop()
            {
                sections.push(Self { session: session.to_owned(), span: start..at + words.len(), line_end });
            }
            at += line.len();
        }
        sections.sort_by_key(|section| section.span.start);
        sections
    }

    /// Renders a section as it is written in the notes, without the ending of its last line.
    pub fn render_section(session: &str, lines: &[String], line_end: &str) -> String {
        let first = format!("{}{session}{}", OPENING.0, OPENING.1);
        let within = lines.iter().map(String::as_str);
        std::iter::once(first.as_str()).chain(within).chain([CLOSING]).collect::<Vec<_>>().join(line_end)
    }

    /// Returns the notes as they were before these sections, which must be in order, were added.
    pub fn remove_sections(sections: &[Self], notes: &str) -> String {
        let mut kept = String::with_capacity(notes.len());
        let mut at = 0;
        for section in sections {
            // A section within another one is removed with it.
            let Some(before) = notes.get(at..section.span.start) else { continue };
            kept.push_str(before);
            let behind = notes.get(section.span.end..).unwrap_or_default();
            let rest = behind.strip_prefix('\n').or_else(|| behind.strip_prefix("\r\n"));
            if rest.is_none() && kept.ends_with(section.line_end) {
                // If the notes had no final line ending, one was added before the section.
                kept.truncate(kept.len() - section.line_end.len());
            }
            at = notes.len() - rest.unwrap_or(behind).len();
        }
        kept.push_str(notes.get(at..).unwrap_or_default());
        kept
    }
}

/// Returns the notes as the sessions wrote them, without any lessons that were added.
pub fn strip_lesson_sections(notes: &str) -> Cow<'_, str> {
    match LessonSection::find_all(notes) {
        none if none.is_empty() => Cow::Borrowed(notes),
        sections => Cow::Owned(LessonSection::remove_sections(&sections, notes)),
    }
}

/// Returns the notes without their byte order mark.
fn strip_byte_order_mark(notes: &str) -> &str {
    notes.strip_prefix('\u{feff}').unwrap_or(notes)
}

/// Splits a line into its text and its line ending. A last line without an ending is given `\n`.
fn split_line_end(line: &str) -> (&str, &'static str) {
    let words = line.strip_suffix('\n').unwrap_or(line);
    words.strip_suffix('\r').map_or((words, "\n"), |words| (words, "\r\n"))
}
