//! Reads and writes a Markdown document for people: one heading per lesson, its fields as a list, the detail as a
//! quotation.
//!
//! Any other document can be read, too: every list item or paragraph may be a lesson.

use std::path::{Path, PathBuf};

use serde_json::Map;

use super::export_loss::{LessonAspect, count_losses, select_exportable};
use super::lesson_origin::{LessonOrigin, export_name, parse_timestamp};
use super::scalar_format;
use super::{
    ExportBundle, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat, OutgoingLesson,
    read_file_text,
};
use archivist_core::domain::{AgentMemory, Facet, FacetValues, Importance, ImportanceScale, StableHash, Timestamp};
use archivist_core::text::{MarkdownLineKind, one_line, read_markdown_lines};

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::Markdown;
const FILE: &str = "lessons.md";
const TITLE: &str = "# Lessons";

const HELD: &[LessonAspect] = &[
    LessonAspect::Rule,
    LessonAspect::Detail,
    LessonAspect::Category,
    LessonAspect::Severity,
    LessonAspect::Importance,
    LessonAspect::Tags,
    LessonAspect::Domain,
    LessonAspect::Circumstances,
];

/// The maximum length of a summary. A longer paragraph becomes the detail, and its beginning the summary.
const MAX_SUMMARY_CHARACTERS: usize = 240;

/// Items with fewer words than this are labels.
const MIN_WORDS: usize = 3;

pub(super) fn read_memory(path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    let mut incoming = ImportBundle::default();
    for file in list_documents(path)? {
        let text = read_file_text(&file)?;
        let shown = file.strip_prefix(path).unwrap_or(&file).display().to_string();
        let lessons = if text.lines().next() == Some(TITLE) {
            parse_own_document(&text, now)
        } else {
            import_notes(&shown, &text, now)
        };
        incoming.lessons.extend(lessons);
    }
    Ok(incoming)
}

/// Returns the document, or all documents in a folder.
fn list_documents(path: &Path) -> Result<Vec<PathBuf>, ImportReadError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(|source| ImportReadError::Io { path: path.to_owned(), source })?;
    let is_document = |file: &PathBuf| file.is_file() && file.extension().is_some_and(|ending| ending == "md");
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_document).collect();
    files.sort();
    if files.is_empty() {
        return Err(ImportReadError::malformed(path, "folder of documents", "there is no .md file in it"));
    }
    Ok(files)
}

/// Parses a document that [`write_memory`] wrote.
fn parse_own_document(text: &str, now: Timestamp) -> Vec<IncomingLesson> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("## "), sections.last_mut()) {
            (Some(heading), _) => sections.push((heading, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    sections.into_iter().filter_map(|(heading, lines)| parse_section(heading, &lines, now)).collect()
}

fn parse_section(heading: &str, lines: &[&str], now: Timestamp) -> Option<IncomingLesson> {
    let (name, summary) = heading.split_once(": ")?;
    let summary = one_line(&scalar_format::parse_scalar(summary));
    let fields: Vec<(&str, String)> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("- ")?.split_once(':'))
        .map(|(key, value)| (key, scalar_format::parse_scalar(value)))
        .collect();
    let field = |wanted: &str| fields.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value.clone());
    let at = field("since").and_then(|since| parse_timestamp(&since)).unwrap_or(now);
    let mut memory = LessonOrigin::new_lesson(FORMAT, name, at, &summary, Map::new());
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
        set_facet(&mut memory.facets, facet, value);
    }
    let quoted: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("> ").or_else(|| (*line == ">").then_some(""))).collect();
    memory.detail = (!quoted.is_empty()).then(|| quoted.join("\n"));
    Some(IncomingLesson { name: name.to_owned(), versions: vec![memory], facts: Vec::new(), used: None })
}

fn set_facet(facets: &mut FacetValues, facet: Facet, value: String) {
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

pub(super) fn write_memory(bundle: &ExportBundle) -> ExportedFiles {
    let mut lost = Vec::new();
    let mut kept = select_exportable(&bundle.lessons, &mut lost);
    lost.extend(count_losses(&kept, FORMAT, HELD));
    kept.sort_by_key(|shelved| {
        let memory = &shelved.lesson.memory;
        (memory.created_at, export_name(memory, FORMAT))
    });
    let mut text = format!("{TITLE}\n");
    kept.into_iter().for_each(|shelved| write_lesson(shelved, &mut text));
    ExportedFiles::single_file(FILE, text, lost)
}

fn write_lesson(shelved: &OutgoingLesson, text: &mut String) {
    let memory = &shelved.lesson.memory;
    let mut add = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    add("");
    add(&format!("## {}: {}", export_name(memory, FORMAT), scalar_format::format_scalar(&memory.summary)));
    add("");
    let mut field = |key: &str, value: &str| add(&format!("- {key}: {}", scalar_format::format_scalar(value)));
    field("kind", memory.kind.as_str());
    field("category", memory.category.as_str());
    field("scope", memory.scope.as_str());
    field("importance", &memory.importance.value().to_string());
    if let Some(severity) = &memory.severity {
        field("severity", severity.as_str());
    }
    field("since", &memory.created_at.to_rfc3339());
    for facet in memory.facets.present_facets().iter() {
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

/// Converts a document that was not exported here: every list item and every paragraph becomes a lesson. The headings
/// above it become its situation.
pub(super) fn import_notes(file: &str, text: &str, now: Timestamp) -> Vec<IncomingLesson> {
    let mut found = Vec::new();
    for MarkdownItem { line, heading, text } in split_items(text) {
        let said = one_line(&text);
        if said.split_whitespace().nth(MIN_WORDS - 1).is_none() {
            continue;
        }
        let name = format!("{file}:{line}");
        let mut memory = build_note(&said, now);
        memory.situation = Some(one_line(&heading)).filter(|heading| !heading.is_empty());
        if said.chars().count() > MAX_SUMMARY_CHARACTERS {
            memory.summary = shorten_summary(&said);
            memory.detail = Some(text.trim().to_owned());
        }
        found.push(IncomingLesson { name, versions: vec![memory], facts: Vec::new(), used: None });
    }
    found
}

/// Builds a lesson whose identity depends on its words alone: it is the same wherever it appears in a document.
fn build_note(said: &str, now: Timestamp) -> AgentMemory {
    let name = format!("md-{}", StableHash::from_text(said).to_digits(12));
    LessonOrigin::new_lesson(FORMAT, &name, now, said, Map::new())
}

/// Returns the sentences that fit into a summary, or else as many words as do.
fn shorten_summary(said: &str) -> String {
    let cut: String = said.chars().take(MAX_SUMMARY_CHARACTERS).collect();
    match cut.rfind(". ").or_else(|| cut.rfind(' ')) {
        Some(end) => cut.get(..end).unwrap_or(&cut).trim_end_matches(['.', ',', ';', ':']).to_owned(),
        None => cut,
    }
}

/// A list item or a paragraph.
struct MarkdownItem {
    line: usize,
    heading: String,
    text: String,
}

fn split_items(text: &str) -> Vec<MarkdownItem> {
    let mut pieces: Vec<MarkdownItem> = Vec::new();
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let mut is_open = false;
    for line in read_markdown_lines(text) {
        let item = match line.kind {
            MarkdownLineKind::Heading { level, title } => {
                headings.retain(|(above, _)| *above < level);
                headings.push((level, title));
                None
            }
            MarkdownLineKind::ListItem(item) => Some(item),
            MarkdownLineKind::Text => match pieces.last_mut().filter(|_| is_open) {
                Some(piece) => {
                    piece.text.push('\n');
                    piece.text.push_str(line.raw.trim_start());
                    continue;
                }
                None => Some(line.raw.trim_start()),
            },
            // Code, tables and comments are no lessons.
            _ => None,
        };
        is_open = item.is_some();
        pieces.extend(item.map(|item| MarkdownItem {
            line: line.number,
            heading: join_headings(&headings),
            text: item.to_owned(),
        }));
    }
    pieces
}

fn join_headings(headings: &[(usize, &str)]) -> String {
    headings.iter().map(|(_, heading)| *heading).collect::<Vec<_>>().join(" / ")
}
