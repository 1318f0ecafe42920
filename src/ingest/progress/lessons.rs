//! The lessons that Archivist itself wrote into the notes: they were given, no session said them.
//!
//! A section stands on lines of its own between two marks. The marks hold the tags by which lessons are also known in
//! a log, so that an agent that reads the notes aloud does not teach Archivist its own words.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(test)]
#[path = "lessons_tests.rs"]
mod tests;

const OPENING: (&str, &str) = ("<!-- <archivist-lessons session=\"", "\"> -->");
const CLOSING: &str = "<!-- </archivist-lessons> -->";

/// One session's lessons in the notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonSection {
    /// Whose.
    pub session: String,
    /// Where: from the first byte of its first mark to the last of its second, without the end of that line.
    pub span: Range<usize>,
    /// How its lines end.
    pub line_end: &'static str,
}

impl LessonSection {
    /// The sections of the notes, in their order. A mark without its counterpart is a text like any other.
    pub fn all(notes: &str) -> Vec<Self> {
        let mut sections = Vec::new();
        let mut open: Vec<(&str, usize, &'static str)> = Vec::new();
        let mut at = notes.len() - without_mark(notes).len();
        for line in without_mark(notes).split_inclusive('\n') {
            let (words, line_end) = split_end(line);
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

    /// A section as it stands in the notes, without the end of its last line.
    pub fn written(session: &str, lines: &[String], line_end: &str) -> String {
        let first = format!("{}{session}{}", OPENING.0, OPENING.1);
        let within = lines.iter().map(String::as_str);
        std::iter::once(first.as_str()).chain(within).chain([CLOSING]).collect::<Vec<_>>().join(line_end)
    }

    /// The notes without these sections, which are in their order: what they were before these were written.
    pub fn removed(sections: &[Self], notes: &str) -> String {
        let mut kept = String::with_capacity(notes.len());
        let mut at = 0;
        for section in sections {
            // What stands within another is gone with it.
            let Some(before) = notes.get(at..section.span.start) else { continue };
            kept.push_str(before);
            let behind = notes.get(section.span.end..).unwrap_or_default();
            let rest = behind.strip_prefix('\n').or_else(|| behind.strip_prefix("\r\n"));
            if rest.is_none() && kept.ends_with(section.line_end) {
                // Notes without an end of their last line got one before the section.
                kept.truncate(kept.len() - section.line_end.len());
            }
            at = notes.len() - rest.unwrap_or(behind).len();
        }
        kept.push_str(notes.get(at..).unwrap_or_default());
        kept
    }
}

/// The notes as the sessions left them, without any lessons that were given to them.
pub fn without_lessons(notes: &str) -> Cow<'_, str> {
    match LessonSection::all(notes) {
        none if none.is_empty() => Cow::Borrowed(notes),
        sections => Cow::Owned(LessonSection::removed(&sections, notes)),
    }
}

/// The notes behind their byte order mark.
fn without_mark(notes: &str) -> &str {
    notes.strip_prefix('\u{feff}').unwrap_or(notes)
}

/// A line and how it ends. The last one may not end yet, and what is put behind it may end it.
fn split_end(line: &str) -> (&str, &'static str) {
    let words = line.strip_suffix('\n').unwrap_or(line);
    words.strip_suffix('\r').map_or((words, "\n"), |words| (words, "\r\n"))
}
