use std::collections::{BTreeMap, BTreeSet};

use super::{APART, LESSONS, RecallTask, RecallTrial, TASKS, generate_trial};
use archivist_core::domain::AgentMemory;
use archivist_core::text::WordSplitter;

const SEED: u64 = 7;

fn words(text: &str) -> BTreeSet<String> {
    WordSplitter::default().split_words(text).into_iter().collect()
}

#[test]
fn the_same_seed_makes_the_same_trial_and_another_one_does_not() {
    let (one, other) = (generate_trial(SEED).unwrap(), generate_trial(SEED + 1).unwrap());
    assert_eq!(one, generate_trial(SEED).unwrap());
    assert_ne!(one.lessons, other.lessons);
    assert_ne!(one.tasks, other.tasks);
}

#[test]
fn every_lesson_and_every_task_is_another_one() {
    let RecallTrial { lessons, tasks, apart, asked_at } = generate_trial(SEED).unwrap();
    let summaries: BTreeSet<&str> = lessons.iter().map(|lesson| lesson.summary.as_str()).collect();
    let ids: BTreeSet<&str> = lessons.iter().map(|lesson| lesson.id.as_str()).collect();
    assert_eq!((summaries.len(), ids.len()), (LESSONS, LESSONS));
    assert!(lessons.iter().all(|lesson| lesson.created_at <= asked_at));
    let texts: BTreeSet<&str> = tasks.iter().map(|task| task.text.as_str()).collect();
    assert_eq!(texts.len(), 2 * TASKS);
    let rights: BTreeSet<usize> = tasks.iter().chain(&apart).filter_map(|task| task.right).collect();
    assert_eq!(rights.len(), TASKS + APART);
    assert!(rights.iter().all(|right| *right < LESSONS));
    let all = lessons.iter().map(|lesson| lesson.summary.clone()).chain(tasks.into_iter().map(|task| task.text));
    assert!(all.into_iter().all(|text| !text.contains(['{', '}']) || text.contains("\"error\":")));
}

#[test]
fn lessons_compete_on_one_tool_and_on_one_part() {
    let RecallTrial { lessons, .. } = generate_trial(SEED).unwrap();
    let mut parts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for lesson in &lessons {
        *parts.entry(lesson.facets.component.as_deref().unwrap()).or_default() += 1;
        *tools.entry(&lesson.tags[0]).or_default() += 1;
    }
    assert!(parts.values().all(|count| (25..=80).contains(count)), "{parts:?}");
    assert!(tools.values().all(|count| *count >= 8), "{tools:?}");
    assert!(tools.len() > 60, "{}", tools.len());
}

/// How much of its lesson's words a task holds, in the middle of all tasks.
fn usual_share(lessons: &[AgentMemory], tasks: &[RecallTask]) -> f64 {
    let mut shares: Vec<f64> = tasks
        .iter()
        .filter_map(|task| {
            let lesson = words(&lessons[task.right?].summary);
            let common = words(&task.text).intersection(&lesson).count();
            Some(common as f64 / lesson.len() as f64)
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    assert!(shares.last().is_some_and(|most| *most < 0.95), "a task is a copy of its lesson");
    shares[shares.len() / 2]
}

#[test]
fn tasks_are_worded_in_another_way_than_their_lessons() {
    let RecallTrial { lessons, tasks, apart, .. } = generate_trial(SEED).unwrap();
    let (usual, least) = (usual_share(&lessons, &tasks), usual_share(&lessons, &apart));
    assert!((0.25..0.6).contains(&usual), "{usual}");
    assert!(least < usual - 0.1, "{least} {usual}");
}

/// What no lesson is about is asked in words that lessons hold too.
#[test]
fn what_nothing_is_known_about_shares_words_with_lessons() {
    let RecallTrial { lessons, tasks, .. } = generate_trial(SEED).unwrap();
    let names: BTreeSet<String> = lessons.iter().flat_map(|lesson| &lesson.tags).flat_map(|tag| words(tag)).collect();
    let unmatched: Vec<_> = tasks.iter().filter(|task| task.right.is_none()).collect();
    assert_eq!(unmatched.len(), TASKS);
    let naming = unmatched.iter().filter(|task| !words(&task.text).is_disjoint(&names)).count();
    assert!(naming > TASKS / 2, "only {naming} name a tool or a part that lessons are about");
}
