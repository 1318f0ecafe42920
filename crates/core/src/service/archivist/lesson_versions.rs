//! The versions of a lesson and the fields that each changed.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Archivist, RequestError};
use crate::domain::AgentMemory;
use crate::memory::{LessonName, LessonRevision, MemoryError};

/// Fields that change with every version and do not concern its content.
const BOOKKEEPING: [&str; 4] = ["updatedAt", "usageCount", "lastUsedAt", "restoredFrom"];

/// A version and what it changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Version")]
pub struct LessonVersion {
    /// The version itself.
    #[serde(flatten)]
    pub revision: LessonRevision,
    /// The fields that differ from the version before; `None` for the first.
    pub changed: Option<Vec<String>>,
}

impl Archivist {
    /// Lists every version of a lesson, the oldest first.
    pub async fn list_versions(&self, name: &LessonName) -> Result<Vec<LessonVersion>, RequestError> {
        let lesson = self.get_lesson(name).await?;
        let mut before: Option<AgentMemory> = None;
        let mut versions = Vec::new();
        for revision in self.memory.lesson_history(&lesson.memory.id).await? {
            let changed = before.map(|before| differing_fields(&before, &revision.memory)).transpose()?;
            before = Some(revision.memory.clone());
            versions.push(LessonVersion { revision, changed });
        }
        Ok(versions)
    }
}

/// Returns the names of the fields that differ, as stored, sorted.
fn differing_fields(before: &AgentMemory, after: &AgentMemory) -> Result<Vec<String>, MemoryError> {
    let value = |memory: &AgentMemory| {
        serde_json::to_value(memory).map_err(|source| MemoryError::Encode { id: memory.id.to_string(), source })
    };
    let (before, after) = (value(before)?, value(after)?);
    let keys = [&before, &after].into_iter().filter_map(|value| value.as_object()).flat_map(|fields| fields.keys());
    let mut differing: Vec<String> = keys
        .filter(|key| before.get(key.as_str()) != after.get(key.as_str()))
        .filter(|key| !BOOKKEEPING.contains(&key.as_str()))
        .cloned()
        .collect();
    differing.sort_unstable();
    differing.dedup();
    Ok(differing)
}
