//! Writes the lessons of a session into the progress notes for the next session.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::project_context::{MAX_BYTES, PROGRESS_NOTES};
use crate::domain::{AgentMemory, SessionId};
use crate::files::FileReplacement;
use crate::ingest::LessonSection;
use crate::text::one_line;

#[cfg(test)]
#[path = "progress_writer_tests.rs"]
mod tests;

/// The number of attempts to write while no other process does.
const ATTEMPTS: u32 = 3;

/// Returns the notes with one section that holds the lessons of this session, and everything else unchanged.
///
/// An existing section is replaced. Without lessons it is removed.
pub(super) fn replace_lesson_section(notes: &str, session: &SessionId, lessons: &[AgentMemory]) -> String {
    let mut own = LessonSection::find_all(notes);
    own.retain(|section| section.session == session.as_str());
    let Some((first, others)) = own.split_first() else {
        return if lessons.is_empty() { notes.to_owned() } else { append_section(notes, session, lessons) };
    };
    if lessons.is_empty() {
        return LessonSection::remove_sections(&own, notes);
    }
    let others: Vec<_> = others.iter().filter(|other| other.span.start >= first.span.end).cloned().collect();
    let mut rewritten = LessonSection::remove_sections(&others, notes);
    rewritten.replace_range(first.span.clone(), &render_section(session, lessons, first.line_end));
    rewritten
}

/// Writes the lessons of this session into `.openagents/progress.md`, if the file exists.
///
/// The file is replaced atomically. Nothing is written if nothing changes.
pub(super) fn write_lessons(root: &Path, session: &SessionId, lessons: &[AgentMemory]) -> io::Result<()> {
    let path = root.join(PROGRESS_NOTES);
    for _ in 0..ATTEMPTS {
        let Some(notes) = read_notes(&path)? else { return Ok(()) };
        let rewritten = replace_lesson_section(&notes, session, lessons);
        if rewritten == notes {
            return Ok(());
        }
        let permissions = fs::metadata(&path)?.permissions();
        let draft = FileReplacement::new(&path).with_permissions(permissions).prepare(rewritten.as_bytes())?;
        // If an agent wrote in the meantime, its notes are newer than what was read.
        if read_notes(&path)?.as_deref() == Some(notes.as_str()) {
            return draft.put_in_place();
        }
    }
    Err(io::Error::new(ErrorKind::ResourceBusy, format!("{} changes all the time", path.display())))
}

fn append_section(notes: &str, session: &SessionId, lessons: &[AgentMemory]) -> String {
    let first_line = notes.split_inclusive('\n').next().unwrap_or_default();
    // All sections use the same line ending, so that they can be removed in any order.
    let line_end = match LessonSection::find_all(notes).last() {
        Some(section) => section.line_end,
        None if first_line.ends_with("\r\n") => "\r\n",
        None => "\n",
    };
    let section = render_section(session, lessons, line_end);
    // Notes without a final line break keep it that way after the section.
    let ends_its_lines = notes.ends_with('\n') || matches!(notes, "" | "\u{feff}");
    if ends_its_lines { format!("{notes}{section}{line_end}") } else { format!("{notes}{line_end}{section}") }
}

fn render_section(session: &SessionId, lessons: &[AgentMemory], line_end: &str) -> String {
    let mut lines = vec![String::new(), "## Lessons learned".to_owned(), String::new()];
    lines.extend(lessons.iter().map(render_line));
    lines.push(String::new());
    LessonSection::render_section(session.as_str(), &lines, line_end)
}

/// Renders one lesson on one line.
fn render_line(lesson: &AgentMemory) -> String {
    let rule = lesson.rule.as_deref().map(sanitize_line).filter(|rule| !rule.is_empty());
    let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
    format!("- {}{rule}", sanitize_line(&lesson.summary))
}

/// Returns a text without line breaks, and without anything that hides what follows or looks like a section mark.
fn sanitize_line(text: &str) -> String {
    let line = one_line(text);
    let mut pieces = line.split('<');
    let mut harmless = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let tag = piece.strip_prefix('/').unwrap_or(piece);
        let is_mark = ["!--", "archivist-lessons"].iter().any(|mark| starts_with_ignore_case(tag, mark));
        harmless.push_str(if is_mark { "&lt;" } else { "<" });
        harmless.push_str(piece);
    }
    harmless
}

fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Reads the notes, if there are any. Symbolic links are refused: they may lead out of the project.
fn read_notes(path: &Path) -> io::Result<Option<String>> {
    for step in path.parent().into_iter().chain([path]) {
        let found = match step.symlink_metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let refuse = |why: &str| io::Error::new(ErrorKind::InvalidInput, format!("{} {why}", step.display()));
        match found.file_type() {
            kind if kind.is_symlink() => {
                return Err(refuse("is a symbolic link; Archivist does not write through links"));
            }
            kind if step == path && !kind.is_file() => return Err(refuse("is not a file")),
            _ if step == path && found.len() > MAX_BYTES => return Err(refuse("is too long for notes")),
            _ => {}
        }
    }
    fs::read_to_string(path).map(Some)
}
