//! What lessons mean, where a store keeps it for everybody: a lesson is embedded once, and a question costs one sentence.

use async_trait::async_trait;

use super::{Lesson, MemoryError};
use crate::domain::MemoryId;

/// A model that tells meanings. What two of them say has nothing to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeaningModel<'m> {
    /// What it is called, on every machine.
    pub name: &'m str,
    /// How many numbers its vectors have.
    pub dimensions: usize,
}

/// One version of a lesson as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The lesson.
    pub lesson: MemoryId,
    /// Which version of it.
    pub version: u64,
    /// A vector of length one for each unit of its text.
    pub units: Vec<Vec<f32>>,
}

/// The vectors of a memory's lessons. They are derived: what is missing is made by whoever needs it.
#[async_trait]
pub trait Meanings: Send + Sync {
    /// Lessons that may be given and have no vectors of this model yet, so many at most.
    async fn unmeasured(&self, model: MeaningModel<'_>, most: usize) -> Result<Vec<Lesson>, MemoryError>;

    /// Keeps vectors of lessons that are still as they were measured, and says how many lessons these are.
    async fn keep(&self, model: MeaningModel<'_>, measured: &[Measured]) -> Result<usize, MemoryError>;

    /// The lessons that are closest to a vector, the closest first, and how close they are.
    async fn closest(
        &self,
        model: MeaningModel<'_>,
        to: &[f32],
        most: usize,
    ) -> Result<Vec<(MemoryId, f64)>, MemoryError>;
}
