//! Erasing lessons from the sections that Archivist wrote into the progress notes. The rest of the notes is the agents'.

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::files::{FileReplacement, is_link};
use crate::ingest::LessonSection;

/// Passes each section and each of its lessons, with the session that it is about, and replaces the notes without those
/// that go. A section without a lesson goes, too. Returns the number of what went; a section is passed as an empty line.
pub(super) fn erase_section_lines(path: &Path, mut goes: impl FnMut(&str, &str) -> bool) -> io::Result<usize> {
    let Some(notes) = read_notes(path)? else { return Ok(0) };
    let mut erased = 0;
    let mut gone = Vec::new();
    let mut lines: Vec<Range<usize>> = Vec::new();
    for section in LessonSection::find_all(&notes) {
        let is_gone = goes(&section.session, "");
        let mut left = 0;
        let mut own = Vec::new();
        let mut at = section.span.start;
        for line in notes.get(section.span.clone()).unwrap_or_default().split_inclusive('\n') {
            let span = at..at + line.len();
            at = span.end;
            // The marks and the title of a section hold nothing else.
            if line.trim_start().starts_with("- ") {
                if goes(&section.session, line) { own.push(span) } else { left += 1 }
            }
        }
        erased += own.len() + usize::from(is_gone);
        if is_gone || (left == 0 && !own.is_empty()) { gone.push(section) } else { lines.append(&mut own) }
    }
    if erased > 0 {
        // Lines go first, from the last one on, so that nothing before them moves; sections are then found anew.
        let mut kept = notes;
        let names: Vec<String> = gone.into_iter().map(|section| section.session).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.start));
        lines.into_iter().for_each(|line| kept.replace_range(line, ""));
        let mut sections = LessonSection::find_all(&kept);
        sections.retain(|section| names.contains(&section.session));
        let permissions = std::fs::metadata(path)?.permissions();
        let kept = LessonSection::remove_sections(&sections, &kept);
        FileReplacement::new(path).with_permissions(permissions).write(kept.as_bytes())?;
    }
    Ok(erased)
}

/// Reads the notes, if there are any. Links are not followed.
fn read_notes(path: &Path) -> io::Result<Option<String>> {
    if is_link(path) || path.parent().is_some_and(is_link) {
        return Ok(None);
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
