use super::super::reflection_service::RepeatPolicy;
use super::super::test_support::{World, now, redis};
use super::*;
use crate::domain::MemoryId;

async fn taught() -> (World, AgentMemory, EpisodeId) {
    let world = World::new();
    let learned =
        world.service().reflect_on_session(&world.session("s-1", &redis()), RepeatPolicy::IfGrown).await.unwrap();
    (world, learned.created[0].clone(), learned.episode)
}

fn judgement(verdict: FeedbackVerdict, role: &str) -> LessonJudgement {
    LessonJudgement { verdict, weight: 1.0, role: Some(role.to_owned()), level: EvidenceLevel::Execution }
}

async fn counters(world: &World) -> (f64, f64) {
    let counters = &world.lessons().await[0].counters;
    (counters.validated, counters.ignored)
}

#[tokio::test]
async fn the_same_word_counts_once_and_another_role_counts_again() {
    let (world, lesson, episode) = taught().await;
    let say = async |role: &str| {
        let judgement = judgement(FeedbackVerdict::Validated, role);
        record_judgement(&*world.memory, vec![lesson.clone()], &episode, &judgement, now()).await.unwrap()
    };
    assert!(!say("judge").await[0].is_known);
    assert!(say("judge").await[0].is_known);
    assert_eq!(counters(&world).await, (1.0, 0.0));
    assert!(!say("sentinel").await[0].is_known);
    assert_eq!(counters(&world).await, (2.0, 0.0));
}

#[tokio::test]
async fn a_lesson_that_had_held_and_is_noise_now_is_a_regression() {
    let (world, lesson, episode) = taught().await;
    let say = async |verdict: FeedbackVerdict| {
        let judgement = judgement(verdict, "judge");
        record_judgement(&*world.memory, vec![lesson.clone()], &episode, &judgement, now()).await.unwrap()
    };
    assert!(!say(FeedbackVerdict::Validated).await[0].is_regression);
    assert!(say(FeedbackVerdict::Ignored).await[0].is_regression);
    let facts = world.memory.list_facts(&FactFilter::default()).await.unwrap();
    let marked =
        facts.iter().filter(|fact| matches!(fact, Fact::Feedback { extra, .. } if extra.contains_key("regression")));
    assert_eq!(marked.count(), 1);
}

#[tokio::test]
async fn a_run_is_found_by_each_of_its_names() {
    let (world, _, episode) = taught().await;
    for name in ["s-1", episode.as_str()] {
        let found = find_episode_by_run(&*world.memory, &RunId::parse(name).unwrap()).await.unwrap();
        assert_eq!(found.map(|found| found.id), Some(episode.clone()), "{name}");
    }
    assert_eq!(find_episode_by_run(&*world.memory, &RunId::parse("s-9").unwrap()).await.unwrap(), None);
}

#[tokio::test]
async fn only_what_a_run_saw_was_shown_to_it() {
    let (world, lesson, _) = taught().await;
    let run = RunId::parse("s-7").unwrap();
    let fact = |memory: &MemoryId, exposure: Exposure| {
        let (run, memory, point) = (run.clone(), memory.clone(), "start".to_owned());
        Fact::Injection { run, memory, point, rank: 1, exposure, at: now(), extra: Extra::new() }
    };
    let gone = MemoryId::parse("mem-gone").unwrap();
    let facts = vec![fact(&lesson.id, Exposure::Exposed), fact(&gone, Exposure::Withheld)];
    world.memory.commit_batch(CommitBatch { facts, ..CommitBatch::default() }, now()).await.unwrap();
    let shown = list_shown_lessons(&*world.memory, &run).await.unwrap();
    assert_eq!(shown.iter().map(|shown| &shown.id).collect::<Vec<_>>(), [&lesson.id]);
}
