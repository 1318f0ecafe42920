//! Reads and writes a complete export as JSON lines: episodes, lessons with all their versions, then facts about them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    ExportBundle, ExportWriteError, ExportedFiles, ImportBundle, ImportReadError, IncomingLesson, MemoryFormat,
    SkippedRecord, numbered_lines, read_file_text, resolve_file,
};
use archivist_core::domain::{AgentMemory, Alias, Episode, Fact, MemoryId};

#[cfg(test)]
#[path = "jsonl_tests.rs"]
mod tests;

const FORMAT: MemoryFormat = MemoryFormat::Jsonl;
const FILE: &str = "archivist.jsonl";

/// One line of the export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ExportLine {
    Episode(Box<Episode>),
    Lesson(Box<AgentMemory>),
    Fact(Box<Fact>),
}

pub(super) fn read_memory(path: &Path) -> Result<ImportBundle, ImportReadError> {
    let path = resolve_file(path, FILE);
    let text = read_file_text(&path)?;
    let mut incoming = ImportBundle::default();
    let mut places: BTreeMap<MemoryId, usize> = BTreeMap::new();
    let mut facts: Vec<(usize, Fact)> = Vec::new();
    let skip = |incoming: &mut ImportBundle, number: usize, why: String| {
        incoming.skipped.push(SkippedRecord { place: format!("{}:{number}", path.display()), why });
    };
    for (number, line) in numbered_lines(&text) {
        match serde_json::from_str::<ExportLine>(line) {
            Ok(ExportLine::Episode(episode)) => incoming.episodes.push(*episode),
            Ok(ExportLine::Lesson(memory)) => {
                let place = *places.entry(memory.id.clone()).or_insert_with(|| {
                    let name = memory.id.to_string();
                    incoming.lessons.push(IncomingLesson { name, versions: Vec::new(), facts: Vec::new(), used: None });
                    incoming.lessons.len() - 1
                });
                incoming
                    .lessons
                    .get_mut(place)
                    .into_iter()
                    .for_each(|brought| brought.versions.push((*memory).clone()));
            }
            Ok(ExportLine::Fact(fact)) => facts.push((number, *fact)),
            Err(error) => skip(&mut incoming, number, error.to_string()),
        }
    }
    for (number, fact) in facts {
        match places.get(fact.memory_id()).and_then(|place| incoming.lessons.get_mut(*place)) {
            Some(brought) => brought.facts.push(fact),
            None => skip(&mut incoming, number, format!("it speaks of {}, which is not in the file", fact.memory_id())),
        }
    }
    if incoming.lessons.is_empty() && incoming.episodes.is_empty() && !incoming.skipped.is_empty() {
        let why = incoming.skipped.first().map(|skipped| skipped.why.clone()).unwrap_or_default();
        return Err(ImportReadError::malformed(&path, "export of Archivist", why));
    }
    Ok(incoming)
}

pub(super) fn write_memory(bundle: &ExportBundle) -> Result<ExportedFiles, ExportWriteError> {
    let mut text = String::new();
    let mut add = |line: &ExportLine| -> Result<(), ExportWriteError> {
        text.push_str(&serde_json::to_string(line).map_err(|error| ExportWriteError::new(FORMAT, error))?);
        text.push('\n');
        Ok(())
    };
    let mut episodes: Vec<&Episode> = bundle.episodes.iter().collect();
    episodes.sort_by(|a, b| a.finished_at.cmp(&b.finished_at).then_with(|| a.id.cmp(&b.id)));
    for episode in episodes {
        add(&ExportLine::Episode(Box::new(episode.clone())))?;
    }
    let mut lessons: Vec<_> = bundle.lessons.iter().collect();
    // Short names are assigned in order, so that an import assigns the same ones.
    lessons.sort_by_key(|one| {
        let memory = &one.lesson.memory;
        (memory.alias.as_ref().map(Alias::number), memory.id.clone())
    });
    for shelved in &lessons {
        for version in &shelved.versions {
            add(&ExportLine::Lesson(Box::new(version.clone())))?;
        }
    }
    for shelved in &lessons {
        let mut facts: Vec<&Fact> = shelved.facts.iter().collect();
        facts.sort_by(|a, b| a.happened_at().cmp(&b.happened_at()).then_with(|| a.key().cmp(&b.key())));
        for fact in facts {
            add(&ExportLine::Fact(Box::new(fact.clone())))?;
        }
    }
    Ok(ExportedFiles::single_file(FILE, text, Vec::new()))
}
