//! What the files mean, where more than one reading is possible.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archivist_core::domain::{Alias, EvidenceLevel, Fact, FeedbackVerdict, LessonAvailability, MemoryScope};
use archivist_core::memory::jsonl::{Disk, JsonlMemory, JsonlSettings, RealDisk};
use archivist_core::memory::{
    CommitBatch, Lesson, LessonName, LessonRemoval, LessonStateFilter, MemoryService, SearchMethod,
};
use serde_json::json;
use tempfile::TempDir;

use crate::samples::{at, episode_id, id, lesson, project_query, ranking};
use crate::stores::settings;

const LESSONS: &str = "lessons.jsonl";

/// The index catches up whenever it is asked to.
fn eager(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: 1, ..settings(directory) }
}

async fn get(memory: &JsonlMemory, key: &str) -> Lesson {
    memory.get_lesson(&LessonName::Id(id(key))).await.unwrap().unwrap()
}

/// Writes one lesson and says what it is called.
async fn add(memory: &JsonlMemory, key: &str, summary: &str) -> Alias {
    let receipt = memory.add_memories(vec![lesson(key, summary)], at()).await.unwrap();
    receipt.lessons[0].1.clone()
}

/// The ids that answer, best first, and how they were found.
async fn answers(memory: &JsonlMemory, text: &str) -> (Vec<String>, SearchMethod) {
    let mut query = project_query();
    query.text = Some(text.to_owned());
    let answer = memory.query_lessons(&query, &ranking(), at()).await.unwrap();
    (answer.hits.iter().map(|hit| hit.lesson.memory.id.as_str().to_owned()).collect(), answer.method)
}

#[tokio::test]
async fn a_global_lesson_in_the_projects_file_is_forgotten_there() {
    let (project, global) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut everywhere = lesson("a", "apple");
    everywhere.scope = MemoryScope::Global;
    // There was no global directory when it was written.
    JsonlMemory::open(settings(project.path())).add_memories(vec![everywhere], at()).await.unwrap();
    let both = JsonlSettings { global: Some(global.path().to_owned()), ..settings(project.path()) };
    let memory = JsonlMemory::open(both);
    memory.archive_memory(&id("a"), LessonRemoval::Forgotten { reason: None }, at()).await.unwrap();
    let found = get(&memory, "a").await;
    assert_eq!((found.memory.availability(), found.version), (LessonAvailability::Retired, 2));
    assert!(answers(&memory, "apple").await.0.is_empty());
    assert!(!global.path().join("global-lessons.jsonl").exists(), "a lesson stays where it is");
}

#[tokio::test]
async fn an_alias_of_absurd_height_does_not_use_up_the_names() {
    for absurd in ["m-999999999999999999", "m-18446744073709551615", "m-1000000000"] {
        let directory = TempDir::new().unwrap();
        let mut record = serde_json::to_value(lesson("a", "From elsewhere")).unwrap();
        record["alias"] = json!(absurd);
        std::fs::write(directory.path().join(LESSONS), format!("{record}\n")).unwrap();
        let memory = JsonlMemory::open(eager(directory.path()));
        assert_eq!(add(&memory, "b", "Of our own").await.as_str(), "m-001", "beside {absurd}");
        memory.run_maintenance().await;
        assert_eq!(add(&memory, "c", "And the next").await.as_str(), "m-002", "beside {absurd}");
    }
}

#[tokio::test]
async fn the_alias_of_a_line_that_was_deleted_is_not_given_again() {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(settings(directory.path()));
    add(&memory, "a", "Kept").await;
    let one = std::fs::read(directory.path().join(LESSONS)).unwrap();
    let gone = add(&memory, "b", "Deleted by hand").await;
    std::fs::write(directory.path().join(LESSONS), one).unwrap();
    // Somebody may have written the old name down.
    assert_ne!(add(&memory, "c", "Next").await, gone);
    assert_ne!(add(&JsonlMemory::open(settings(directory.path())), "d", "And next").await, gone);
}

#[tokio::test]
async fn a_line_that_is_too_long_to_read_counts_nowhere() {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(settings(directory.path()));
    for summary in ["Short", &"long ".repeat(1000), "Short again"] {
        add(&memory, "a", summary).await;
    }
    let strict = JsonlSettings { max_line_bytes: 2000, ..eager(directory.path()) };
    let memory = JsonlMemory::open(strict);
    for caught_up in [false, true] {
        let versions: Vec<u64> =
            memory.lesson_history(&id("a")).await.unwrap().iter().map(|revision| revision.version).collect();
        assert_eq!(versions, [1, 2]);
        assert_eq!(get(&memory, "a").await.version, 2, "caught up: {caught_up}");
        memory.run_maintenance().await;
    }
}

#[tokio::test]
async fn weights_beyond_all_measure_are_the_same_in_the_index() {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(eager(directory.path()));
    memory.add_memories(vec![lesson("a", "apple"), lesson("b", "apple pie")], at()).await.unwrap();
    let judged = |episode: &str| Fact::Feedback {
        memory: id("a"),
        episode: episode_id(episode),
        verdict: FeedbackVerdict::Validated,
        weight: f64::MAX,
        role: None,
        level: EvidenceLevel::default(),
        at: at(),
        extra: Default::default(),
    };
    memory
        .commit_batch(CommitBatch { facts: vec![judged("one"), judged("two")], ..CommitBatch::default() }, at())
        .await
        .unwrap();
    let (before, found) = (get(&memory, "a").await, answers(&memory, "apple").await);
    assert_eq!(found.1, SearchMethod::FullRead);
    memory.run_maintenance().await;
    let memory = JsonlMemory::open(eager(directory.path()));
    assert_eq!(answers(&memory, "apple").await, (found.0, SearchMethod::Index));
    assert_eq!(get(&memory, "a").await, before);
    let alias = add(&memory, "a", "apple once more").await;
    assert_eq!(Some(alias), before.memory.alias, "a lesson that is known keeps its name");
}

/// A disk on which one file cannot be made durable.
#[derive(Debug)]
struct RefusesToSync(PathBuf);

impl Disk for RefusesToSync {
    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        if path == self.0 { Err(io::ErrorKind::StorageFull.into()) } else { RealDisk.sync(path, file) }
    }
}

#[tokio::test]
async fn a_batch_for_both_directories_is_taken_back_from_one_if_the_other_refuses_it() {
    let root = TempDir::new().unwrap();
    let (project, global) = (root.path().join("project"), root.path().join("global"));
    let both = JsonlSettings { global: Some(global.clone()), ..settings(&project) };
    let memory = JsonlMemory::open(both.clone());
    let everywhere = |key: &str| {
        let mut memory = lesson(key, "Everywhere");
        memory.scope = MemoryScope::Global;
        memory
    };
    memory.add_memories(vec![lesson("here", "Here"), everywhere("global")], at()).await.unwrap();
    for refusing in [project.join("redo.log"), global.join("global-redo.log")] {
        let failing = JsonlMemory::open_on_disk(both.clone(), Arc::new(RefusesToSync(refusing.clone())));
        let batch = vec![lesson("new-here", "Here too"), everywhere("new-global")];
        assert!(failing.add_memories(batch, at()).await.is_err(), "{refusing:?}");
        for handle in [&failing, &memory, &JsonlMemory::open(both.clone())] {
            assert_eq!(handle.list_lessons(LessonStateFilter::All).await.unwrap().len(), 2, "{refusing:?}");
        }
    }
    memory.add_memories(vec![lesson("new-here", "Here too"), everywhere("new-global")], at()).await.unwrap();
    assert_eq!(memory.list_lessons(LessonStateFilter::All).await.unwrap().len(), 4);
}
