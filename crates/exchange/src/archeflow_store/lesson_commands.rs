//! The `add`, `list` and `forget` commands, by which users manage lessons themselves.

use super::error::ArcheFlowError;
use super::folder::{ARCHIVE, ArcheFlowFolder, LESSONS, RUNS};
use super::ids::LessonIdSequence;
use super::lesson::ArcheFlowLesson;
use super::lesson_file::{LessonLine, LessonLines};
use super::run_record::ProcessedRuns;
use super::{extract_tags, foreign_lines_message, format_log_line, format_timestamp, to_json_line};
use archivist_core::domain::Timestamp;
use archivist_core::text::{JoinerPolicy, one_line, strip_hidden_text};

#[cfg(test)]
#[path = "lesson_commands_tests.rs"]
mod tests;

/// The kind of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArcheFlowLessonKind {
    /// Something that reviewers find again and again.
    Pattern,
    /// A user's preference, which is injected at once and never decays.
    Preference,
    /// A hint for a single archetype.
    ArchetypeHint,
    /// Something that was tried and failed.
    AntiPattern,
}

impl ArcheFlowLessonKind {
    /// All kinds of lessons.
    pub const ALL: [Self; 4] = [Self::Pattern, Self::Preference, Self::ArchetypeHint, Self::AntiPattern];

    /// Returns the word for it in ArcheFlow's files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Preference => "preference",
            Self::ArchetypeHint => "archetype_hint",
            Self::AntiPattern => "anti_pattern",
        }
    }

    /// Returns the kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A lesson that a user added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLesson {
    /// The id of the lesson.
    pub id: String,
    /// The kind of the lesson.
    pub kind: ArcheFlowLessonKind,
    /// The text of the lesson.
    pub text: String,
}

impl AddedLesson {
    /// Returns the messages to print.
    pub fn message_lines(&self) -> Vec<String> {
        vec![format_log_line(&format!("Added lesson {} ({}): {}", self.id, self.kind.as_str(), one_line(&self.text)))]
    }
}

/// Adds a lesson that a user wrote.
pub fn add_lesson(
    folder: &ArcheFlowFolder,
    kind: ArcheFlowLessonKind,
    text: &str,
    now: Timestamp,
) -> Result<AddedLesson, ArcheFlowError> {
    let writer = folder.lock_for_writing()?;
    writer.check_writable(&[LESSONS])?;
    let lessons = folder.read_lesson_lines(LESSONS)?.unwrap_or_default();
    let archive = folder.read_lesson_lines(ARCHIVE)?.unwrap_or_default();
    let runs = ProcessedRuns::from_bytes(&folder.read_bytes(RUNS)?.unwrap_or_default());
    let taken = lessons.lessons().chain(archive.lessons()).map(|lesson| lesson.id.as_str());
    let id = LessonIdSequence::from_taken(taken.chain(runs.lesson_ids())).next_id();
    let lesson = ArcheFlowLesson {
        id: id.clone(),
        ts: format_timestamp(now),
        run_id: "manual".to_owned(),
        kind: kind.as_str().to_owned(),
        source: "user_feedback".to_owned(),
        description: text.to_owned(),
        frequency: 1,
        severity: "info".to_owned(),
        domain: "general".to_owned(),
        tags: extract_tags(text),
        archetype: Some(None),
        ..ArcheFlowLesson::default()
    };
    writer.append_to_file(LESSONS, &to_json_line(&lesson))?;
    Ok(AddedLesson { id, kind, text: text.to_owned() })
}

/// All lessons as a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LessonTable {
    /// The lines of the table, including its header.
    pub rows: Vec<String>,
    /// The number of lines of the file that are not lessons.
    pub strangers: usize,
}

impl LessonTable {
    /// Returns the messages to print besides the table.
    pub fn message_lines(&self) -> Vec<String> {
        foreign_lines_message(self.strangers).into_iter().collect()
    }
}

/// Lists the lessons; returns `None` if there is no lessons file.
pub fn list_lessons(folder: &ArcheFlowFolder) -> Result<Option<LessonTable>, ArcheFlowError> {
    Ok(folder.read_lesson_lines(LESSONS)?.map(|lines| build_table(&lines)))
}

fn build_table(lines: &LessonLines) -> LessonTable {
    let row = |[id, frequency, kind, domain, text]: [&str; 5]| {
        format!("{id:<8} {frequency:<5} {kind:<16} {domain:<8} {text}")
    };
    let mut rows = vec![
        row(["ID", "Freq", "Type", "Domain", "Description"]),
        row(["----", "----", "----", "------", "-----------"]),
    ];
    rows.extend(lines.lessons().map(|lesson| {
        let [id, kind, domain, text] =
            [&lesson.id, &lesson.kind, &lesson.domain, &lesson.description].map(|text| escape_cell(text));
        row([&id, &lesson.frequency.to_string(), &kind, &domain, &text])
    }));
    LessonTable { rows, strangers: lines.foreign_line_count() }
}

/// Returns the text on one line, with the escapes that jq uses in tables and without hidden characters.
fn escape_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in strip_hidden_text(text, JoinerPolicy::Keep).chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out
}

/// Moves a lesson to the archive, unchanged, and returns the messages to print.
pub fn forget_lesson(folder: &ArcheFlowFolder, id: &str) -> Result<Vec<String>, ArcheFlowError> {
    if !folder.has_file(LESSONS) {
        return Err(ArcheFlowError::NoLessons);
    }
    let writer = folder.lock_for_writing()?;
    writer.check_writable(&[LESSONS, ARCHIVE])?;
    let lessons = folder.read_lesson_lines(LESSONS)?.ok_or(ArcheFlowError::NoLessons)?;
    let is_meant = |line: &LessonLine| line.lesson.as_ref().is_some_and(|lesson| lesson.id == id);
    let (gone, kept): (Vec<LessonLine>, Vec<LessonLine>) = lessons.list.into_iter().partition(is_meant);
    if gone.is_empty() {
        return Err(ArcheFlowError::NotFound(one_line(id)));
    }
    // If an earlier attempt was interrupted here, the lesson is in the archive already.
    let archive = folder.read_lesson_lines(ARCHIVE)?.unwrap_or_default();
    let missing = gone.iter().filter(|line| line.lesson.as_ref().is_none_or(|lesson| !archive.contains_lesson(lesson)));
    let missing: Vec<u8> = missing.flat_map(LessonLine::to_line_bytes).collect();
    if !missing.is_empty() {
        writer.append_to_file(ARCHIVE, &missing)?;
    }
    writer.replace_file(LESSONS, &LessonLines { list: kept }.to_bytes())?;
    Ok(vec![format_log_line(&format!("Forgot lesson {id} (moved to archive)"))])
}
