use std::fs;

use tempfile::TempDir;

use super::super::test_support::{LEASE, at, job, names, queue_in, shown, sweep, token};
use super::super::{ClaimedJobFile, EnqueueResult, JobFolder, JobQueue, JobUrgency};
use super::*;

/// A clone with a queue in it, and whatever a stranger put into one of its folders.
fn clone_with(place: JobFolder, name: &str, bytes: &[u8]) -> (TempDir, JobQueue) {
    let memory = TempDir::new().unwrap();
    let folder = memory.path().join("queue").join(place.as_str());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
    let queue = queue_in(memory.path());
    (memory, queue)
}

fn claim(queue: &JobQueue, seconds: i64) -> Option<ClaimedJobFile> {
    queue.claim_job(&token("w"), LEASE, at(seconds)).unwrap()
}

fn folder(memory: &TempDir, place: JobFolder) -> Vec<String> {
    names(&memory.path().join("queue").join(place.as_str()))
}

/// A job as programs before this one wrote it.
fn unsealed(job: &Job) -> Vec<u8> {
    serde_json::to_vec(job).unwrap()
}

/// A job as another machine seals it.
fn sealed_elsewhere(job: &Job) -> Vec<u8> {
    let state = TempDir::new().unwrap();
    render_sealed_job(job, &MachineKey::in_state_dir(Some(state.path()))).unwrap()
}

#[test]
fn a_job_that_came_with_a_clone_is_put_aside_and_never_handled() {
    let stranger = job("a", 10);
    for bytes in [unsealed(&stranger), sealed_elsewhere(&stranger)] {
        let (memory, queue) = clone_with(JobFolder::New, stranger.name().as_str(), &bytes);
        assert!(claim(&queue, 0).is_none());
        assert_eq!(folder(&memory, JobFolder::Dead), [stranger.name().as_str()]);
        assert_eq!(shown(&queue, at(1)), [format!("dead a: {UNSEALED}")]);
        assert!(claim(&queue, 100_000).is_none());
        assert_eq!(queue.list_jobs(LEASE, at(1)).unwrap()[0].author, JobAuthor::Unknown);
    }
}

#[test]
fn a_stranger_cannot_change_a_sealed_job() {
    let memory = TempDir::new().unwrap();
    let queue = queue_in(memory.path());
    queue.enqueue(&job("a", 10)).unwrap();
    let path = memory.path().join("queue/new").join(job("a", 10).name().as_str());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("/shop", "/bank", 1)).unwrap();
    assert!(claim(&queue, 0).is_none());
    assert_eq!(folder(&memory, JobFolder::Dead).len(), 1);
    // What is written behind a job can change when it is done, but not what is done.
    fs::remove_dir_all(memory.path().join("queue")).unwrap();
    queue.enqueue(&job("a", 10)).unwrap();
    let second = serde_json::to_string(&job("b", 1)).unwrap();
    fs::write(&path, format!("{}\n{second}\n", fs::read_to_string(&path).unwrap())).unwrap();
    assert_eq!(claim(&queue, 0).unwrap().job(), &job("a", 10));
}

#[test]
fn what_a_stranger_left_does_not_keep_a_job_from_being_done() {
    let ours = sweep();
    let name = ours.name();
    for place in [JobFolder::New, JobFolder::Dead, JobFolder::Done] {
        let (_memory, queue) = clone_with(place, name.as_str(), &unsealed(&ours));
        assert_eq!(queue.enqueue(&ours).unwrap(), EnqueueResult::New, "{place:?}");
        assert_eq!(claim(&queue, 0).unwrap().job(), &ours, "{place:?}");
    }
    let (memory, queue) = clone_with(JobFolder::Claimed, &format!("{name}.w-9"), &unsealed(&ours));
    assert!(claim(&queue, 0).is_none());
    assert_eq!(folder(&memory, JobFolder::Dead), [name.as_str()]);
    assert_eq!(queue.enqueue(&ours).unwrap(), EnqueueResult::New);
    assert_eq!(claim(&queue, 1).unwrap().job(), &ours);
}

#[test]
fn a_seal_outlives_failures_and_does_not_belong_to_the_job() {
    let memory = TempDir::new().unwrap();
    let queue = queue_in(memory.path());
    queue.enqueue(&Job { urgency: JobUrgency::Pause, ..job("a", 10) }).unwrap();
    queue.enqueue(&job("a", 10)).unwrap();
    claim(&queue, 0).unwrap().retry("busy", at(1), at(0)).unwrap();
    let again = claim(&queue, 2).unwrap();
    assert_eq!(again.job().attempts.len(), 1);
    assert!(again.job().extra.is_empty(), "{:?}", again.job().extra);
    again.mark_dead("gone", at(2)).unwrap();
    assert_eq!(queue.enqueue(&job("a", 10)).unwrap(), EnqueueResult::New);
    assert!(claim(&queue, 3).is_some());
}

#[test]
fn without_a_place_for_a_key_no_job_is_taken_in() {
    let memory = TempDir::new().unwrap();
    let queue = JobQueue::for_memory(memory.path(), MachineKey::in_state_dir(None));
    let error = queue.enqueue(&job("a", 10)).unwrap_err();
    assert!(matches!(error, QueueError::Key(_)), "{error}");
    assert!(!memory.path().join("queue").exists());
}

#[test]
fn a_key_that_cannot_be_read_buries_nothing() {
    let memory = TempDir::new().unwrap();
    queue_in(memory.path()).enqueue(&job("a", 10)).unwrap();
    let key = memory.path().join("machine.key");
    fs::rename(&key, memory.path().join("kept")).unwrap();
    fs::write(&key, "no key").unwrap();
    assert!(queue_in(memory.path()).claim_job(&token("w"), LEASE, at(0)).is_err());
    fs::rename(memory.path().join("kept"), &key).unwrap();
    assert!(claim(&queue_in(memory.path()), 0).is_some());
}
