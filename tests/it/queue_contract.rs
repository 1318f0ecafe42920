//! What every queue promises, whether it lies in files or on a server. Times are those of the wall, and short.

use std::sync::Arc;
use std::time::Duration;

use archivist_core::service::{
    ClaimedJob, EnqueueResult, FailedAttempt, FleetJobSource, FleetQueue, Job, JobFolder, JobKind, JobOwnership,
    JobQueue, JobSource, JobSubmitter, JobUrgency, LeaseState, ListedJob, WorkerReach, WorkerToken,
};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::fleet_queue::{Fleet, at_second};
use crate::samples::{job, name_of, queue_in};

const LEASE: Duration = Duration::from_millis(800);

/// A queue under test.
struct World {
    intake: Arc<dyn JobSubmitter>,
    source: Box<dyn JobSource>,
    files: JobQueue,
    fleet: Option<FleetQueue>,
    _directory: TempDir,
}

/// One in files, and one on a server where there is one.
async fn worlds() -> Vec<World> {
    let files = || {
        let directory = TempDir::new().unwrap();
        (queue_in(directory.path()), directory)
    };
    let (queue, directory) = files();
    let source = Box::new(queue.clone());
    let mut worlds =
        vec![World { intake: Arc::new(queue.clone()), source, files: queue, fleet: None, _directory: directory }];
    if let Some(fleet) = Fleet::fresh().await {
        let (queue, directory) = files();
        let own = fleet.queue("shop");
        let source = Box::new(FleetJobSource::new(own.clone(), queue.clone(), WorkerReach::Own, 8));
        let fleet = Some(own.clone());
        worlds.push(World { intake: Arc::new(own), source, files: queue, fleet, _directory: directory });
    }
    worlds
}

impl World {
    async fn ask(&self, job: &Job) -> EnqueueResult {
        self.intake.submit_job(job, chrono::Utc::now()).await.unwrap()
    }

    async fn claim(&self, who: &str) -> Option<Arc<dyn ClaimedJob>> {
        let token = WorkerToken::parse(who).unwrap();
        self.source.claim_job(&token, LEASE, chrono::Utc::now()).await.unwrap()
    }

    async fn listed(&self) -> Vec<ListedJob> {
        let now = chrono::Utc::now();
        match &self.fleet {
            Some(fleet) => fleet.list_jobs(now).await.unwrap(),
            None => self.files.list_jobs(LEASE, now).unwrap(),
        }
    }

    async fn shown(&self) -> Vec<String> {
        let line = |listed: ListedJob| {
            let note = listed.note.map(|note| format!(": {note}")).unwrap_or_default();
            format!("{} {}{note}", listed.place.as_str(), name_of(listed.job.as_ref().unwrap()))
        };
        self.listed().await.into_iter().map(line).collect()
    }
}

fn soon() -> chrono::DateTime<chrono::Utc> {
    chrono::Utc::now() + Duration::from_millis(300)
}

fn sweep() -> Job {
    let kind = JobKind::Sweep { project_root: "/shop".to_owned() };
    Job { kind, urgency: JobUrgency::Sweep, log_bytes: None, ..job("none", 0) }
}

#[tokio::test]
async fn a_job_waits_is_taken_and_is_done() {
    for world in worlds().await {
        assert_eq!(world.ask(&job("a", 10)).await, EnqueueResult::New);
        assert_eq!(world.ask(&job("a", 10)).await, EnqueueResult::Known);
        assert_eq!(world.shown().await, ["new a"]);
        let claimed = world.claim("w").await.unwrap();
        assert_eq!((claimed.job(), claimed.name()), (&job("a", 10), &job("a", 10).name()));
        assert!(world.claim("other").await.is_none());
        let listed = &world.listed().await[0];
        assert_eq!((listed.place, listed.lease), (JobFolder::Claimed, Some(LeaseState::Held)));
        assert_eq!(listed.worker, Some(WorkerToken::parse("w").unwrap()));
        assert_eq!(world.ask(&job("a", 10)).await, EnqueueResult::Known);
        assert_eq!(claimed.complete("2 lessons", chrono::Utc::now()).await.unwrap(), JobOwnership::Yes);
        assert_eq!(world.shown().await, ["done a: 2 lessons"]);
        assert_eq!(world.ask(&job("a", 10)).await, EnqueueResult::Known);
        assert_eq!(world.source.next_due(LEASE, chrono::Utc::now()).await.unwrap(), None);
        assert_eq!(world.ask(&job("a", 11)).await, EnqueueResult::New);
    }
}

#[tokio::test]
async fn what_a_job_says_beyond_our_words_survives() {
    for world in worlds().await {
        let mut odd = Job { event: "nul \0 and “quotes”".to_owned(), ..job("a", 10) };
        odd.extra.insert("colour".to_owned(), serde_json::json!({"of": ["the", 1.5, null]}));
        world.ask(&odd).await;
        let claimed = world.claim("w").await.unwrap();
        assert_eq!(claimed.job(), &odd);
        claimed.retry("bad \0 word", chrono::Utc::now(), chrono::Utc::now()).await.unwrap();
        let again = world.claim("w").await.unwrap();
        assert_eq!((&again.job().extra, &again.job().event), (&odd.extra, &odd.event));
    }
}

#[tokio::test]
async fn the_most_urgent_comes_first_and_then_the_oldest() {
    for world in worlds().await {
        let paused =
            |session, second| Job { urgency: JobUrgency::Pause, enqueued_at: at_second(second), ..job(session, 1) };
        let over = |session, second| Job { enqueued_at: at_second(second), ..job(session, 1) };
        for job in [sweep(), paused("c", 10), over("a", 20), over("b", 30), paused("d", 40)] {
            world.ask(&job).await;
        }
        let mut order = Vec::new();
        while let Some(claimed) = world.claim("w").await {
            order.push(name_of(claimed.job()));
        }
        assert_eq!(order, ["a", "b", "c", "d", "sweep"]);
    }
}

#[tokio::test]
async fn of_the_jobs_of_one_session_the_latest_does_for_all() {
    for world in worlds().await {
        for (session, bytes) in [("a", 10), ("a", 300), ("a", 20), ("b", 5)] {
            world.ask(&job(session, bytes)).await;
        }
        let (one, other) = (world.claim("w").await.unwrap(), world.claim("v").await.unwrap());
        let (longest, other) = if name_of(one.job()) == "a" { (one, other) } else { (other, one) };
        assert_eq!((longest.job().log_bytes, name_of(other.job()).as_str()), (Some(300), "b"));
        let note = format!("done a: covered by {}", longest.name());
        assert_eq!(world.shown().await.iter().filter(|line| **line == note).count(), 2);
        // One that comes while a job of its session is in somebody's hands waits for it.
        world.ask(&job("a", 400)).await;
        assert!(world.claim("w").await.is_none());
        longest.complete("", chrono::Utc::now()).await.unwrap();
        let next = world.claim("w").await.unwrap();
        assert_eq!(next.job().log_bytes, Some(400));
        // And it does for the other, if that failed meanwhile.
        world.ask(&job("a", 500)).await;
        next.retry("busy", chrono::Utc::now(), chrono::Utc::now()).await.unwrap();
        assert_eq!(world.claim("w").await.unwrap().job().log_bytes, Some(500));
        assert!(world.claim("w").await.is_none());
    }
}

#[tokio::test]
async fn a_job_that_failed_waits_and_remembers() {
    for world in worlds().await {
        world.ask(&job("a", 10)).await;
        world.claim("w").await.unwrap().retry("the endpoint is busy", soon(), chrono::Utc::now()).await.unwrap();
        assert!(world.claim("w").await.is_none());
        assert!(world.listed().await[0].job.as_ref().unwrap().not_before > Some(chrono::Utc::now()));
        // However urgent it is.
        assert_eq!(world.ask(&job("a", 10)).await, EnqueueResult::Known);
        assert!(world.claim("w").await.is_none());
        let now = chrono::Utc::now();
        let due = world.source.next_due(LEASE, now).await.unwrap().unwrap();
        assert!(due > now && due < now + Duration::from_millis(400), "{due} {now}");
        sleep(Duration::from_millis(350)).await;
        let claimed = world.claim("w").await.unwrap();
        let errors: Vec<&str> = claimed.job().attempts.iter().map(|attempt| attempt.error.as_str()).collect();
        assert_eq!(errors, ["the endpoint is busy"]);
        claimed.mark_dead("the log is gone", chrono::Utc::now()).await.unwrap();
        assert_eq!(world.shown().await, ["dead a: the log is gone"]);
        assert_eq!(world.source.next_due(LEASE, chrono::Utc::now()).await.unwrap(), None);
        // Asked for again it is tried as if it were new.
        assert_eq!(world.ask(&job("a", 10)).await, EnqueueResult::New);
        assert_eq!(world.claim("w").await.unwrap().job().attempts, []);
    }
}

#[tokio::test]
async fn a_job_that_is_given_back_or_put_off_has_not_failed() {
    for world in worlds().await {
        world.ask(&Job { urgency: JobUrgency::Pause, ..job("a", 10) }).await;
        assert_eq!(world.claim("w").await.unwrap().release().await.unwrap(), JobOwnership::Yes);
        let claimed = world.claim("w").await.unwrap();
        assert_eq!(claimed.postpone(soon(), chrono::Utc::now()).await.unwrap(), JobOwnership::Yes);
        assert!(world.claim("w").await.is_none());
        sleep(Duration::from_millis(350)).await;
        let claimed = world.claim("w").await.unwrap();
        assert_eq!(claimed.job().attempts, []);
        let far = chrono::Utc::now() + Duration::from_secs(3600);
        claimed.postpone(far, chrono::Utc::now()).await.unwrap();
        // A session that paused may be over without having said another word.
        assert_eq!(world.ask(&Job { enqueued_at: chrono::Utc::now(), ..job("a", 10) }).await, EnqueueResult::Known);
        assert_eq!(world.claim("w").await.unwrap().job().urgency, JobUrgency::Over);
    }
}

#[tokio::test]
async fn a_job_that_is_not_to_be_done_yet_waits() {
    for world in worlds().await {
        world.ask(&Job { not_before: Some(soon()), ..job("a", 10) }).await;
        assert!(world.claim("w").await.is_none());
        sleep(Duration::from_millis(350)).await;
        assert!(world.claim("w").await.is_some());
        // Whoever wrote so late a moment had a wrong clock.
        world.ask(&Job { not_before: Some(chrono::Utc::now() + Duration::from_secs(1_000_000)), ..job("b", 10) }).await;
        assert!(world.claim("w").await.is_some());
    }
}

#[tokio::test]
async fn a_sweep_is_asked_for_again_once_it_is_done() {
    for world in worlds().await {
        assert_eq!((world.ask(&sweep()).await, world.ask(&sweep()).await), (EnqueueResult::New, EnqueueResult::Known));
        world.claim("w").await.unwrap().complete("nothing new", chrono::Utc::now()).await.unwrap();
        assert_eq!(world.ask(&sweep()).await, EnqueueResult::New);
        assert_eq!(world.listed().await.len(), 1);
        world.claim("w").await.unwrap().complete("one found", chrono::Utc::now()).await.unwrap();
        assert_eq!(world.shown().await, ["done sweep: one found"]);
    }
}

#[tokio::test]
async fn a_job_whose_worker_is_silent_is_taken_over_and_the_worker_learns_of_it() {
    for world in worlds().await {
        world.ask(&job("a", 10)).await;
        let first = world.claim("w").await.unwrap();
        // A sign of life comes from a thread that waits for nobody.
        let mut heart = Arc::clone(&first).create_heartbeat(LEASE);
        let beat = std::thread::spawn(move || {
            for _ in 0..6 {
                std::thread::sleep(LEASE / 4);
                assert_eq!(heart.send_heartbeat(chrono::Utc::now()).unwrap(), JobOwnership::Yes);
            }
            heart
        });
        sleep(LEASE * 5 / 4).await;
        assert!(world.claim("thief").await.is_none());
        let mut heart = tokio::task::spawn_blocking(|| beat.join().unwrap()).await.unwrap();
        assert!(world.claim("thief").await.is_none());
        sleep(LEASE + Duration::from_millis(100)).await;
        let second = world.claim("thief").await.unwrap();
        let [FailedAttempt { error, .. }] = second.job().attempts.as_slice() else { panic!("{:?}", second.job()) };
        assert_eq!(error, "its worker died");
        let now = chrono::Utc::now();
        for settled in [
            first.complete("", now).await,
            first.retry("x", now, now).await,
            first.postpone(now, now).await,
            first.mark_dead("x", now).await,
            first.release().await,
            tokio::task::spawn_blocking(move || heart.send_heartbeat(now)).await.unwrap(),
        ] {
            assert_eq!(settled.unwrap(), JobOwnership::Lost);
        }
        assert_eq!(second.complete("ok", now).await.unwrap(), JobOwnership::Yes);
        assert_eq!(world.shown().await, ["done a: ok"]);
        assert_eq!(world.listed().await[0].job.as_ref().unwrap().attempts.len(), 1);
    }
}

#[tokio::test]
async fn finished_jobs_are_forgotten_in_time() {
    for world in worlds().await {
        for session in ["a", "b"] {
            world.ask(&job(session, 1)).await;
            world.claim("w").await.unwrap().complete("", chrono::Utc::now()).await.unwrap();
            sleep(Duration::from_millis(500)).await;
        }
        world.ask(&job("c", 1)).await;
        world.claim("w").await.unwrap().mark_dead("x", chrono::Utc::now()).await.unwrap();
        let keep = Duration::from_millis(750);
        assert_eq!(world.source.prune_done_jobs(keep, chrono::Utc::now()).await.unwrap(), 1);
        assert_eq!(world.shown().await, ["dead c: x", "done b: "]);
        assert_eq!(world.ask(&job("a", 1)).await, EnqueueResult::New);
    }
}
