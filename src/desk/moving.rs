//! Import and export of lessons in the formats of other memories, and copies of whole memories.

use std::collections::HashMap;
use std::path::Path;

use super::{Archivist, RequestError};
use crate::domain::{Fact, MemoryId, Timestamp};
use crate::exchange::{self, ExportBundle, ExportedFiles, MemoryFormat, OutgoingLesson};
use crate::memory::jsonl::{JsonlMemory, JsonlSettings};
use crate::memory::{BankTenancy, EpisodeFilter, FactFilter, LessonStateFilter};
use crate::service::{ImportReport, LessonImporter, MemoryCopyReport, compare_memories, copy_memory};

#[cfg(test)]
#[path = "moving_tests.rs"]
mod tests;

/// The kind of bank in a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankKind {
    /// The project's own bank.
    Project,
    /// The bank of global lessons.
    Global,
}

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

impl Archivist {
    /// Imports the lessons at a path.
    pub async fn import_lessons(
        &self,
        path: &Path,
        moving: ImportOptions,
        now: Timestamp,
    ) -> Result<ImportReport, RequestError> {
        let format = match moving.format {
            Some(format) => format,
            None => exchange::detect_format(path)
                .ok_or_else(|| exchange::ImportReadError::Unknown { path: path.to_owned() })
                .map_err(convert_unreadable_error)?,
        };
        let parcel = exchange::read_memory(format, path, now).map_err(convert_unreadable_error)?;
        let habits = self.config().reflection_settings();
        let import = LessonImporter {
            memory: &*self.memory,
            project: self.project(),
            thresholds: habits.thresholds,
            lifecycle: habits.lifecycle,
            neighbours: habits.neighbours,
            is_vouched_for: moving.is_vouched_for,
            is_rehearsal: moving.is_rehearsal,
        };
        Ok(import.import_parcel(format, parcel, now).await?)
    }

    /// Exports everything of this project in a format.
    pub async fn export_lessons(&self, format: MemoryFormat) -> Result<ExportedFiles, RequestError> {
        let mut shelf =
            ExportBundle { lessons: Vec::new(), episodes: self.memory.list_episodes(&EpisodeFilter::default()).await? };
        shelf.episodes.retain(|episode| self.owns_episode(&episode.project_root, episode.repo_id.as_deref()));
        let mut facts: HashMap<MemoryId, Vec<Fact>> = HashMap::new();
        for fact in self.memory.list_facts(&FactFilter::default()).await? {
            facts.entry(fact.memory_id().clone()).or_default().push(fact);
        }
        for lesson in self.memory.list_lessons(LessonStateFilter::All).await? {
            if !self.sees_lesson(&lesson.memory) {
                continue;
            }
            let id = &lesson.memory.id;
            let versions = match format {
                MemoryFormat::Jsonl if lesson.version > 1 => {
                    self.memory.lesson_history(id).await?.into_iter().map(|revision| revision.memory).collect()
                }
                _ => vec![lesson.memory.clone()],
            };
            let facts = facts.remove(id).unwrap_or_default();
            shelf.lessons.push(OutgoingLesson { lesson, versions, facts });
        }
        exchange::write_memory(format, &shelf).map_err(|error| {
            RequestError::impossible_request(error.to_string(), "give another --format, such as jsonl")
        })
    }
}

impl Archivist {
    /// Copies all records of a memory in files into this one, unchanged.
    pub async fn copy_from_directory(
        &self,
        directory: &Path,
        which: BankKind,
        now: Timestamp,
    ) -> Result<MemoryCopyReport, RequestError> {
        if !directory.is_dir() {
            let message = format!("{} is no directory", directory.display());
            return Err(RequestError::impossible_request(
                message,
                "name the directory of a memory, such as .openagents/memory",
            ));
        }
        Ok(copy_memory(&self.open_directory_memory(directory, which), &*self.open_single_bank(which), now).await?)
    }

    /// Copies all records of this memory into one in files, unchanged.
    pub async fn copy_to_directory(
        &self,
        directory: &Path,
        which: BankKind,
        now: Timestamp,
    ) -> Result<MemoryCopyReport, RequestError> {
        Ok(copy_memory(&*self.open_single_bank(which), &self.open_directory_memory(directory, which), now).await?)
    }

    /// Describes the differences between this memory and one in files.
    pub async fn compare_with_directory(&self, directory: &Path, which: BankKind) -> Result<Vec<String>, RequestError> {
        Ok(compare_memories(&*self.open_single_bank(which), &self.open_directory_memory(directory, which)).await?)
    }

    /// Opens the memory in files in this directory.
    fn open_directory_memory(&self, directory: &Path, which: BankKind) -> JsonlMemory {
        let settings = self.config().memory.jsonl_settings(&self.project().root, None);
        let tenancy = BankTenancy::Own;
        JsonlMemory::open(match which {
            BankKind::Project => JsonlSettings { project: directory.to_owned(), global: None, tenancy, ..settings },
            // The files of global lessons have their own names, so no project files are read there.
            BankKind::Global => {
                let nowhere = directory.join("no-project");
                JsonlSettings { project: nowhere, global: Some(directory.to_owned()), tenancy, ..settings }
            }
        })
    }
}

fn convert_unreadable_error(error: exchange::ImportReadError) -> RequestError {
    let hint = error.hint();
    RequestError::impossible_request(error.to_string(), hint)
}
