//! `add`, `list` and `forget`: lessons by hand.

use super::folder::{ARCHIVE, Folder, LESSONS, RUNS};
use super::ids::Ids;
use super::lesson::ArcheLesson;
use super::lines::{Line, Lines};
use super::sidecar::Runs;
use super::trouble::Trouble;
use super::{json_line, log_line, stamp, strangers_line, tags_of};
use crate::domain::Timestamp;
use crate::text::one_line;

#[cfg(test)]
#[path = "manage_tests.rs"]
mod tests;

/// What sort of lesson it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What reviewers find again and again.
    Pattern,
    /// How somebody wants things done. It is given at once and does not grow old.
    Preference,
    /// What one archetype should know.
    ArchetypeHint,
    /// What was tried and failed.
    AntiPattern,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pattern, Self::Preference, Self::ArchetypeHint, Self::AntiPattern];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pattern => "pattern",
            Self::Preference => "preference",
            Self::ArchetypeHint => "archetype_hint",
            Self::AntiPattern => "anti_pattern",
        }
    }

    /// The one with this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A lesson that was written by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its id.
    pub id: String,
    /// What sort it is.
    pub kind: Kind,
    /// What it says.
    pub text: String,
}

impl Added {
    /// What there is to say.
    pub fn talk(&self) -> Vec<String> {
        vec![log_line(&format!("Added lesson {} ({}): {}", self.id, self.kind.as_str(), one_line(&self.text)))]
    }
}

/// Writes a lesson by hand.
pub fn add(folder: &Folder, kind: Kind, text: &str, now: Timestamp) -> Result<Added, Trouble> {
    let writer = folder.lock()?;
    writer.may_write(&[LESSONS])?;
    let lessons = folder.lines(LESSONS)?.unwrap_or_default();
    let archive = folder.lines(ARCHIVE)?.unwrap_or_default();
    let runs = Runs::of(&folder.read(RUNS)?.unwrap_or_default());
    let taken = lessons.lessons().chain(archive.lessons()).map(|lesson| lesson.id.as_str());
    let id = Ids::of(taken.chain(runs.lesson_ids())).next();
    let lesson = ArcheLesson {
        id: id.clone(),
        ts: stamp(now),
        run_id: "manual".to_owned(),
        kind: kind.as_str().to_owned(),
        source: "user_feedback".to_owned(),
        description: text.to_owned(),
        frequency: 1,
        severity: "info".to_owned(),
        domain: "general".to_owned(),
        tags: tags_of(text),
        archetype: Some(None),
        ..ArcheLesson::default()
    };
    writer.append(LESSONS, &json_line(&lesson))?;
    Ok(Added { id, kind, text: text.to_owned() })
}

/// All lessons, as a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The lines of the table, its head included.
    pub rows: Vec<String>,
    /// How many lines of the file are no lessons.
    pub strangers: usize,
}

impl Listing {
    /// What there is to say besides.
    pub fn talk(&self) -> Vec<String> {
        strangers_line(self.strangers).into_iter().collect()
    }
}

/// Lists the lessons; nothing if nothing was ever learned.
pub fn list(folder: &Folder) -> Result<Option<Listing>, Trouble> {
    Ok(folder.lines(LESSONS)?.map(|lines| table(&lines)))
}

fn table(lines: &Lines) -> Listing {
    let row = |[id, frequency, kind, domain, text]: [&str; 5]| {
        format!("{id:<8} {frequency:<5} {kind:<16} {domain:<8} {text}")
    };
    let mut rows = vec![
        row(["ID", "Freq", "Type", "Domain", "Description"]),
        row(["----", "----", "----", "------", "-----------"]),
    ];
    rows.extend(lines.lessons().map(|lesson| {
        let [id, kind, domain, text] =
            [&lesson.id, &lesson.kind, &lesson.domain, &lesson.description].map(|text| escaped(text));
        row([&id, &lesson.frequency.to_string(), &kind, &domain, &text])
    }));
    Listing { rows, strangers: lines.strangers() }
}

/// The text on one line, with the escapes by which jq writes a table; what else moves a cursor goes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            '\u{2028}' | '\u{2029}' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Moves a lesson to the archive, as it is.
pub fn forget(folder: &Folder, id: &str) -> Result<Vec<String>, Trouble> {
    if !folder.has(LESSONS) {
        return Err(Trouble::NoLessons);
    }
    let writer = folder.lock()?;
    writer.may_write(&[LESSONS, ARCHIVE])?;
    let lessons = folder.lines(LESSONS)?.ok_or(Trouble::NoLessons)?;
    let is_meant = |line: &Line| line.lesson.as_ref().is_some_and(|lesson| lesson.id == id);
    let (gone, kept): (Vec<Line>, Vec<Line>) = lessons.list.into_iter().partition(is_meant);
    if gone.is_empty() {
        return Err(Trouble::NotFound(one_line(id)));
    }
    // Whoever was cut off here before has archived it already.
    let archive = folder.lines(ARCHIVE)?.unwrap_or_default();
    let missing = gone.iter().filter(|line| line.lesson.as_ref().is_none_or(|lesson| !archive.holds(lesson)));
    let missing: Vec<u8> = missing.flat_map(Line::copied).collect();
    if !missing.is_empty() {
        writer.append(ARCHIVE, &missing)?;
    }
    writer.replace(LESSONS, &Lines { list: kept }.bytes())?;
    writer.settle();
    Ok(vec![log_line(&format!("Forgot lesson {id} (moved to archive)"))])
}
