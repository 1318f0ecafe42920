//! Lessons that nobody touched still grow old: where each of them stands is worked out anew.

use std::collections::HashMap;

use super::archivist::ArchivistService;
use super::effects::names_of;
use super::outcome::Skip;
use super::standing::standing;
use crate::domain::{AgentMemory, EpisodeId, Fact, MemoryId, MemoryKind, MemoryState, RunId};
use crate::judge::{Runs, Standing};
use crate::memory::{Batch, EpisodeFilter, FactFilter, Which};

#[cfg(test)]
#[path = "tend_tests.rs"]
mod tests;

/// On what occasion lessons are looked after.
enum Occasion<'r> {
    /// None: whatever has become of them is noted.
    Any,
    /// A run is over: what it did not show may be over too.
    RunOver(&'r RunId),
}

impl ArchivistService {
    /// Lets every lesson rise or fall to where its facts put it, and says which ones moved.
    pub async fn tend(&self) -> Result<Vec<AgentMemory>, Skip> {
        self.look_after(Occasion::Any).await
    }

    /// Ends the lessons that silence, distrust or harm has ended now that a run is over, and says which ones. What the
    /// run showed stays, and so does what people want, decided or stand behind.
    pub async fn decay(&self, run: &RunId) -> Result<Vec<AgentMemory>, Skip> {
        self.look_after(Occasion::RunOver(run)).await
    }

    async fn look_after(&self, occasion: Occasion<'_>) -> Result<Vec<AgentMemory>, Skip> {
        let turn = self.memory.turn().await?;
        let now = self.clock.now();
        let episodes = self.memory.episodes(&EpisodeFilter::default()).await?;
        let over = match occasion {
            Occasion::Any => None,
            Occasion::RunOver(run) => Some(episodes.iter().find(|episode| names_of(episode).contains(run))),
        };
        // A run that nobody has reflected on yet is over all the same.
        let unknown = matches!(over, Some(None)).then_some(now);
        let runs = Runs::new(episodes.iter().map(|episode| episode.finished_at).chain(unknown));
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
            let stands = standing(&memory, own, &runs, &self.habits.lifecycle);
            let may_move = over.is_none_or(|run| ends(&memory, &stands, own, run.map(|run| &run.id)));
            if may_move && memory.state.as_ref() != Some(&stands.state) {
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
        match self.memory.commit_in(turn, batch, now).await {
            // Whoever wrote in between tends to them next time.
            Err(error) if error.is_race() => Ok(Vec::new()),
            committed => committed.map(|_| moved).map_err(Skip::from),
        }
    }
}

/// Whether the end of a run may end a lesson.
fn ends(memory: &AgentMemory, stands: &Standing, facts: &[Fact], run: Option<&EpisodeId>) -> bool {
    let is_seen = facts.iter().any(|fact| matches!(fact, Fact::Sighting { episode, .. } if Some(episode) == run));
    let is_wish = matches!(memory.kind, MemoryKind::Preference | MemoryKind::Decision);
    stands.state == MemoryState::Deprecated && !is_seen && !is_wish && !memory.evergreen
}
