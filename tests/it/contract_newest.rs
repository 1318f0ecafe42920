//! The newest episodes and lessons, which every memory lists without reading the others.

use archivist_core::domain::{AgentMemory, Episode};
use archivist_core::memory::{EpisodeFilter, LessonRemoval, LessonStateFilter};

use crate::contract::Handle;
use crate::samples::{at, day, episode, episode_id, id, lesson, session};
use crate::stores::Store;

pub(crate) async fn the_newest_come_without_the_others(memory: Handle, store: &impl Store) {
    assert!(memory.list_episodes(&EpisodeFilter::newest(2)).await.unwrap().is_empty());
    assert!(memory.newest_lessons(LessonStateFilter::All, 2).await.unwrap().is_empty());
    for key in ["one", "two", "three", "one"] {
        let summary =
            format!("It went well, {}.", memory.list_episodes(&EpisodeFilter::default()).await.unwrap().len());
        memory.record_episode(Episode { summary, ..episode(key) }, at()).await.unwrap();
    }
    for handle in [memory.clone(), store.open().await] {
        let all = handle.list_episodes(&EpisodeFilter::default()).await.unwrap();
        assert_eq!(all.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["two", "three", "one"]);
        for count in 0..5 {
            let newest = store.open().await.list_episodes(&EpisodeFilter::newest(count)).await.unwrap();
            assert_eq!(newest, all[all.len().saturating_sub(count)..]);
        }
        let of_session = EpisodeFilter { session: Some(session("two")), ..EpisodeFilter::newest(1) };
        assert_eq!(handle.list_episodes(&of_session).await.unwrap(), all[..1]);
    }
    let found = EpisodeFilter { id: Some(episode_id("one")), ..EpisodeFilter::default() };
    assert_eq!(store.open().await.list_episodes(&found).await.unwrap()[0].summary, "It went well, 3.");

    let aged = |key: &str, age: i64| AgentMemory { created_at: day(age), ..lesson(key, key) };
    let lessons = vec![aged("a", 1), aged("b", 2), aged("c", 2), aged("d", 4)];
    memory.add_memories(lessons, at()).await.unwrap();
    memory.archive_memory(&id("d"), LessonRemoval::Forgotten { reason: None }, day(5)).await.unwrap();
    for (which, count, expected) in [
        (LessonStateFilter::All, 1, vec!["d"]),
        // Both are as new as the second.
        (LessonStateFilter::All, 2, vec!["b", "c", "d"]),
        (LessonStateFilter::All, 9, vec!["a", "b", "c", "d"]),
        (LessonStateFilter::Live, 1, vec!["b", "c"]),
        (LessonStateFilter::Live, 3, vec!["a", "b", "c"]),
    ] {
        let newest = memory.newest_lessons(which, count).await.unwrap();
        let mut keys: Vec<&str> = newest.iter().map(|one| one.memory.id.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, expected, "{which:?}, {count}");
    }
}
