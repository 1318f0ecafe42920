//! An index that is gone, damaged, foreign or out of date: whatever is wrong with it, the files answer.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use archivist_core::domain::AgentMemory;
use archivist_core::memory::jsonl::{JsonlMemory, JsonlSettings};
use archivist_core::memory::{
    BankStatus, CommitBatch, IndexStatus, Lesson, LessonName, LessonRemoval, LessonStateFilter, MemoryAnswer,
    MemoryError, MemoryService, SearchMethod,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::contract::sighting;
use crate::samples::{at, day, episode, id, lesson, project_query, ranking};
use crate::stores::settings;

const LESSONS: usize = 30;

/// The index catches up whenever it is asked to.
fn eager(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: 1, ..settings(directory) }
}

/// The index stays as it is.
fn idle(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: u64::MAX, ..settings(directory) }
}

async fn add(memory: &JsonlMemory, kind: &str, count: usize) {
    let lessons = (0..count).map(|number| lesson(&format!("{kind}{number}"), &format!("apple {kind}{number}")));
    memory.add_memories(lessons.collect(), at()).await.unwrap();
}

/// What a store says to a few questions.
#[derive(Debug, PartialEq)]
struct Said {
    answers: Vec<MemoryAnswer>,
    lessons: Vec<Option<Lesson>>,
}

impl Said {
    /// Which lessons answer each question, best first.
    fn order(&self) -> Vec<Vec<&str>> {
        let ids = self.answers.iter().map(|answer| answer.hits.iter().map(|hit| hit.lesson.memory.id.as_str()));
        ids.map(Iterator::collect).collect()
    }
}

/// Asks by word, by id and by alias; says also how the answers were found.
async fn ask(memory: &JsonlMemory) -> Result<(Said, SearchMethod), MemoryError> {
    let mut said = Said { answers: Vec::new(), lessons: Vec::new() };
    let mut method = SearchMethod::Index;
    for text in ["apple", "kind7", "kind7 apple kind11", "nothing of the sort"] {
        let mut query = project_query();
        query.text = Some(text.to_owned());
        let answer = memory.query_lessons(&query, &ranking(), at()).await?;
        method = method.max(answer.method);
        said.answers.push(MemoryAnswer { method: SearchMethod::FullRead, ..answer });
    }
    for name in ["kind7", "m-008", "nobody"] {
        said.lessons.push(memory.get_lesson(&LessonName::parse(name).unwrap()).await?);
    }
    Ok((said, method))
}

/// A store whose index knows everything, and what the files alone say.
async fn indexed() -> (TempDir, Said) {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(eager(directory.path()));
    add(&memory, "kind", LESSONS).await;
    let (said, method) = ask(&memory).await.unwrap();
    assert_eq!(method, SearchMethod::FullRead);
    memory.run_maintenance().await;
    check(&JsonlMemory::open(idle(directory.path())), &said, SearchMethod::Index).await;
    (directory, said)
}

async fn check(memory: &JsonlMemory, expected: &Said, method: SearchMethod) {
    let (said, found_by) = ask(memory).await.unwrap();
    assert_eq!(&said, expected);
    assert_eq!(found_by, method);
}

/// Where tantivy keeps its files.
fn innermost(directory: &Path) -> PathBuf {
    let inside = std::fs::read_dir(directory.join("index")).unwrap().map(|entry| entry.unwrap().path());
    inside.into_iter().find(|path| path.is_dir()).unwrap()
}

/// The files of the index that hold something.
fn files(directory: &Path) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(innermost(directory)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = inside.filter(|path| path.metadata().unwrap().len() > 0).collect();
    files.sort_by_key(|path| path.extension().map(ToOwned::to_owned));
    assert!(files.len() > 6, "{files:?}");
    files
}

#[tokio::test]
async fn an_index_with_one_file_gone_or_spoilt_is_as_good_as_none() {
    let (directory, expected) = indexed().await;
    for path in files(directory.path()) {
        let good = std::fs::read(&path).unwrap();
        let spoilt = [
            ("missing", None),
            ("empty", Some(Vec::new())),
            ("cut short", Some(good[..good.len() / 2].to_vec())),
            ("garbage", Some(b"garbage ".repeat(good.len() / 8 + 1))),
            ("zeros", Some(vec![0; good.len()])),
        ];
        for (how, bytes) in spoilt {
            match bytes {
                Some(bytes) => std::fs::write(&path, bytes).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let said = ask(&JsonlMemory::open(idle(directory.path()))).await.unwrap().0;
            assert_eq!(said, expected, "{} is {how}", path.display());
        }
        std::fs::write(&path, good).unwrap();
    }
    // Everything is in order again.
    check(&JsonlMemory::open(idle(directory.path())), &expected, SearchMethod::Index).await;
}

#[tokio::test]
async fn a_spoilt_index_is_built_anew() {
    for which in 0..files(indexed().await.0.path()).len() {
        let (directory, expected) = indexed().await;
        let spoilt = &files(directory.path())[which];
        std::fs::write(spoilt, "garbage").unwrap();
        let memory = JsonlMemory::open(eager(directory.path()));
        add(&memory, "other", 1).await;
        memory.run_maintenance().await;
        let memory = JsonlMemory::open(idle(directory.path()));
        let (said, method) = ask(&memory).await.unwrap();
        assert_eq!((said.lessons, method), (expected.lessons, SearchMethod::Index), "{} was garbage", spoilt.display());
        assert_eq!(memory.find_problems().await.unwrap(), [], "{} was garbage", spoilt.display());
    }
}

#[tokio::test]
async fn a_flipped_bit_in_the_index_invents_nothing() {
    /// So many in each file, spread evenly.
    const FLIPS: usize = 24;
    /// A flipped bit in one of these hides nothing and changes no order. Elsewhere it may, until the index is checked.
    const HARMLESS: [&str; 3] = ["store", "fieldnorm", "pos"];
    let (directory, expected) = indexed().await;
    for path in files(directory.path()) {
        let good = std::fs::read(&path).unwrap();
        let kind = path.extension().unwrap().to_string_lossy().into_owned();
        for at in (0..good.len()).step_by((good.len() / FLIPS).max(1)) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            std::fs::write(&path, bad).unwrap();
            let (said, _) = ask(&JsonlMemory::open(idle(directory.path()))).await.unwrap();
            let hits = said.answers.iter().flat_map(|answer| &answer.hits).map(|hit| &hit.lesson);
            for found in hits.chain(said.lessons.iter().flatten()) {
                let number = found.memory.id.as_str().strip_prefix("kind").unwrap();
                assert_eq!(found.memory.summary, format!("apple kind{number}"), "byte {at} of a .{kind}");
            }
            if HARMLESS.contains(&kind.as_str()) {
                assert_eq!(said.order(), expected.order(), "byte {at} of a .{kind}");
            }
        }
        std::fs::write(&path, good).unwrap();
    }
}

#[tokio::test]
async fn an_index_that_disappears_between_two_questions_is_not_missed() {
    let (directory, expected) = indexed().await;
    let memory = JsonlMemory::open(eager(directory.path()));
    assert_eq!(ask(&memory).await.unwrap().1, SearchMethod::Index);
    std::fs::remove_dir_all(directory.path().join("index")).unwrap();
    assert_eq!(ask(&memory).await.unwrap().0, expected);
    add(&memory, "other", 3).await;
    let after = ask(&memory).await.unwrap().0;
    assert_eq!(after.lessons, expected.lessons);
    check(&JsonlMemory::open(idle(directory.path())), &after, SearchMethod::FullRead).await;
    memory.run_maintenance().await;
    for memory in [memory, JsonlMemory::open(idle(directory.path()))] {
        check(&memory, &after, SearchMethod::Index).await;
        assert!(memory.get_lesson(&LessonName::Id(id("other2"))).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn an_index_deleted_while_it_catches_up_does_not_come_back_as_a_part() {
    const ROUNDS: u32 = 12;
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(eager(directory.path()));
    add(&memory, "kind", 300).await;
    memory.run_maintenance().await;
    let mut takes = Duration::ZERO;
    for round in 0..=ROUNDS {
        add(&memory, &format!("round{round}-"), 100).await;
        let index = directory.path().join("index");
        // The first round is left in peace, to learn how long catching up takes; the others are hit all along it.
        let deletion = (round > 0).then(|| {
            std::thread::spawn(move || {
                std::thread::sleep(takes * (round - 1) / ROUNDS);
                drop(std::fs::remove_dir_all(index));
            })
        });
        let began = Instant::now();
        JsonlMemory::open(eager(directory.path())).run_maintenance().await;
        takes = if round == 0 { began.elapsed() } else { takes };
        if let Some(deletion) = deletion {
            deletion.join().unwrap();
        }
        let reader = JsonlMemory::open(idle(directory.path()));
        for key in ["kind7".to_owned(), format!("round{round}-99")] {
            let found = reader.get_lesson(&LessonName::Id(id(&key))).await.unwrap();
            assert!(
                found.is_some(),
                "{key} is gone after round {round}: {:?}",
                reader.bank_statuses().await.unwrap()[0].index
            );
        }
        // The next one is to find an index again.
        memory.run_maintenance().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_through_a_link_in_place_of_the_index() {
    let (directory, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let memory = JsonlMemory::open(eager(directory.path()));
    add(&memory, "kind", 3).await;
    std::os::unix::fs::symlink(elsewhere.path(), directory.path().join("index")).unwrap();
    memory.run_maintenance().await;
    memory.compact_banks().await.unwrap();
    let written: Vec<_> = std::fs::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(written.is_empty(), "{written:?}");
    assert!(memory.get_lesson(&LessonName::Id(id("kind1"))).await.unwrap().is_some());
}

#[tokio::test]
async fn after_a_touch_the_index_proves_itself_once_and_not_for_ever() {
    let (directory, _) = indexed().await;
    let lessons = directory.path().join("lessons.jsonl");
    File::options().append(true).open(&lessons).unwrap().set_modified(SystemTime::now()).unwrap();
    let status = async || JsonlMemory::open(idle(directory.path())).bank_statuses().await.unwrap()[0].index;
    assert_eq!(status().await, IndexStatus::Current, "the files are what the index read, which it takes a look to see");
    spoil_the_proof(directory.path(), async || {
        assert_eq!(status().await, IndexStatus::Unusable, "whoever wrote the files last, it was not us");
    })
    .await;
    JsonlMemory::open(idle(directory.path())).run_maintenance().await;
    spoil_the_proof(directory.path(), async || {
        assert_eq!(status().await, IndexStatus::Current, "no proof is asked for any more");
    })
    .await;
}

/// Does the work with an index that cannot prove what it read: whether it is used says whether it was asked to.
async fn spoil_the_proof(directory: &Path, work: impl AsyncFnOnce()) {
    let path = innermost(directory).join("meta.json");
    let good = std::fs::read_to_string(&path).unwrap();
    let mut meta: Value = serde_json::from_str(&good).unwrap();
    let (_, payload) = meta["payload"].as_str().unwrap().split_once(' ').unwrap();
    let mut covered: Value = serde_json::from_str(payload).unwrap();
    covered["seals"]["lessons"]["hash"] = "0".repeat(64).into();
    // The payload itself stays sound: it is only the proof that is not.
    let payload = covered.to_string();
    let mut sum = [0; 8];
    sum.copy_from_slice(&blake3::hash(payload.as_bytes()).as_bytes()[..8]);
    meta["payload"] = format!("{:016x} {payload}", u64::from_le_bytes(sum)).into();
    std::fs::write(&path, meta.to_string()).unwrap();
    work().await;
    std::fs::write(&path, good).unwrap();
}

/// Whatever part of the files the index covers, the newest lessons and the counts are the same.
#[tokio::test]
async fn lists_and_counts_do_not_depend_on_the_index() {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(eager(directory.path()));
    let aged = |number: i64| AgentMemory { created_at: day(number / 3), ..lesson(&format!("kind{number}"), "apple") };
    let facts =
        |first: i64| (first..first + 3).map(|number| sighting(&format!("kind{number}"), "one", number)).collect();
    for round in 0..6_i64 {
        let memories = (round * 5..round * 5 + 10).map(aged).collect();
        let batch =
            CommitBatch { memories, facts: facts(round * 4), episodes: vec![episode("one")], ..Default::default() };
        memory.commit_batch(batch, at()).await.unwrap();
        let removal = LessonRemoval::Forgotten { reason: None };
        memory.archive_memory(&id(&format!("kind{}", round * 5 + 1)), removal, day(40 + round)).await.unwrap();
        // A line that nobody can read.
        let mut file = File::options().append(true).open(directory.path().join("lessons.jsonl")).unwrap();
        file.write_all(b"{\"id\": torn\n").unwrap();
        if round % 2 == 0 {
            memory.run_maintenance().await;
        }
        let with_index = JsonlMemory::open(idle(directory.path()));
        let copy = TempDir::new().unwrap();
        for file in ["episodes.jsonl", "lessons.jsonl", "ledger.jsonl"] {
            std::fs::copy(directory.path().join(file), copy.path().join(file)).unwrap();
        }
        let without = JsonlMemory::open(idle(copy.path()));
        for which in [LessonStateFilter::Given, LessonStateFilter::Live, LessonStateFilter::All] {
            for count in [1, 3, 7, 100] {
                let mut expected = without.newest_lessons(which, count).await.unwrap();
                let mut found = with_index.newest_lessons(which, count).await.unwrap();
                expected.sort_by(|a, b| a.memory.id.cmp(&b.memory.id));
                found.sort_by(|a, b| a.memory.id.cmp(&b.memory.id));
                assert_eq!(found, expected, "round {round}, {which:?}, {count}");
            }
        }
        let count = |statuses: Vec<BankStatus>| {
            statuses
                .iter()
                .map(|one| (one.lessons, one.retired, one.episodes, one.facts, one.damaged_lines))
                .collect::<Vec<_>>()
        };
        let expected = count(without.bank_statuses().await.unwrap());
        assert_eq!(count(with_index.bank_statuses().await.unwrap()), expected, "round {round}");
        assert_eq!(expected[0].4, usize::try_from(round).unwrap() + 1);
    }
}
