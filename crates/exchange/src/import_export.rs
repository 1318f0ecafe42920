//! Import and export of lessons in the formats of other memories.

use std::collections::HashMap;
use std::path::Path;

use archivist_core::context::RecordRedactor;
use archivist_core::domain::{Fact, MemoryId, Timestamp};
use archivist_core::memory::{EpisodeFilter, FactFilter, LessonStateFilter};
use archivist_core::service::{Archivist, RequestError};

use crate::importer::{ImportReport, LessonImporter};
use crate::{
    ExportBundle, ExportedFiles, ImportReadError, MemoryFormat, OutgoingLesson, detect_format, read_memory,
    write_memory,
};

#[cfg(test)]
#[path = "import_export_tests.rs"]
mod tests;

/// Options of an import.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions {
    /// The format; detected from the content if not given.
    pub format: Option<MemoryFormat>,
    /// True if nothing is written.
    pub is_rehearsal: bool,
    /// True if a person vouches for all lessons.
    pub is_vouched_for: bool,
}

/// Imports the lessons at a path.
pub async fn import_lessons(
    archivist: &Archivist,
    path: &Path,
    options: ImportOptions,
    now: Timestamp,
) -> Result<ImportReport, RequestError> {
    let format = match options.format {
        Some(format) => format,
        None => detect_format(path)
            .ok_or_else(|| ImportReadError::Unknown { path: path.to_owned() })
            .map_err(convert_unreadable_error)?,
    };
    let incoming = read_memory(format, path, now).map_err(convert_unreadable_error)?;
    let settings = archivist.config().reflection_settings();
    let import = LessonImporter {
        memory: &*archivist.memory,
        project: archivist.project(),
        thresholds: settings.thresholds,
        lifecycle: settings.lifecycle,
        neighbours: settings.neighbours,
        is_vouched_for: options.is_vouched_for,
        is_rehearsal: options.is_rehearsal,
    };
    Ok(import.import_bundle(format, incoming, now).await?)
}

/// Exports everything of this project in a format.
pub async fn export_lessons(archivist: &Archivist, format: MemoryFormat) -> Result<ExportedFiles, RequestError> {
    let mut bundle = ExportBundle {
        lessons: Vec::new(),
        episodes: archivist.memory.list_episodes(&EpisodeFilter::default()).await?,
    };
    bundle.episodes.retain(|episode| archivist.owns_episode(&episode.project_root, episode.repo_id.as_deref()));
    let mut facts: HashMap<MemoryId, Vec<Fact>> = HashMap::new();
    for fact in archivist.memory.list_facts(&FactFilter::default()).await? {
        facts.entry(fact.memory_id().clone()).or_default().push(fact);
    }
    for lesson in archivist.memory.list_lessons(LessonStateFilter::All).await? {
        if !archivist.sees_lesson(&lesson.memory) {
            continue;
        }
        let id = &lesson.memory.id;
        let versions = match format {
            MemoryFormat::Jsonl if lesson.version > 1 => {
                archivist.memory.lesson_history(id).await?.into_iter().map(|revision| revision.memory).collect()
            }
            _ => vec![lesson.memory.clone()],
        };
        let facts = facts.remove(id).unwrap_or_default();
        bundle.lessons.push(OutgoingLesson { lesson, versions, facts });
    }
    redact_bundle(&mut bundle);
    write_memory(format, &bundle)
        .map_err(|error| RequestError::impossible_request(error.to_string(), "give another --format, such as jsonl"))
}

/// Redacts what an earlier version stored with its secrets. A record that is invalid without them is left out.
fn redact_bundle(bundle: &mut ExportBundle) {
    let redactor = RecordRedactor::new();
    let episodes = std::mem::take(&mut bundle.episodes);
    bundle.episodes = episodes.into_iter().filter_map(|episode| redactor.redact_episode(episode)).collect();
    let redact_lesson = |outgoing: OutgoingLesson| {
        let OutgoingLesson { mut lesson, versions, facts } = outgoing;
        lesson.memory = redactor.redact_lesson(lesson.memory)?;
        let versions = versions.into_iter().filter_map(|version| redactor.redact_lesson(version)).collect();
        let facts = facts.into_iter().filter_map(|fact| redactor.redact_fact(fact)).collect();
        Some(OutgoingLesson { lesson, versions, facts })
    };
    let lessons = std::mem::take(&mut bundle.lessons);
    bundle.lessons = lessons.into_iter().filter_map(redact_lesson).collect();
}

fn convert_unreadable_error(error: ImportReadError) -> RequestError {
    let hint = error.hint();
    RequestError::impossible_request(error.to_string(), hint)
}
