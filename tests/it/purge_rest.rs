//! What a purge leaves is what would be there if the purged had never been, in files and on a server.

use std::collections::BTreeSet;

use archivist_core::domain::{Alias, EvidenceLevel, Fact, MemorySource};
use archivist_core::memory::{
    CommitBatch, EpisodeFilter, ErasureSelection, FactFilter, LessonStateFilter, MemoryService, RecordOrigin,
};
use proptest::prelude::*;
#[cfg(all(unix, feature = "postgres"))]
use proptest::strategy::ValueTree;

use crate::samples::{at, episode, episode_id, id, lesson};
#[cfg(all(unix, feature = "postgres"))]
use crate::stores::Postgres;
use crate::stores::{Jsonl, Store};

/// Random lessons and episodes, by number, with what each rests on.
#[derive(Debug, Clone)]
struct RandomMemory {
    lessons: Vec<Vec<usize>>,
    episodes: usize,
    gone_lessons: BTreeSet<usize>,
    gone_episodes: BTreeSet<usize>,
}

fn stored() -> impl Strategy<Value = RandomMemory> {
    let lessons = prop::collection::vec(prop::collection::vec(0..5usize, 0..4), 1..8);
    let gone = (prop::collection::btree_set(0..8usize, 0..4), prop::collection::btree_set(0..5usize, 0..3));
    (lessons, gone).prop_map(|(lessons, (gone_lessons, gone_episodes))| RandomMemory {
        lessons,
        episodes: 5,
        gone_lessons,
        gone_episodes,
    })
}

impl RandomMemory {
    /// Returns true if a lesson goes: by itself, or with the last episode that it rests on.
    fn is_gone(&self, lesson: usize) -> bool {
        let grounds = &self.lessons[lesson];
        let rests_on_gone = !grounds.is_empty() && grounds.iter().all(|episode| self.gone_episodes.contains(episode));
        self.gone_lessons.contains(&lesson) || rests_on_gone
    }

    /// The records, of all or only of what is left: then nothing mentions what goes.
    fn batch(&self, is_rest: bool) -> CommitBatch {
        let stays = |episode: &usize| !is_rest || !self.gone_episodes.contains(episode);
        let mut batch = CommitBatch { records: RecordOrigin::Copied, ..CommitBatch::default() };
        batch.episodes = (0..self.episodes).filter(stays).map(|number| episode(&format!("ep-{number}"))).collect();
        for (number, grounds) in self.lessons.iter().enumerate() {
            if is_rest && self.is_gone(number) {
                continue;
            }
            let grounds: Vec<usize> = grounds.iter().copied().filter(stays).collect();
            let mut memory = lesson(&format!("lesson-{number}"), &format!("What number {number} says"));
            memory.alias = Some(Alias::from_number('m', u64::try_from(number).unwrap() + 1).unwrap());
            memory.source = MemorySource::Archivist;
            memory.evidence.episode_ids = grounds.iter().map(|number| episode_id(&format!("ep-{number}"))).collect();
            for ground in BTreeSet::from_iter(grounds) {
                batch.facts.push(Fact::Sighting {
                    memory: memory.id.clone(),
                    episode: episode_id(&format!("ep-{ground}")),
                    at: at(),
                    level: EvidenceLevel::Execution,
                    context: None,
                    quotes: Vec::new(),
                    extra: Default::default(),
                });
            }
            batch.memories.push(memory);
        }
        batch
    }

    fn selection(&self) -> ErasureSelection {
        let lessons = self.gone_lessons.iter().map(|number| id(&format!("lesson-{number}")));
        let episodes = self.gone_episodes.iter().map(|number| episode_id(&format!("ep-{number}")));
        ErasureSelection { lessons: lessons.collect(), episodes: episodes.collect(), ..Default::default() }
    }
}

/// Everything that a memory has, as JSON.
async fn contents(memory: &dyn MemoryService) -> [String; 4] {
    let text = |value: Result<String, serde_json::Error>| value.unwrap();
    [
        text(serde_json::to_string(&memory.list_revisions().await.unwrap())),
        text(serde_json::to_string(&memory.list_lessons(LessonStateFilter::All).await.unwrap())),
        text(serde_json::to_string(&memory.list_episodes(&EpisodeFilter::default()).await.unwrap())),
        text(serde_json::to_string(&memory.list_facts(&FactFilter::default()).await.unwrap())),
    ]
}

/// Purges a part of what is stored, and compares the memory with one that never had it.
async fn compare_with_rest<S: Store>(stored: &RandomMemory) -> bool {
    let (Some(whole), Some(rest)) = (S::fresh().await, S::fresh().await) else { return true };
    let (whole, rest) = (whole.open().await, rest.open().await);
    whole.commit_batch(stored.batch(false), at()).await.unwrap();
    rest.commit_batch(stored.batch(true), at()).await.unwrap();
    let plan = whole.plan_erasure(&stored.selection()).await.unwrap();
    whole.erase_records(&plan).await.unwrap();
    assert!(whole.plan_erasure(&stored.selection()).await.unwrap().is_empty());
    assert!(whole.find_problems().await.unwrap().is_empty());
    contents(&*whole).await == contents(&*rest).await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_rest_is_as_if_the_purged_had_never_been(stored in stored()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        prop_assert!(runtime.block_on(compare_with_rest::<Jsonl>(&stored)));
    }
}

#[cfg(all(unix, feature = "postgres"))]
#[tokio::test]
async fn the_rest_is_the_same_on_a_server() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..12 {
        let stored = stored().new_tree(&mut runner).unwrap().current();
        assert!(compare_with_rest::<Postgres>(&stored).await, "{stored:?}");
    }
}
