//! What the memory knows already, for a distiller to hold its candidates against.

use async_trait::async_trait;

use crate::distill::Known;
use crate::domain::{AgentMemory, MemoryQuery};
use crate::memory::MemoryService;

/// The lessons of one project.
#[derive(Debug)]
pub struct KnownLessons<'m> {
    memory: &'m dyn MemoryService,
    question: MemoryQuery,
}

impl<'m> KnownLessons<'m> {
    /// Those that the memory holds for the project of the question.
    pub fn new(memory: &'m dyn MemoryService, question: MemoryQuery) -> Self {
        Self { memory, question }
    }
}

#[async_trait]
impl Known for KnownLessons<'_> {
    async fn near(&self, text: &str, max: usize) -> Vec<AgentMemory> {
        let mut question = self.question.clone();
        question.text = Some(text.to_owned());
        match self.memory.neighbours(&question, max).await {
            Ok(near) => near.into_iter().map(|neighbour| neighbour.lesson.memory).collect(),
            Err(error) => {
                tracing::warn!(%error, "the memory cannot say what is near; a candidate may repeat a known lesson");
                Vec::new()
            }
        }
    }
}
