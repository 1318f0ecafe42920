//! The lessons that the memory knows already, for a distiller to compare its candidates with.

use async_trait::async_trait;

use crate::distill::LessonLookup;
use crate::domain::{AgentMemory, MemoryQuery};
use crate::memory::MemoryService;

/// The lessons of one project.
#[derive(Debug)]
pub struct KnownLessons<'m> {
    memory: &'m dyn MemoryService,
    question: MemoryQuery,
}

impl<'m> KnownLessons<'m> {
    /// Makes the view on the lessons of the query's project.
    pub fn new(memory: &'m dyn MemoryService, question: MemoryQuery) -> Self {
        Self { memory, question }
    }
}

#[async_trait]
impl LessonLookup for KnownLessons<'_> {
    async fn find_near(&self, text: &str, max: usize) -> Vec<AgentMemory> {
        let mut question = self.question.clone();
        question.text = Some(text.to_owned());
        match self.memory.find_neighbours(&question, max).await {
            Ok(near) => near.into_iter().map(|neighbour| neighbour.lesson.memory).collect(),
            Err(error) => {
                tracing::warn!(%error, "the memory cannot say what is near; a candidate may repeat a known lesson");
                Vec::new()
            }
        }
    }
}
