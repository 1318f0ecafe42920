//! Others at the same files: hands, git, other tools, a power cut, and all of them at a bad moment.

use std::fs::{File, FileTimes};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use archivist_core::memory::jsonl::{Disk, JsonlMemory, JsonlSettings, RealDisk, SyncPolicy};
use archivist_core::memory::{LessonName, LessonStateFilter, LessonUsage, MemoryService, SearchMethod};
use tempfile::TempDir;

use crate::samples::{at, id, lesson, project_query, ranking, run};
use crate::stores::settings;

const LESSONS: &str = "lessons.jsonl";
const ARCHIVE: &str = "lessons-archive.jsonl";
const LOG: &str = "redo.log";

/// The index catches up whenever it is asked to.
fn eager(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: 1, versions_kept: 3, ..settings(directory) }
}

/// The index stays as it is.
fn idle(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: u64::MAX, ..eager(directory) }
}

async fn add(memory: &JsonlMemory, key: &str, summary: &str) {
    memory.add_memories(vec![lesson(key, summary)], at()).await.unwrap();
}

/// The ids of all lessons, sorted.
async fn ids(memory: &JsonlMemory) -> Vec<String> {
    let lessons = memory.list_lessons(LessonStateFilter::All).await.unwrap();
    let mut ids: Vec<String> = lessons.into_iter().map(|lesson| lesson.memory.id.as_str().to_owned()).collect();
    ids.sort();
    ids
}

async fn has(memory: &JsonlMemory, key: &str) -> bool {
    memory.get_lesson(&LessonName::Id(id(key))).await.unwrap().is_some()
}

/// The summaries that answer a question, sorted, and how they were found.
async fn ask(memory: &JsonlMemory, text: &str) -> (Vec<String>, SearchMethod) {
    let mut query = project_query();
    query.text = Some(text.to_owned());
    query.max_results = Some(100);
    let answer = memory.query_lessons(&query, &ranking(), at()).await.unwrap();
    let mut found: Vec<String> = answer.hits.into_iter().map(|hit| hit.lesson.memory.summary).collect();
    found.sort();
    (found, answer.method)
}

/// Twenty lessons about apples, all of them in the index.
async fn orchard(directory: &Path) {
    let memory = JsonlMemory::open(eager(directory));
    let lessons = (0..20).map(|number| lesson(&format!("k{number}"), &format!("word{number} apple"))).collect();
    memory.add_memories(lessons, at()).await.unwrap();
    memory.run_maintenance().await;
    assert_eq!(ask(&memory, "apple").await.1, SearchMethod::Index);
}

/// One lesson of so many versions that compaction has something to move.
async fn much_revised(directory: &Path) -> JsonlMemory {
    let memory = JsonlMemory::open(eager(directory));
    for number in 0..6 {
        add(&memory, "a", &format!("Version {number}")).await;
    }
    memory
}

/// A store on a machine that was started under this name.
fn booted(directory: &Path, boot: &str) -> JsonlMemory {
    JsonlMemory::open_on_disk(eager(directory), Hooked::booted(Some(boot), |_, _| Ok(())))
}

/// What a person, git or another tool does to a file: it has other bytes, and was changed after the last commit.
fn edit(path: &Path, bytes: &[u8]) {
    let before = path.metadata().unwrap().modified().unwrap();
    std::fs::write(path, bytes).unwrap();
    // Nobody edits within the tick of a clock in which a commit ended; a test does.
    touch(path, FileTimes::new().set_modified(before + Duration::from_secs(1)));
}

/// What a loss of power does to a file: it has fewer bytes or zeros, and nobody has changed it.
fn lose(path: &Path, bytes: &[u8]) {
    let before = path.metadata().unwrap().modified().unwrap();
    std::fs::write(path, bytes).unwrap();
    touch(path, FileTimes::new().set_modified(before));
}

fn touch(path: &Path, times: FileTimes) {
    File::options().append(true).open(path).unwrap().set_times(times).unwrap();
}

/// One line, typed or pulled in at the end of a file.
fn append(path: &Path, line: &str) {
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(line.as_bytes()).unwrap();
}

fn line(key: &str, summary: &str) -> String {
    format!("{}\n", serde_json::to_string(&lesson(key, summary)).unwrap())
}

fn pear_for_the_first_apple(directory: &Path) {
    let path = directory.join(LESSONS);
    let text = std::fs::read_to_string(&path).unwrap();
    edit(&path, text.replace("word0 apple", "something else entirely, a pear").as_bytes());
}

#[tokio::test]
async fn a_checkout_of_an_older_file_outlives_a_reboot() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join(LESSONS);
    let memory = booted(directory.path(), "one");
    add(&memory, "a", "On the main branch").await;
    let main = std::fs::read(&file).unwrap();
    add(&memory, "b", "On a side branch").await;
    edit(&file, &main);
    let memory = booted(directory.path(), "two");
    add(&memory, "c", "After the reboot").await;
    assert_eq!(ids(&memory).await, ["a", "c"], "the log does not bring back what somebody took out");
}

#[tokio::test]
async fn a_checkout_of_an_older_file_stands_where_boots_cannot_be_told_apart() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join(LESSONS);
    let open = || JsonlMemory::open_on_disk(eager(directory.path()), Hooked::booted(None, |_, _| Ok(())));
    add(&open(), "a", "Kept").await;
    let one = std::fs::read(&file).unwrap();
    add(&open(), "b", "Taken out").await;
    edit(&file, &one);
    let memory = open();
    add(&memory, "c", "Next").await;
    assert_eq!(ids(&memory).await, ["a", "c"]);
}

#[tokio::test]
async fn an_edit_that_a_writer_has_noted_outlives_a_reboot() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join(LESSONS);
    let memory = booted(directory.path(), "one");
    add(&memory, "a", "Kept").await;
    let one = std::fs::read(&file).unwrap();
    add(&memory, "b", "Taken out").await;
    edit(&file, &one);
    // Takes the writers' lock and notes how the files look now: to the next boot they look untouched.
    memory.run_maintenance().await;
    assert_eq!(ids(&memory).await, ["a"]);
    let memory = booted(directory.path(), "two");
    add(&memory, "c", "Next").await;
    assert_eq!(ids(&memory).await, ["a", "c"]);
}

#[tokio::test]
async fn a_power_cut_after_a_hand_edit_takes_nothing_acknowledged() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join(LESSONS);
    let safe = Arc::new(AtomicU64::new(0));
    let synced = Arc::clone(&safe);
    let hook = move |step: Step, path: &Path| {
        if step == Step::Sync && path.ends_with(LESSONS) {
            synced.store(path.metadata()?.len(), Ordering::Relaxed);
        }
        Ok(())
    };
    let memory = JsonlMemory::open_on_disk(eager(directory.path()), Hooked::booted(Some("one"), hook));
    add(&memory, "a", "Acknowledged").await;
    append(&file, &line("h", "By hand"));
    add(&memory, "b", "Acknowledged too").await;
    drop(memory);
    let written = std::fs::read(&file).unwrap();
    let safe = usize::try_from(safe.load(Ordering::Relaxed)).unwrap();
    assert!(safe < written.len(), "the last commit is in its file but not safe there");
    lose(&file, &written[..safe]);
    let memory = booted(directory.path(), "two");
    add(&memory, "c", "After the reboot").await;
    assert_eq!(ids(&memory).await, ["a", "b", "c", "h"]);
}

#[tokio::test]
async fn zeros_in_the_middle_are_filled_in_again() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join(LESSONS);
    let memory = booted(directory.path(), "one");
    for key in ["a", "b", "c"] {
        add(&memory, key, "Acknowledged").await;
    }
    let written = std::fs::read(&file).unwrap();
    let mut bytes = written.clone();
    let third = bytes.len() / 3;
    // Pages reach the disk in any order.
    bytes[third..2 * third].fill(0);
    lose(&file, &bytes);
    let memory = booted(directory.path(), "two");
    assert_eq!(ids(&memory).await, ["a", "b", "c"]);
    assert_eq!(std::fs::read(&file).unwrap(), written);
}

#[tokio::test]
async fn a_reader_is_enough_to_bring_back_what_the_power_took() {
    for reads_everything in [true, false] {
        let directory = TempDir::new().unwrap();
        let memory = booted(directory.path(), "one");
        add(&memory, "a", "Acknowledged").await;
        add(&memory, "b", "Acknowledged").await;
        lose(&directory.path().join(LESSONS), b"");
        let memory = booted(directory.path(), "two");
        if reads_everything {
            assert_eq!(ids(&memory).await, ["a", "b"]);
        } else {
            assert!(has(&memory, "b").await);
        }
    }
}

#[tokio::test]
async fn an_index_is_not_believed_after_a_kill_and_a_hand_edit() {
    let directory = TempDir::new().unwrap();
    orchard(directory.path()).await;
    let killed = JsonlMemory::open_on_disk(
        idle(directory.path()),
        Hooked::new(|step, path| if step == Step::Append && path.ends_with(LESSONS) { Err(no()) } else { Ok(()) }),
    );
    // Durable, but its bytes never reach the file: as if the process had been killed between the two.
    add(&killed, "pending", "apple pending").await;
    drop(killed);
    pear_for_the_first_apple(directory.path());
    add(&JsonlMemory::open(idle(directory.path())), "next", "apple next").await;
    let (found, method) = ask(&JsonlMemory::open(idle(directory.path())), "apple").await;
    assert_eq!(
        (found.len(), method),
        (21, SearchMethod::FullRead),
        "19 old ones, the pending one and the next: {found:?}"
    );
}

#[tokio::test]
async fn a_hand_edit_during_a_commit_is_not_taken_for_the_commits_own() {
    let directory = TempDir::new().unwrap();
    orchard(directory.path()).await;
    let (here, once) = (directory.path().to_owned(), AtomicBool::new(true));
    let hook = move |step: Step, path: &Path| {
        if step == Step::Append && path.ends_with("ledger.jsonl") && once.swap(false, Ordering::Relaxed) {
            pear_for_the_first_apple(&here);
        }
        Ok(())
    };
    let memory = JsonlMemory::open_on_disk(idle(directory.path()), Hooked::new(hook));
    let usage = LessonUsage { run: run("r"), point: "orchestrator".into() };
    memory.record_usage(&[id("k3")], &usage, at()).await.unwrap();
    for memory in [memory, JsonlMemory::open(idle(directory.path()))] {
        assert_eq!(ask(&memory, "pear").await.0, ["something else entirely, a pear"]);
        assert_eq!(ask(&memory, "apple").await.0.len(), 19);
    }
}

#[tokio::test]
async fn a_compaction_that_was_cut_off_leaves_later_hand_edits_alone() {
    let directory = TempDir::new().unwrap();
    much_revised(directory.path()).await;
    let is_swap = |step, path: &Path| step == Step::Rename && (path.ends_with(LESSONS) || path.ends_with(ARCHIVE));
    let hook = move |step: Step, path: &Path| if is_swap(step, path) { Err(no()) } else { Ok(()) };
    drop(JsonlMemory::open_on_disk(eager(directory.path()), Hooked::new(hook)).compact_banks().await);
    assert!(directory.path().join("lessons.jsonl.next").exists(), "prepared and never put in place");
    append(&directory.path().join(LESSONS), &line("hand", "Typed by a person, or pulled by git"));
    let memory = JsonlMemory::open(eager(directory.path()));
    assert_eq!(ids(&memory).await, ["a", "hand"]);
    add(&memory, "b", "The next commit").await;
    check_after_compaction(&memory, &["a", "b", "hand"]).await;
    memory.compact_banks().await.unwrap();
    check_after_compaction(&memory, &["a", "b", "hand"]).await;
}

#[tokio::test]
async fn a_hand_edit_during_a_compaction_is_kept() {
    let directory = TempDir::new().unwrap();
    let memory = much_revised(directory.path()).await;
    let file = directory.path().join(LESSONS);
    let hook = move |step: Step, path: &Path| {
        if step == Step::Sync && path.ends_with("lessons.jsonl.next") {
            append(&file, &line("hand", "Typed while its successor was prepared"));
        }
        Ok(())
    };
    JsonlMemory::open_on_disk(eager(directory.path()), Hooked::new(hook)).compact_banks().await.unwrap();
    check_after_compaction(&memory, &["a", "hand"]).await;
    check_after_compaction(&JsonlMemory::open(eager(directory.path())), &["a", "hand"]).await;
}

/// All lessons are there, and all versions of the one that was compacted.
async fn check_after_compaction(memory: &JsonlMemory, expected: &[&str]) {
    assert_eq!(ids(memory).await, expected);
    assert_eq!(memory.lesson_history(&id("a")).await.unwrap().len(), 6);
}

#[tokio::test]
async fn a_reader_at_any_step_of_a_compaction_finds_everything() {
    let directory = TempDir::new().unwrap();
    much_revised(directory.path()).await;
    let looks = Arc::new(AtomicUsize::new(0));
    let (here, counter) = (directory.path().to_owned(), Arc::clone(&looks));
    let steady = JsonlMemory::open(idle(directory.path()));
    assert!(has(&steady, "a").await);
    let hook = move |step: Step, path: &Path| {
        let looked = format!("{step:?} of {}", path.display());
        for reader in [JsonlMemory::open(idle(&here)), steady.clone()] {
            let looked = looked.clone();
            apart(async move {
                let found = reader.get_lesson(&LessonName::Id(id("a"))).await.unwrap();
                let found = found.map(|lesson| (lesson.version, lesson.memory.summary));
                assert_eq!(found, Some((6, "Version 5".to_owned())), "at {looked}");
                assert_eq!(reader.lesson_history(&id("a")).await.unwrap().len(), 6, "at {looked}");
            });
        }
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let memory = JsonlMemory::open_on_disk(eager(directory.path()), Hooked::new(hook));
    let done = memory.compact_banks().await.unwrap();
    assert_eq!(done[0].versions_moved, 3);
    assert!(looks.load(Ordering::Relaxed) > 12, "a compaction has more steps than {looks:?}");
}

#[tokio::test]
async fn a_reader_forgets_a_commit_that_was_refused() {
    let directory = TempDir::new().unwrap();
    add(&JsonlMemory::open(eager(directory.path())), "a", "One").await;
    let reader = JsonlMemory::open(eager(directory.path()));
    assert!(has(&reader, "a").await);
    let (looking, once) = (reader.clone(), AtomicBool::new(true));
    let hook = move |step: Step, path: &Path| {
        if step == Step::Sync && path.ends_with(LOG) && once.swap(false, Ordering::Relaxed) {
            // The record is in the log, and a reader sees it there; then the disk says that it is not safe.
            let looking = looking.clone();
            apart(async move {
                has(&looking, "ghost").await;
            });
            return Err(no());
        }
        Ok(())
    };
    let memory = JsonlMemory::open_on_disk(eager(directory.path()), Hooked::new(hook));
    memory.add_memories(vec![lesson("ghost", "Never acknowledged")], at()).await.unwrap_err();
    add(&memory, "b", "Acknowledged, longer, and written where the refused one would have been").await;
    assert!(!has(&reader, "ghost").await);
    assert!(has(&reader, "b").await);
    assert_eq!(ids(&reader).await, ["a", "b"]);
}

#[tokio::test]
async fn a_lazy_writer_keeps_what_a_durable_one_acknowledged() {
    let directory = TempDir::new().unwrap();
    add(&JsonlMemory::open(eager(directory.path())), "a", "Durable").await;
    let durable = directory.path().join(LESSONS).metadata().unwrap().len();
    let safe = AtomicU64::new(0);
    let cuts = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&cuts);
    let hook = move |step: Step, path: &Path| {
        if step == Step::Sync && path.ends_with(LESSONS) {
            safe.store(path.metadata()?.len(), Ordering::Relaxed);
        }
        // Without its record in the log, a commit must be safe in its file.
        let shortened = matches!(step, Step::Truncate | Step::Rename) && path.ends_with(LOG);
        if shortened {
            counter.fetch_add(1, Ordering::Relaxed);
            assert!(safe.load(Ordering::Relaxed) >= durable, "the log is cut and {LESSONS} was never synced");
        }
        Ok(())
    };
    let lazy = JsonlSettings { sync: SyncPolicy::Lazy, ..eager(directory.path()) };
    let memory = JsonlMemory::open_on_disk(lazy, Hooked::new(hook));
    for number in 0..12 {
        add(&memory, &format!("l{number}"), &"long ".repeat(4000)).await;
    }
    assert!(cuts.load(Ordering::Relaxed) > 0, "the log was never cut");
}

#[tokio::test]
async fn a_log_that_lies_about_lengths_stops_nobody() {
    let directory = TempDir::new().unwrap();
    add(&JsonlMemory::open(eager(directory.path())), "a", "Here").await;
    let json =
        format!(r#"{{"redo":{{"appends":[{{"part":"lessons","before":{},"text":"{{}}\n"}}],"swaps":[]}}}}"#, u64::MAX);
    let checksum: String = blake3::hash(json.as_bytes()).to_hex().chars().take(16).collect();
    append(&directory.path().join(LOG), &format!("{checksum} {json}\n"));
    let memory = JsonlMemory::open(eager(directory.path()));
    assert!(has(&memory, "a").await);
    add(&memory, "b", "And on").await;
    assert_eq!(ids(&memory).await, ["a", "b"]);
}

/// Runs to its end on a thread of its own, as another process would.
fn apart(work: impl Future<Output = ()> + Send + 'static) {
    let run = || tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work);
    std::thread::spawn(run).join().unwrap();
}

fn no() -> io::Error {
    io::Error::other("the disk says no")
}

/// What a disk is about to do, or has just done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Append,
    Sync,
    Truncate,
    Rename,
    Renamed,
    SyncDirectory,
}

type Hook = dyn Fn(Step, &Path) -> io::Result<()> + Send + std::marker::Sync;

/// A disk that asks before every step; a rename is known by where it leads.
struct Hooked {
    boot: Option<String>,
    hook: Box<Hook>,
}

impl Hooked {
    /// On the machine that is there.
    fn new(hook: impl Fn(Step, &Path) -> io::Result<()> + Send + std::marker::Sync + 'static) -> Arc<Self> {
        Self::booted(RealDisk.boot_id().as_deref(), hook)
    }

    fn booted(
        boot: Option<&str>,
        hook: impl Fn(Step, &Path) -> io::Result<()> + Send + std::marker::Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { boot: boot.map(str::to_owned), hook: Box::new(hook) })
    }
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooked").field("boot", &self.boot).finish_non_exhaustive()
    }
}

impl Disk for Hooked {
    fn append(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        (self.hook)(Step::Append, path)?;
        RealDisk.append(path, file, bytes)
    }

    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        (self.hook)(Step::Sync, path)?;
        RealDisk.sync(path, file)
    }

    fn truncate(&self, path: &Path, file: &File, length: u64) -> io::Result<()> {
        (self.hook)(Step::Truncate, path)?;
        RealDisk.truncate(path, file, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        (self.hook)(Step::Rename, to)?;
        RealDisk.rename(from, to)?;
        (self.hook)(Step::Renamed, to)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        (self.hook)(Step::SyncDirectory, directory)?;
        RealDisk.sync_directory(directory)
    }

    fn boot_id(&self) -> Option<String> {
        self.boot.clone()
    }
}

/// An editor opened the file before two commits and saves it after them.
#[tokio::test]
async fn what_a_stale_copy_took_is_told_and_brought_back() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join(LESSONS);
    let memory = JsonlMemory::open(idle(directory.path()));
    add(&memory, "a", "Before the editor").await;
    let opened = std::fs::read(&file).unwrap();
    add(&memory, "b", "While the editor was open").await;
    add(&memory, "a", "Before the editor, said better").await;
    let copy = directory.path().join("lessons.jsonl~");
    std::fs::write(&copy, &opened).unwrap();
    std::fs::rename(&copy, &file).unwrap();
    touch(&file, FileTimes::new().set_modified(SystemTime::now() + Duration::from_secs(1)));

    // Writers go on, and do not bring back what somebody may have taken out on purpose.
    let memory = JsonlMemory::open(idle(directory.path()));
    add(&memory, "c", "After the editor").await;
    assert_eq!(ids(&memory).await, ["a", "c"]);
    let findings = memory.find_problems().await.unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].problem, "2 acknowledged lines are missing; another program took them out");
    assert_eq!(memory.repair_problems(at()).await.unwrap(), findings);

    let memory = JsonlMemory::open(idle(directory.path()));
    assert_eq!(ids(&memory).await, ["a", "b", "c"]);
    let name = LessonName::parse("a").unwrap();
    assert_eq!(memory.get_lesson(&name).await.unwrap().unwrap().memory.summary, "Before the editor, said better");
    assert_eq!(memory.find_problems().await.unwrap(), []);
}

/// Who took a line out on purpose is told once, and compaction forgets it.
#[tokio::test]
async fn a_line_taken_out_on_purpose_is_forgotten_by_compaction() {
    let directory = TempDir::new().unwrap();
    let memory = JsonlMemory::open(idle(directory.path()));
    add(&memory, "a", "Kept").await;
    let kept = std::fs::read(directory.path().join(LESSONS)).unwrap();
    add(&memory, "b", "Taken out").await;
    edit(&directory.path().join(LESSONS), &kept);
    let memory = JsonlMemory::open(idle(directory.path()));
    assert_eq!(memory.find_problems().await.unwrap().len(), 1);
    memory.compact_banks().await.unwrap();
    assert_eq!(memory.find_problems().await.unwrap(), []);
    assert_eq!(ids(&memory).await, ["a"]);
}
