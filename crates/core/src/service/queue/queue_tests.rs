use std::sync::Barrier;

use tempfile::TempDir;

use super::test_support::{LEASE, at, job, names, queue_in, session, shown, sweep, token};
use super::*;

fn queue() -> (TempDir, JobQueue) {
    let memory = TempDir::new().unwrap();
    let queue = queue_in(memory.path());
    (memory, queue)
}

fn claim(queue: &JobQueue, seconds: i64) -> Option<ClaimedJobFile> {
    queue.claim_job(&token("w"), LEASE, at(seconds)).unwrap()
}

#[test]
fn a_job_waits_is_taken_and_is_done() {
    let (_memory, queue) = queue();
    assert_eq!(queue.enqueue(&job("a", 10)).unwrap(), EnqueueResult::New);
    assert_eq!(shown(&queue, at(5)), ["new a"]);
    let claimed = claim(&queue, 5).unwrap();
    assert_eq!((claimed.job(), claimed.name()), (&job("a", 10), &job("a", 10).name()));
    assert!(claim(&queue, 5).is_none());
    let listed = &queue.list_jobs(LEASE, at(7)).unwrap()[0];
    assert_eq!((listed.place, listed.age), (JobFolder::Claimed, Duration::from_secs(7)));
    assert_eq!((listed.worker.clone(), listed.lease), (Some(token("w")), Some(LeaseState::Held)));
    assert_eq!(claimed.complete("2 lessons", at(9)).unwrap(), JobOwnership::Yes);
    assert_eq!(shown(&queue, at(9)), ["done a: 2 lessons"]);
    assert!(claim(&queue, 10).is_none());
}

#[test]
fn a_session_at_one_length_is_asked_for_once() {
    let (_memory, queue) = queue();
    let ask = || queue.enqueue(&job("a", 10)).unwrap();
    assert_eq!((ask(), ask()), (EnqueueResult::New, EnqueueResult::Known));
    let claimed = claim(&queue, 0).unwrap();
    assert_eq!(ask(), EnqueueResult::Known);
    claimed.complete("", at(1)).unwrap();
    assert_eq!(ask(), EnqueueResult::Known);
    assert_eq!(queue.enqueue(&job("a", 11)).unwrap(), EnqueueResult::New);
}

#[test]
fn a_session_that_paused_and_is_over_is_as_urgent_as_one_that_is_over() {
    let (_memory, queue) = queue();
    let paused = Job { urgency: JobUrgency::Pause, ..job("a", 10) };
    queue.enqueue(&paused).unwrap();
    claim(&queue, 0).unwrap().postpone(at(120), at(0)).unwrap();
    assert_eq!(queue.enqueue(&paused).unwrap(), EnqueueResult::Known);
    assert!(claim(&queue, 1).is_none());
    assert_eq!(queue.enqueue(&Job { enqueued_at: at(2), ..job("a", 10) }).unwrap(), EnqueueResult::Known);
    let claimed = claim(&queue, 2).unwrap();
    assert_eq!(claimed.job(), &job("a", 10));
    // But a failure is waited for, however urgent it is.
    claimed.retry("busy", at(60), at(3)).unwrap();
    queue.enqueue(&job("a", 10)).unwrap();
    assert!(claim(&queue, 4).is_none());
}

#[test]
fn a_sweep_is_asked_for_again_once_it_is_done() {
    let (_memory, queue) = queue();
    let ask = || queue.enqueue(&sweep()).unwrap();
    assert_eq!((ask(), ask()), (EnqueueResult::New, EnqueueResult::Known));
    claim(&queue, 0).unwrap().complete("nothing new", at(1)).unwrap();
    assert_eq!(ask(), EnqueueResult::New);
    assert_eq!(shown(&queue, at(2)), ["new sweep"]);
    claim(&queue, 2).unwrap().complete("one found", at(3)).unwrap();
    assert_eq!(shown(&queue, at(4)), ["done sweep: one found"]);
}

#[test]
fn the_most_urgent_comes_first_and_then_the_oldest() {
    let (_memory, queue) = queue();
    let paused = |session, seconds| Job { urgency: JobUrgency::Pause, enqueued_at: at(seconds), ..job(session, 1) };
    for job in [
        sweep(),
        paused("c", -50),
        Job { enqueued_at: at(-10), ..job("b", 1) },
        Job { enqueued_at: at(-20), ..job("a", 1) },
        paused("d", -40),
    ] {
        queue.enqueue(&job).unwrap();
    }
    let order: Vec<String> = std::iter::from_fn(|| claim(&queue, 0)).map(|claimed| session(claimed.job())).collect();
    assert_eq!(order, ["a", "b", "c", "d", "sweep"]);
}

#[test]
fn of_the_jobs_of_one_session_the_latest_does_for_all() {
    let (_memory, queue) = queue();
    for (session, bytes) in [("a", 10), ("a", 300), ("a", 20), ("b", 5)] {
        queue.enqueue(&job(session, bytes)).unwrap();
    }
    let claimed = claim(&queue, 0).unwrap();
    let other = claim(&queue, 0).unwrap();
    let (longest, other) = if session(claimed.job()) == "a" { (claimed, other) } else { (other, claimed) };
    assert_eq!((longest.job().log_bytes, session(other.job()).as_str()), (Some(300), "b"));
    let note = format!("done a: covered by {}", longest.name());
    assert_eq!(shown(&queue, at(0)).iter().filter(|line| **line == note).count(), 2);
    // One that comes while a job of its session is in somebody's hands waits for it.
    queue.enqueue(&job("a", 400)).unwrap();
    assert!(claim(&queue, 1).is_none());
    longest.complete("", at(2)).unwrap();
    assert_eq!(claim(&queue, 3).unwrap().job().log_bytes, Some(400));
}

#[test]
fn a_job_that_failed_waits_and_remembers() {
    let (_memory, queue) = queue();
    queue.enqueue(&job("a", 10)).unwrap();
    claim(&queue, 0).unwrap().retry("the endpoint is busy", at(40), at(10)).unwrap();
    assert!(claim(&queue, 39).is_none());
    assert_eq!(queue.next_due(LEASE, at(20)).unwrap(), Some(at(40)));
    let claimed = claim(&queue, 40).unwrap();
    assert_eq!(claimed.job().attempts, [FailedAttempt { at: at(10), error: "the endpoint is busy".to_owned() }]);
    claimed.mark_dead("the log is gone", at(50)).unwrap();
    assert_eq!(shown(&queue, at(60)), ["dead a: the log is gone"]);
    assert_eq!(queue.next_due(LEASE, at(60)).unwrap(), None);
}

#[test]
fn a_job_that_was_put_aside_gets_another_chance_when_it_is_moved_or_asked_for_again() {
    let (memory, queue) = queue();
    queue.enqueue(&job("a", 10)).unwrap();
    let name = job("a", 10).name();
    let (dead, new) = (queue.folders.job_path(JobFolder::Dead, &name), queue.folders.job_path(JobFolder::New, &name));
    for round in 0..2 {
        let claimed = claim(&queue, 0).unwrap();
        assert_eq!(claimed.job().attempts, [], "in round {round}");
        claimed.retry("busy", at(0), at(0)).unwrap();
        claim(&queue, 0).unwrap().mark_dead("hopeless", at(1)).unwrap();
        if round == 0 {
            std::fs::rename(&dead, &new).unwrap();
        } else {
            assert_eq!(queue.enqueue(&job("a", 10)).unwrap(), EnqueueResult::New);
        }
        assert_eq!(names(&memory.path().join("queue/dead")), [""; 0]);
    }
    claim(&queue, 2).unwrap().complete("", at(3)).unwrap();
}

#[test]
fn a_job_that_is_given_back_or_put_off_has_not_failed() {
    let (_memory, queue) = queue();
    queue.enqueue(&job("a", 10)).unwrap();
    assert_eq!(claim(&queue, 0).unwrap().release().unwrap(), JobOwnership::Yes);
    assert_eq!(claim(&queue, 0).unwrap().postpone(at(30), at(0)).unwrap(), JobOwnership::Yes);
    assert!(claim(&queue, 29).is_none());
    assert_eq!(claim(&queue, 30).unwrap().job().attempts, []);
}

#[test]
fn a_job_whose_worker_is_silent_is_taken_over_and_the_worker_learns_of_it() {
    let (_memory, queue) = queue();
    queue.enqueue(&job("a", 10)).unwrap();
    let first = claim(&queue, 0).unwrap();
    assert_eq!(first.send_heartbeat(at(50)).unwrap(), JobOwnership::Yes);
    let thief = token("thief");
    assert!(queue.claim_job(&thief, LEASE, at(100)).unwrap().is_none());
    assert_eq!(queue.next_due(LEASE, at(100)).unwrap(), Some(at(110)));
    let second = queue.claim_job(&thief, LEASE, at(111)).unwrap().unwrap();
    assert_eq!(second.job().attempts, [FailedAttempt { at: at(111), error: "its worker died".to_owned() }]);
    for settled in [
        first.send_heartbeat(at(112)),
        first.complete("", at(112)),
        first.retry("x", at(112), at(112)),
        first.postpone(at(112), at(112)),
        first.mark_dead("x", at(112)),
        first.release(),
    ] {
        assert_eq!(settled.unwrap(), JobOwnership::Lost);
    }
    assert_eq!(second.complete("ok", at(120)).unwrap(), JobOwnership::Yes);
    assert_eq!(shown(&queue, at(120)), ["done a: ok"]);
    assert_eq!(queue.list_jobs(LEASE, at(120)).unwrap()[0].job.as_ref().unwrap().attempts.len(), 1);
}

#[test]
fn of_many_who_want_one_job_exactly_one_gets_it() {
    for round in 0..20 {
        let (_memory, queue) = queue();
        queue.enqueue(&job("a", 10)).unwrap();
        // In every other round the job is another's whose lease is over.
        let seconds = if round % 2 == 0 { 0 } else { claim(&queue, 0).map_or(0, |_| 100) };
        let barrier = Barrier::new(8);
        let won: usize = std::thread::scope(|scope| {
            let racer = |number: usize| {
                let (queue, barrier) = (&queue, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    queue.claim_job(&token(&format!("w{number}")), LEASE, at(seconds)).unwrap().is_some()
                })
            };
            let racers: Vec<_> = (0..8).map(racer).collect();
            racers.into_iter().map(|racer| usize::from(racer.join().unwrap())).sum()
        });
        assert_eq!(won, 1, "in round {round}");
        assert_eq!(names(&queue.folders.folder_path(JobFolder::Claimed)).len(), 1);
    }
}

#[test]
fn finished_jobs_are_forgotten_in_time() {
    let (_memory, queue) = queue();
    for (session, seconds) in [("a", 0), ("b", 100)] {
        queue.enqueue(&job(session, 1)).unwrap();
        claim(&queue, seconds).unwrap().complete("", at(seconds)).unwrap();
    }
    queue.enqueue(&job("c", 1)).unwrap();
    claim(&queue, 0).unwrap().mark_dead("x", at(0)).unwrap();
    assert_eq!(queue.prune_done_jobs(Duration::from_secs(150), at(200)).unwrap(), 1);
    assert_eq!(shown(&queue, at(200)), ["dead c: x", "done b: "]);
    assert_eq!(queue.enqueue(&job("a", 1)).unwrap(), EnqueueResult::New);
}

#[test]
fn it_is_known_whether_somebody_works() {
    let (_memory, queue) = queue();
    assert!(!queue.has_worker());
    let first = queue.lock_worker_slot(2).unwrap().unwrap();
    let second = queue.lock_worker_slot(2).unwrap().unwrap();
    assert!(queue.has_worker() && queue.lock_worker_slot(2).unwrap().is_none());
    drop(first);
    assert!(queue.has_worker(), "the second one works on");
    std::fs::remove_dir_all(queue.queue_dir()).unwrap();
    assert!(!second.is_valid() && !queue.has_worker());
}

#[test]
fn looking_makes_nothing() {
    let (memory, queue) = queue();
    assert_eq!(shown(&queue, at(0)), [""; 0]);
    assert!(claim(&queue, 0).is_none() && queue.next_due(LEASE, at(0)).unwrap().is_none() && !queue.has_worker());
    assert_eq!(queue.prune_done_jobs(LEASE, at(0)).unwrap(), 0);
    assert_eq!(names(memory.path()), [""; 0]);
}

/// Two workers with a scan of their own that is old by the time of most claims.
#[test]
fn a_long_queue_is_drained_and_every_job_is_done_once() {
    let (memory, queue) = queue();
    for number in 0..3 * MANY_JOBS {
        queue.enqueue(&job(&format!("s-{number}"), 1)).unwrap();
    }
    let other = queue_in(memory.path());
    let mut done = Vec::new();
    for turn in 0.. {
        let worker = if turn % 2 == 0 { &queue } else { &other };
        let Some(claimed) = worker.claim_job(&token("one"), LEASE, at(1)).unwrap() else { break };
        done.push(session(claimed.job()));
        claimed.complete("well", at(1)).unwrap();
    }
    assert_eq!(done.len(), 3 * MANY_JOBS);
    done.sort();
    done.dedup();
    assert_eq!(done.len(), 3 * MANY_JOBS);
}

#[test]
fn what_happens_after_a_scan_is_seen_at_the_claim() {
    let (_memory, queue) = queue();
    for number in 0..3 * MANY_JOBS {
        queue.enqueue(&Job { urgency: JobUrgency::Pause, ..job(&format!("s-{number:03}"), 1) }).unwrap();
    }
    let mut survey = QueueSurvey::scan_folders(&queue.folders, LEASE, at(0)).unwrap();
    let claim = |survey: &mut QueueSurvey| survey.claim_remembered(&queue.folders, &token("one"), at(0)).unwrap();
    // The first is gone, the session of the second is worked on, and the third must wait.
    let first = queue.claim_job(&token("two"), LEASE, at(0)).unwrap().unwrap();
    first.complete("well", at(0)).unwrap();
    let second = queue.claim_job(&token("two"), LEASE, at(0)).unwrap().unwrap();
    queue.enqueue(second.job()).unwrap();
    let longer = Job { log_bytes: Some(2), ..second.job().clone() };
    queue.enqueue(&longer).unwrap();
    let third = queue.claim_job(&token("two"), LEASE, at(0)).unwrap().unwrap();
    third.postpone(at(100), at(0)).unwrap();
    let fourth = claim(&mut survey).unwrap();
    let seen = [&first, &second, &third].map(|claimed| session(claimed.job()));
    assert!(!seen.contains(&session(fourth.job())));
    let left = std::iter::from_fn(|| claim(&mut survey)).count();
    assert_eq!(left, 3 * MANY_JOBS - 4);
}
