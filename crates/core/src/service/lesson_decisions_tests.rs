use super::super::test_support::{World, now, redis, routine, said};
use super::super::{ArchivistService, RepeatPolicy};
use super::*;
use crate::domain::{LessonAvailability, MemoryId};
use crate::memory::LessonStateFilter;

async fn learned(world: &World, service: &ArchivistService) -> MemoryId {
    let learned = service.reflect_on_session(&world.session("s-1", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    learned.created[0].id.clone()
}

#[tokio::test]
async fn a_promoted_lesson_is_given_at_once_and_stays() {
    let world = World::new();
    let service = world.service();
    let id = learned(&world, &service).await;
    assert_eq!(world.lessons().await[0].memory.availability(), LessonAvailability::Waiting);
    let promoted = apply_decision(&*world.memory, &id, &LessonDecision::Promote, now()).await.unwrap();
    assert_eq!((promoted.availability(), promoted.state), (LessonAvailability::Live, Some(MemoryState::Active)));
    for number in 2..40 {
        service
            .reflect_on_session(&world.session(&format!("s-{number}"), &routine()), RepeatPolicy::IfGrown)
            .await
            .unwrap();
    }
    assert_eq!(service.refresh_lesson_states(world.folder.path()).await.unwrap(), []);
    assert_eq!(world.lessons().await[0].memory.state, Some(MemoryState::Active));
}

#[tokio::test]
async fn what_was_rejected_is_not_learned_again() {
    let world = World::new();
    let service = world.service();
    let id = learned(&world, &service).await;
    let reject = LessonDecision::Reject { reason: Some("not here".to_owned()) };
    apply_decision(&*world.memory, &id, &reject, now()).await.unwrap();
    let again = service.reflect_on_session(&world.session("s-2", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!((again.change_count(), again.dropped[0].why.as_str()), (0, "rejected"), "{again:?}");
    assert_eq!(world.memory.list_lessons(LessonStateFilter::Live).await.unwrap().len(), 0);
    let error = apply_decision(&*world.memory, &id, &LessonDecision::Promote, now()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("lesson `{id}` is archived"));
}

#[tokio::test]
async fn only_what_is_in_quarantine_is_approved() {
    let world = World::new();
    let id = learned(&world, &world.service()).await;
    let error = apply_decision(&*world.memory, &id, &LessonDecision::Approve, now()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("lesson `{id}` is not in quarantine"));
    let mut memory = world.lessons().await.remove(0).memory;
    memory.state = Some(MemoryState::Quarantined);
    world.memory.add_memories(vec![memory], now()).await.unwrap();
    let approved = apply_decision(&*world.memory, &id, &LessonDecision::Approve, now()).await.unwrap();
    assert_eq!(approved.state, Some(MemoryState::Active));
}

#[tokio::test]
async fn a_lesson_that_took_another_in_gives_it_back() {
    let world = World::new();
    let at = now();
    let mut vague = AgentMemory::new(MemoryId::parse("mem-vague").unwrap(), at, "Redis must run for the billing tests");
    vague.rule = None;
    let clear = AgentMemory {
        rule: Some("IF the billing tests run THEN run `docker compose up -d redis` first".to_owned()),
        ..AgentMemory::new(MemoryId::parse("mem-clear").unwrap(), at, "The billing tests need a running Redis")
    };
    let merged = judge::merge_lessons(&vague, clear.clone(), at);
    world.memory.add_memories(vec![vague.clone()], at).await.unwrap();
    world.memory.add_memories(vec![merged], at).await.unwrap();
    let (kept, absorbed) = unmerge_lesson(&*world.memory, &vague.id, at).await.unwrap();
    assert_eq!(AgentMemory { alias: None, ..kept }, vague);
    assert_eq!(AgentMemory { alias: None, ..absorbed }, clear);
    let lessons = world.lessons().await;
    let stored: Vec<&str> = lessons.iter().map(|lesson| lesson.memory.summary.as_str()).collect();
    assert_eq!(stored, ["The billing tests need a running Redis", "Redis must run for the billing tests"]);
    let error = unmerge_lesson(&*world.memory, &vague.id, at).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing was merged into lesson `mem-vague`");
}

#[tokio::test]
async fn silence_ends_a_lesson_and_a_sighting_brings_it_back() {
    let mut world = World::new();
    world.settings.lifecycle.decay_runs = 2;
    let service = world.service();
    learned(&world, &service).await;
    // The others come later, on days of their own.
    let later = |day: u32| -> Vec<serde_json::Value> {
        let text = serde_json::to_string(&[routine(), said(9, "Thanks.")].concat()).unwrap();
        serde_json::from_str(&text.replace("2026-02-12", &format!("2026-02-{day}"))).unwrap()
    };
    for day in 13..16 {
        service
            .reflect_on_session(&world.session(&format!("d-{day}"), &later(day)), RepeatPolicy::IfGrown)
            .await
            .unwrap();
    }
    let moved = service.refresh_lesson_states(world.folder.path()).await.unwrap();
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert_eq!(moved[0].state, Some(MemoryState::Deprecated));
    assert_eq!(service.refresh_lesson_states(world.folder.path()).await.unwrap(), [], "once is enough");
    let lines = serde_json::to_string(&redis()).unwrap().replace("2026-02-12", "2026-02-20");
    let again = world.session("again", &serde_json::from_str::<Vec<serde_json::Value>>(&lines).unwrap());
    service.reflect_on_session(&again, RepeatPolicy::IfGrown).await.unwrap();
    let state = world.lessons().await[0].memory.state.clone();
    assert_eq!(state, Some(MemoryState::Candidate));
}
