//! Refreshes the state of all lessons, since lessons decay even without new facts.

use std::collections::HashMap;
use std::path::Path;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::effect_recorder::episode_run_ids;
use super::lifecycle_state::lifecycle_state;
use super::reflection_outcome::SkipReason;
use super::reflection_service::ArchivistService;
use crate::domain::{AgentMemory, EpisodeId, Fact, MemoryId, MemoryKind, MemoryState, RunId, Timestamp};
use crate::files::{FileReplacement, read_small_file};
use crate::judge::{SessionEnds, StateWithReason};
use crate::memory::{CommitBatch, EpisodeFilter, FactFilter, LessonStateFilter};

#[cfg(test)]
#[path = "state_refresh_tests.rs"]
mod tests;

/// The number of records from which a memory is refreshed once a day: a refresh reads all of them.
const MANY_RECORDS: usize = 20_000;

/// The time between two refreshes of a large memory. A lesson is given up after weeks.
const REFRESH_INTERVAL: TimeDelta = TimeDelta::hours(24);

/// The file of a large memory that says when it was last refreshed.
const REFRESH_STAMP: &str = "refreshed.json";

/// The longest stamp that is read.
const MAX_STAMP_BYTES: u64 = 4096;

/// The last refresh of a large memory.
#[derive(Debug, Serialize, Deserialize)]
struct RefreshStamp {
    at: Timestamp,
}

/// The result of a refresh.
struct RefreshedStates {
    changed: Vec<AgentMemory>,
    /// The number of records that were read.
    records: usize,
}

/// The occasion for refreshing states.
enum RefreshOccasion<'r> {
    /// No special occasion: every change of state is stored.
    Any,
    /// A session is over: lessons that it did not show may be deprecated.
    RunOver(&'r RunId),
}

impl ArchivistService {
    /// Refreshes the state of every lesson from its facts, and returns the lessons that changed. A large memory in
    /// `memory_dir` is refreshed once a day.
    pub async fn refresh_lesson_states(&self, memory_dir: &Path) -> Result<Vec<AgentMemory>, SkipReason> {
        let (path, now) = (memory_dir.join(REFRESH_STAMP), self.clock.now());
        let stamp = read_small_file(&path, MAX_STAMP_BYTES).ok();
        let last = stamp.and_then(|bytes| serde_json::from_slice::<RefreshStamp>(&bytes).ok());
        // A time in the future was written with a wrong clock.
        if last.is_some_and(|last| last.at <= now && now - last.at < REFRESH_INTERVAL) {
            return Ok(Vec::new());
        }
        let refreshed = self.refresh_states_on(RefreshOccasion::Any).await?;
        if refreshed.records >= MANY_RECORDS
            && let Err(error) = write_stamp(&path, now)
        {
            tracing::debug!(%error, "the next process refreshes the memory again");
        }
        Ok(refreshed.changed)
    }

    /// Deprecates the lessons that silence, distrust or harm has ended now that a session is over, and returns them.
    /// Lessons that the session showed are kept, and so are preferences, decisions and evergreen lessons.
    pub async fn decay_lessons(&self, run: &RunId) -> Result<Vec<AgentMemory>, SkipReason> {
        Ok(self.refresh_states_on(RefreshOccasion::RunOver(run)).await?.changed)
    }

    async fn refresh_states_on(&self, occasion: RefreshOccasion<'_>) -> Result<RefreshedStates, SkipReason> {
        let turn = self.memory.acquire_turn().await?;
        let now = self.clock.now();
        let episodes = self.memory.list_episodes(&EpisodeFilter::default()).await?;
        let over = match occasion {
            RefreshOccasion::Any => None,
            RefreshOccasion::RunOver(run) => {
                Some(episodes.iter().find(|episode| episode_run_ids(episode).contains(run)))
            }
        };
        // A session that was not reflected on yet is over all the same.
        let unknown = matches!(over, Some(None)).then_some(now);
        let runs = SessionEnds::new(episodes.iter().map(|episode| episode.finished_at).chain(unknown));
        let mut records = episodes.len();
        let mut facts: HashMap<MemoryId, Vec<Fact>> = HashMap::new();
        for fact in self.memory.list_facts(&FactFilter::default()).await? {
            records += 1;
            facts.entry(fact.memory_id().clone()).or_default().push(fact);
        }
        let mut batch = CommitBatch::default();
        for lesson in self.memory.list_lessons(LessonStateFilter::Live).await? {
            records += 1;
            let mut memory = lesson.memory;
            let own = facts.get(&memory.id).map(Vec::as_slice).unwrap_or_default();
            // Lessons that a person or another tool wrote keep their state until there are facts about them.
            if own.is_empty() {
                continue;
            }
            let stands = lifecycle_state(&memory, own, &runs, &self.settings.lifecycle);
            let may_move = over.is_none_or(|run| is_ended_by_session(&memory, &stands, own, run.map(|run| &run.id)));
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
            return Ok(RefreshedStates { changed: moved, records });
        }
        match self.memory.commit_in_turn(turn, batch, now).await {
            // Another process wrote in between; the next refresh handles the lessons.
            Err(error) if error.is_lost_race() => Ok(RefreshedStates { changed: Vec::new(), records: 0 }),
            committed => committed.map(|_| RefreshedStates { changed: moved, records }).map_err(SkipReason::from),
        }
    }
}

fn write_stamp(path: &Path, at: Timestamp) -> std::io::Result<()> {
    let bytes = serde_json::to_vec(&RefreshStamp { at }).map_err(std::io::Error::other)?;
    FileReplacement::new(path).with_sync(false).write(&bytes)
}

/// Returns true if the end of a session may deprecate a lesson.
fn is_ended_by_session(
    memory: &AgentMemory,
    stands: &StateWithReason,
    facts: &[Fact],
    run: Option<&EpisodeId>,
) -> bool {
    let is_seen = facts.iter().any(|fact| matches!(fact, Fact::Sighting { episode, .. } if Some(episode) == run));
    let is_preference = matches!(memory.kind, MemoryKind::Preference | MemoryKind::Decision);
    stands.state == MemoryState::Deprecated && !is_seen && !is_preference && !memory.evergreen
}
