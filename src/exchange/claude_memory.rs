//! Claude Code's own notes: a folder with `MEMORY.md`, the index, and one file a topic.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::loss::{Aspect, in_use, losses};
use super::markdown;
use super::origin::{Origin, name_of, time};
use super::scalar;
use super::{Brought, Format, Parcel, Shelf, Shelved, Unreadable, Written, text_of};
use crate::domain::{AgentMemory, MemoryCategory, MemoryKind, Timestamp};
use crate::text::one_line;

#[cfg(test)]
#[path = "claude_memory_tests.rs"]
mod tests;

const FORMAT: Format = Format::ClaudeMemory;
const INDEX: &str = "MEMORY.md";
const RULE: &str = "**Rule:** ";

const HELD: &[Aspect] = &[Aspect::Rule, Aspect::Detail, Aspect::Category];

/// Longer names do not fit an index.
const MAX_SLUG_CHARACTERS: usize = 48;

pub(super) fn read(path: &Path, now: Timestamp) -> Result<Parcel, Unreadable> {
    let folders = [path.to_owned(), path.join("memory")];
    let folder = folders.iter().find(|folder| folder.join(INDEX).is_file());
    let mut parcel = Parcel::default();
    let Some(folder) = folder else {
        if path.is_file() {
            parcel.lessons = topic(path, &text_of(path)?, now);
            return Ok(parcel);
        }
        return Err(Unreadable::malformed(path, "memory of Claude Code", format!("there is no {INDEX} in it")));
    };
    let entries = std::fs::read_dir(folder).map_err(|source| Unreadable::Io { path: folder.clone(), source })?;
    let is_topic = |file: &PathBuf| {
        file.is_file() && file.extension().is_some_and(|ending| ending == "md") && !file.ends_with(INDEX)
    };
    let mut topics: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_topic).collect();
    topics.sort();
    for file in &topics {
        parcel.lessons.extend(topic(file, &text_of(file)?, now));
    }
    // What the index says itself; most of it only points to topics.
    let index = text_of(&folder.join(INDEX))?;
    let points_to_topic = |line: &str| {
        let target = line.split_once("](").and_then(|(_, rest)| rest.split_once(')')).map(|(target, _)| target);
        target.is_some_and(|target| topics.iter().any(|file| file.ends_with(target.trim_start_matches("./"))))
    };
    let own: Vec<&str> = index.lines().map(|line| if points_to_topic(line) { "" } else { line }).collect();
    parcel.lessons.extend(markdown::notes(INDEX, &own.join("\n"), now));
    Ok(parcel)
}

/// A topic with something before it is one lesson; without it every note in it is one.
fn topic(file: &Path, text: &str, now: Timestamp) -> Vec<Brought> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some((fields, body)) = front(text) else { return markdown::notes(&format!("{stem}.md"), text, now) };
    let field = |wanted: &str| fields.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str());
    let (rule, detail) = match ruled(body) {
        Some((rule, detail)) => (Some(rule), detail),
        None => (None, body.trim_matches('\n')),
    };
    let said = [field("description"), field("name"), rule.as_deref(), detail.lines().next()];
    let Some(summary) = said.into_iter().flatten().map(one_line).find(|text| !text.is_empty()) else {
        return Vec::new();
    };
    let modified = field("created").or(field("date")).and_then(time);
    let rest: Map<String, Value> =
        [("fields".to_owned(), serde_json::to_value(&fields).unwrap_or_default())].into_iter().collect();
    let mut memory = Origin::lesson(FORMAT, &stem, modified.unwrap_or(now), &summary, rest);
    (memory.kind, memory.category) = match field("type") {
        Some("user") => (MemoryKind::Preference, MemoryCategory::Preference),
        Some("project") => (MemoryKind::Fact, MemoryCategory::Heuristic),
        Some("reference") => (MemoryKind::Note, MemoryCategory::Heuristic),
        _ => (MemoryKind::Lesson, MemoryCategory::Heuristic),
    };
    memory.rule = rule.filter(|rule| !rule.is_empty());
    memory.detail = Some(detail.trim_end().to_owned()).filter(|detail| !detail.trim().is_empty());
    vec![Brought { name: stem, versions: vec![memory], facts: Vec::new(), used: None }]
}

/// The rule that a document begins with, and what follows it, if they stand there as we write them. Other words that begin
/// so are words.
fn ruled(body: &str) -> Option<(String, &str)> {
    let rest = body.strip_prefix(RULE)?;
    let (line, detail) = rest.split_once('\n').unwrap_or((rest, ""));
    let rule = scalar::read(line);
    let is_ours = scalar::written(&rule) == line && (detail.is_empty() || detail.starts_with('\n'));
    is_ours.then(|| (rule, detail.trim_matches('\n')))
}

/// The fields that stand before a document, and the document.
fn front(text: &str) -> Option<(Vec<(String, String)>, &str)> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let (head, body) = rest.split_once("\n---")?;
    let body = body.split_once('\n').map_or("", |(_, body)| body);
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in head.lines() {
        let is_deeper = line.starts_with([' ', '\t']);
        match (line.split_once(':'), fields.last_mut()) {
            (Some((key, value)), _) if !is_deeper => fields.push((key.trim().to_owned(), scalar::read(value))),
            // A value that goes on, or fields of fields, which go along as they are.
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

pub(super) fn write(shelf: &Shelf) -> Written {
    let mut lost = Vec::new();
    let kept = in_use(&shelf.lessons, &mut lost);
    lost.extend(losses(&kept, FORMAT, HELD));
    let mut topics: Vec<(String, &Shelved)> =
        kept.into_iter().map(|shelved| (stem(&shelved.lesson.memory), shelved)).collect();
    topics.sort_by(|a, b| a.0.cmp(&b.0));
    let mut index = String::from("# Memory\n\n");
    let mut files = Vec::new();
    for (stem, shelved) in topics {
        let memory = &shelved.lesson.memory;
        index.push_str(&format!("- [{stem}]({stem}.md) — {}\n", memory.summary));
        files.push((PathBuf::from(format!("{stem}.md")), document(&stem, memory).into_bytes()));
    }
    files.insert(0, (PathBuf::from(INDEX), index.into_bytes()));
    Written { files, lost }
}

fn document(stem: &str, memory: &AgentMemory) -> String {
    let origin = Origin::of_format(memory, FORMAT);
    let known = origin.and_then(|mut origin| serde_json::from_value(origin.rest.remove("fields")?).ok());
    let mut fields: Vec<(String, String)> = known.unwrap_or_else(|| fresh(stem, memory));
    if let Some((_, said)) = fields.iter_mut().find(|(key, _)| key == "description")
        && one_line(said) != memory.summary
    {
        said.clone_from(&memory.summary);
    }
    let mut text = String::from("---\n");
    for (key, value) in fields {
        text.push_str(&format!("{key}: {}\n", scalar::written(&value)));
    }
    text.push_str("---\n\n");
    if let Some(rule) = &memory.rule {
        text.push_str(&format!("{RULE}{}\n", scalar::written(rule)));
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

fn fresh(stem: &str, memory: &AgentMemory) -> Vec<(String, String)> {
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

/// The name of a lesson's file: as it was, or made of its first words and its short name.
fn stem(memory: &AgentMemory) -> String {
    let name = name_of(memory, FORMAT);
    if Origin::of_format(memory, FORMAT).is_some() {
        // A file of that name was read once; but a name is not to be trusted with a path.
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
