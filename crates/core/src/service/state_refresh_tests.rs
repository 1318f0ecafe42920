use super::super::reflection_service::RepeatPolicy;
use super::super::test_support::{World, now, redis, routine};
use super::*;
use crate::domain::Episode;
use crate::memory::MemoryService;

/// A memory with a lesson of one run, and so many runs since that showed nothing of it.
async fn aged(runs: usize) -> World {
    let world = World::new();
    world.service().reflect_on_session(&world.session("s-1", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    let trigger = world.session("quiet", &routine());
    world.service().reflect_on_session(&trigger, RepeatPolicy::IfGrown).await.unwrap();
    let episodes = world.memory.list_episodes(&EpisodeFilter::default()).await.unwrap();
    let quiet = episodes.iter().find(|episode| episode.session_id.as_str() == "quiet").unwrap().clone();
    for number in 1..=runs {
        let id = EpisodeId::parse(&format!("ep-{number}")).unwrap();
        let session_id = crate::domain::SessionId::parse(&format!("run-{number}")).unwrap();
        let episode = Episode { id, session_id, finished_at: now(), ..quiet.clone() };
        world.memory.record_episode(episode, now()).await.unwrap();
    }
    world
}

fn run(name: &str) -> RunId {
    RunId::parse(name).unwrap()
}

#[tokio::test]
async fn a_lesson_that_ten_runs_did_not_show_is_over_and_that_is_said_once() {
    let world = aged(9).await;
    assert_eq!(world.service().decay_lessons(&run("run-9")).await.unwrap(), [], "nine runs are not enough");
    let world = aged(10).await;
    let moved = world.service().decay_lessons(&run("run-10")).await.unwrap();
    assert_eq!((moved.len(), &moved[0].state), (1, &Some(MemoryState::Deprecated)));
    assert_eq!(moved[0].state_reason.as_deref(), Some("not seen in 10 runs"));
    assert_eq!(world.service().decay_lessons(&run("run-10")).await.unwrap(), []);
    assert_eq!(world.service().decay_lessons(&run("run-11")).await.unwrap(), []);
}

#[tokio::test]
async fn a_run_that_is_not_reflected_on_yet_counts_as_over() {
    let world = aged(9).await;
    assert_eq!(world.service().decay_lessons(&run("run-10")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_the_run_showed_stays() {
    let world = aged(10).await;
    assert_eq!(world.service().decay_lessons(&run("s-1")).await.unwrap(), []);
}

#[tokio::test]
async fn what_people_want_or_stand_behind_stays() {
    type Change = fn(&mut AgentMemory);
    let changes: [Change; 4] = [
        |memory| memory.kind = MemoryKind::Preference,
        |memory| memory.kind = MemoryKind::Decision,
        |memory| memory.evergreen = true,
        |memory| memory.state = Some(MemoryState::Active),
    ];
    for change in changes {
        let world = aged(40).await;
        let mut memory = world.lessons().await[0].memory.clone();
        change(&mut memory);
        world.memory.add_memories(vec![memory.clone()], now()).await.unwrap();
        assert_eq!(world.service().decay_lessons(&run("run-1")).await.unwrap(), [], "{memory:?}");
    }
}

#[tokio::test]
async fn an_empty_memory_has_nothing_to_lose() {
    assert_eq!(World::new().service().decay_lessons(&run("run-1")).await.unwrap(), []);
}

#[tokio::test]
async fn a_large_memory_is_refreshed_once_a_day_and_a_small_one_each_time() {
    let world = aged(10).await;
    let stamp = world.folder.path().join(REFRESH_STAMP);
    let refresh = async || world.service().refresh_lesson_states(world.folder.path()).await.unwrap().len();
    for (at, expected) in [(now(), 0), (now() - TimeDelta::hours(23), 0), (now() - TimeDelta::hours(25), 1)] {
        write_stamp(&stamp, at).unwrap();
        assert_eq!(refresh().await, expected, "{at}");
    }
    let world = aged(10).await;
    let stamp = world.folder.path().join(REFRESH_STAMP);
    std::fs::write(&stamp, "no stamp").unwrap();
    assert_eq!(world.service().refresh_lesson_states(world.folder.path()).await.unwrap().len(), 1);
    assert_eq!(std::fs::read_to_string(&stamp).unwrap(), "no stamp", "a small memory leaves none");
    // A clock that was wrong once stops nothing.
    let world = aged(10).await;
    write_stamp(&world.folder.path().join(REFRESH_STAMP), now() + TimeDelta::hours(1)).unwrap();
    assert_eq!(world.service().refresh_lesson_states(world.folder.path()).await.unwrap().len(), 1);
}
