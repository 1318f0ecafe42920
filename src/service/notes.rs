//! What was learned, written into the progress notes for whoever comes next.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::project::{MAX_BYTES, PROGRESS_NOTES};
use crate::domain::{AgentMemory, SessionId};
use crate::ingest::LessonSection;

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;

/// How often it is tried to catch a moment in which nobody else writes.
const ATTEMPTS: u32 = 3;

/// The notes with one section that holds the lessons of this session, and with everything else as it was.
///
/// A section that is there is replaced. Without lessons there is none.
pub(super) fn with_lessons(notes: &str, session: &SessionId, lessons: &[AgentMemory]) -> String {
    let mut own = LessonSection::all(notes);
    own.retain(|section| section.session == session.as_str());
    let Some((first, others)) = own.split_first() else {
        return if lessons.is_empty() { notes.to_owned() } else { appended(notes, session, lessons) };
    };
    if lessons.is_empty() {
        return LessonSection::removed(&own, notes);
    }
    let others: Vec<_> = others.iter().filter(|other| other.span.start >= first.span.end).cloned().collect();
    let mut rewritten = LessonSection::removed(&others, notes);
    rewritten.replace_range(first.span.clone(), &section(session, lessons, first.line_end));
    rewritten
}

/// Brings the lessons of this session into `.openagents/progress.md`, if there is one.
///
/// Whoever reads the notes sees all of the old ones or all of the new. Nothing is written where nothing changes.
pub(super) fn write_lessons(root: &Path, session: &SessionId, lessons: &[AgentMemory]) -> io::Result<()> {
    let path = root.join(PROGRESS_NOTES);
    for _ in 0..ATTEMPTS {
        let Some(notes) = read(&path)? else { return Ok(()) };
        let rewritten = with_lessons(&notes, session, lessons);
        if rewritten == notes {
            return Ok(());
        }
        let file = beside(&path, &rewritten)?;
        // An agent that wrote meanwhile knows more than was read.
        if read(&path)?.as_deref() == Some(notes.as_str()) {
            file.persist(&path)?;
            return Ok(());
        }
    }
    Err(io::Error::new(ErrorKind::ResourceBusy, format!("{} changes all the time", path.display())))
}

fn appended(notes: &str, session: &SessionId, lessons: &[AgentMemory]) -> String {
    let first_line = notes.split_inclusive('\n').next().unwrap_or_default();
    // Sections end their lines alike, so that they can be taken out in any order.
    let line_end = match LessonSection::all(notes).last() {
        Some(section) => section.line_end,
        None if first_line.ends_with("\r\n") => "\r\n",
        None => "\n",
    };
    let section = section(session, lessons, line_end);
    // Notes that do not end their last line do not do so behind the section either.
    let ends_its_lines = notes.ends_with('\n') || matches!(notes, "" | "\u{feff}");
    if ends_its_lines { format!("{notes}{section}{line_end}") } else { format!("{notes}{line_end}{section}") }
}

fn section(session: &SessionId, lessons: &[AgentMemory], line_end: &str) -> String {
    let mut lines = vec![String::new(), "## Lessons learned".to_owned(), String::new()];
    lines.extend(lessons.iter().map(line));
    lines.push(String::new());
    LessonSection::written(session.as_str(), &lines, line_end)
}

/// One lesson in one line.
fn line(lesson: &AgentMemory) -> String {
    let rule = lesson.rule.as_deref().map(harmless).filter(|rule| !rule.is_empty());
    let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
    format!("- {}{rule}", harmless(&lesson.summary))
}

/// A text without line breaks and without anything that hides what follows or reads like a mark.
fn harmless(text: &str) -> String {
    let visible: String = text.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut pieces = line.split('<');
    let mut harmless = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let tag = piece.strip_prefix('/').unwrap_or(piece);
        let is_mark = ["!--", "archivist-lessons"].iter().any(|mark| starts_with(tag, mark));
        harmless.push_str(if is_mark { "&lt;" } else { "<" });
        harmless.push_str(piece);
    }
    harmless
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// What breaks a line, steers a terminal or turns the direction of writing.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The notes, if there are any. A link may lead to a file that is none of the project's.
fn read(path: &Path) -> io::Result<Option<String>> {
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

/// What is to take the place of a file, beside it and with its permissions.
fn beside(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    file.as_file().sync_all()?;
    Ok(file)
}
