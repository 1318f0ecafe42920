//! Moving in and out: lessons of other memories taken in, our own handed out in their shapes.

use std::collections::HashMap;
use std::path::Path;

use super::{Desk, Refusal};
use crate::domain::{Fact, MemoryId, Timestamp};
use crate::exchange::{self, Format, Shelf, Shelved, Written};
use crate::memory::jsonl::{JsonlMemory, JsonlSettings};
use crate::memory::{EpisodeFilter, FactFilter, Tenancy, Which};
use crate::service::{Copied, Import, Imported, copy, differences};

#[cfg(test)]
#[path = "moving_tests.rs"]
mod tests;

/// Which bank of a memory is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bank {
    /// The project's.
    Project,
    /// That of the lessons that hold everywhere.
    Global,
}

/// How lessons are taken in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moving {
    /// In which format; told by what is there if not given.
    pub format: Option<Format>,
    /// Whether nothing is written.
    pub is_rehearsal: bool,
    /// Whether a person stands behind all of them.
    pub is_vouched_for: bool,
}

impl Desk {
    /// Takes in what lies at a path.
    pub async fn import(&self, path: &Path, moving: Moving, now: Timestamp) -> Result<Imported, Refusal> {
        let format = match moving.format {
            Some(format) => format,
            None => exchange::detect(path)
                .ok_or_else(|| exchange::Unreadable::Unknown { path: path.to_owned() })
                .map_err(unreadable)?,
        };
        let parcel = exchange::read(format, path, now).map_err(unreadable)?;
        let habits = self.config().habits();
        let import = Import {
            memory: &*self.memory,
            project: self.project(),
            thresholds: habits.thresholds,
            lifecycle: habits.lifecycle,
            neighbours: habits.neighbours,
            is_vouched_for: moving.is_vouched_for,
            is_rehearsal: moving.is_rehearsal,
        };
        Ok(import.take_in(format, parcel, now).await?)
    }

    /// Everything that is this project's, in a format.
    pub async fn export(&self, format: Format) -> Result<Written, Refusal> {
        let mut shelf = Shelf { lessons: Vec::new(), episodes: self.memory.episodes(&EpisodeFilter::default()).await? };
        shelf.episodes.retain(|episode| self.owns(&episode.project_root, episode.repo_id.as_deref()));
        let mut facts: HashMap<MemoryId, Vec<Fact>> = HashMap::new();
        for fact in self.memory.facts(&FactFilter::default()).await? {
            facts.entry(fact.memory().clone()).or_default().push(fact);
        }
        for lesson in self.memory.lessons(Which::All).await? {
            if !self.sees(&lesson.memory) {
                continue;
            }
            let id = &lesson.memory.id;
            let versions = match format {
                Format::Jsonl if lesson.version > 1 => {
                    self.memory.history(id).await?.into_iter().map(|revision| revision.memory).collect()
                }
                _ => vec![lesson.memory.clone()],
            };
            let facts = facts.remove(id).unwrap_or_default();
            shelf.lessons.push(Shelved { lesson, versions, facts });
        }
        exchange::write(format, &shelf)
            .map_err(|error| Refusal::impossible(error.to_string(), "give another --format, such as jsonl"))
    }
}

impl Desk {
    /// Copies the records of a memory in files into this one, all of them as they are.
    pub async fn take_over(&self, directory: &Path, which: Bank, now: Timestamp) -> Result<Copied, Refusal> {
        if !directory.is_dir() {
            let message = format!("{} is no directory", directory.display());
            return Err(Refusal::impossible(message, "name the directory of a memory, such as .openagents/memory"));
        }
        Ok(copy(&self.files_at(directory, which), &*self.bank_alone(which), now).await?)
    }

    /// Copies the records of this memory into one in files, all of them as they are.
    pub async fn hand_over(&self, directory: &Path, which: Bank, now: Timestamp) -> Result<Copied, Refusal> {
        Ok(copy(&*self.bank_alone(which), &self.files_at(directory, which), now).await?)
    }

    /// In what this memory differs from one in files.
    pub async fn differences(&self, directory: &Path, which: Bank) -> Result<Vec<String>, Refusal> {
        Ok(differences(&*self.bank_alone(which), &self.files_at(directory, which)).await?)
    }

    /// A memory in files in this directory.
    fn files_at(&self, directory: &Path, which: Bank) -> JsonlMemory {
        let settings = self.config().memory.jsonl(&self.project().root, None);
        let tenancy = Tenancy::Own;
        JsonlMemory::open(match which {
            Bank::Project => JsonlSettings { project: directory.to_owned(), global: None, tenancy, ..settings },
            // The files of lessons that hold everywhere have names of their own, so that nothing else is met there.
            Bank::Global => {
                let nowhere = directory.join("no-project");
                JsonlSettings { project: nowhere, global: Some(directory.to_owned()), tenancy, ..settings }
            }
        })
    }
}

fn unreadable(error: exchange::Unreadable) -> Refusal {
    let hint = error.hint();
    Refusal::impossible(error.to_string(), hint)
}
