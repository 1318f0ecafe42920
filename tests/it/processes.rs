//! Many processes on one directory.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use archivist_core::memory::jsonl::{Disk, JsonlMemory, JsonlSettings, RealDisk};
use archivist_core::memory::{LessonStateFilter, MemoryService};
use tempfile::TempDir;

use crate::samples::{at, lesson, project_query, ranking};
use crate::stores::settings;

const WRITERS: usize = 16;
const COMMITS: usize = 250;

/// Tells a child process which directory and which part is its own.
const CHILD_DIRECTORY: &str = "ARCHIVIST_TEST_PROCESS_DIRECTORY";
const CHILD_PART: &str = "ARCHIVIST_TEST_PROCESS_PART";

fn shared(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: 64 * 1024, lock_timeout: Duration::from_secs(120), ..settings(directory) }
}

/// Not a test of its own: a process that writes, or one that reads.
#[tokio::test]
async fn child() {
    let (Ok(directory), Ok(part)) = (std::env::var(CHILD_DIRECTORY), std::env::var(CHILD_PART)) else {
        return;
    };
    let memory = JsonlMemory::open(shared(Path::new(&directory)));
    match part.as_str() {
        "reader" => read_until_told(&memory, Path::new(&directory)).await,
        writer => {
            for number in 0..COMMITS {
                let key = format!("w{writer}-{number}");
                memory.add_memories(vec![lesson(&key, &format!("Lesson {number} of {writer}"))], at()).await.unwrap();
                if number % 50 == 49 {
                    memory.run_maintenance().await;
                }
            }
        }
    }
}

/// Asks without a pause. No answer may be an error, come late, or know less than the one before.
async fn read_until_told(memory: &JsonlMemory, directory: &Path) {
    let mut query = project_query();
    query.text = Some("lesson".into());
    let (mut known, mut asked, mut longest) = (0, 0_u32, Duration::ZERO);
    while !directory.join("stop").exists() {
        let began = Instant::now();
        let answer = memory.query_lessons(&query, &ranking(), at()).await.unwrap();
        longest = longest.max(began.elapsed());
        let met = answer.dropped + answer.hits.len();
        assert!(met >= known, "{met} lessons after {known}");
        (known, asked) = (met, asked + 1);
    }
    std::fs::write(directory.join("reader"), format!("{asked} {known} {}", longest.as_micros())).unwrap();
}

fn spawn(directory: &Path, part: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["processes::child", "--exact", "--nocapture"])
        .env(CHILD_DIRECTORY, directory)
        .env(CHILD_PART, part)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn sixteen_writers_and_a_reader_share_a_directory() {
    let directory = TempDir::new().unwrap();
    let mut reader = spawn(directory.path(), "reader");
    let mut writers: Vec<Child> = (0..WRITERS).map(|writer| spawn(directory.path(), &writer.to_string())).collect();
    for writer in &mut writers {
        assert!(writer.wait().unwrap().success());
    }
    std::fs::write(directory.path().join("stop"), "").unwrap();
    assert!(reader.wait().unwrap().success(), "the reader met an error");
    let report = std::fs::read_to_string(directory.path().join("reader")).unwrap();
    println!("reader: asked, lessons at the end, longest answer in µs: {report}");
    let figures: Vec<u64> = report.split(' ').map(|figure| figure.parse().unwrap()).collect();
    assert!(figures[0] > 20, "the reader hardly got to ask: {report}");
    assert!(figures[2] < 5_000_000, "an answer took seconds: {report}");

    let memory = JsonlMemory::open(shared(directory.path()));
    let lessons = memory.list_lessons(LessonStateFilter::All).await.unwrap();
    let ids: HashSet<_> = lessons.iter().map(|lesson| &lesson.memory.id).collect();
    let aliases: HashSet<_> = lessons.iter().map(|lesson| &lesson.memory.alias).collect();
    assert_eq!((lessons.len(), ids.len(), aliases.len()), (WRITERS * COMMITS, WRITERS * COMMITS, WRITERS * COMMITS));
    assert_eq!(memory.find_problems().await.unwrap(), []);
    let mut names: Vec<String> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["stop", "reader"].contains(&name.as_str()))
        .collect();
    names.sort();
    assert_eq!(names, [".gitignore", "index", "lessons.jsonl", "lock", "redo.log"], "nothing is left lying about");
}

/// A disk on which a sync takes until somebody allows it to end.
#[derive(Debug)]
struct HeldDisk {
    syncing: mpsc::Sender<()>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl Disk for HeldDisk {
    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        if path.ends_with("redo.log") {
            self.syncing.send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
        }
        RealDisk.sync(path, file)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_answer_while_a_writer_is_stuck_in_its_sync() {
    let directory = TempDir::new().unwrap();
    let before = JsonlMemory::open(shared(directory.path()));
    before.add_memories(vec![lesson("a", "Written before")], at()).await.unwrap();
    let (syncing, is_syncing) = mpsc::channel();
    let (let_go, go_on) = mpsc::channel();
    let disk = Arc::new(HeldDisk { syncing, go_on: Mutex::new(go_on) });
    let stuck = JsonlMemory::open_on_disk(shared(directory.path()), disk);
    let writer = {
        let stuck = stuck.clone();
        tokio::spawn(async move { stuck.add_memories(vec![lesson("b", "Stuck")], at()).await.map(drop) })
    };
    tokio::task::spawn_blocking(move || is_syncing.recv().unwrap()).await.unwrap();
    // Whether it is the same handle, an old one or a new one: nobody waits.
    for reader in [&stuck, &before, &JsonlMemory::open(shared(directory.path()))] {
        let (query, ranking) = (project_query(), ranking());
        let answer = tokio::time::timeout(Duration::from_secs(10), reader.query_lessons(&query, &ranking, at()));
        assert!(!answer.await.expect("a reader waited for the writer").unwrap().hits.is_empty());
    }
    let_go.send(()).unwrap();
    writer.await.unwrap().unwrap();
    assert_eq!(before.list_lessons(LessonStateFilter::All).await.unwrap().len(), 2);
}
