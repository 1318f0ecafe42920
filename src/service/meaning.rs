//! How close the lessons of a memory are to a question in meaning.

use std::collections::BTreeMap;

use crate::domain::{AgentMemory, MemoryId};
use crate::memory::{Lesson, MeaningModel, Meanings, Measured, MemoryError, MemoryService, Which};
use crate::model::embed::{EmbedError, Embedder, Vector};
use crate::recall::{closest, units};

/// Of so many of the closest it is told how close they are; a question has few answers.
const CLOSEST: usize = 200;

/// So many lessons are embedded before their vectors are kept: who breaks off loses no more.
const AT_ONCE: usize = 64;

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
    let asked = embedder.embed(&[text.to_owned()]).await?;
    let Some(asked) = asked.first() else { return Ok(BTreeMap::new()) };
    if let Some(meanings) = memory.meanings() {
        let model = MeaningModel { name: embedder.name(), dimensions: asked.dimensions() };
        while measure(meanings, embedder, model).await? > 0 {}
        return Ok(meanings.closest(model, asked.as_slice(), CLOSEST).await?.into_iter().collect());
    }
    let lessons = memory.lessons(Which::Given).await?;
    let mut close: Vec<(MemoryId, f64)> = Vec::new();
    for (lesson, units) in lessons.iter().zip(embedded(embedder, &lessons).await?) {
        let cosines = units.iter().map(|unit| f64::from(unit.cosine(asked)));
        close.extend(closest(cosines).map(|cosine| (lesson.memory.id.clone(), cosine)));
    }
    close.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    close.truncate(CLOSEST);
    Ok(close.into_iter().collect())
}

/// Embeds some of the lessons that have no vectors yet, where the memory keeps vectors for everybody. What a reflection
/// wrote, the next question need not wait for.
pub(super) async fn foresee(memory: &dyn MemoryService, embedder: &dyn Embedder) -> Result<(), Unmeasured> {
    let Some(meanings) = memory.meanings() else { return Ok(()) };
    let dimensions = match embedder.dimensions() {
        Some(known) => known,
        // A model that was not asked yet says nothing of its vectors.
        None => embedder.embed(&["lesson".to_owned()]).await?.first().map_or(0, Vector::dimensions),
    };
    measure(meanings, embedder, MeaningModel { name: embedder.name(), dimensions }).await?;
    Ok(())
}

/// Embeds lessons that have no vectors yet, and says how many have some now.
async fn measure(
    meanings: &dyn Meanings,
    embedder: &dyn Embedder,
    model: MeaningModel<'_>,
) -> Result<usize, Unmeasured> {
    let lessons = meanings.unmeasured(model, AT_ONCE).await?;
    if lessons.is_empty() {
        return Ok(0);
    }
    let vectors = embedded(embedder, &lessons).await?;
    let measured = lessons.into_iter().zip(vectors).map(|(lesson, units)| Measured {
        lesson: lesson.memory.id,
        version: lesson.version,
        units: units.iter().map(|unit| unit.as_slice().to_vec()).collect(),
    });
    let measured: Vec<Measured> = measured.collect();
    Ok(meanings.keep(model, &measured).await?)
}

/// The vectors of the units of each lesson.
async fn embedded(embedder: &dyn Embedder, lessons: &[Lesson]) -> Result<Vec<Vec<Vector>>, EmbedError> {
    let cut: Vec<Vec<String>> = lessons.iter().map(|lesson| units(&whole(&lesson.memory))).collect();
    let flat: Vec<String> = cut.iter().flatten().cloned().collect();
    let mut vectors = embedder.embed(&flat).await?.into_iter();
    Ok(cut.iter().map(|units| vectors.by_ref().take(units.len()).collect()).collect())
}

/// What a lesson says, as one text.
pub(super) fn whole(memory: &AgentMemory) -> String {
    let parts = [Some(memory.summary.as_str()), memory.rule.as_deref(), memory.detail.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
