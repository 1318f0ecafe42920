//! How close the lessons of a memory are to a question in meaning.

use std::collections::BTreeMap;

use crate::domain::{AgentMemory, MemoryId};
use crate::memory::{MemoryError, MemoryService, Which};
use crate::model::embed::{EmbedError, Embedder};
use crate::recall::{closest, units};

/// Of so many of the closest it is told how close they are; a question has few answers.
const CLOSEST: usize = 200;

/// Why nobody knows how close lessons are. A question is then answered by words.
#[derive(Debug, thiserror::Error)]
pub enum Unmeasured {
    /// The lessons could not be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] EmbedError),
}

/// How close the closest lessons are to a text. What was embedded before is not embedded again.
pub async fn cosines(
    memory: &dyn MemoryService,
    embedder: &dyn Embedder,
    text: &str,
) -> Result<BTreeMap<MemoryId, f64>, Unmeasured> {
    let lessons = memory.lessons(Which::Given).await?;
    let cut: Vec<Vec<String>> = lessons.iter().map(|lesson| units(&whole(&lesson.memory))).collect();
    let asked = embedder.embed(&[text.to_owned()]).await?;
    let Some(asked) = asked.first() else { return Ok(BTreeMap::new()) };
    let flat: Vec<String> = cut.iter().flatten().cloned().collect();
    let mut vectors = embedder.embed(&flat).await?.into_iter();
    let mut close: Vec<(MemoryId, f64)> = Vec::new();
    for (lesson, units) in lessons.iter().zip(&cut) {
        let cosines = vectors.by_ref().take(units.len()).map(|unit| f64::from(unit.cosine(asked)));
        close.extend(closest(cosines).map(|cosine| (lesson.memory.id.clone(), cosine)));
    }
    close.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    close.truncate(CLOSEST);
    Ok(close.into_iter().collect())
}

/// What a lesson says, as one text.
pub(super) fn whole(memory: &AgentMemory) -> String {
    let parts = [Some(memory.summary.as_str()), memory.rule.as_deref(), memory.detail.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
