//! What holds for every store, however it came about.

use std::path::Path;

use archivist_core::domain::{
    AgentMemory, EvidenceLevel, Fact, FeedbackVerdict, Importance, ImportanceScale, MemoryKind, MemoryQuery,
    MemoryScope,
};
use archivist_core::memory::jsonl::{JsonlMemory, JsonlSettings, SyncPolicy};
use archivist_core::memory::{
    CommitBatch, FactFilter, Lesson, LessonName, LessonNeighbour, LessonRemoval, LessonStateFilter, LessonUsage,
    MemoryAnswer, MemoryService, SearchMethod,
};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::samples::{at, day, episode_id, id, project_query, ranking, run};
use crate::stores::settings;

/// Few enough that they meet often.
const WORDS: [&str; 12] = [
    "test",
    "flaky",
    "commit",
    "typecheck",
    "bun",
    "shard",
    "timeout",
    "retry",
    "src/auth.rs",
    "parseConfig",
    "docker",
    "cache",
];
const TAGS: [&str; 4] = ["slow", "ci", "Flaky", "infra"];
const TOOLS: [&str; 2] = ["bash", "grep"];
const LESSONS: usize = 8;

#[derive(Debug, Clone)]
enum Step {
    Write { key: usize, words: Vec<usize>, tags: Vec<usize>, tool: Option<usize>, importance: f64, kind: u8, on: i64 },
    Forget { key: usize },
    Restore { key: usize, version: u64 },
    Sight { key: usize, episode: usize, on: i64 },
    Judge { key: usize, episode: usize, good: bool },
    Show { key: usize, run: usize },
    Fold,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..LESSONS;
    let write = (
        key.clone(),
        prop::collection::vec(0..WORDS.len(), 1..8),
        prop::collection::vec(0..TAGS.len(), 0..3),
        prop::option::of(0..TOOLS.len()),
        0.0..=1.0,
        0u8..4,
        0i64..60,
    );
    let write = write.prop_map(|(key, words, tags, tool, importance, kind, on)| Step::Write {
        key,
        words,
        tags,
        tool,
        importance,
        kind,
        on,
    });
    prop_oneof![
        8 => write,
        1 => key.clone().prop_map(|key| Step::Forget { key }),
        1 => (key.clone(), 1u64..4).prop_map(|(key, version)| Step::Restore { key, version }),
        2 => (key.clone(), 0usize..3, 0i64..90).prop_map(|(key, episode, on)| Step::Sight { key, episode, on }),
        2 => (key.clone(), 0usize..3, any::<bool>()).prop_map(|(key, episode, good)| Step::Judge { key, episode, good }),
        2 => (key, 0usize..3).prop_map(|(key, run)| Step::Show { key, run }),
        2 => Just(Step::Fold),
        1 => Just(Step::Compact),
    ]
}

fn questions() -> Vec<MemoryQuery> {
    let ask = |change: &dyn Fn(&mut MemoryQuery)| {
        let mut query = project_query();
        change(&mut query);
        query
    };
    let mut questions = vec![
        project_query(),
        ask(&|q| q.facets.tool = Some("bash".into())),
        ask(&|q| q.kind = Some(MemoryKind::Preference)),
        ask(&|q| q.scope = Some(MemoryScope::Tool)),
        ask(&|q| q.tags = vec!["flaky".into(), "ci".into()]),
        ask(&|q| q.max_results = Some(2)),
        ask(&|q| {
            q.text = Some("retrying the flaky test after a timeout".into());
            q.facets.tool = Some("grep".into());
            q.tags = vec!["slow".into()];
        }),
    ];
    questions.extend(WORDS.map(|word| ask(&|q| q.text = Some(format!("{word} commit")))));
    questions
}

/// Everything that can be asked.
#[derive(Debug, PartialEq)]
struct Answers {
    answers: Vec<MemoryAnswer>,
    neighbours: Vec<Vec<LessonNeighbour>>,
    lessons: Vec<Option<Lesson>>,
    named: Vec<Option<Lesson>>,
    facts: Vec<Vec<Fact>>,
}

async fn ask_everything(memory: &JsonlMemory) -> Answers {
    let mut all = Answers { answers: vec![], neighbours: vec![], lessons: vec![], named: vec![], facts: vec![] };
    for question in questions() {
        let mut answer = memory.query_lessons(&question, &ranking(), day(100)).await.unwrap();
        // How it was found is the one thing that may differ.
        answer.method = SearchMethod::FullRead;
        all.answers.push(answer);
        all.neighbours.push(memory.find_neighbours(&question, 4).await.unwrap());
    }
    for key in 0..LESSONS {
        let name = LessonName::Id(id(&format!("l{key}")));
        all.lessons.push(memory.get_lesson(&name).await.unwrap());
        let alias = LessonName::parse(&format!("m-{:03}", key + 1)).unwrap();
        all.named.push(memory.get_lesson(&alias).await.unwrap());
        let filter = FactFilter { memory: Some(id(&format!("l{key}"))), run: None };
        all.facts.push(memory.list_facts(&filter).await.unwrap());
    }
    let filter = FactFilter { memory: None, run: Some(run("r1")) };
    all.facts.push(memory.list_facts(&filter).await.unwrap());
    all
}

async fn take(memory: &JsonlMemory, step: &Step) {
    let key = |key: usize| id(&format!("l{key}"));
    let fact = |fact: Fact| CommitBatch { facts: vec![fact], ..CommitBatch::default() };
    match step {
        Step::Write { key: number, words, tags, tool, importance, kind, on } => {
            let text: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
            let mut lesson = AgentMemory::new(key(*number), day(*on), text.join(" "));
            lesson.tags = tags.iter().map(|tag| TAGS[*tag].to_owned()).collect();
            lesson.facets.tool = tool.map(|tool| TOOLS[tool].to_owned());
            lesson.scope = if *kind == 3 { MemoryScope::Tool } else { MemoryScope::Project };
            lesson.importance = Importance::parse(*importance, ImportanceScale::Undeclared).unwrap();
            lesson.kind = match kind {
                0 => MemoryKind::Preference,
                1 => MemoryKind::Decision,
                _ => MemoryKind::Lesson,
            };
            lesson.detail = (text.len() > 4).then(|| text.join(", "));
            memory.add_memories(vec![lesson], at()).await.unwrap();
        }
        // Lessons and versions that are not there are refused, which is another test's business.
        Step::Forget { key: number } => {
            drop(memory.archive_memory(&key(*number), LessonRemoval::Forgotten { reason: None }, day(60)).await);
        }
        Step::Restore { key: number, version } => drop(memory.restore_version(&key(*number), *version, day(70)).await),
        Step::Sight { key: number, episode, on } => {
            let sighting = Fact::Sighting {
                memory: key(*number),
                episode: episode_id(&format!("e{episode}")),
                at: day(*on),
                level: EvidenceLevel::Execution,
                context: None,
                quotes: Vec::new(),
                extra: Default::default(),
            };
            memory.commit_batch(fact(sighting), at()).await.unwrap();
        }
        Step::Judge { key: number, episode, good } => {
            let feedback = Fact::Feedback {
                memory: key(*number),
                episode: episode_id(&format!("e{episode}")),
                verdict: if *good { FeedbackVerdict::Validated } else { FeedbackVerdict::Ignored },
                weight: 1.5,
                role: None,
                level: EvidenceLevel::Citation,
                at: day(50),
                extra: Default::default(),
            };
            memory.commit_batch(fact(feedback), at()).await.unwrap();
        }
        Step::Show { key: number, run: number_of_run } => {
            let usage = LessonUsage { run: run(&format!("r{number_of_run}")), point: "orchestrator".into() };
            memory.record_usage(&[key(*number)], &usage, day(80)).await.unwrap();
        }
        Step::Fold => memory.run_maintenance().await,
        Step::Compact => drop(memory.compact_banks().await.unwrap()),
    }
}

fn eager(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: 1, sync: SyncPolicy::Lazy, versions_kept: 2, ..settings(directory) }
}

fn copy_truth(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in ["lessons.jsonl", "lessons-archive.jsonl", "ledger.jsonl", "episodes.jsonl"] {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_answers_as_a_full_read_does(steps in prop::collection::vec(step(), 1..40)) {
        let directory = TempDir::new().unwrap();
        let here = directory.path().join("memory");
        block_on(async {
            let memory = JsonlMemory::open(eager(&here));
            for step in &steps {
                take(&memory, step).await;
            }
            let elsewhere = directory.path().join("copy");
            copy_truth(&here, &elsewhere);
            let plain = JsonlMemory::open(settings(&elsewhere));
            let expected = ask_everything(&plain).await;
            prop_assert_eq!(&ask_everything(&memory).await, &expected, "a handle that grew with the store");
            prop_assert_eq!(&ask_everything(&JsonlMemory::open(eager(&here))).await, &expected, "a new handle");
            memory.run_maintenance().await;
            prop_assert_eq!(&ask_everything(&memory).await, &expected, "after catching up");
            let answer = memory.query_lessons(&project_query(), &ranking(), day(100)).await.unwrap();
            let wrote = !memory.list_lessons(LessonStateFilter::All).await.unwrap().is_empty();
            prop_assert_eq!(answer.method, if wrote { SearchMethod::Index } else { answer.method });
            Ok(())
        })?;
    }

    #[test]
    fn compaction_changes_no_answer(steps in prop::collection::vec(step(), 1..40)) {
        let directory = TempDir::new().unwrap();
        let here = directory.path().join("memory");
        block_on(async {
            let memory = JsonlMemory::open(eager(&here));
            for step in &steps {
                take(&memory, step).await;
            }
            let before = ask_everything(&memory).await;
            let mut histories = Vec::new();
            for lesson in memory.list_lessons(LessonStateFilter::All).await.unwrap() {
                histories.push((lesson.memory.id.clone(), memory.lesson_history(&lesson.memory.id).await.unwrap()));
            }
            memory.compact_banks().await.unwrap();
            prop_assert_eq!(&ask_everything(&memory).await, &before);
            for (id, history) in histories {
                prop_assert_eq!(memory.lesson_history(&id).await.unwrap(), history);
            }
            let lines = std::fs::read_to_string(here.join("lessons.jsonl")).unwrap_or_default();
            for key in 0..LESSONS {
                let mine = lines.lines().filter(|line| line.contains(&format!("\"l{key}\""))).count();
                prop_assert!(mine <= 2, "l{key} has {mine} versions in place");
            }
            Ok(())
        })?;
    }

    #[test]
    fn any_version_can_be_brought_back(steps in prop::collection::vec(step(), 1..30), pick in any::<prop::sample::Index>()) {
        let directory = TempDir::new().unwrap();
        block_on(async {
            let memory = JsonlMemory::open(eager(directory.path()));
            for step in &steps {
                take(&memory, step).await;
            }
            for lesson in memory.list_lessons(LessonStateFilter::All).await.unwrap() {
                let id = lesson.memory.id;
                let history = memory.lesson_history(&id).await.unwrap();
                let wanted = pick.get(&history);
                memory.restore_version(&id, wanted.version, day(99)).await.unwrap();
                let after = memory.lesson_history(&id).await.unwrap();
                prop_assert_eq!(&after[..history.len()], &history[..]);
                prop_assert_eq!(after.len(), history.len() + 1);
                let mut expected = wanted.memory.clone();
                expected.restored_from = Some(wanted.version);
                expected.updated_at = Some(day(99));
                let mut now = memory.get_lesson(&LessonName::Id(id)).await.unwrap().unwrap().memory;
                (now.usage_count, now.last_used_at) = (expected.usage_count, expected.last_used_at);
                prop_assert_eq!(now, expected);
            }
            Ok(())
        })?;
    }
}
