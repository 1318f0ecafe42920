//! Embedding vectors of lessons, where a store shares them: a lesson is embedded once, a question costs one embedding.

use async_trait::async_trait;

use super::{Lesson, MemoryError};
use crate::domain::MemoryId;

/// An embedding model. Vectors of two models cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorModel<'m> {
    /// The model's name, the same on every machine.
    pub name: &'m str,
    /// The number of dimensions of its vectors.
    pub dimensions: usize,
}

/// The vectors of one version of a lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonVectors {
    /// The lesson's id.
    pub lesson: MemoryId,
    /// The lesson's version.
    pub version: u64,
    /// A vector of length one for each unit of its text.
    pub units: Vec<Vec<f32>>,
}

/// A store of lesson vectors. They are derived: missing ones are computed by whoever needs them.
#[async_trait]
pub trait LessonVectorStore: Send + Sync {
    /// Returns up to `most` lessons that may be injected and have no vectors of this model yet.
    async fn lessons_without_vectors(&self, model: VectorModel<'_>, most: usize) -> Result<Vec<Lesson>, MemoryError>;

    /// Stores the vectors of lessons that are still at the embedded version, and returns the number of these lessons.
    async fn store_vectors(&self, model: VectorModel<'_>, measured: &[LessonVectors]) -> Result<usize, MemoryError>;

    /// Returns the lessons that are closest to a vector with their closeness, the closest first.
    async fn closest_lessons(
        &self,
        model: VectorModel<'_>,
        to: &[f32],
        most: usize,
    ) -> Result<Vec<(MemoryId, f64)>, MemoryError>;
}
