//! Reads and writes Claude Code's own notes: a folder with the index `MEMORY.md` and one file per topic.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::export_loss::{LessonAspect, count_losses, select_exportable};
use super::lesson_origin::{LessonOrigin, export_name, parse_timestamp};
use super::markdown;
use super::scalar_format;
use super::{
    ExportBundle, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat, OutgoingLesson,
    read_file_text,
};
use archivist_core::domain::{AgentMemory, MemoryCategory, MemoryKind, Timestamp};
use archivist_core::text::{first_link_target, one_line, split_front_matter};

#[cfg(test)]
#[path = "claude_memory_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::ClaudeMemory;
const INDEX: &str = "MEMORY.md";
const RULE: &str = "**Rule:** ";

const HELD: &[LessonAspect] = &[LessonAspect::Rule, LessonAspect::Detail, LessonAspect::Category];

/// The maximum length of the part of a file name that is made of the lesson's words.
const MAX_SLUG_CHARACTERS: usize = 48;

pub(super) fn read_memory(path: &Path, now: Timestamp) -> Result<ImportBundle, ImportReadError> {
    let folders = [path.to_owned(), path.join("memory")];
    let folder = folders.iter().find(|folder| folder.join(INDEX).is_file());
    let mut parcel = ImportBundle::default();
    let Some(folder) = folder else {
        if path.is_file() {
            parcel.lessons = import_topic(path, &read_file_text(path)?, now);
            return Ok(parcel);
        }
        return Err(ImportReadError::malformed(path, "memory of Claude Code", format!("there is no {INDEX} in it")));
    };
    let entries = std::fs::read_dir(folder).map_err(|source| ImportReadError::Io { path: folder.clone(), source })?;
    let is_topic = |file: &PathBuf| {
        file.is_file() && file.extension().is_some_and(|ending| ending == "md") && !file.ends_with(INDEX)
    };
    let mut topics: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_topic).collect();
    topics.sort();
    for file in &topics {
        parcel.lessons.extend(import_topic(file, &read_file_text(file)?, now));
    }
    // The index may contain notes of its own, although most of its lines only point to topics.
    let index = read_file_text(&folder.join(INDEX))?;
    let points_to_topic = |line: &str| {
        first_link_target(line)
            .is_some_and(|target| topics.iter().any(|file| file.ends_with(target.trim_start_matches("./"))))
    };
    let own: Vec<&str> = index.lines().map(|line| if points_to_topic(line) { "" } else { line }).collect();
    parcel.lessons.extend(markdown::import_notes(INDEX, &own.join("\n"), now));
    Ok(parcel)
}

/// Converts a topic. With front matter it is one lesson; without it every note in it is one.
fn import_topic(file: &Path, text: &str, now: Timestamp) -> Vec<IncomingLesson> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some((fields, body)) = parse_front_matter(text) else {
        return markdown::import_notes(&format!("{stem}.md"), text, now);
    };
    let field = |wanted: &str| fields.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str());
    let (rule, detail) = match split_rule(body) {
        Some((rule, detail)) => (Some(rule), detail),
        None => (None, body.trim_matches('\n')),
    };
    let said = [field("description"), field("name"), rule.as_deref(), detail.lines().next()];
    let Some(summary) = said.into_iter().flatten().map(one_line).find(|text| !text.is_empty()) else {
        return Vec::new();
    };
    let modified = field("created").or(field("date")).and_then(parse_timestamp);
    let rest: Map<String, Value> =
        [("fields".to_owned(), serde_json::to_value(&fields).unwrap_or_default())].into_iter().collect();
    let mut memory = LessonOrigin::new_lesson(FORMAT, &stem, modified.unwrap_or(now), &summary, rest);
    (memory.kind, memory.category) = match field("type") {
        Some("user") => (MemoryKind::Preference, MemoryCategory::Preference),
        Some("project") => (MemoryKind::Fact, MemoryCategory::Heuristic),
        Some("reference") => (MemoryKind::Note, MemoryCategory::Heuristic),
        _ => (MemoryKind::Lesson, MemoryCategory::Heuristic),
    };
    memory.rule = rule.filter(|rule| !rule.is_empty());
    memory.detail = Some(detail.trim_end().to_owned()).filter(|detail| !detail.trim().is_empty());
    vec![IncomingLesson { name: stem, versions: vec![memory], facts: Vec::new(), used: None }]
}

/// Returns the rule at the beginning of a document and the text after it, if they are formatted as in an export. Other
/// text that begins the same way is ordinary text.
fn split_rule(body: &str) -> Option<(String, &str)> {
    let rest = body.strip_prefix(RULE)?;
    let (line, detail) = rest.split_once('\n').unwrap_or((rest, ""));
    let rule = scalar_format::parse_scalar(line);
    let is_ours = scalar_format::format_scalar(&rule) == line && (detail.is_empty() || detail.starts_with('\n'));
    is_ours.then(|| (rule, detail.trim_matches('\n')))
}

/// Returns the front matter fields of a document, and the document after them.
fn parse_front_matter(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let (head, body) = split_front_matter(text)?;
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.lines() {
        let is_deeper = line.starts_with([' ', '\t']);
        match (line.split_once(':'), fields.last_mut()) {
            (Some((key, value)), _) if !is_deeper => {
                fields.push((key.trim().to_owned(), scalar_format::parse_scalar(value)));
            }
            // A continued value, or nested fields, which are kept as they are.
            (_, Some((_, value))) if is_deeper => {
                if matches!(value.as_str(), ">" | ">-" | "|" | "|-") {
                    value.clear();
                }
                if !value.is_empty() {
                    value.push('\n');
                }
                value.push_str(line.trim());
            }
            _ => {}
        }
    }
    Some((fields, body.trim_start_matches(['\r', '\n'])))
}

pub(super) fn write_memory(shelf: &ExportBundle) -> ExportedFiles {
    let mut lost = Vec::new();
    let kept = select_exportable(&shelf.lessons, &mut lost);
    lost.extend(count_losses(&kept, FORMAT, HELD));
    let mut topics: Vec<(String, &OutgoingLesson)> =
        kept.into_iter().map(|shelved| (choose_file_stem(&shelved.lesson.memory), shelved)).collect();
    topics.sort_by(|a, b| a.0.cmp(&b.0));
    let mut index = String::from("# Memory\n\n");
    let mut files = Vec::new();
    for (stem, shelved) in topics {
        let memory = &shelved.lesson.memory;
        index.push_str(&format!("- [{stem}]({stem}.md) — {}\n", memory.summary));
        files.push((PathBuf::from(format!("{stem}.md")), render_document(&stem, memory).into_bytes()));
    }
    files.insert(0, (PathBuf::from(INDEX), index.into_bytes()));
    ExportedFiles { files, lost }
}

fn render_document(stem: &str, memory: &AgentMemory) -> String {
    let origin = LessonOrigin::for_format(memory, FORMAT);
    let known = origin.and_then(|mut origin| serde_json::from_value(origin.rest.remove("fields")?).ok());
    let mut fields: Vec<(String, String)> = known.unwrap_or_else(|| build_fields(stem, memory));
    if let Some((_, said)) = fields.iter_mut().find(|(key, _)| key == "description")
        && one_line(said) != memory.summary
    {
        said.clone_from(&memory.summary);
    }
    let mut text = String::from("---\n");
    for (key, value) in fields {
        text.push_str(&format!("{key}: {}\n", scalar_format::format_scalar(&value)));
    }
    text.push_str("---\n\n");
    if let Some(rule) = &memory.rule {
        text.push_str(&format!("{RULE}{}\n", scalar_format::format_scalar(rule)));
    }
    if let Some(detail) = &memory.detail {
        if memory.rule.is_some() {
            text.push('\n');
        }
        text.push_str(detail.trim_matches('\n').trim_end());
        text.push('\n');
    }
    text
}

fn build_fields(stem: &str, memory: &AgentMemory) -> Vec<(String, String)> {
    let kind = match memory.kind {
        MemoryKind::Preference => "user",
        MemoryKind::Fact | MemoryKind::Decision => "project",
        MemoryKind::Note => "reference",
        _ => "feedback",
    };
    let field = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    vec![
        field("name", stem),
        field("description", &memory.summary),
        field("type", kind),
        field("created", &memory.created_at.to_rfc3339()),
    ]
}

/// Returns the file name of a lesson without its extension: the imported one, or the first words and the short name.
fn choose_file_stem(memory: &AgentMemory) -> String {
    let name = export_name(memory, FORMAT);
    if LessonOrigin::for_format(memory, FORMAT).is_some() {
        // A file of that name was imported once, but the name must not be trusted in a path.
        return name.replace(['/', '\\'], "-").trim_start_matches('.').to_owned();
    }
    let plain: String = memory
        .summary
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(MAX_SLUG_CHARACTERS)
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    words.into_iter().chain([name.as_str()]).collect::<Vec<_>>().join("-")
}
