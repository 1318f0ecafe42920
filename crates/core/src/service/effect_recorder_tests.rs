use serde_json::Value;

use super::super::reflection_service::RepeatPolicy;
use super::super::test_support::{World, ran, redis, routine, said};
use super::*;
use crate::domain::{Exposure, Extra, MemoryState};
use crate::memory::{CommitBatch, MemoryService};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Before the sessions of these tests began.
fn before() -> Timestamp {
    at("2026-02-12T09:00:00Z")
}

fn injection(run: &str, memory: &MemoryId, exposure: Exposure, at: Timestamp) -> Fact {
    let (run, memory) = (RunId::parse(run).unwrap(), memory.clone());
    Fact::Injection { run, memory, point: "session-start".to_owned(), rank: 1, exposure, at, extra: Extra::new() }
}

/// A memory that has learned about redis from two runs.
async fn taught() -> (World, MemoryId) {
    let world = World::new();
    for name in ["s-1", "s-2"] {
        world.service().reflect_on_session(&world.session(name, &redis()), RepeatPolicy::IfGrown).await.unwrap();
    }
    let id = world.lessons().await[0].memory.id.clone();
    (world, id)
}

async fn write(world: &World, facts: Vec<Fact>) {
    world.memory.commit_batch(CommitBatch { facts, ..CommitBatch::default() }, before()).await.unwrap();
}

/// What is told of a run, in order.
async fn effects(world: &World, run: &str) -> Vec<Effect> {
    let filter = FactFilter { memory: None, run: Some(RunId::parse(run).unwrap()) };
    let facts = world.memory.list_facts(&filter).await.unwrap();
    facts
        .into_iter()
        .filter_map(|fact| if let Fact::Effect { effect, .. } = fact { Some(effect) } else { None })
        .collect()
}

/// A run is given the lesson, and this happens in it.
async fn check(lines: &[Value], exposure: Exposure, given: Timestamp, expected: &[Effect]) {
    let (world, id) = taught().await;
    write(&world, vec![injection("s-3", &id, exposure, given)]).await;
    let trigger = world.session("s-3", lines);
    world.service().reflect_on_session(&trigger, RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!(effects(&world, "s-3").await, expected, "{lines:?}");
    world.service().reflect_on_session(&trigger, RepeatPolicy::Always).await.unwrap();
    assert_eq!(effects(&world, "s-3").await, expected, "a run that is read twice counts once");
}

/// The tests pass at once.
fn passing() -> Vec<Value> {
    [said(0, "Make the billing tests pass."), ran(1, "pytest tests/billing -q", 0, "3 passed in 1.97s")].concat()
}

#[tokio::test]
async fn the_trouble_comes_back() {
    check(&redis(), Exposure::Exposed, before(), &[Effect::Recurred]).await;
    check(&redis(), Exposure::Withheld, before(), &[Effect::Recurred]).await;
}

#[tokio::test]
async fn the_trouble_is_spared() {
    check(&passing(), Exposure::Exposed, before(), &[Effect::Prevented]).await;
    check(&passing(), Exposure::Withheld, before(), &[Effect::Prevented]).await;
}

#[tokio::test]
async fn nobody_can_tell() {
    check(&routine(), Exposure::Exposed, before(), &[Effect::Unknown]).await;
    let no_check =
        [said(0, "Have a look at the billing tests."), ran(1, "ls tests/billing", 0, "test_tax.py")].concat();
    check(&no_check, Exposure::Exposed, before(), &[Effect::Unknown]).await;
}

#[tokio::test]
async fn what_failed_before_it_was_given_is_not_its_fault() {
    check(&redis(), Exposure::Exposed, at("2026-02-12T10:02:30Z"), &[Effect::Unknown]).await;
    check(&redis(), Exposure::Exposed, at("2026-02-12T10:00:30Z"), &[Effect::Recurred]).await;
}

#[tokio::test]
async fn a_run_that_was_given_nothing_tells_nothing() {
    let (world, _) = taught().await;
    world.service().reflect_on_session(&world.session("s-3", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!(effects(&world, "s-3").await, []);
}

#[tokio::test]
async fn a_run_that_went_well_until_noon_may_still_fail() {
    let (world, id) = taught().await;
    write(&world, vec![injection("s-3", &id, Exposure::Exposed, before())]).await;
    world.service().reflect_on_session(&world.session("s-3", &passing()), RepeatPolicy::IfGrown).await.unwrap();
    let later = [passing(), ran(5, "pytest tests/billing -q", 1, "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\n2 failed, 1 passed in 0.42s")].concat();
    world.service().reflect_on_session(&world.session("s-3", &later), RepeatPolicy::IfGrown).await.unwrap();
    let told = effects(&world, "s-3").await;
    assert_eq!(told, [Effect::Prevented, Effect::Recurred]);
    assert_eq!(strongest_effect(&told), Effect::Recurred);
    let facts = world.memory.list_facts(&FactFilter::default()).await.unwrap();
    let arms = recall::TrialArms::from_facts(&id, &facts);
    assert_eq!((arms.exposed.runs, arms.exposed.recurred), (1, 1));
}

/// Runs that had the lesson fail, runs that had not do not.
fn harmful(id: &MemoryId) -> Vec<Fact> {
    let run = |number: usize| {
        let (exposure, effect) = match number % 2 {
            0 => (Exposure::Exposed, Effect::Recurred),
            _ => (Exposure::Withheld, Effect::Prevented),
        };
        let name = format!("run-{number}");
        let (run, memory, at) = (RunId::parse(&name).unwrap(), id.clone(), before());
        [injection(&name, id, exposure, at), Fact::Effect { run, memory, effect, at, extra: Extra::new() }]
    };
    (0..60).flat_map(run).collect()
}

#[tokio::test]
async fn a_lesson_that_does_harm_is_deprecated_and_says_why() {
    let (world, id) = taught().await;
    write(&world, harmful(&id)).await;
    let moved = world.service().refresh_lesson_states(world.folder.path()).await.unwrap();
    assert_eq!((moved.len(), &moved[0].id, &moved[0].state), (1, &id, &Some(MemoryState::Deprecated)));
    let reason = moved[0].state_reason.as_deref().unwrap();
    assert!(reason.starts_with("does harm: came back in "), "{reason}");
    assert_eq!(world.service().refresh_lesson_states(world.folder.path()).await.unwrap(), []);
}

#[tokio::test]
async fn a_run_that_shows_the_last_proof_of_harm_ends_the_lesson() {
    let (world, id) = taught().await;
    write(&world, harmful(&id)).await;
    write(&world, vec![injection("s-3", &id, Exposure::Exposed, before())]).await;
    world.service().reflect_on_session(&world.session("s-3", &passing()), RepeatPolicy::IfGrown).await.unwrap();
    assert_eq!(world.lessons().await[0].memory.state, Some(MemoryState::Deprecated));
}

#[tokio::test]
async fn a_person_who_stands_behind_a_lesson_outweighs_the_runs() {
    let (world, id) = taught().await;
    let mut active = world.lessons().await[0].memory.clone();
    active.state = Some(MemoryState::Active);
    world.memory.add_memories(vec![active], before()).await.unwrap();
    write(&world, harmful(&id)).await;
    assert_eq!(world.service().refresh_lesson_states(world.folder.path()).await.unwrap(), []);
}

/// Events of an orchestrator's run, with a review or without.
fn orchestrated(world: &World, events: &[Value]) -> crate::domain::ReflectionTrigger {
    let mut trigger = world.session("2026-02-12-cart", &[]);
    let text: Vec<String> = events.iter().map(Value::to_string).collect();
    std::fs::write(&trigger.log_paths[0], text.join("\n") + "\n").unwrap();
    trigger.main_task_id = None;
    trigger
}

fn event(kind: &str, data: &Value) -> Value {
    serde_json::json!({"run_id": "2026-02-12-cart", "ts": "2026-02-12T10:00:00Z", "type": kind, "phase": "check",
        "data": data})
}

#[tokio::test]
async fn what_reviewers_find_counts_finding_by_finding() {
    let found = |words: &str| {
        event(
            "review.verdict",
            &serde_json::json!({"archetype": "guardian", "verdict": "needs_changes",
            "findings": [{"severity": "INFO", "description": words, "category": "quality"}]}),
        )
    };
    let clean = event("review.verdict", &serde_json::json!({"archetype": "guardian", "verdict": "approved"}));
    let start = event("run.start", &serde_json::json!({"task": "Keep the discount"}));
    let end = event("run.complete", &serde_json::json!({"status": "completed"}));
    for (review, expected) in [
        (Some(found("Connection refused by redis while the billing tests run")), Effect::Recurred),
        (Some(found("The button of the basket has no label")), Effect::Prevented),
        (Some(clean), Effect::Prevented),
        (None, Effect::Unknown),
    ] {
        let (world, id) = taught().await;
        write(&world, vec![injection("2026-02-12-cart", &id, Exposure::Exposed, before())]).await;
        let events: Vec<Value> = [Some(start.clone()), review, Some(end.clone())].into_iter().flatten().collect();
        world.service().reflect_on_session(&orchestrated(&world, &events), RepeatPolicy::IfGrown).await.unwrap();
        let told = effects(&world, "2026-02-12-cart").await;
        assert_eq!(told, [expected], "{events:?}\n{}", world.lessons().await[0].memory.summary);
    }
}
