//! Lessons that nobody touched still grow old: where each of them stands is worked out anew.

use std::collections::HashMap;

use super::archivist::ArchivistService;
use super::outcome::Skip;
use crate::domain::{AgentMemory, Fact, MemoryId};
use crate::judge::{self, Runs};
use crate::memory::{Batch, EpisodeFilter, FactFilter, MemoryError, Which};

impl ArchivistService {
    /// Lets every lesson rise or fall to where its facts put it, and says which ones moved.
    pub async fn tend(&self) -> Result<Vec<AgentMemory>, Skip> {
        let turn = self.memory.turn().await?;
        let now = self.clock.now();
        let episodes = self.memory.episodes(&EpisodeFilter::default()).await?;
        let runs = Runs::new(episodes.iter().map(|episode| episode.finished_at));
        let mut facts: HashMap<MemoryId, Vec<Fact>> = HashMap::new();
        for fact in self.memory.facts(&FactFilter::default()).await? {
            facts.entry(fact.memory().clone()).or_default().push(fact);
        }
        let mut batch = Batch::default();
        for lesson in self.memory.lessons(Which::Live).await? {
            let mut memory = lesson.memory;
            let own = facts.get(&memory.id).map(Vec::as_slice).unwrap_or_default();
            // What a person wrote, or another tool, stands where they put it until something is known of it.
            if own.is_empty() {
                continue;
            }
            let stands = judge::state(&memory, own, &runs, &self.habits.lifecycle);
            if memory.state.as_ref() != Some(&stands.state) {
                memory.state = Some(stands.state);
                memory.state_reason = stands.reason;
                memory.updated_at = Some(now);
                memory.restored_from = None;
                batch.expected.push((memory.id.clone(), lesson.version));
                batch.memories.push(memory);
            }
        }
        let moved = batch.memories.clone();
        if moved.is_empty() {
            return Ok(moved);
        }
        match self.memory.commit(batch, now).await {
            // Whoever wrote in between tends to them next time.
            Err(MemoryError::Conflict { .. }) => Ok(Vec::new()),
            committed => committed.map(|_| moved).map_err(Skip::from),
        }
        .inspect(|_| drop(turn))
    }
}
