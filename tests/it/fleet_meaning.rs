//! Lessons found by their meaning on a server: the same as in files, with the extension `vector` and without it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::{
    AgentMemory, Extra, MemoryId, MemoryQuery, MemoryScope, MemoryState, ReflectionScenario, ReflectionTrigger,
};
use archivist_core::memory::postgres::{
    MigrationStepState, PostgresBankSettings, PostgresMemory, RowSecurity, grant_access, migrate_schema,
    set_row_security,
};
use archivist_core::memory::{
    BankTenancy, CommitBatch, LessonRemoval, LessonVectorStore, LessonVectors, MemoryService, RecordOrigin, VectorModel,
};
use archivist_core::model::embed::{EmbedError, Embedder, EmbeddingVector};
use archivist_core::service::{ArchivistService, ProjectContext, find_closest_lessons};
use async_trait::async_trait;
use tokio_postgres::NoTls;

use crate::postgres_server::{database, shared, sql, unique, with_vector};
use crate::samples::{at, id, lesson, project_query, ranking, session};
use crate::stores::{Jsonl, Store, server_at};

/// How far two cosines of the same vectors may lie apart: sums of single precision, added up in another order.
const TOLERANCE: f64 = 1e-6;

/// A model of a kind: every word points somewhere, and a text points where its words do.
#[derive(Debug)]
struct Words {
    name: &'static str,
    dimensions: usize,
    embedded: AtomicUsize,
}

impl Words {
    fn new(name: &'static str, dimensions: usize) -> Self {
        Self { name, dimensions, embedded: AtomicUsize::new(0) }
    }

    /// How many texts it was asked for since it was last asked this.
    fn embedded(&self) -> usize {
        self.embedded.swap(0, Ordering::Relaxed)
    }

    fn vector(&self, text: &str) -> EmbeddingVector {
        let mut numbers = vec![0.01; self.dimensions];
        for word in text.split_whitespace() {
            let hash = blake3::hash(format!("{} {}", self.name, word.to_lowercase()).as_bytes());
            for (number, byte) in numbers.iter_mut().zip(hash.as_bytes()) {
                *number += f32::from(*byte) / 128.0 - 1.0;
            }
        }
        EmbeddingVector::from_numbers(numbers).unwrap()
    }
}

#[async_trait]
impl Embedder for Words {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed_texts(&self, texts: &[String]) -> Result<Vec<EmbeddingVector>, EmbedError> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

fn memory_at(url: &str, bank: &str) -> PostgresMemory {
    let settings = PostgresBankSettings {
        bank: bank.to_owned(),
        tenancy: BankTenancy::Shared,
        global: Some(format!("{bank} everywhere")),
        max_record_bytes: 1024 * 1024,
    };
    PostgresMemory::open(server_at(url), settings)
}

/// A database with tables; with the extension in a schema of its own, as hosts of databases like to have it.
async fn tables(server: &str, has_vector: bool) -> String {
    let url = database(server, "meaning").await;
    if has_vector {
        sql(&url, "CREATE SCHEMA \"ext ensions\"; CREATE EXTENSION vector SCHEMA \"ext ensions\"").await;
    }
    migrate_schema(&server_at(&url)).await.unwrap();
    url
}

async fn number(url: &str, select: &str) -> i64 {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.query_one(select, &[]).await.unwrap().get(0)
}

const TOPICS: &[&str] =
    &["shard", "bun", "timeout", "redis", "lint", "cache", "docker", "migrate", "retry", "secret", "linker", "proxy"];

/// Lessons of all lengths, some of which hold everywhere and some of which may not be given.
fn lessons(count: usize) -> Vec<AgentMemory> {
    let lesson = |number: usize| {
        let topic = |step: usize| TOPICS[(number * step + number / 7) % TOPICS.len()];
        let mut lesson = lesson(&format!("l-{number}"), &format!("Case {number}: {} {}", topic(1), topic(5)));
        if number.is_multiple_of(3) {
            lesson.rule = Some(format!("IF {} THEN {} {number}", topic(2), topic(3)));
        }
        if number.is_multiple_of(5) {
            let line = format!("Whoever meets {} in part {number} looks at {} first. ", topic(4), topic(6));
            lesson.detail = Some(line.repeat(1 + number % 90));
        }
        if number.is_multiple_of(11) {
            lesson.scope = MemoryScope::Global;
        }
        lesson.state = match number % 13 {
            0 => Some(MemoryState::Archived),
            1 => Some(MemoryState::Observed),
            _ => Some(MemoryState::Verified),
        };
        lesson
    };
    (0..count).map(lesson).collect()
}

fn same(files: &BTreeMap<MemoryId, f64>, server: &BTreeMap<MemoryId, f64>, what: &str) {
    let ids = |found: &BTreeMap<MemoryId, f64>| found.keys().cloned().collect::<Vec<_>>();
    assert_eq!(ids(files), ids(server), "{what}");
    for (id, close) in files {
        assert!((close - server[id]).abs() < TOLERANCE, "{what}: {id} is {close} and {}", server[id]);
    }
}

/// Asks both, and then for lessons by what they said.
async fn ask_both(files: &dyn MemoryService, server: &dyn MemoryService, words: &Words) {
    for number in 0..TOPICS.len() {
        let text = format!("{} and {} went wrong", TOPICS[number], TOPICS[(number * 7 + 1) % TOPICS.len()]);
        let one = find_closest_lessons(files, words, &text).await.unwrap();
        let other = find_closest_lessons(server, words, &text).await.unwrap();
        assert!(one.len() > 100, "{} are close", one.len());
        same(&one, &other, &text);
        let mut query = MemoryQuery { text: Some(text), max_results: Some(20), ..project_query() };
        query.cosines = one;
        let one = files.query_lessons(&query, &ranking(), at()).await.unwrap();
        query.cosines = other;
        let other = server.query_lessons(&query, &ranking(), at()).await.unwrap();
        assert_eq!(one.hits.len(), other.hits.len());
        for (one, other) in one.hits.iter().zip(&other.hits) {
            assert_eq!(one.lesson.memory.id, other.lesson.memory.id);
            assert!((one.score.score - other.score.score).abs() < TOLERANCE);
        }
    }
}

async fn means_the_same(server: &str, has_vector: bool) {
    let url = tables(server, has_vector).await;
    let (files, on_server) = (Jsonl::fresh().await.unwrap(), memory_at(&url, "a"));
    let files = files.lazy_memory();
    let batch = CommitBatch { memories: lessons(400), records: RecordOrigin::Copied, ..CommitBatch::default() };
    for memory in [&files as &dyn MemoryService, &on_server] {
        memory.commit_batch(batch.clone(), at()).await.unwrap();
    }
    let words = Words::new("words", 24);
    ask_both(&files, &on_server, &words).await;
    find_closest_lessons(&on_server, &words, "which statement comes last").await.unwrap();
    let comparing = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> \
         pg_backend_pid() AND query LIKE '%OPERATOR%'";
    assert!(number(&url, comparing).await > 0 || !has_vector, "the server was not asked to compare");
    // Lessons that change, go and come are found as they are now.
    for memory in [&files as &dyn MemoryService, &on_server] {
        let mut changed = lessons(40).split_off(30);
        for lesson in &mut changed {
            lesson.summary = format!("{} but now about the proxy and its cache", lesson.summary);
            lesson.detail = None;
        }
        changed.push(lesson("new", "A new one on the linker and on docker"));
        memory
            .commit_batch(
                CommitBatch { memories: changed, records: RecordOrigin::Copied, ..CommitBatch::default() },
                at(),
            )
            .await
            .unwrap();
        let forgotten = LessonRemoval::Forgotten { reason: None };
        memory.archive_memory(&id("l-57"), forgotten, at()).await.unwrap();
    }
    ask_both(&files, &on_server, &words).await;
    // Other models, and another length of the same model's vectors, see the same lessons in their own way.
    for words in [Words::new("other words", 24), Words::new("words", 7), Words::new("words", 24)] {
        ask_both(&files, &on_server, &words).await;
    }
    assert_eq!(on_server.find_problems().await.unwrap(), []);
}

#[tokio::test]
async fn meanings_are_the_same_as_in_files_without_any_extension() {
    let Some(server) = shared() else { return };
    means_the_same(server, false).await;
}

#[tokio::test]
async fn meanings_are_the_same_as_in_files_where_the_server_compares() {
    let Some(server) = with_vector().await else { return };
    means_the_same(server, true).await;
}

#[tokio::test]
async fn a_lesson_is_embedded_once_for_all_machines() {
    let Some(server) = shared() else { return };
    let url = tables(server, false).await;
    let (one, other) = (memory_at(&url, "a"), memory_at(&url, "a"));
    let batch: Vec<_> = (0..150).map(|n| lesson(&format!("l-{n}"), &format!("Shard suite {n}"))).collect();
    one.add_memories(batch, at()).await.unwrap();
    let words = Words::new("words", 24);
    find_closest_lessons(&one, &words, "shard").await.unwrap();
    assert_eq!(words.embedded(), 151, "all lessons and the question");
    for memory in [&one, &other] {
        find_closest_lessons(memory, &words, "shard").await.unwrap();
        assert_eq!(words.embedded(), 1, "the question alone");
    }
    other.add_memories(vec![lesson("l-7", "Do not shard suite 7")], at()).await.unwrap();
    assert_eq!(number(&url, "SELECT count(*) FROM archivist.vectors").await, 149, "what it was is forgotten at once");
    for (memory, expected) in [(&one, 2), (&other, 1)] {
        let close = find_closest_lessons(memory, &words, "Do not shard suite 7").await.unwrap();
        assert_eq!((words.embedded(), close[&id("l-7")] > 1.0 - TOLERANCE), (expected, true));
    }
    // Facts change no meaning.
    let usage = archivist_core::memory::LessonUsage { run: crate::samples::run("r"), point: "orchestrator".into() };
    one.record_usage(&[id("l-7")], &usage, at()).await.unwrap();
    find_closest_lessons(&other, &words, "shard").await.unwrap();
    assert_eq!(words.embedded(), 1);
}

#[tokio::test]
async fn vectors_of_what_is_no_longer_so_are_not_kept() {
    let Some(server) = shared() else { return };
    let url = tables(server, false).await;
    let memory = memory_at(&url, "a");
    memory.add_memories(vec![lesson("a", "Shard"), lesson("b", "Lint")], at()).await.unwrap();
    let model = VectorModel { name: "words", dimensions: 2 };
    assert_eq!(memory.lessons_without_vectors(model, 9).await.unwrap().len(), 2);
    let measured = |lesson: &str| LessonVectors { lesson: id(lesson), version: 1, units: vec![vec![0.6, 0.8]] };
    memory.add_memories(vec![lesson("a", "Shard less")], at()).await.unwrap();
    let kept = memory.store_vectors(model, &[measured("a"), measured("b"), measured("stranger")]).await.unwrap();
    assert_eq!(kept, 1, "one changed meanwhile, one was never there");
    assert_eq!(memory.store_vectors(model, &[measured("b")]).await.unwrap(), 1, "kept twice is kept once");
    let close = memory.closest_lessons(model, &[0.8, 0.6], 5).await.unwrap();
    assert_eq!(close.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(memory.lessons_without_vectors(model, 9).await.unwrap().len(), 1);
    // Damage is found, and what is derived is derived anew by whoever asks next.
    sql(&url, "UPDATE archivist.vectors SET version = 9").await;
    let found = memory.find_problems().await.unwrap();
    assert_eq!(found.iter().map(|one| one.file.as_str()).collect::<Vec<_>>(), ["vectors"]);
    memory.repair_problems(at()).await.unwrap();
    assert_eq!(memory.find_problems().await.unwrap(), []);
    assert_eq!(memory.lessons_without_vectors(model, 9).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_reflection_leaves_vectors_behind() {
    let Some(server) = shared() else { return };
    let url = tables(server, false).await;
    let memory = Arc::new(memory_at(&url, "a"));
    memory.add_memories(vec![lesson("by-hand", "Shard the slow suite")], at()).await.unwrap();
    let root = tempfile::tempdir().unwrap();
    let reflection_settings = config::load_config(&ConfigLoadRequest::default()).unwrap().config.reflection_settings();
    let words = Arc::new(Words::new("words", 24));
    let service =
        ArchivistService::new(memory.clone(), ProjectContext::from_root(root.path().to_owned()), reflection_settings)
            .with_embedder(words.clone());
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/generic/billing.jsonl");
    let outcome = service
        .maybe_reflect(&ReflectionTrigger {
            scenario: ReflectionScenario::SessionFailed,
            project_root: root.path().display().to_string(),
            session_id: session("run-1"),
            main_task_id: None,
            subtask_id: None,
            log_paths: vec![log.display().to_string()],
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        })
        .await;
    let given = number(&url, "SELECT count(*) FROM archivist.lessons WHERE standing = 0").await;
    let measured = number(&url, "SELECT count(DISTINCT lesson) FROM archivist.vectors").await;
    assert!(given > 0 && given == measured, "{given} may be given, {measured} have vectors: {outcome:?}");
    words.embedded();
    find_closest_lessons(&*memory, &*words, "shard").await.unwrap();
    assert_eq!(words.embedded(), 1);
}

/// The table came after roles were let in and row security was switched on: it is theirs, and kept apart, all the same.
#[tokio::test]
async fn vectors_are_kept_apart_as_lessons_are() {
    let Some(server) = shared() else { return };
    let url = tables(server, false).await;
    sql(&url, "DROP TABLE archivist.vectors").await;
    let (red, blue) = (unique("red"), unique("blue"));
    sql(&url, &format!("CREATE ROLE {red} LOGIN PASSWORD 'r'; CREATE ROLE {blue} LOGIN PASSWORD 'b'")).await;
    let owner = server_at(&url);
    for (role, bank) in [(&red, "red"), (&blue, "blue")] {
        grant_access(&owner, role, bank).await.unwrap();
        grant_access(&owner, role, &format!("{bank} everywhere")).await.unwrap();
    }
    set_row_security(&owner, RowSecurity::On).await.unwrap();
    sql(&url, "DELETE FROM archivist.schema_versions WHERE version = 6").await;
    let steps = migrate_schema(&server_at(&url)).await.unwrap();
    assert!(steps.iter().any(|step| step.version == 6 && step.state == MigrationStepState::New), "{steps:?}");
    let as_role = |role: &str| {
        let (before, behind) = url.split_once("://").unwrap();
        let host = behind.split_once('@').map_or(behind, |(_, host)| host);
        format!("{before}://{role}:x@{host}")
    };
    let words = Words::new("words", 24);
    for (role, bank) in [(&red, "red"), (&blue, "blue")] {
        let memory = memory_at(&as_role(role), bank);
        memory.add_memories(vec![lesson(bank, "Rotate the secret token")], at()).await.unwrap();
        let close = find_closest_lessons(&memory, &words, "secret").await.unwrap();
        assert_eq!(close.keys().map(MemoryId::as_str).collect::<Vec<_>>(), [bank]);
        memory.add_memories(vec![lesson(bank, "Rotate it twice")], at()).await.unwrap();
        find_closest_lessons(&memory, &words, "secret").await.unwrap();
    }
    assert_eq!(number(&url, "SELECT count(*) FROM archivist.vectors").await, 2);
    assert_eq!(number(&as_role(&red), "SELECT count(*) FROM archivist.vectors").await, 1);
    let strange = memory_at(&as_role(&red), "blue");
    assert!(find_closest_lessons(&strange, &words, "secret").await.unwrap().is_empty());
    sql(&url, &format!("DROP OWNED BY {red}, {blue}; DROP ROLE {red}, {blue}")).await;
}
