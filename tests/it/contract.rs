//! What every memory must do. A second backend adds one more `Store` and runs the same cases.

use std::sync::Arc;

use archivist_core::domain::{
    AgentMemory, EpisodeStatus, EvidenceLevel, Fact, FeedbackVerdict, Importance, ImportanceScale, MemoryId,
    MemoryKind, MemoryQuery, MemoryScope, MemoryState,
};
use archivist_core::memory::{
    CommitBatch, EpisodeFilter, FactFilter, LessonName, LessonRemoval, LessonStateFilter, LessonUsage, MemoryError,
    MemoryService,
};

use crate::contract_newest::the_newest_come_without_the_others;
use crate::samples::{PROJECT, at, day, episode, episode_id, id, lesson, project_query, ranking, run, session};
use crate::stores::Store;

/// Every case, on one kind of store. The list is here so that no store can leave one out.
macro_rules! contract {
    ($module:ident, $store:ty) => {
        contract! { $module, $store:
            an_empty_memory_answers,
            what_is_recorded_is_there,
            a_second_recording_updates_the_episode,
            saying_it_again_changes_nothing,
            the_newest_come_without_the_others,
            a_commit_is_all_or_nothing,
            aliases_count_up_and_are_never_used_twice,
            lessons_are_found_by_id_and_alias,
            versions_are_kept_and_restored,
            an_archived_lesson_is_kept_but_not_given,
            a_superseded_lesson_names_its_successor,
            usage_is_counted_from_the_ledger,
            counters_add_up,
            facts_are_read_by_lesson_and_run,
            filters_work_alone_and_together,
            a_topic_shuts_out_other_topics,
            without_a_topic_importance_and_recency_decide,
            distrust_lowers_and_sightings_refresh,
            projects_do_not_see_each_other,
            global_lessons_are_seen_everywhere,
            neighbours_read_alike,
            another_handle_sees_the_same,
            a_stale_expectation_is_refused,
            a_refused_batch_leaves_nothing_anywhere,
            of_two_who_expect_nothing_one_is_first,
            the_last_of_a_batch_wins,
            a_judgement_beyond_all_measure_does_no_harm,
            concurrent_writers_lose_nothing,
            unknown_fields_survive,
        }
    };
    ($module:ident, $store:ty: $($case:ident),+ $(,)?) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    let Some(store) = <$store as super::Store>::fresh().await else { return };
                    super::$case(super::Store::open(&store).await, &store).await;
                }
            )+
        }
    };
}

contract!(jsonl, crate::stores::Jsonl);
#[cfg(all(unix, feature = "postgres"))]
contract!(postgres, crate::stores::Postgres);

pub(crate) type Handle = Arc<dyn MemoryService>;

fn name(id: &MemoryId) -> LessonName {
    LessonName::Id(id.clone())
}

fn reads(text: &str) -> MemoryQuery {
    MemoryQuery { text: Some(text.into()), ..project_query() }
}

async fn summaries(memory: &Handle, query: &MemoryQuery) -> Vec<String> {
    let answer = memory.query_lessons(query, &ranking(), at()).await.unwrap();
    answer.hits.into_iter().map(|hit| hit.lesson.memory.summary).collect()
}

async fn an_empty_memory_answers(memory: Handle, _: &impl Store) {
    assert!(summaries(&memory, &project_query()).await.is_empty());
    assert!(memory.get_lesson(&name(&id("nobody"))).await.unwrap().is_none());
    assert!(memory.list_lessons(LessonStateFilter::All).await.unwrap().is_empty());
    assert!(memory.list_episodes(&EpisodeFilter::default()).await.unwrap().is_empty());
    assert!(memory.list_facts(&FactFilter::default()).await.unwrap().is_empty());
    assert!(memory.find_neighbours(&reads("anything"), 5).await.unwrap().is_empty());
    assert!(matches!(memory.lesson_history(&id("nobody")).await, Err(MemoryError::NoSuchLesson { .. })));
    let removal = LessonRemoval::Forgotten { reason: None };
    assert!(matches!(memory.archive_memory(&id("nobody"), removal, at()).await, Err(MemoryError::NoSuchLesson { .. })));
    assert_eq!(memory.commit_batch(CommitBatch::default(), at()).await.unwrap().written, 0);
}

async fn what_is_recorded_is_there(memory: Handle, _: &impl Store) {
    memory.record_episode(episode("one"), at()).await.unwrap();
    memory.add_memories(vec![lesson("a", "Run the tests before committing")], at()).await.unwrap();
    assert_eq!(memory.list_episodes(&EpisodeFilter::default()).await.unwrap(), [episode("one")]);
    let found = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap();
    assert_eq!(found.memory.summary, "Run the tests before committing");
    assert_eq!(found.version, 1);
    assert_eq!(summaries(&memory, &project_query()).await, ["Run the tests before committing"]);
}

async fn a_second_recording_updates_the_episode(memory: Handle, _: &impl Store) {
    memory.record_episode(episode("one"), at()).await.unwrap();
    memory.record_episode(episode("two"), at()).await.unwrap();
    let mut later = episode("one");
    later.status = EpisodeStatus::Failed;
    memory.record_episode(later.clone(), at()).await.unwrap();
    assert_eq!(memory.list_episodes(&EpisodeFilter::default()).await.unwrap(), [episode("two"), later.clone()]);
    let of_session = EpisodeFilter { session: Some(session("one")), ..EpisodeFilter::default() };
    assert_eq!(memory.list_episodes(&of_session).await.unwrap(), [later]);
    let since = EpisodeFilter { since: Some(day(400)), ..EpisodeFilter::default() };
    assert!(memory.list_episodes(&since).await.unwrap().is_empty());
}

async fn saying_it_again_changes_nothing(memory: Handle, _: &impl Store) {
    let batch = CommitBatch {
        episodes: vec![episode("one")],
        memories: vec![lesson("a", "Pin the toolchain")],
        facts: vec![sighting("a", "one", 1), sighting("a", "one", 2)],
        ..CommitBatch::default()
    };
    let first = memory.commit_batch(batch.clone(), at()).await.unwrap();
    assert_eq!((first.written, first.known), (3, 1));
    let again = memory.commit_batch(batch, at()).await.unwrap();
    assert_eq!((again.written, again.known), (0, 4));
    assert_eq!(again.lessons, first.lessons);
    let found = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap();
    assert_eq!((found.version, found.counters.sightings), (1, 1));
}

async fn a_commit_is_all_or_nothing(memory: Handle, _: &impl Store) {
    let mut huge = lesson("b", "Too long");
    huge.detail = Some("x".repeat(5 * 1024 * 1024));
    let batch = CommitBatch {
        episodes: vec![episode("one")],
        memories: vec![lesson("a", "Fits"), huge],
        facts: vec![sighting("a", "one", 1)],
        ..CommitBatch::default()
    };
    assert!(matches!(memory.commit_batch(batch, at()).await, Err(MemoryError::TooLarge { .. })));
    assert!(memory.list_lessons(LessonStateFilter::All).await.unwrap().is_empty());
    assert!(memory.list_episodes(&EpisodeFilter::default()).await.unwrap().is_empty());
    assert!(memory.list_facts(&FactFilter::default()).await.unwrap().is_empty());
}

async fn aliases_count_up_and_are_never_used_twice(memory: Handle, _: &impl Store) {
    let receipt = memory.add_memories(vec![lesson("a", "A"), lesson("b", "B")], at()).await.unwrap();
    let aliases: Vec<String> = receipt.lessons.iter().map(|(_, alias)| alias.to_string()).collect();
    assert_eq!(aliases, ["m-001", "m-002"]);
    memory.archive_memory(&id("b"), LessonRemoval::Forgotten { reason: None }, at()).await.unwrap();
    let receipt = memory.add_memories(vec![lesson("c", "C"), lesson("a", "A, better")], at()).await.unwrap();
    let aliases: Vec<String> = receipt.lessons.iter().map(|(_, alias)| alias.to_string()).collect();
    assert_eq!(aliases, ["m-003", "m-001"]);
}

async fn lessons_are_found_by_id_and_alias(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "A")], at()).await.unwrap();
    let by_alias = memory.get_lesson(&LessonName::parse("m-001").unwrap()).await.unwrap().unwrap();
    let by_id = memory.get_lesson(&LessonName::parse("a").unwrap()).await.unwrap().unwrap();
    assert_eq!(by_alias, by_id);
    assert!(memory.get_lesson(&LessonName::parse("m-002").unwrap()).await.unwrap().is_none());
}

async fn versions_are_kept_and_restored(memory: Handle, _: &impl Store) {
    for text in ["First", "Second", "Third"] {
        memory.add_memories(vec![lesson("a", text)], at()).await.unwrap();
    }
    let history = memory.lesson_history(&id("a")).await.unwrap();
    let texts: Vec<(u64, &str)> =
        history.iter().map(|revision| (revision.version, revision.memory.summary.as_str())).collect();
    assert_eq!(texts, [(1, "First"), (2, "Second"), (3, "Third")]);
    memory.restore_version(&id("a"), 1, day(3)).await.unwrap();
    let now = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap();
    assert_eq!((now.memory.summary.as_str(), now.version), ("First", 4));
    assert_eq!((now.memory.restored_from, now.memory.updated_at), (Some(1), Some(day(3))));
    assert!(matches!(
        memory.restore_version(&id("a"), 9, at()).await,
        Err(MemoryError::NoSuchVersion { version: 9, known: 4, .. })
    ));
}

async fn an_archived_lesson_is_kept_but_not_given(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "Old habit"), lesson("b", "New habit")], at()).await.unwrap();
    let removal = LessonRemoval::Forgotten { reason: Some("nobody does this".into()) };
    memory.archive_memory(&id("a"), removal, day(2)).await.unwrap();
    assert_eq!(summaries(&memory, &project_query()).await, ["New habit"]);
    assert_eq!(memory.list_lessons(LessonStateFilter::Live).await.unwrap().len(), 1);
    assert_eq!(memory.list_lessons(LessonStateFilter::All).await.unwrap().len(), 2);
    let kept = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap().memory;
    assert_eq!(kept.state, Some(MemoryState::Archived));
    assert_eq!(kept.state_reason.as_deref(), Some("nobody does this"));
    memory.restore_version(&id("a"), 1, day(3)).await.unwrap();
    assert_eq!(summaries(&memory, &project_query()).await.len(), 2);
}

async fn a_superseded_lesson_names_its_successor(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "Old"), lesson("b", "New")], at()).await.unwrap();
    memory.archive_memory(&id("a"), LessonRemoval::ReplacedBy(id("b")), at()).await.unwrap();
    assert_eq!(summaries(&memory, &project_query()).await, ["New"]);
    let old = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap().memory;
    assert_eq!((old.superseded_by, old.state), (Some(id("b")), Some(MemoryState::Superseded)));
}

async fn usage_is_counted_from_the_ledger(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "A"), lesson("b", "B")], at()).await.unwrap();
    let usage = |run_name: &str| LessonUsage { run: run(run_name), point: "orchestrator".into() };
    memory.record_usage(&[id("a"), id("b")], &usage("r1"), day(1)).await.unwrap();
    memory.record_usage(&[id("a")], &usage("r1"), day(1)).await.unwrap();
    memory.record_usage(&[id("a")], &usage("r2"), day(2)).await.unwrap();
    let a = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap();
    assert_eq!((a.memory.usage_count, a.memory.last_used_at), (2, Some(day(2))));
    assert_eq!(a.version, 1, "being shown makes no new version");
    let b = memory.get_lesson(&name(&id("b"))).await.unwrap().unwrap();
    assert_eq!((b.memory.usage_count, b.memory.last_used_at), (1, Some(day(1))));
}

async fn counters_add_up(memory: Handle, _: &impl Store) {
    let facts = vec![
        sighting("a", "one", 1),
        sighting("a", "two", 5),
        feedback("a", "one", FeedbackVerdict::Validated, 1.0),
        feedback("a", "two", FeedbackVerdict::Ignored, 1.5),
    ];
    // Facts may come before the lesson they speak of.
    memory.commit_batch(CommitBatch { facts, ..CommitBatch::default() }, at()).await.unwrap();
    memory.add_memories(vec![lesson("a", "A")], at()).await.unwrap();
    let counters = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap().counters;
    assert_eq!((counters.sightings, counters.last_seen_at), (2, Some(day(5))));
    assert_eq!((counters.validated, counters.ignored), (1.0, 1.5));
    assert!((counters.trust_score() - 2.0 / 3.5).abs() < 1e-12);
}

async fn facts_are_read_by_lesson_and_run(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "A"), lesson("b", "B")], at()).await.unwrap();
    let usage = LessonUsage { run: run("r1"), point: "healer".into() };
    memory.record_usage(&[id("a"), id("b")], &usage, day(1)).await.unwrap();
    memory
        .commit_batch(CommitBatch { facts: vec![sighting("a", "one", 1)], ..CommitBatch::default() }, at())
        .await
        .unwrap();
    let of = |memory: Option<&str>, of_run: Option<&str>| FactFilter { memory: memory.map(id), run: of_run.map(run) };
    let count = async |filter: FactFilter| memory.list_facts(&filter).await.unwrap().len();
    assert_eq!(count(of(None, None)).await, 3);
    assert_eq!(count(of(Some("a"), None)).await, 2);
    assert_eq!(count(of(None, Some("r1"))).await, 2);
    assert_eq!(count(of(Some("a"), Some("r1"))).await, 1);
    assert_eq!(count(of(Some("c"), None)).await, 0);
}

async fn filters_work_alone_and_together(memory: Handle, _: &impl Store) {
    let faceted = |key: &str, change: fn(&mut AgentMemory)| {
        let mut memory = lesson(key, key);
        change(&mut memory);
        memory
    };
    let lessons = vec![
        faceted("plain", |_| {}),
        faceted("bash", |m| m.facets.tool = Some("bash".into())),
        faceted("claude", |m| {
            m.scope = MemoryScope::Provider;
            m.facets.provider = Some("claude-code".into());
            m.facets.tool = Some("bash".into());
        }),
        faceted("auth", |m| m.facets.component = Some("src/auth".into())),
        faceted("task", |m| {
            m.scope = MemoryScope::Task;
            m.facets.task_id = Some("oa-1".into());
        }),
        faceted("from-task", |m| m.facets.task_id = Some("oa-1".into())),
        faceted("wish", |m| m.kind = MemoryKind::Preference),
        faceted("everywhere", |m| m.facets.domain = Some("general".into())),
        faceted("prose", |m| m.facets.domain = Some("writing".into())),
    ];
    memory.add_memories(lessons, at()).await.unwrap();
    let check = async |change: fn(&mut MemoryQuery), absent: &[&str], first: &str| {
        let mut query = project_query();
        change(&mut query);
        let found = summaries(&memory, &query).await;
        let all = ["plain", "bash", "claude", "auth", "task", "from-task", "wish", "everywhere", "prose"];
        for name in all {
            let expected = !absent.contains(&name);
            assert_eq!(found.iter().any(|found| found == name), expected, "{name} in {found:?}");
        }
        if !first.is_empty() {
            assert_eq!(found.first().map(String::as_str), Some(first));
        }
    };
    check(|_| {}, &[], "").await;
    check(|q| q.facets.tool = Some("bash".into()), &[], "").await;
    check(|q| q.facets.tool = Some("grep".into()), &["bash", "claude"], "").await;
    check(|q| q.facets.provider = Some("openai".into()), &["claude"], "").await;
    let both = |q: &mut MemoryQuery| {
        q.facets.provider = Some("claude-code".into());
        q.facets.tool = Some("bash".into());
    };
    check(both, &[], "claude").await;
    check(|q| q.facets.component = Some("src/auth/login.rs".into()), &[], "auth").await;
    check(|q| q.facets.component = Some("src/author.rs".into()), &["auth"], "").await;
    check(|q| q.facets.task_id = Some("oa-2".into()), &["task"], "").await;
    check(|q| q.facets.domain = Some("code".into()), &["prose"], "").await;
    let others = ["plain", "bash", "claude", "auth", "task", "from-task", "everywhere", "prose"];
    check(|q| q.kind = Some(MemoryKind::Preference), &others, "wish").await;
    let unscoped = ["plain", "bash", "auth", "task", "from-task", "wish", "everywhere", "prose"];
    check(|q| q.scope = Some(MemoryScope::Provider), &unscoped, "claude").await;
}

async fn a_topic_shuts_out_other_topics(memory: Handle, _: &impl Store) {
    let mut tagged = lesson("tagged", "Split the suite");
    tagged.tags = vec!["Slow-Command".into(), "typecheck".into()];
    let mut failure = lesson("failure", "Raise the limit");
    failure.facets.error_family = Some("0123456789abcdef".parse().unwrap());
    let words = lesson("words", "Shard large bun test runs before the overnight loop");
    memory.add_memories(vec![tagged, failure, words], at()).await.unwrap();
    let ask = |change: fn(&mut MemoryQuery)| {
        let mut query = project_query();
        change(&mut query);
        query
    };
    let found = summaries(&memory, &ask(|q| q.text = Some("sharding the tests".into()))).await;
    assert_eq!(found, ["Shard large bun test runs before the overnight loop"]);
    let found = summaries(&memory, &ask(|q| q.tags = vec!["slow-command".into()])).await;
    assert_eq!(found, ["Split the suite"]);
    let family = ask(|q| q.facets.error_family = Some("0123456789abcdef".parse().unwrap()));
    assert_eq!(summaries(&memory, &family).await, ["Raise the limit"]);
    assert!(summaries(&memory, &ask(|q| q.text = Some("kubernetes ingress".into()))).await.is_empty());
}

async fn without_a_topic_importance_and_recency_decide(memory: Handle, _: &impl Store) {
    let weighted = |key: &str, importance: f64, created: i64| {
        let mut memory = AgentMemory::new(id(key), day(created), key);
        memory.importance = Importance::parse(importance, ImportanceScale::Undeclared).unwrap();
        memory
    };
    let lessons = vec![weighted("old", 0.5, 0), weighted("new", 0.5, 99), weighted("vital", 1.0, 0)];
    memory.add_memories(lessons, at()).await.unwrap();
    let answer = memory.query_lessons(&project_query(), &ranking(), day(100)).await.unwrap();
    let order: Vec<&str> = answer.hits.iter().map(|hit| hit.lesson.memory.summary.as_str()).collect();
    assert_eq!(order, ["new", "vital", "old"]);
    let mut query = project_query();
    query.max_results = Some(1);
    let answer = memory.query_lessons(&query, &ranking(), day(100)).await.unwrap();
    assert_eq!((answer.hits.len(), answer.dropped), (1, 2));
}

async fn distrust_lowers_and_sightings_refresh(memory: Handle, _: &impl Store) {
    let lessons = vec![
        AgentMemory::new(id("doubted"), day(0), "doubted"),
        AgentMemory::new(id("plain"), day(0), "plain"),
        AgentMemory::new(id("seen"), day(0), "seen"),
    ];
    memory.add_memories(lessons, at()).await.unwrap();
    let facts = vec![sighting("seen", "one", 90), feedback("doubted", "one", FeedbackVerdict::Ignored, 3.0)];
    memory.commit_batch(CommitBatch { facts, ..CommitBatch::default() }, at()).await.unwrap();
    let answer = memory.query_lessons(&project_query(), &ranking(), day(100)).await.unwrap();
    let order: Vec<&str> = answer.hits.iter().map(|hit| hit.lesson.memory.summary.as_str()).collect();
    assert_eq!(order, ["seen", "plain", "doubted"]);
}

async fn projects_do_not_see_each_other(memory: Handle, _: &impl Store) {
    let owned = |key: &str, repo: Option<&str>, root: Option<&str>| {
        let mut memory = lesson(key, key);
        memory.repo_id = repo.map(str::to_owned);
        memory.project_root = root.map(str::to_owned);
        memory
    };
    let lessons = vec![
        owned("here", Some("host/team/here"), None),
        owned("there", Some("host/team/there"), None),
        owned("rooted-here", None, Some(PROJECT)),
        owned("rooted-there", None, Some("/elsewhere")),
        owned("nowhere", None, None),
    ];
    memory.add_memories(lessons, at()).await.unwrap();
    let mut query = project_query();
    query.repo_id = Some("host/team/here".into());
    let mut found = summaries(&memory, &query).await;
    found.sort();
    assert_eq!(found, ["here", "nowhere", "rooted-here"]);
}

async fn global_lessons_are_seen_everywhere(memory: Handle, _: &impl Store) {
    let mut global = lesson("g", "Read the error first");
    global.scope = MemoryScope::Global;
    global.repo_id = Some("host/team/elsewhere".into());
    let receipt = memory.add_memories(vec![lesson("a", "Local"), global], at()).await.unwrap();
    assert_eq!(receipt.lessons.len(), 2);
    let mut query = project_query();
    query.repo_id = Some("host/team/here".into());
    assert_eq!(summaries(&memory, &query).await.len(), 2);
    let usage = LessonUsage { run: run("r"), point: "orchestrator".into() };
    memory.record_usage(&[id("g"), id("a")], &usage, day(1)).await.unwrap();
    for key in ["g", "a"] {
        assert_eq!(memory.get_lesson(&name(&id(key))).await.unwrap().unwrap().memory.usage_count, 1, "{key}");
    }
    memory.archive_memory(&id("g"), LessonRemoval::Forgotten { reason: None }, at()).await.unwrap();
    assert_eq!(summaries(&memory, &query).await, ["Local"]);
}

async fn neighbours_read_alike(memory: Handle, _: &impl Store) {
    let lessons = vec![
        lesson("a", "Run bun test with a filter when the suite is slow"),
        lesson("b", "Commit messages are written in the imperative"),
        lesson("c", "Filter slow bun test suites"),
    ];
    memory.add_memories(lessons, at()).await.unwrap();
    memory.archive_memory(&id("c"), LessonRemoval::Forgotten { reason: None }, at()).await.unwrap();
    let near = memory.find_neighbours(&reads("filtering the slow bun tests"), 5).await.unwrap();
    let ids: Vec<&str> = near.iter().map(|near| near.lesson.memory.id.as_str()).collect();
    assert_eq!(ids, ["c", "a"], "a forgotten lesson is a neighbour too");
    assert!(near.iter().all(|near| (0.0..=1.0).contains(&near.similarity)));
    assert_eq!(memory.find_neighbours(&reads("slow bun test"), 1).await.unwrap().len(), 1);
    let mut stranger = lesson("stranger", "Filter slow bun test suites");
    stranger.project_root = Some("/elsewhere".into());
    memory.add_memories(vec![stranger], at()).await.unwrap();
    assert_eq!(
        memory.find_neighbours(&reads("slow bun test"), 5).await.unwrap().len(),
        2,
        "strangers are no neighbours"
    );
}

async fn another_handle_sees_the_same(memory: Handle, store: &impl Store) {
    let other = store.open().await;
    assert!(summaries(&other, &project_query()).await.is_empty());
    memory.add_memories(vec![lesson("a", "Shared")], at()).await.unwrap();
    assert_eq!(summaries(&other, &project_query()).await, ["Shared"]);
    other.add_memories(vec![lesson("b", "Back")], at()).await.unwrap();
    assert_eq!(
        memory.list_lessons(LessonStateFilter::All).await.unwrap(),
        other.list_lessons(LessonStateFilter::All).await.unwrap()
    );
}

async fn a_stale_expectation_is_refused(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "One")], at()).await.unwrap();
    let stale = |expected| CommitBatch {
        episodes: vec![episode("one")],
        memories: vec![lesson("a", "Two")],
        expected: vec![(id("a"), expected)],
        ..CommitBatch::default()
    };
    let refused = memory.commit_batch(stale(7), at()).await;
    assert!(matches!(refused, Err(MemoryError::Conflict { expected: 7, found: 1, .. })));
    assert!(memory.list_episodes(&EpisodeFilter::default()).await.unwrap().is_empty());
    memory.commit_batch(stale(1), at()).await.unwrap();
    assert_eq!(memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap().version, 2);
}

async fn a_refused_batch_leaves_nothing_anywhere(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("local", "One")], at()).await.unwrap();
    let memories = vec![global("everywhere", "New"), lesson("local", "Two")];
    let batch = CommitBatch { memories, expected: vec![(id("local"), 7)], ..CommitBatch::default() };
    assert!(matches!(memory.commit_batch(batch, at()).await, Err(MemoryError::Conflict { .. })));
    let found: Vec<String> =
        memory.list_lessons(LessonStateFilter::All).await.unwrap().into_iter().map(|l| l.memory.summary).collect();
    assert_eq!(found, ["One"], "not even a lesson that would have gone elsewhere is written");
}

async fn of_two_who_expect_nothing_one_is_first(memory: Handle, store: &impl Store) {
    for scope in [MemoryScope::Project, MemoryScope::Global] {
        let key = format!("new-{scope}");
        let mut writers = Vec::new();
        for (memory, summary) in [(Arc::clone(&memory), "First"), (store.open().await, "Second")] {
            let mut new = lesson(&key, summary);
            new.scope = scope.clone();
            let batch = CommitBatch { memories: vec![new], expected: vec![(id(&key), 0)], ..CommitBatch::default() };
            writers.push(tokio::spawn(async move { memory.commit_batch(batch, at()).await }));
        }
        let mut refused = Vec::new();
        for writer in writers {
            refused.extend(writer.await.unwrap().err());
        }
        assert!(matches!(refused[..], [MemoryError::Conflict { expected: 0, found: 1, .. }]), "{refused:?}");
        assert_eq!(memory.lesson_history(&id(&key)).await.unwrap().len(), 1);
    }
}

async fn the_last_of_a_batch_wins(memory: Handle, _: &impl Store) {
    memory.add_memories(vec![lesson("a", "As it was")], at()).await.unwrap();
    memory.add_memories(vec![lesson("a", "Otherwise"), lesson("a", "As it was")], at()).await.unwrap();
    let found = memory.get_lesson(&name(&id("a"))).await.unwrap().unwrap();
    assert_eq!((found.memory.summary.as_str(), found.version), ("As it was", 3));
}

async fn a_judgement_beyond_all_measure_does_no_harm(memory: Handle, store: &impl Store) {
    memory.add_memories(vec![lesson("a", "Pin the toolchain"), lesson("b", "Pin the cache")], at()).await.unwrap();
    // Two of these are more than a number can hold.
    let weights = [("one", f64::MAX), ("two", f64::MAX)];
    let facts = [("a", FeedbackVerdict::Validated), ("b", FeedbackVerdict::Ignored)].into_iter();
    let facts = facts.flat_map(|(key, verdict)| weights.map(|(of, weight)| feedback(key, of, verdict.clone(), weight)));
    memory.commit_batch(CommitBatch { facts: facts.collect(), ..CommitBatch::default() }, at()).await.unwrap();
    for memory in [&memory, &store.open().await] {
        for key in ["a", "b"] {
            let found = memory.get_lesson(&name(&id(key))).await.unwrap().unwrap();
            assert!((0.0..=1.0).contains(&found.counters.trust_score()), "{key}: {:?}", found.counters);
        }
        assert_eq!(summaries(memory, &project_query()).await, ["Pin the toolchain", "Pin the cache"]);
    }
}

async fn concurrent_writers_lose_nothing(memory: Handle, store: &impl Store) {
    let mut writers = Vec::new();
    for writer in 0..4 {
        let memory = if writer % 2 == 0 { Arc::clone(&memory) } else { store.open().await };
        writers.push(tokio::spawn(async move {
            for number in 0..25 {
                let text = format!("Writer {writer} lesson {number}");
                let mine = vec![lesson(&format!("w{writer}-{number}"), &text)];
                memory.add_memories(mine, at()).await.unwrap();
                memory.add_memories(vec![lesson("contested", &text)], at()).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let lessons = memory.list_lessons(LessonStateFilter::All).await.unwrap();
    let aliases: std::collections::HashSet<_> = lessons.iter().map(|lesson| &lesson.memory.alias).collect();
    assert_eq!((lessons.len(), aliases.len()), (101, 101));
    assert_eq!(memory.lesson_history(&id("contested")).await.unwrap().len(), 100);
}

async fn unknown_fields_survive(memory: Handle, _: &impl Store) {
    let json = serde_json::json!({
        "id": "x", "createdAt": "2026-01-01T00:00:00Z", "scope": "galaxy", "category": "mystery", "tags": [],
        "importance": 70, "summary": "From the future", "evidence": {"episodeIds": [], "starChart": 7},
        "source": "archivist", "usageCount": 0, "warp": {"factor": 9}
    });
    let mut from_future: AgentMemory = serde_json::from_value(json).unwrap();
    memory.add_memories(vec![from_future.clone()], at()).await.unwrap();
    let found = memory.get_lesson(&name(&id("x"))).await.unwrap().unwrap().memory;
    from_future.alias.clone_from(&found.alias);
    assert_eq!(found, from_future);
    assert_eq!(found.extra["warp"]["factor"], 9);
    assert_eq!(found.importance.value(), 0.7);
}

fn global(key: &str, summary: &str) -> AgentMemory {
    let mut memory = lesson(key, summary);
    memory.scope = MemoryScope::Global;
    memory
}

pub(crate) fn sighting(memory: &str, episode: &str, on_day: i64) -> Fact {
    Fact::Sighting {
        memory: id(memory),
        episode: episode_id(episode),
        at: day(on_day),
        level: EvidenceLevel::Execution,
        context: None,
        quotes: Vec::new(),
        extra: Default::default(),
    }
}

fn feedback(memory: &str, episode: &str, verdict: FeedbackVerdict, weight: f64) -> Fact {
    Fact::Feedback {
        memory: id(memory),
        episode: episode_id(episode),
        verdict,
        weight,
        role: None,
        level: EvidenceLevel::Execution,
        at: day(1),
        extra: Default::default(),
    }
}
