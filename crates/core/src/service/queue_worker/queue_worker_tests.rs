use std::sync::Mutex;
use std::sync::PoisonError;

use tempfile::TempDir;

use super::*;
use crate::service::queue::test_support::{LEASE, at, job, queue_in, session, shown, trigger};
use crate::service::queue::{JobFolder, JobKind, JobQueue};

/// Does what the name of a session says.
#[derive(Default)]
struct Script {
    handled: Mutex<Vec<String>>,
    /// How long everything takes.
    takes: Duration,
}

impl Script {
    fn handled(&self) -> Vec<String> {
        self.handled.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl JobHandler for Script {
    async fn handle_job(&self, job: &Job) -> JobOutcome {
        let session = session(job);
        self.handled.lock().unwrap_or_else(PoisonError::into_inner).push(session.clone());
        sleep(self.takes).await;
        match session.split('-').next().unwrap_or_default() {
            "busy" => JobOutcome::Again("the endpoint is busy".to_owned()),
            "leaky" => JobOutcome::Again(
                "refused: Authorization: Bearer sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD".to_owned(),
            ),
            "absent" => JobOutcome::NotHere("no log was found".to_owned()),
            "gone" => JobOutcome::Hopeless("the log is gone".to_owned()),
            "panics" => panic!("out of range"),
            "once" if job.attempts.is_empty() => JobOutcome::Again("not yet".to_owned()),
            _ => JobOutcome::Done(format!("{} before", job.attempts.len())),
        }
    }
}

struct World {
    memory: TempDir,
    queue: JobQueue,
    pace: WorkerPace,
    clock: Clock,
    stop: watch::Sender<bool>,
}

impl World {
    /// The clock goes with tokio's, which stands still but for sleeping.
    fn new(sessions: &[&str]) -> Self {
        let memory = TempDir::new().unwrap();
        let queue = queue_in(memory.path());
        for session in sessions {
            queue.enqueue(&job(session, 1)).unwrap();
        }
        let began = Instant::now();
        let clock: Clock = Arc::new(move || add_duration(at(0), began.elapsed()));
        let pace = WorkerPace {
            processes: 1,
            lease: LEASE,
            max_attempts: 3,
            retry: Duration::from_secs(30),
            quiet: Duration::from_secs(120),
            after_end: Duration::from_secs(2),
            linger: Duration::from_secs(300),
            keep_done: Duration::from_secs(86_400),
        };
        Self { memory, queue, pace, clock, stop: watch::Sender::new(false) }
    }

    async fn run(&self, handler: &Script, until: WorkerLifetime) -> WorkerReport {
        let worker = QueueWorker { queue: &self.queue, handler, pace: self.pace, clock: Arc::clone(&self.clock) };
        worker.run(until, self.stop.subscribe()).await.unwrap()
    }

    fn shown(&self) -> Vec<String> {
        let mut lines = shown(&self.queue, (self.clock)());
        lines.sort();
        lines
    }
}

#[tokio::test(start_paused = true)]
async fn every_job_comes_to_its_end() {
    let world = World::new(&["well", "busy", "gone", "panics", "once", "absent"]);
    let script = Script::default();
    let worked = world.run(&script, WorkerLifetime::Empty).await;
    assert_eq!(worked, WorkerReport { ended: WorkerEndReason::Empty, done: 2, failed: 7, buried: 4 });
    assert_eq!(
        world.shown(),
        [
            "dead absent: given up after 3 tries: no log was found",
            "dead busy: given up after 3 tries: the endpoint is busy",
            "dead gone: the log is gone",
            "dead panics: given up after 3 tries: internal error: out of range",
            "done once: 1 before",
            "done well: 0 before",
        ]
    );
    assert_eq!(script.handled().len(), 1 + 3 + 1 + 3 + 2 + 3);
    assert!(!world.queue.has_worker());
}

#[tokio::test(start_paused = true)]
async fn no_secret_is_written_into_the_queue() {
    let world = World::new(&["leaky"]);
    world.run(&Script::default(), WorkerLifetime::Empty).await;
    let said = world.shown().join("\n");
    assert!(
        said.starts_with("dead leaky: given up after 3 tries: refused") && !said.contains("abcdefghijkl"),
        "{said}"
    );
    let file =
        std::fs::read_to_string(world.queue.queue_dir().join("dead").join(job("leaky", 1).name().as_str())).unwrap();
    assert!(!file.contains("abcdefghijkl"), "{file}");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_not_due_is_waited_for_only_so_long() {
    let mut world = World::new(&["once"]);
    world.pace.linger = Duration::from_secs(5);
    let worked = world.run(&Script::default(), WorkerLifetime::Empty).await;
    assert_eq!(worked, WorkerReport { ended: WorkerEndReason::Waiting, done: 0, failed: 1, buried: 0 });
    assert_eq!(world.shown(), ["new once: not yet"]);
    assert!((world.clock)() < at(10));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_killed_its_workers_is_not_begun_again() {
    let world = World::new(&["killer"]);
    let mut now = at(-1000);
    for number in 0..=3 {
        let token = WorkerToken::parse(&format!("w{number}")).unwrap();
        assert!(world.queue.claim_job(&token, LEASE, now).unwrap().is_some());
        now = add_duration(now, LEASE * 2);
    }
    let script = Script::default();
    let worked = world.run(&script, WorkerLifetime::Empty).await;
    assert_eq!((worked.buried, script.handled().len()), (1, 0));
    assert_eq!(world.shown(), ["dead killer: given up after 4 tries: its worker died"]);
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_workers_than_there_may_be() {
    let world = World::new(&["well"]);
    let slot = world.queue.lock_worker_slot(1).unwrap().unwrap();
    let worked = world.run(&Script::default(), WorkerLifetime::Empty).await;
    assert_eq!(worked, WorkerReport { ended: WorkerEndReason::OthersWork, done: 0, failed: 0, buried: 0 });
    drop(slot);
    assert_eq!(world.run(&Script::default(), WorkerLifetime::Empty).await.done, 1);
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_told_to_stop_lets_its_job_end_but_begins_no_other() {
    let world = World::new(&["a", "b"]);
    let script = Script { takes: Duration::from_secs(15), ..Script::default() };
    let stop = async {
        sleep(Duration::from_secs(8)).await;
        world.stop.send(true).unwrap();
    };
    let (worked, ()) = tokio::join!(world.run(&script, WorkerLifetime::Forever), stop);
    assert_eq!((worked.ended, worked.done), (WorkerEndReason::Stopped, 1));
    assert_eq!(script.handled().len(), 1);
    assert_eq!((world.clock)(), at(15));
    assert_eq!(world.run(&script, WorkerLifetime::Forever).await.ended, WorkerEndReason::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_takes_too_long_to_stop_is_given_back_without_having_failed() {
    let world = World::new(&["a"]);
    let script = Script { takes: Duration::from_secs(100), ..Script::default() };
    let stop = async {
        sleep(Duration::from_secs(8)).await;
        world.stop.send(true).unwrap();
    };
    let (worked, ()) = tokio::join!(world.run(&script, WorkerLifetime::Forever), stop);
    assert_eq!((worked.ended, worked.done, (world.clock)()), (WorkerEndReason::Stopped, 0, at(18)));
    let listed = world.queue.list_jobs(LEASE, at(20)).unwrap();
    assert_eq!((listed[0].place, listed[0].job.as_ref().unwrap().attempts.len()), (JobFolder::New, 0));
}

#[tokio::test(start_paused = true)]
async fn a_worker_goes_when_its_queue_does() {
    let world = World::new(&["a"]);
    let script = Script::default();
    let delete = async {
        sleep(Duration::from_secs(8)).await;
        std::fs::remove_dir_all(world.queue.queue_dir()).unwrap();
    };
    let (worked, ()) = tokio::join!(world.run(&script, WorkerLifetime::Forever), delete);
    assert_eq!((worked.ended, worked.done), (WorkerEndReason::Vanished, 1));
    assert!(!world.queue.queue_dir().exists());
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_goes_on_finds_what_comes_later() {
    let world = World::new(&[]);
    let script = Script::default();
    let ask = async {
        sleep(Duration::from_secs(8)).await;
        world.queue.enqueue(&job("later", 1)).unwrap();
        sleep(Duration::from_secs(3)).await;
        world.stop.send(true).unwrap();
    };
    let (worked, ()) = tokio::join!(world.run(&script, WorkerLifetime::Forever), ask);
    assert_eq!((worked.ended, worked.done), (WorkerEndReason::Stopped, 1));
}

/// A job whose log is in the world's directory, and last grew at this moment.
fn with_log(world: &World, session: &str, urgency: JobUrgency, seconds: i64) -> Job {
    let log = grow(world, session, seconds);
    let kind = JobKind::Reflect(crate::domain::ReflectionTrigger { log_paths: vec![log], ..trigger(session) });
    Job { kind, urgency, ..job(session, 1) }
}

fn grow(world: &World, session: &str, seconds: i64) -> String {
    let log = world.memory.path().join(format!("{session}.jsonl"));
    std::fs::write(&log, format!("{seconds}")).unwrap();
    std::fs::File::open(&log).unwrap().set_modified(at(seconds).into()).unwrap();
    log.display().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_log_that_still_grows_is_waited_for_while_others_are_served() {
    let world = World::new(&[]);
    world.queue.enqueue(&with_log(&world, "a-grows", JobUrgency::Over, 0)).unwrap();
    world.queue.enqueue(&Job { enqueued_at: at(1), ..with_log(&world, "b-rests", JobUrgency::Over, -60) }).unwrap();
    let script = Script::default();
    assert_eq!(world.run(&script, WorkerLifetime::Empty).await.done, 2);
    assert_eq!(script.handled(), ["b-rests", "a-grows"]);
    assert_eq!((world.clock)(), at(2));
}

#[tokio::test(start_paused = true)]
async fn a_log_that_never_rests_is_read_in_the_end() {
    let world = World::new(&[]);
    world.queue.enqueue(&with_log(&world, "a", JobUrgency::Over, 0)).unwrap();
    let script = Script::default();
    let grows = async {
        for second in 1..100 {
            sleep(Duration::from_secs(1)).await;
            grow(&world, "a", second);
        }
    };
    let (worked, ()) = tokio::join!(world.run(&script, WorkerLifetime::Empty), grows);
    assert_eq!(worked.done, 1);
    let done = world.queue.list_jobs(LEASE, at(100)).unwrap();
    assert_eq!((done[0].place, done[0].note.as_deref()), (JobFolder::Done, Some("0 before")));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_may_go_on_is_left_until_it_is_quiet() {
    let world = World::new(&[]);
    world.queue.enqueue(&with_log(&world, "a", JobUrgency::Pause, 0)).unwrap();
    let script = Script::default();
    let goes_on = async {
        sleep(Duration::from_secs(100)).await;
        grow(&world, "a", 100);
        assert_eq!(script.handled(), [""; 0]);
    };
    let (worked, ()) = tokio::join!(world.run(&script, WorkerLifetime::Empty), goes_on);
    assert_eq!((worked.done, worked.failed, (world.clock)()), (1, 0, at(220)));
}

#[tokio::test(start_paused = true)]
async fn a_worker_can_be_sent_to_another_thread() {
    fn sent<F: Future + Send>(future: F) -> F {
        future
    }
    let world = World::new(&["a"]);
    let script = Script::default();
    let worker =
        QueueWorker { queue: &world.queue, handler: &script, pace: world.pace, clock: Arc::clone(&world.clock) };
    assert_eq!(sent(worker.run(WorkerLifetime::Empty, world.stop.subscribe())).await.unwrap().done, 1);
}

/// Keeps its thread busy for longer than the lease, as nobody should.
struct Blocking;

#[async_trait]
impl JobHandler for Blocking {
    async fn handle_job(&self, _: &Job) -> JobOutcome {
        std::thread::sleep(Duration::from_millis(900));
        JobOutcome::Done(String::new())
    }
}

#[tokio::test]
async fn a_job_that_blocks_its_thread_does_not_look_dead() {
    let world = World::new(&["a"]);
    let clock: Clock = Arc::new(chrono::Utc::now);
    let pace = WorkerPace { lease: Duration::from_millis(400), ..world.pace };
    let worker = QueueWorker { queue: &world.queue, handler: &Blocking, pace, clock };
    let queue = world.queue.clone();
    let thief = std::thread::spawn(move || {
        let mut stolen = 0;
        for _ in 0..16 {
            std::thread::sleep(Duration::from_millis(50));
            let taken =
                queue.claim_job(&WorkerToken::new_unique(), Duration::from_millis(400), chrono::Utc::now()).unwrap();
            stolen += usize::from(taken.is_some());
        }
        stolen
    });
    let worked = worker.run(WorkerLifetime::Empty, world.stop.subscribe()).await.unwrap();
    assert_eq!((worked.done, thief.join().unwrap()), (1, 0));
}

/// Loses its job while it works.
struct Robbed(JobQueue);

#[async_trait]
impl JobHandler for Robbed {
    async fn handle_job(&self, _: &Job) -> JobOutcome {
        let thief = self.0.claim_job(&WorkerToken::new_unique(), LEASE, at(1000)).unwrap().unwrap();
        thief.complete("by another", at(1000)).unwrap();
        JobOutcome::Done("too late".to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_was_lost_is_settled_by_whoever_has_it() {
    let world = World::new(&["a"]);
    let handler = Robbed(world.queue.clone());
    let worker =
        QueueWorker { queue: &world.queue, handler: &handler, pace: world.pace, clock: Arc::clone(&world.clock) };
    let worked = worker.run(WorkerLifetime::Empty, world.stop.subscribe()).await.unwrap();
    assert_eq!((worked.ended, worked.done), (WorkerEndReason::Empty, 0));
    assert_eq!(world.shown(), ["done a: by another"]);
}
