//! Death at any moment: of a process by `kill -9`, of a disk at every step, of the power.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use archivist_core::domain::{EvidenceLevel, Fact};
use archivist_core::memory::jsonl::{Disk, JsonlMemory, JsonlSettings, RealDisk};
use archivist_core::memory::{CommitBatch, EpisodeFilter, FactFilter, LessonStateFilter, MemoryError, MemoryService};
use tempfile::TempDir;

use crate::samples::{at, day, episode, episode_id, id, lesson};
use crate::stores::settings;

/// Names the directory that a child process is to write to.
const CHILD_DIRECTORY: &str = "ARCHIVIST_TEST_CRASH_DIRECTORY";
const CHILD_START: &str = "ARCHIVIST_TEST_CRASH_START";

fn small(directory: &Path) -> JsonlSettings {
    JsonlSettings { fold_in_bytes: 2048, versions_kept: 3, ..settings(directory) }
}

/// One commit touches all files, so that half of it would show.
fn batch(number: u64) -> CommitBatch {
    let key = format!("n{number}");
    let sighting = Fact::Sighting {
        memory: id(&key),
        episode: episode_id(&key),
        at: at(),
        level: EvidenceLevel::Execution,
        context: None,
        quotes: Vec::new(),
        extra: Default::default(),
    };
    CommitBatch {
        episodes: vec![episode(&key)],
        memories: vec![lesson(&key, &format!("Lesson {number}")), lesson("shared", &format!("Version {number}"))],
        facts: vec![sighting],
        expected: Vec::new(),
        ..CommitBatch::default()
    }
}

/// Checks that acknowledged commits are whole and that no other is half there; returns those that are there.
async fn check(directory: &Path, acknowledged: &[u64]) -> Vec<u64> {
    let memory = JsonlMemory::open(small(directory));
    let before = present(&memory).await;
    for number in acknowledged {
        assert!(before.contains(number), "commit {number} was acknowledged and is gone");
    }
    // The next writer brings the files into order without changing what they say.
    let next = 1_000_000 + before.len() as u64;
    memory.commit_batch(batch(next), at()).await.unwrap();
    let after = present(&memory).await;
    assert_eq!(after.iter().filter(|number| **number != next).copied().collect::<Vec<_>>(), before);
    let mut damage = memory.find_problems().await.unwrap();
    damage.retain(|finding| finding.file != "index");
    assert_eq!(damage, [], "files are in order again");
    assert_eq!(present(&JsonlMemory::open(small(directory))).await, after);
    after
}

/// The commits that are in the memory, each of which must be whole.
async fn present(memory: &JsonlMemory) -> Vec<u64> {
    let number = |text: &str| text.strip_prefix('n').and_then(|digits| digits.parse::<u64>().ok());
    let mut parts: HashMap<u64, u32> = HashMap::new();
    for lesson in memory.list_lessons(LessonStateFilter::All).await.unwrap() {
        if let Some(number) = number(lesson.memory.id.as_str()) {
            *parts.entry(number).or_default() += 1;
        }
    }
    for episode in memory.list_episodes(&EpisodeFilter::default()).await.unwrap() {
        *parts.entry(number(episode.id.as_str()).unwrap()).or_default() += 1;
    }
    for fact in memory.list_facts(&FactFilter::default()).await.unwrap() {
        *parts.entry(number(fact.memory_id().as_str()).unwrap()).or_default() += 1;
    }
    let versions = memory.lesson_history(&id("shared")).await.map(|history| history.len()).unwrap_or_default();
    assert_eq!(versions, parts.len(), "every commit adds a version of the shared lesson");
    let mut whole: Vec<u64> = parts.keys().copied().collect();
    whole.sort_unstable();
    for (number, count) in parts {
        assert_eq!(count, 3, "commit {number} is half there");
    }
    whole
}

/// Not a test of its own: the process that gets killed.
#[tokio::test]
async fn child() {
    let (Ok(directory), Ok(start)) = (std::env::var(CHILD_DIRECTORY), std::env::var(CHILD_START)) else {
        return;
    };
    let memory = JsonlMemory::open(small(Path::new(&directory)));
    let start: u64 = start.parse().unwrap();
    println!("ready");
    for number in start..start + 10_000 {
        memory.commit_batch(batch(number), at()).await.unwrap();
        println!("ack {number}");
        if number % 5 == 0 {
            memory.run_maintenance().await;
        }
        if number % 7 == 0 {
            memory.compact_banks().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_writer_killed_at_any_moment_leaves_whole_commits() {
    const KILLS: usize = 210;
    const KILLS_A_DIRECTORY: usize = 15;
    let mut random = Random(0x5eed);
    let mut directory = TempDir::new().unwrap();
    let mut acknowledged = Vec::new();
    let (mut seen_mid_commit, mut acknowledged_in_all) = (0, 0);
    for kill in 0..KILLS {
        if kill % KILLS_A_DIRECTORY == 0 {
            directory = TempDir::new().unwrap();
            acknowledged.clear();
        }
        let start = acknowledged.last().map_or(0, |last: &u64| last + 1) + 10_000;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["crash::child", "--exact", "--nocapture"])
            .env(CHILD_DIRECTORY, directory.path())
            .env(CHILD_START, start.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        // The harness prints before and, without a newline, right in front of the first line.
        assert!(lines.any(|line| line.ends_with("ready")));
        let moment = Instant::now() + Duration::from_micros(random.below(30_000));
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let acks: Vec<u64> = lines.filter_map(|line| line.strip_prefix("ack ")?.parse().ok()).collect();
        acknowledged_in_all += acks.len();
        acknowledged.extend(&acks);
        let there = check(directory.path(), &acknowledged).await;
        seen_mid_commit += usize::from(there.iter().any(|n| *n < 1_000_000 && !acknowledged.contains(n)));
        acknowledged = there.into_iter().filter(|number| *number < 1_000_000).collect();
    }
    println!("{KILLS} kills, {acknowledged_in_all} commits, {seen_mid_commit} kills between durable and acknowledged");
    assert!(acknowledged_in_all > KILLS / 2, "the writers hardly got to write");
}

#[tokio::test]
async fn a_disk_that_dies_at_any_step_leaves_whole_commits() {
    let mut steps = 0;
    for death in [Death::Before, Death::Halfway, Death::After] {
        for step in 0.. {
            let directory = TempDir::new().unwrap();
            let disk = Arc::new(DyingDisk { left: AtomicU64::new(step), death });
            let (acknowledged, finished) = work(directory.path(), Arc::clone(&disk) as Arc<dyn Disk>).await;
            check(directory.path(), &acknowledged).await;
            steps += 1;
            if finished {
                break;
            }
        }
    }
    println!("died at {steps} steps");
    assert!(steps > 100, "the work has too few steps to mean anything");
}

#[tokio::test]
async fn a_power_cut_takes_nothing_that_was_acknowledged() {
    let mut random = Random(7);
    for round in 0..200 {
        let directory = TempDir::new().unwrap();
        let power = Arc::new(Power::default());
        power.steps_left.store(random.below(130), Ordering::Relaxed);
        let (acknowledged, _) = work(directory.path(), Arc::clone(&power) as Arc<dyn Disk>).await;
        power.cut(&mut random);
        // Whoever looks first, be it to read or to write, finds everything again.
        let memory = JsonlMemory::open_on_disk(small(directory.path()), Arc::clone(&power) as Arc<dyn Disk>);
        if round % 2 == 0 {
            memory.commit_batch(batch(900_000 + round), at()).await.unwrap();
        }
        let there = present(&memory).await;
        assert!(acknowledged.iter().all(|number| there.contains(number)), "{there:?} lacks some of {acknowledged:?}");
        check(directory.path(), &acknowledged).await;
    }
}

/// Commits, folds and compacts until the disk dies. Says what was acknowledged and whether it got to the end.
async fn work(directory: &Path, disk: Arc<dyn Disk>) -> (Vec<u64>, bool) {
    let memory = JsonlMemory::open_on_disk(small(directory), disk);
    let mut acknowledged = Vec::new();
    for number in 0..12 {
        let done = memory.commit_batch(batch(number), day(1)).await;
        match done {
            Ok(_) => acknowledged.push(number),
            Err(MemoryError::Io { .. }) => return (acknowledged, false),
            Err(other) => panic!("{other}"),
        }
        if number == 5 || number == 9 {
            match memory.compact_banks().await {
                Ok(_) => {}
                Err(MemoryError::Io { .. }) => return (acknowledged, false),
                Err(other) => panic!("{other}"),
            }
        }
    }
    // A disk that died after the last commit was durable refuses one more.
    let alive = memory.commit_batch(batch(12), day(1)).await.is_ok();
    if alive {
        acknowledged.push(12);
    }
    (acknowledged, alive)
}

/// What becomes of the step during which the process dies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Death {
    Before,
    Halfway,
    After,
}

/// Works for so many steps; then the process is dead as far as the disk can tell.
#[derive(Debug)]
struct DyingDisk {
    left: AtomicU64,
    death: Death,
}

impl DyingDisk {
    fn step(&self, whole: impl FnOnce() -> io::Result<()>, half: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        const DEAD: u64 = u64::MAX;
        let left = self.left.load(Ordering::Relaxed);
        if left == DEAD {
            return Err(io::Error::other("the process is dead"));
        }
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            return whole();
        }
        self.left.store(DEAD, Ordering::Relaxed);
        match self.death {
            Death::Before => {}
            Death::Halfway => half()?,
            Death::After => whole()?,
        }
        Err(io::Error::other("the process dies here"))
    }
}

impl Disk for DyingDisk {
    fn append(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let mut second = file.try_clone()?;
        self.step(
            || RealDisk.append(path, file, bytes),
            || RealDisk.append(path, &mut second, &bytes[..bytes.len() / 2]),
        )
    }

    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        self.step(|| RealDisk.sync(path, file), || Ok(()))
    }

    fn truncate(&self, path: &Path, file: &File, length: u64) -> io::Result<()> {
        self.step(|| RealDisk.truncate(path, file, length), || Ok(()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| RealDisk.rename(from, to), || Ok(()))
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.step(|| RealDisk.sync_directory(directory), || Ok(()))
    }

    fn boot_id(&self) -> Option<String> {
        RealDisk.boot_id()
    }
}

/// A disk that remembers what is safe, and loses part of the rest when the power goes.
#[derive(Debug, Default)]
struct Power {
    safe: Mutex<HashMap<PathBuf, u64>>,
    steps_left: AtomicU64,
    boots: AtomicU64,
}

impl Power {
    fn step(&self) -> io::Result<()> {
        match self.steps_left.load(Ordering::Relaxed) {
            0 => Err(io::Error::other("no power")),
            left => {
                self.steps_left.store(left - 1, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Cuts every file to some length between what is safe and what was written; sometimes zeros stand in for the rest.
    fn cut(&self, random: &mut Random) {
        for (path, safe) in self.safe.lock().unwrap().iter_mut() {
            let Ok(file) = File::options().write(true).open(path) else {
                continue;
            };
            let (length, modified) = (file.metadata().unwrap().len(), file.metadata().unwrap().modified().unwrap());
            let unsafe_bytes = length.saturating_sub(*safe);
            let kept = *safe + random.below(unsafe_bytes + 1);
            file.set_len(kept).unwrap();
            if random.below(3) == 0 {
                file.set_len(kept + random.below(length - kept + 1)).unwrap();
            }
            // Losing bytes is nobody's deed, and leaves no trace in the time of change.
            file.set_modified(modified).unwrap();
            *safe = file.metadata().unwrap().len();
        }
        self.steps_left.store(u64::MAX, Ordering::Relaxed);
        self.boots.fetch_add(1, Ordering::Relaxed);
    }
}

impl Disk for Power {
    fn append(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        self.step()?;
        let length = file.metadata()?.len();
        self.safe.lock().unwrap().entry(path.to_owned()).or_insert(length);
        RealDisk.append(path, file, bytes)
    }

    fn sync(&self, path: &Path, file: &File) -> io::Result<()> {
        self.step()?;
        self.safe.lock().unwrap().insert(path.to_owned(), file.metadata()?.len());
        Ok(())
    }

    fn truncate(&self, path: &Path, file: &File, length: u64) -> io::Result<()> {
        self.step()?;
        self.safe.lock().unwrap().insert(path.to_owned(), length);
        RealDisk.truncate(path, file, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        let mut safe = self.safe.lock().unwrap();
        let length = safe.remove(from).unwrap_or_default();
        safe.insert(to.to_owned(), length);
        RealDisk.rename(from, to)
    }

    fn sync_directory(&self, _directory: &Path) -> io::Result<()> {
        self.step()
    }

    fn boot_id(&self) -> Option<String> {
        Some(format!("boot {}", self.boots.load(Ordering::Relaxed)))
    }
}

/// Good enough to scatter moments.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}
