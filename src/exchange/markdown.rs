//! A document for people: one heading a lesson, what is known of it in a list, the detail as a quotation.
//!
//! Any other document can be read, too: what stands in a list or a paragraph may be a lesson.

use std::path::{Path, PathBuf};

use serde_json::Map;

use super::loss::{Aspect, in_use, losses};
use super::origin::{Origin, name_of, time};
use super::scalar;
use super::{Brought, Format, Parcel, Shelf, Shelved, Unreadable, Written, text_of};
use crate::domain::{AgentMemory, Facet, Facets, Importance, ImportanceScale, Timestamp};
use crate::text::one_line;

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

const FORMAT: Format = Format::Markdown;
const FILE: &str = "lessons.md";
const TITLE: &str = "# Lessons";

const HELD: &[Aspect] = &[
    Aspect::Rule,
    Aspect::Detail,
    Aspect::Category,
    Aspect::Severity,
    Aspect::Importance,
    Aspect::Tags,
    Aspect::Domain,
    Aspect::Circumstances,
];

/// A longer paragraph is a lesson's detail; the lesson itself is its beginning.
const MAX_SUMMARY_CHARACTERS: usize = 240;

/// Shorter pieces are labels.
const MIN_WORDS: usize = 3;

pub(super) fn read(path: &Path, now: Timestamp) -> Result<Parcel, Unreadable> {
    let mut parcel = Parcel::default();
    for file in files(path)? {
        let text = text_of(&file)?;
        let shown = file.strip_prefix(path).unwrap_or(&file).display().to_string();
        let lessons = if text.lines().next() == Some(TITLE) { ours(&text, now) } else { notes(&shown, &text, now) };
        parcel.lessons.extend(lessons);
    }
    Ok(parcel)
}

/// The document, or all those in a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|source| Unreadable::Io { path: path.to_owned(), source })?;
    let is_document = |file: &PathBuf| file.is_file() && file.extension().is_some_and(|ending| ending == "md");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_document).collect();
    files.sort();
    if files.is_empty() {
        return Err(Unreadable::malformed(path, "folder of documents", "there is no .md file in it"));
    }
    Ok(files)
}

/// Lessons as [`write`] writes them.
fn ours(text: &str, now: Timestamp) -> Vec<Brought> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("## "), sections.last_mut()) {
            (Some(heading), _) => sections.push((heading, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    sections.into_iter().filter_map(|(heading, lines)| section(heading, &lines, now)).collect()
}

fn section(heading: &str, lines: &[&str], now: Timestamp) -> Option<Brought> {
    let (name, summary) = heading.split_once(": ")?;
    let summary = one_line(&scalar::read(summary));
    let fields: Vec<(&str, String)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("- ")?.split_once(':'))
        .map(|(key, value)| (key, scalar::read(value)))
        .collect();
    let field = |wanted: &str| fields.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value.clone());
    let at = field("since").and_then(|since| time(&since)).unwrap_or(now);
    let mut memory = Origin::lesson(FORMAT, name, at, &summary, Map::new());
    if let Some(kind) = field("kind").and_then(|word| word.parse().ok()) {
        memory.kind = kind;
    }
    if let Some(category) = field("category").and_then(|word| word.parse().ok()) {
        memory.category = category;
    }
    if let Some(scope) = field("scope").and_then(|word| word.parse().ok()) {
        memory.scope = scope;
    }
    memory.severity = field("severity").and_then(|word| word.parse().ok());
    let share = field("importance").and_then(|text| text.parse().ok());
    if let Some(importance) = share.and_then(|share| Importance::parse(share, ImportanceScale::Undeclared).ok()) {
        memory.importance = importance;
    }
    memory.rule = field("rule");
    memory.tags = fields.iter().filter(|(key, _)| *key == "tag").map(|(_, tag)| tag.clone()).collect();
    for (facet, value) in Facet::ALL.into_iter().filter_map(|facet| Some((facet, field(facet.as_str())?))) {
        set(&mut memory.facets, facet, value);
    }
    let quoted: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("> ").or_else(|| (*line == ">").then_some(""))).collect();
    memory.detail = (!quoted.is_empty()).then(|| quoted.join("\n"));
    Some(Brought { name: name.to_owned(), versions: vec![memory], facts: Vec::new(), used: None })
}

fn set(facets: &mut Facets, facet: Facet, value: String) {
    match facet {
        Facet::Task => facets.task_id = Some(value),
        Facet::Provider => facets.provider = Some(value),
        Facet::Tool => facets.tool = Some(value),
        Facet::Component => facets.component = Some(value),
        Facet::Role => facets.role = Some(value),
        Facet::Domain => facets.domain = Some(value),
        Facet::Phase => facets.phase = Some(value),
        Facet::ErrorFamily => facets.error_family = value.parse().ok(),
    }
}

pub(super) fn write(shelf: &Shelf) -> Written {
    let mut lost = Vec::new();
    let mut kept = in_use(&shelf.lessons, &mut lost);
    lost.extend(losses(&kept, FORMAT, HELD));
    kept.sort_by_key(|shelved| {
        let memory = &shelved.lesson.memory;
        (memory.created_at, name_of(memory, FORMAT))
    });
    let mut text = format!("{TITLE}\n");
    kept.into_iter().for_each(|shelved| write_one(shelved, &mut text));
    Written::one(FILE, text, lost)
}

fn write_one(shelved: &Shelved, text: &mut String) {
    let memory = &shelved.lesson.memory;
    let mut add = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    add("");
    add(&format!("## {}: {}", name_of(memory, FORMAT), scalar::written(&memory.summary)));
    add("");
    let mut field = |key: &str, value: &str| add(&format!("- {key}: {}", scalar::written(value)));
    field("kind", memory.kind.as_str());
    field("category", memory.category.as_str());
    field("scope", memory.scope.as_str());
    field("importance", &memory.importance.value().to_string());
    if let Some(severity) = &memory.severity {
        field("severity", severity.as_str());
    }
    field("since", &memory.created_at.to_rfc3339());
    for facet in memory.facets.given().iter() {
        field(facet.as_str(), memory.facets.get(facet).unwrap_or_default());
    }
    memory.tags.iter().for_each(|tag| field("tag", tag));
    if let Some(rule) = &memory.rule {
        field("rule", rule);
    }
    if let Some(detail) = &memory.detail {
        add("");
        detail
            .split('\n')
            .for_each(|line| add(if line.is_empty() { ">".to_owned() } else { format!("> {line}") }.as_str()));
    }
}

/// What a document says that was not written by us: a lesson for each item of a list and for each paragraph. The headings
/// above it tell what it is about.
pub(super) fn notes(file: &str, text: &str, now: Timestamp) -> Vec<Brought> {
    let mut found = Vec::new();
    for Piece { line, heading, text } in pieces(text) {
        let said = one_line(&text);
        if said.split_whitespace().nth(MIN_WORDS - 1).is_none() {
            continue;
        }
        let name = format!("{file}:{line}");
        let mut memory = note(&said, now);
        memory.situation = Some(one_line(&heading)).filter(|heading| !heading.is_empty());
        if said.chars().count() > MAX_SUMMARY_CHARACTERS {
            memory.summary = beginning(&said);
            memory.detail = Some(text.trim().to_owned());
        }
        found.push(Brought { name, versions: vec![memory], facts: Vec::new(), used: None });
    }
    found
}

/// A lesson known by its words alone: wherever it stands in a document, it is the same.
fn note(said: &str, now: Timestamp) -> AgentMemory {
    let hash: String = blake3::hash(said.as_bytes()).to_hex().chars().take(12).collect();
    Origin::lesson(FORMAT, &format!("md-{hash}"), now, said, Map::new())
}

/// The first sentence, or as much of it as is a summary.
fn beginning(said: &str) -> String {
    let cut: String = said.chars().take(MAX_SUMMARY_CHARACTERS).collect();
    match cut.rfind(". ").or_else(|| cut.rfind(' ')) {
        Some(end) => cut.get(..end).unwrap_or(&cut).trim_end_matches(['.', ',', ';', ':']).to_owned(),
        None => cut,
    }
}

/// An item of a list, or a paragraph.
struct Piece {
    line: usize,
    heading: String,
    text: String,
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut headings: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut fence) = (false, None::<String>);
    let mut lines = (1..).zip(text.lines()).peekable();
    if text.starts_with("---\n") {
        // What stands before a document is about the document.
        lines.next();
        lines.by_ref().find(|(_, line)| *line == "---");
    }
    for (number, line) in lines {
        let bare = line.trim_start();
        if let Some(end) = &fence {
            if bare.starts_with(end.as_str()) {
                fence = None;
            }
            continue;
        }
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fence = Some(bare.chars().take(3).collect());
            is_open = false;
            continue;
        }
        let level = bare.chars().take_while(|c| *c == '#').count();
        if (1..=6).contains(&level) && bare.chars().nth(level) == Some(' ') {
            headings.retain(|(above, _)| *above < level);
            headings.push((level, bare.trim_start_matches('#').trim().to_owned()));
            is_open = false;
        } else if bare.is_empty() || bare.starts_with('|') || bare.starts_with("<!--") || is_rule(bare) {
            is_open = false;
        } else if let Some(item) = item(bare) {
            let heading = joined(&headings);
            pieces.push(Piece { line: number, heading, text: item.to_owned() });
            is_open = true;
        } else if let Some(piece) = pieces.last_mut().filter(|_| is_open) {
            piece.text.push('\n');
            piece.text.push_str(bare);
        } else {
            pieces.push(Piece { line: number, heading: joined(&headings), text: bare.to_owned() });
            is_open = true;
        }
    }
    pieces
}

fn joined(headings: &[(usize, String)]) -> String {
    headings.iter().map(|(_, heading)| heading.as_str()).collect::<Vec<_>>().join(" / ")
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3
        && ["---", "***", "___"].iter().any(|mark| line.replace(' ', "").starts_with(mark))
        && item(line).is_none()
}

/// The words of an item of a list.
fn item(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    let boxes = ["[ ] ", "[x] ", "[X] "];
    let bullet = bullet.map(|item| boxes.iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item));
    bullet.or_else(|| {
        let digits = line.chars().take_while(char::is_ascii_digit).count();
        let rest = line.get(digits..).filter(|_| (1..=3).contains(&digits))?;
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    })
}
