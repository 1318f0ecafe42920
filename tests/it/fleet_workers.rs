//! Workers of a fleet: processes that are killed, jobs that block, and the command line from a hook to a lesson.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use archivist_core::domain::{ReflectionTrigger, SessionId};
use archivist_core::service::{
    Job, JobFolder, JobHandler, JobKind, JobOutcome, JobSource, QueueWorker, WorkerEndReason, WorkerLifetime,
    WorkerPace, WorkerReach, WorkerToken,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::fleet_queue::Fleet;
use crate::samples::job;
use crate::sessions::{Met, write};
use crate::support::{Output, World, text};

const CHILD_URL: &str = "ARCHIVIST_TEST_FLEET_URL";
const CHILD_DIRECTORY: &str = "ARCHIVIST_TEST_FLEET_DIRECTORY";

const LEASE: Duration = Duration::from_secs(1);

fn pace(lease: Duration) -> WorkerPace {
    WorkerPace {
        processes: 1,
        lease,
        max_attempts: 5,
        retry: Duration::from_millis(10),
        quiet: Duration::ZERO,
        after_end: Duration::ZERO,
        linger: lease * 4,
        keep_done: Duration::from_secs(86_400),
    }
}

/// Is at it for ever, the first time.
struct Stuck<'a>(&'a Path);

#[async_trait]
impl JobHandler for Stuck<'_> {
    async fn handle_job(&self, _: &Job) -> JobOutcome {
        if std::fs::File::create_new(self.0.join("begun")).is_ok() {
            tokio::time::sleep(Duration::from_secs(600)).await;
        }
        JobOutcome::Done("by another".to_owned())
    }
}

/// Not a test of its own: a worker in a process of its own.
#[tokio::test]
async fn child() {
    let (Ok(url), Ok(directory)) = (std::env::var(CHILD_URL), std::env::var(CHILD_DIRECTORY)) else { return };
    let fleet = Fleet::at(url, Duration::from_secs(20));
    let (source, _spool) = fleet.source("shop", WorkerReach::Own, 8);
    let handler = Stuck(Path::new(&directory));
    let worker =
        QueueWorker { queue: &source, handler: &handler, pace: pace(LEASE), clock: Arc::new(chrono::Utc::now) };
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    worker.run(WorkerLifetime::Empty, stopped).await.unwrap();
}

fn spawn(url: &str, directory: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["fleet_workers::child", "--exact"]).env(CHILD_URL, url).env(CHILD_DIRECTORY, directory);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[tokio::test]
async fn a_worker_that_is_killed_in_the_middle_of_a_job_loses_it_to_another() {
    let Some(fleet) = Fleet::fresh().await else { return };
    let (queue, directory) = (fleet.queue("shop"), TempDir::new().unwrap());
    queue.enqueue(&job("a", 1), chrono::Utc::now()).await.unwrap();
    let mut first = spawn(&fleet.url, directory.path());
    let deadline = Instant::now() + Duration::from_secs(60);
    while !directory.path().join("begun").exists() {
        assert!(Instant::now() < deadline, "nobody began");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // For as long as it lives it keeps its job, however long that takes.
    tokio::time::sleep(LEASE * 2).await;
    assert_eq!(queue.list_jobs(chrono::Utc::now()).await.unwrap()[0].place, JobFolder::Claimed);
    let (thief, _spool) = fleet.source("shop", WorkerReach::Own, 8);
    assert!(thief.claim_job(&WorkerToken::new_unique(), LEASE, chrono::Utc::now()).await.unwrap().is_none());
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(spawn(&fleet.url, directory.path()).wait().unwrap().success());
    let listed = &queue.list_jobs(chrono::Utc::now()).await.unwrap()[0];
    assert_eq!((listed.place, listed.note.as_deref()), (JobFolder::Done, Some("by another")));
    let attempts: Vec<&str> =
        listed.job.as_ref().unwrap().attempts.iter().map(|attempt| attempt.error.as_str()).collect();
    assert_eq!(attempts, ["its worker died"]);
}

/// Keeps its thread busy for longer than the lease, as nobody should.
struct Blocking;

#[async_trait]
impl JobHandler for Blocking {
    async fn handle_job(&self, _: &Job) -> JobOutcome {
        std::thread::sleep(LEASE * 5 / 2);
        JobOutcome::Done(String::new())
    }
}

#[tokio::test]
async fn a_job_that_blocks_its_thread_does_not_look_dead() {
    let Some(fleet) = Fleet::fresh().await else { return };
    fleet.queue("shop").enqueue(&job("a", 1), chrono::Utc::now()).await.unwrap();
    let (source, _spool) = fleet.source("shop", WorkerReach::Own, 8);
    let worker =
        QueueWorker { queue: &source, handler: &Blocking, pace: pace(LEASE), clock: Arc::new(chrono::Utc::now) };
    let url = fleet.url.clone();
    let thief = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let fleet = Fleet::at(url, Duration::from_secs(20));
            let (source, _spool) = fleet.source("shop", WorkerReach::Own, 8);
            let mut stolen = 0;
            tokio::time::sleep(LEASE / 2).await;
            for _ in 0..18 {
                tokio::time::sleep(LEASE / 10).await;
                let taken = source.claim_job(&WorkerToken::new_unique(), LEASE, chrono::Utc::now()).await.unwrap();
                stolen += usize::from(taken.is_some());
            }
            stolen
        })
    });
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    let worked = worker.run(WorkerLifetime::Empty, stopped).await.unwrap();
    assert_eq!((worked.ended, worked.done, thief.join().unwrap()), (WorkerEndReason::Empty, 1, 0));
}

/// A fleet, and a machine with a project.
struct Site {
    fleet: Fleet,
    world: World,
}

impl Site {
    async fn fresh() -> Option<Self> {
        Some(Self { fleet: Fleet::fresh().await?, world: World::new() })
    }

    fn variables(&self) -> Vec<(&str, &str)> {
        vec![
            ("ARCHIVIST__MEMORY__BACKEND", "postgres"),
            ("ARCHIVIST__MEMORY__POSTGRES__URL", self.fleet.url.as_str()),
            ("ARCHIVIST__MEMORY__GLOBAL_DIR", ""),
            ("ARCHIVIST__HOOKS__START_WORKER", "false"),
            ("ARCHIVIST__WORKER__SETTLE_SECONDS", "0"),
            ("ARCHIVIST__WORKER__RETRY_SECONDS", "0"),
        ]
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        self.world.run_with(arguments, &self.variables(), input)
    }

    fn jobs(&self) -> Vec<Value> {
        let output = self.run(&["status", "--json"], "");
        assert_eq!(output.status, 0, "{output}");
        let status: Value = serde_json::from_str(&output.stdout).unwrap();
        status["jobs"].as_array().unwrap().clone()
    }

    /// Where the job of a session is, and what was last said of it.
    fn place(&self, session: &str) -> (String, String) {
        let jobs = self.jobs();
        let found = jobs.iter().find(|job| job["session"] == session).unwrap_or_else(|| panic!("{jobs:?}"));
        (found["place"].as_str().unwrap().to_owned(), found["note"].as_str().unwrap_or_default().to_owned())
    }

    fn spooled(&self) -> usize {
        let count = |place: &str| {
            let folder = self.world.memory().join("queue").join(place);
            std::fs::read_dir(folder).map_or(0, Iterator::count)
        };
        ["new", "claimed", "dead", "done"].map(count).iter().sum()
    }
}

fn ended(world: &World, session: &str, log: &str) -> String {
    json!({"sessionId": session, "cwd": world.project(), "logPaths": [log]}).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_writes_a_file_and_a_worker_of_the_fleet_does_the_job() {
    let Some(site) = Site::fresh().await else { return };
    let (session, path) = write(&site.world, 1, Met::Failure(0));
    let hook = site.run(&["hook", "generic", "session-end"], &ended(&site.world, &session, text(&path)));
    assert_eq!((hook.status, hook.stderr.as_str()), (0, ""));
    assert_eq!((site.spooled(), site.place(&session).0.as_str()), (1, "new"));
    let worked = site.run(&["worker", "--once"], "");
    assert_eq!((worked.status, worked.stderr.as_str()), (0, "1 job done; nothing is left to do\n"));
    let (place, note) = site.place(&session);
    assert!(place == "done" && note.starts_with("1 lesson learned"), "{place}: {note}");
    assert_eq!(site.spooled(), 0, "what was handed on is the fleet's");
    let listed = site.run(&["list", "--all", "--json"], "");
    assert_eq!(serde_json::from_str::<Value>(&listed.stdout).unwrap().as_array().unwrap().len(), 1, "{listed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_job_is_tried_again_when_a_person_says_so() {
    let Some(site) = Site::fresh().await else { return };
    let log = site.world.project().join("late.jsonl");
    std::fs::write(&log, "What is this?\n").unwrap();
    site.run(&["hook", "generic", "session-end"], &ended(&site.world, "late", text(&log)));
    let worked = site.run(&["worker", "--once"], "");
    assert!(worked.stderr.contains("1 put aside"), "{worked}");
    let (place, note) = site.place("late");
    assert!(place == "dead" && note.contains("late.jsonl"), "{place}: {note}");
    let told = site.run(&["status"], "");
    assert!(told.stderr.contains("hint: `archivist worker --once --retry-dead` tries dead jobs again"), "{told}");
    let (_, path) = write(&site.world, 1, Met::Failure(0));
    std::fs::rename(path, log).unwrap();
    assert_eq!(site.run(&["worker", "--once", "--retry-dead"], "").status, 0);
    assert_eq!(site.place("late").0, "done");
}

#[test]
fn a_worker_waits_for_a_server_that_is_away_and_can_be_stopped_meanwhile() {
    let world = World::new();
    let mut worker = world.command(&["worker"]);
    worker
        .env("ARCHIVIST__MEMORY__BACKEND", "postgres")
        .env("ARCHIVIST__MEMORY__POSTGRES__URL", "postgres://nobody@127.0.0.1:1/nowhere?sslmode=disable")
        .env("ARCHIVIST__MEMORY__POSTGRES__PATIENCE_SECONDS", "1")
        .stderr(Stdio::piped());
    let mut worker = worker.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert!(worker.try_wait().unwrap().is_none(), "it goes on");
    assert!(Command::new("kill").args(["-TERM", &worker.id().to_string()]).status().unwrap().success());
    let ended = worker.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success() && said.ends_with("0 jobs done; stopped\n"), "{}: {said}", ended.status);
    assert!(said.contains("cannot be reached"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_log_is_on_another_machine_is_left_to_a_worker_there() {
    let Some(site) = Site::fresh().await else { return };
    let log = site.world.project().join("there.jsonl");
    let now = chrono::Utc::now().to_rfc3339();
    site.run(&["hook", "generic", "session-end", "--now", &now], &ended(&site.world, "there", text(&log)));
    for _ in 0..7 {
        let worked = site.run(&["worker", "--once"], "");
        let said = "0 jobs done; what is left is not due yet\n";
        assert_eq!((worked.status, worked.stderr.as_str()), (0, said));
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    assert_eq!(site.place("there"), ("new".to_owned(), String::new()), "it did not fail");
    // Nobody was told of reflections that never began.
    let told = site.run(&["log", "--json"], "");
    assert!(!told.stdout.contains("archivist_reflection_start"), "{told}");
    let (_, path) = write(&site.world, 1, Met::Failure(0));
    std::fs::rename(path, log).unwrap();
    assert_eq!(site.run(&["worker", "--once", "--linger"], "").stderr, "1 job done; nothing is left to do\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_for_all_projects_works_for_those_that_are_here_and_those_that_are_not() {
    let Some(site) = Site::fresh().await else { return };
    let neighbour = site.world.home().join("neighbour");
    std::fs::create_dir_all(neighbour.join(".openagents")).unwrap();
    let (_, log) = write(&site.world, 1, Met::Failure(0));
    let ask = async |bank: &str, root: &str, session: &str| {
        let JobKind::Reflect(trigger) = job(session, 1).kind else { unreachable!() };
        let trigger = ReflectionTrigger {
            project_root: root.to_owned(),
            session_id: SessionId::parse(session).unwrap(),
            log_paths: vec![text(&log).to_owned()],
            ..trigger
        };
        let asked = Job { kind: JobKind::Reflect(trigger), ..job(session, 1) };
        site.fleet.queue(bank).enqueue(&asked, chrono::Utc::now()).await.unwrap();
    };
    ask(text(&neighbour), text(&neighbour), "next-door").await;
    ask("git.example.com/far/away", "/nowhere/at/all", "far-away").await;
    // Its own project's are none of these.
    assert_eq!(site.run(&["worker", "--once"], "").stderr, "0 jobs done; nothing is left to do\n");
    let worked = site.run(&["worker", "--once", "--all-projects"], "");
    assert_eq!((worked.status, worked.stderr.as_str()), (0, "2 jobs done; nothing is left to do\n"));
    for bank in [text(&neighbour), "git.example.com/far/away"] {
        let listed = site.fleet.queue(bank).list_jobs(chrono::Utc::now()).await.unwrap();
        assert_eq!((listed.len(), listed[0].place), (1, JobFolder::Done), "{listed:?}");
    }
    assert!(!Path::new("/nowhere").exists());
    let there =
        site.world.command(&["list", "--all", "--json"]).envs(site.variables()).current_dir(&neighbour).output();
    let there: Value = serde_json::from_slice(&there.unwrap().stdout).unwrap();
    assert_eq!(there.as_array().unwrap().len(), 1);

    let world = World::new();
    let alone = world.run(&["worker", "--once", "--all-projects"]);
    assert_eq!(alone.status, 1);
    assert!(alone.stderr.starts_with("error: --all-projects is for the workers of a fleet\nhint: "), "{alone}");
}
