//! A queue among processes: killed at any moment, asked for the same at once, without space and without permission.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use archivist_core::service::{
    EnqueueResult, Job, JobFolder, JobHandler, JobOutcome, JobQueue, QueueError, QueueWorker, WorkerLifetime,
    WorkerPace,
};
use async_trait::async_trait;
use insta::assert_snapshot;
use tempfile::TempDir;

use crate::samples::{at, job, make_key, queue_in};

const CHILD_DIRECTORY: &str = "ARCHIVIST_TEST_QUEUE_DIRECTORY";
const CHILD_PART: &str = "ARCHIVIST_TEST_QUEUE_PART";

const WORKERS: u32 = 8;
const JOBS: usize = 300;
const KILLS: usize = 80;

const ENQUEUERS: usize = 16;
const SESSIONS: usize = 200;

const LEASE: Duration = Duration::from_secs(1);

/// How many bytes the event of a job has that is to be cut off by a limit of a block or two.
const LONG: usize = 3000;

fn pace() -> WorkerPace {
    WorkerPace {
        processes: WORKERS,
        lease: LEASE,
        max_attempts: 1000,
        retry: Duration::from_millis(10),
        quiet: Duration::ZERO,
        after_end: Duration::ZERO,
        linger: LEASE * 3,
        keep_done: Duration::from_secs(86_400),
    }
}

/// Adds a line for each job, and now and then fails.
struct Effects<'a>(&'a Path);

#[async_trait]
impl JobHandler for Effects<'_> {
    async fn handle_job(&self, job: &Job) -> JobOutcome {
        let name = job.name();
        let digit = name.as_str().bytes().next().unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(u64::from(digit))).await;
        let mut file = fs::OpenOptions::new().append(true).create(true).open(self.0.join("effects")).unwrap();
        file.write_all(format!("{name}\n").as_bytes()).unwrap();
        if job.attempts.is_empty() && digit == b'7' {
            JobOutcome::Again("not yet".to_owned())
        } else {
            JobOutcome::Done(String::new())
        }
    }
}

/// Not a test of its own: a process that works, or one that asks for jobs.
#[tokio::test]
async fn child() {
    let (Ok(directory), Ok(part)) = (std::env::var(CHILD_DIRECTORY), std::env::var(CHILD_PART)) else {
        return;
    };
    let directory = Path::new(&directory);
    let queue = queue_in(directory);
    match part.as_str() {
        "work" => {
            let handler = Effects(directory);
            let worker =
                QueueWorker { queue: &queue, handler: &handler, pace: pace(), clock: Arc::new(chrono::Utc::now) };
            let (_stop, stopped) = tokio::sync::watch::channel(false);
            worker.run(WorkerLifetime::Empty, stopped).await.unwrap();
        }
        "ask" => {
            while !directory.join("go").exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let ask = |number| queue.enqueue(&job(&format!("s{number}"), 10)).unwrap();
            let new = (0..SESSIONS).map(ask).filter(|enqueued| *enqueued == EnqueueResult::New).count();
            println!("new jobs: {new}");
        }
        _ => match queue.enqueue(&Job { event: "x".repeat(LONG), ..job("a", 10) }) {
            Ok(enqueued) => println!("came to: {enqueued:?}"),
            Err(error) => println!("came to: {}", told(&error, directory)),
        },
    }
}

/// What a person would see.
fn told(error: &QueueError, directory: &Path) -> String {
    let text = format!("{error} / {}", error.hint().unwrap_or_default());
    text.replace(directory.to_str().unwrap(), "~")
}

fn command(program: &Path, directory: &Path, part: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["queue::child", "--exact", "--nocapture"]);
    command.env(CHILD_DIRECTORY, directory).env(CHILD_PART, part).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn spawn(directory: &Path, part: &str) -> Child {
    command(&std::env::current_exe().unwrap(), directory, part).spawn().unwrap()
}

/// What a child said behind these words.
fn said(child: Child, words: &str) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found = text.lines().find_map(|line| line.split_once(words)).map(|(_, said)| said.trim().to_owned());
    found.unwrap_or_else(|| panic!("{text}"))
}

fn count(queue: &JobQueue, place: JobFolder) -> usize {
    fs::read_dir(queue.queue_dir().join(place.as_str())).map_or(0, Iterator::count)
}

#[test]
fn workers_killed_at_any_moment_lose_no_job() {
    let directory = TempDir::new().unwrap();
    let queue = queue_in(directory.path());
    for number in 0..JOBS {
        assert_eq!(queue.enqueue(&job(&format!("s{number}"), 10)).unwrap(), EnqueueResult::New);
    }
    let mut random = 0x5eed_u64;
    let mut below = |bound: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % bound
    };
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| spawn(directory.path(), "work")).collect();
    for _ in 0..KILLS {
        std::thread::sleep(Duration::from_millis(below(200)));
        let unlucky = usize::try_from(below(u64::from(WORKERS))).unwrap();
        workers[unlucky].kill().unwrap();
        workers[unlucky].wait().unwrap();
        workers[unlucky] = spawn(directory.path(), "work");
    }
    let left = JOBS - count(&queue, JobFolder::Done);
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let places =
        [JobFolder::New, JobFolder::Claimed, JobFolder::Dead, JobFolder::Done].map(|place| count(&queue, place));
    assert_eq!(places, [0, 0, 0, JOBS], "new, claimed, dead, done");
    let listed = queue.list_jobs(LEASE, chrono::Utc::now()).unwrap();
    let attempts = listed.iter().flat_map(|listed| &listed.job.as_ref().unwrap().attempts);
    let deaths = attempts.filter(|attempt| attempt.error == "its worker died").count();
    let mut effects: BTreeMap<String, usize> = BTreeMap::new();
    for line in fs::read_to_string(directory.path().join("effects")).unwrap().lines() {
        *effects.entry(line.to_owned()).or_default() += 1;
    }
    for listed in &listed {
        assert!(effects.contains_key(&listed.name), "{} is done and did nothing", listed.name);
    }
    let repeated: usize = effects.values().map(|times| times - 1).sum();
    println!("{KILLS} kills, {left} jobs left after them, {deaths} jobs taken over, {repeated} effects repeated");
    assert!(deaths > 5, "the kills hardly met anybody: {deaths}");
}

#[test]
fn many_who_ask_for_the_same_at_once_get_it_once() {
    let directory = TempDir::new().unwrap();
    let children: Vec<Child> = (0..ENQUEUERS).map(|_| spawn(directory.path(), "ask")).collect();
    std::thread::sleep(Duration::from_millis(300));
    fs::write(directory.path().join("go"), "").unwrap();
    let new: usize = children.into_iter().map(|child| said(child, "new jobs: ").parse::<usize>().unwrap()).sum();
    let queue = queue_in(directory.path());
    assert_eq!((new, count(&queue, JobFolder::New)), (SESSIONS, SESSIONS));
    assert!(queue.list_jobs(LEASE, at()).unwrap().iter().all(|listed| listed.job.is_ok()));
}

#[cfg(unix)]
#[test]
fn a_job_for_which_there_is_no_space_is_refused_and_leaves_no_trace() {
    for blocks in 0..3 {
        let directory = TempDir::new().unwrap();
        make_key(directory.path());
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &script]).arg(std::env::current_exe().unwrap());
        shell.args(["queue::child", "--exact", "--nocapture"]);
        shell.env(CHILD_DIRECTORY, directory.path()).env(CHILD_PART, "once");
        let refused = said(shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap(), "came to: ");
        let name = job("a", 10).name();
        assert_eq!(
            refused.replace(name.as_str(), "NAME"),
            "cannot write ~/queue/new/NAME: File too large (os error 27) / \
             free some space and ask again; nothing was half written"
        );
        let queue = queue_in(directory.path());
        assert_eq!(count(&queue, JobFolder::New), 0, "{blocks} blocks");
        assert_eq!(queue.enqueue(&job("a", 10)).unwrap(), EnqueueResult::New);
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_written_is_named() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let directory = TempDir::new().unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let memory = directory.path().join("memory");
    fs::create_dir(&memory).unwrap();
    let key = make_key(&memory);
    let mut program = std::env::current_exe().unwrap();
    // Permissions do not count for root, so that root's test is run by somebody who owns nothing.
    let runs_as_root = fs::metadata(&memory).unwrap().uid() == 0;
    if runs_as_root {
        let copy = directory.path().join("it");
        fs::copy(&program, &copy).unwrap();
        allow(directory.path(), 0o755);
        allow(&copy, 0o755);
        program = copy;
    }
    allow(&memory, 0o555);
    let mut child = command(&program, &memory, "once");
    if runs_as_root {
        std::os::unix::fs::chown(&key, Some(65534), Some(65534)).unwrap();
        child.uid(65534).gid(65534);
    }
    let Ok(child) = child.spawn() else {
        println!("not tested: {} cannot be entered by others", directory.path().display());
        return;
    };
    assert_snapshot!(said(child, "came to: "), @"cannot create ~/queue: Permission denied (os error 13) / allow reading and writing there, or choose another directory with --memory-dir");
    allow(&memory, 0o755);
    let there: Vec<_> = fs::read_dir(&memory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(there, [key]);
}
