use serde_json::json;

use super::super::test_support::{World, ran, redis, routine, said, stuck};
use super::*;
use crate::domain::{AgentMemory, LessonAvailability, MemoryState, OutcomeStatus, Relation};
use crate::ingest::PANIC;
use crate::memory::FactFilter;

const START: &str = "archivist_reflection_start";
const COMPLETE: &str = "archivist_reflection_complete";

#[tokio::test]
async fn a_lesson_is_learned_once_and_seen_again() {
    let world = World::new();
    let service = world.service();
    let first = service.reflect_on_session(&world.session("s-1", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!((first.created.len(), first.seen.len()), (1, 0), "{first:?}");
    assert_eq!(first.created[0].state, Some(MemoryState::Observed));
    assert!(!first.created[0].evidence.quotes.is_empty());
    let second = service.reflect_on_session(&world.session("s-2", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!((second.created.len(), second.seen.len()), (0, 1), "{second:?}");
    // Two runs have seen it: it may be given from now on.
    assert_eq!(second.seen[0].state, Some(MemoryState::Candidate));
    let lessons = world.lessons().await;
    assert_eq!((lessons.len(), lessons[0].counters.sightings), (1, 2));
    assert_eq!(world.lessons().await[0].memory.availability(), LessonAvailability::Live);
}

#[tokio::test]
async fn a_lesson_knows_what_was_asked_for_when_it_was_learned() {
    let check = async |first: &[&str], expected: Option<&str>| {
        let world = World::new();
        let said = first.iter().map(|text| json!({"role": "user", "content": text}));
        let lines: Vec<_> = said.chain(redis().into_iter().filter(|line| line["role"] != "user")).collect();
        let learned =
            world.service().reflect_on_session(&world.session("s-1", &lines), RepeatPolicy::IfGrown).await.unwrap();
        assert_eq!(learned.created[0].situation.as_deref(), expected, "{first:?}");
    };
    check(&["The billing tests\n  fail on my machine."], Some("The billing tests fail on my machine.")).await;
    check(&["Hello!", "Please mend the billing tests"], Some("Please mend the billing tests")).await;
    check(&["Hello!"], None).await;
    let token = format!("Log in to the shop with ghp_{} and run the tests", "a1B2c3D4e5F6".repeat(3));
    let world = World::new();
    let lines = [vec![json!({"role": "user", "content": token})], redis()].concat();
    let learned =
        world.service().reflect_on_session(&world.session("s-1", &lines), RepeatPolicy::IfGrown).await.unwrap();
    let situation = learned.created[0].situation.clone().unwrap();
    assert!(situation.starts_with("Log in to the shop with [redacted:"), "{situation}");
    check(&["word ".repeat(100).as_str()], Some("word ".repeat(30).trim_end())).await;
    let both = ["Look at the billing tests", "And now?", "Make them pass, please do"];
    check(&both, Some("Look at the billing tests Make them pass, please do")).await;
    // What an agent prints while it works holds no request.
    let check = async |speaker: &str, expected: Option<&str>| {
        let world = World::new();
        let began = json!({"role": speaker, "content": "I'll make the billing tests pass."});
        let work = redis().into_iter().filter(|line| line["role"] != "user");
        let lines: Vec<_> = std::iter::once(began).chain(work).collect();
        let learned =
            world.service().reflect_on_session(&world.session("s-1", &lines), RepeatPolicy::IfGrown).await.unwrap();
        assert_eq!(learned.created[0].situation.as_deref(), expected, "{speaker}");
    };
    check("assistant", Some("I'll make the billing tests pass.")).await;
    check("system", None).await;
}

#[tokio::test]
async fn a_session_that_has_not_grown_is_left_alone_and_one_that_has_updates_its_episode() {
    let world = World::new();
    let service = world.service();
    let trigger = world.session("s-1", &routine());
    assert_eq!(service.maybe_reflect(&trigger).await.status, OutcomeStatus::Reflected);
    let again = service.maybe_reflect(&trigger).await;
    assert_eq!(
        (again.status, again.summary.as_str()),
        (OutcomeStatus::Skipped, "nothing has happened since it was reflected on")
    );
    assert_eq!(service.reflect_on_session(&trigger, RepeatPolicy::Always).await.unwrap().change_count(), 0);

    let grown = [routine(), redis()].concat();
    let trigger = world.session("s-1", &grown);
    let learned = service.reflect_on_session(&trigger, RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!(learned.created.len(), 1, "{learned:?}");
    let episodes = world.memory.list_episodes(&EpisodeFilter::default()).await.unwrap();
    assert_eq!(episodes.len(), 1);
    assert!(episodes[0].reflected.as_ref().unwrap().logs[0].bytes > 500);
    // What a session shows counts once, however often it is read.
    service.reflect_on_session(&trigger, RepeatPolicy::Always).await.unwrap();
    assert_eq!(world.lessons().await[0].counters.sightings, 1);
}

#[tokio::test]
async fn a_display_hears_of_beginning_and_end_once_each_whatever_happens() {
    let check = async |world: &World, trigger: ReflectionTrigger, expected: &[&str], status: OutcomeStatus| {
        let outcome = world.service().maybe_reflect(&trigger).await;
        assert_eq!(outcome.status, status, "{outcome:?}");
        assert_eq!(world.heard.types(), expected, "{outcome:?}");
    };
    let (skipped, reflected) = (OutcomeStatus::Skipped, OutcomeStatus::Reflected);
    let world = World::new();
    let learned = [START, "archivist_memory_highlight", "archivist_memories_added", COMPLETE];
    check(&world, world.session("s-1", &redis()), &learned, reflected.clone()).await;
    let world = World::new();
    check(&world, world.session("s-1", &routine()), &[START, COMPLETE], reflected).await;
    let mut world = World::new();
    world.settings.archivist.enabled = false;
    check(&world, world.session("s-1", &redis()), &[START, COMPLETE], skipped.clone()).await;
    let world = World::new();
    let mut gone = world.session("s-1", &redis());
    gone.log_paths = vec!["gone.jsonl".to_owned()];
    check(&world, gone, &[START, COMPLETE], skipped.clone()).await;
    let world = World::new();
    let broken = world.session("s-1", &[json!({"role": "user", "content": "hi"}), json!({PANIC: true})]);
    check(&world, broken, &[START, COMPLETE], skipped.clone()).await;
    // A memory that cannot be written.
    let world = World::new();
    std::fs::write(world.folder.path().join(".openagents"), "a file").unwrap();
    check(&world, world.session("s-1", &redis()), &[START, COMPLETE], skipped).await;
}

#[tokio::test]
async fn a_reader_that_breaks_is_told_and_may_be_tried_again() {
    let world = World::new();
    let trigger = world.session("s-1", &[json!({"role": "user", "content": "hi"}), json!({PANIC: true})]);
    let skip = world.service().reflect_on_session(&trigger, RepeatPolicy::IfGrown).await.unwrap_err();
    assert_eq!(skip.to_string(), "internal error: a reader that breaks");
    assert!(skip.is_transient() && !skip.is_choice());
    let trigger = world.session("s-1", &redis());
    assert!(
        world.service().reflect_on_session(&trigger, RepeatPolicy::IfGrown).await.is_ok(),
        "the next one is not harmed"
    );
}

#[tokio::test]
async fn a_failure_in_three_runs_is_looked_at_once_over_all_of_them() {
    let world = World::new();
    let service = world.service();
    for number in 1..=5 {
        service
            .reflect_on_session(&world.session(&format!("s-{number}"), &stuck()), RepeatPolicy::IfGrown)
            .await
            .unwrap();
        let starts = world.heard.types().iter().filter(|told| *told == START).count();
        assert_eq!(starts, if number < 3 { number } else { number + 1 }, "after run {number}");
    }
    let episodes = world.memory.list_episodes(&EpisodeFilter::default()).await.unwrap();
    let marked = episodes.iter().filter(|one| !one.reflected.as_ref().unwrap().patterns.is_empty()).count();
    assert_eq!((episodes.len(), marked), (5, 1));
    let lessons = world.lessons().await;
    assert_eq!(lessons.len(), 1, "{lessons:#?}");
    assert_eq!(lessons[0].counters.sightings, 5);
    assert_eq!(lessons[0].memory.state, Some(MemoryState::Candidate));
}

#[tokio::test]
async fn runs_that_matter_together_are_looked_at_together_once() {
    let mut world = World::new();
    world.settings.patterns.importance_sum = 1.2;
    let service = world.service();
    for number in 1..=3 {
        let request = format!("Never push to branch release-{number}; we always open a pull request for that.");
        let lines = [redis(), said(9, &request)].concat();
        service
            .reflect_on_session(&world.session(&format!("s-{number}"), &lines), RepeatPolicy::IfGrown)
            .await
            .unwrap();
    }
    let episodes = world.memory.list_episodes(&EpisodeFilter::default()).await.unwrap();
    let pondered = |one: &&Episode| one.reflected.as_ref().unwrap().pondered_with.is_some();
    let (pondered, left): (Vec<&Episode>, Vec<&Episode>) = episodes.iter().partition(pondered);
    assert_eq!((pondered.len(), left.len()), (2, 1));
}

#[tokio::test]
async fn a_wish_that_changed_is_kept_beside_the_old_one_and_both_know() {
    let world = World::new();
    let service = world.service();
    let request = |words: &str| [routine(), said(5, words), ran(6, "git status", 0, "clean")].concat();
    let one = request("Always use npm in this repository, never pnpm.");
    let other = request("Always use pnpm in this repository, never npm.");
    service.reflect_on_session(&world.session("s-1", &one), RepeatPolicy::IfGrown).await.unwrap();
    service.reflect_on_session(&world.session("s-2", &other), RepeatPolicy::IfGrown).await.unwrap();
    let lessons = world.lessons().await;
    assert_eq!(lessons.len(), 2, "{lessons:#?}");
    for lesson in &lessons {
        let links = &lesson.memory.links;
        assert!(links.iter().any(|link| link.relation == Relation::Contradicts), "{:?}", lesson.memory);
    }
}

#[tokio::test]
async fn independent_sessions_give_the_same_memory_in_any_order() {
    let request = |number: u32| {
        let words = ["Never force-push to main.", "Always write commit messages in English.", "We keep dates in UTC."];
        [routine(), said(5, words[usize::try_from(number).unwrap() % 3])].concat()
    };
    let mut memories = Vec::new();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let world = World::new();
        // Ids are made from what a project is known by.
        let service = world.service_of("shop");
        for number in order {
            service
                .reflect_on_session(&world.session(&format!("s-{number}"), &request(number)), RepeatPolicy::IfGrown)
                .await
                .unwrap();
        }
        let mut lines: Vec<String> = Vec::new();
        for lesson in world.lessons().await {
            lines.push(serde_json::to_string(&AgentMemory { alias: None, ..lesson.memory }).unwrap());
        }
        for fact in world.memory.list_facts(&FactFilter::default()).await.unwrap() {
            lines.push(serde_json::to_string(&fact).unwrap());
        }
        lines.sort();
        memories.push(lines.join("\n").replace(&world.folder.path().display().to_string(), "~"));
    }
    assert_eq!(memories[0], memories[1]);
    assert_eq!(memories[1], memories[2]);
}
