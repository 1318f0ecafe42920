//! The similarity in meaning between a query and the lessons of a memory.

use std::collections::BTreeMap;

use crate::domain::{AgentMemory, MemoryId};
use crate::memory::{
    Lesson, LessonStateFilter, LessonVectorStore, LessonVectors, MemoryError, MemoryService, VectorModel,
};
use crate::model::embed::{EmbedError, Embedder, EmbeddingVector};
use crate::recall::{closest_similarity, split_into_units};

/// The number of closest lessons whose similarity is returned.
const CLOSEST: usize = 200;

/// The number of lessons embedded before their vectors are stored; an interruption loses no more.
const AT_ONCE: usize = 64;

/// The reason why similarities are unknown. A query then falls back to words.
#[derive(Debug, thiserror::Error)]
pub enum SimilarityError {
    /// The lessons could not be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The embedding model failed.
    #[error(transparent)]
    Model(#[from] EmbedError),
}

/// Finds the lessons closest to a text, with their cosine similarity. Lessons that have vectors are not embedded again.
pub async fn find_closest_lessons(
    memory: &dyn MemoryService,
    embedder: &dyn Embedder,
    text: &str,
) -> Result<BTreeMap<MemoryId, f64>, SimilarityError> {
    let asked = embedder.embed_texts(&[text.to_owned()]).await?;
    let Some(asked) = asked.first() else { return Ok(BTreeMap::new()) };
    if let Some(meanings) = memory.vector_store() {
        let model = VectorModel { name: embedder.name(), dimensions: asked.dimensions() };
        while embed_lesson_batch(meanings, embedder, model).await? > 0 {}
        return Ok(meanings.closest_lessons(model, asked.as_slice(), CLOSEST).await?.into_iter().collect());
    }
    let lessons = memory.list_lessons(LessonStateFilter::Given).await?;
    let mut close: Vec<(MemoryId, f64)> = Vec::new();
    for (lesson, units) in lessons.iter().zip(embed_lessons(embedder, &lessons).await?) {
        let cosines = units.iter().map(|unit| f64::from(unit.cosine_similarity(asked)));
        close.extend(closest_similarity(cosines).map(|cosine| (lesson.memory.id.clone(), cosine)));
    }
    close.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    close.truncate(CLOSEST);
    Ok(close.into_iter().collect())
}

/// Embeds some of the lessons without vectors, if the memory stores vectors, so that the next query need not wait.
pub(super) async fn embed_pending_lessons(
    memory: &dyn MemoryService,
    embedder: &dyn Embedder,
) -> Result<(), SimilarityError> {
    let Some(meanings) = memory.vector_store() else { return Ok(()) };
    let dimensions = match embedder.dimensions() {
        Some(known) => known,
        // A model that was not used yet does not know the size of its vectors.
        None => embedder.embed_texts(&["lesson".to_owned()]).await?.first().map_or(0, EmbeddingVector::dimensions),
    };
    embed_lesson_batch(meanings, embedder, VectorModel { name: embedder.name(), dimensions }).await?;
    Ok(())
}

/// Embeds lessons that have no vectors yet, and returns how many have some now.
async fn embed_lesson_batch(
    meanings: &dyn LessonVectorStore,
    embedder: &dyn Embedder,
    model: VectorModel<'_>,
) -> Result<usize, SimilarityError> {
    let lessons = meanings.lessons_without_vectors(model, AT_ONCE).await?;
    if lessons.is_empty() {
        return Ok(0);
    }
    let vectors = embed_lessons(embedder, &lessons).await?;
    let measured = lessons.into_iter().zip(vectors).map(|(lesson, units)| LessonVectors {
        lesson: lesson.memory.id,
        version: lesson.version,
        units: units.iter().map(|unit| unit.as_slice().to_vec()).collect(),
    });
    let measured: Vec<LessonVectors> = measured.collect();
    Ok(meanings.store_vectors(model, &measured).await?)
}

/// Returns the vectors of the units of each lesson.
async fn embed_lessons(embedder: &dyn Embedder, lessons: &[Lesson]) -> Result<Vec<Vec<EmbeddingVector>>, EmbedError> {
    let cut: Vec<Vec<String>> =
        lessons.iter().map(|lesson| split_into_units(&full_lesson_text(&lesson.memory))).collect();
    let flat: Vec<String> = cut.iter().flatten().cloned().collect();
    let mut vectors = embedder.embed_texts(&flat).await?.into_iter();
    Ok(cut.iter().map(|units| vectors.by_ref().take(units.len()).collect()).collect())
}

/// Returns the summary, rule and detail of a lesson as one text.
pub(super) fn full_lesson_text(memory: &AgentMemory) -> String {
    let parts = [Some(memory.summary.as_str()), memory.rule.as_deref(), memory.detail.as_deref()];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
