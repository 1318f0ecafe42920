//! Files that nobody can read, jobs in two places, clocks that go backwards.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::job_folder::MAX_JOB_BYTES;
use super::test_support::{LEASE, at, job, names, queue_in, shown, token};
use super::*;

struct World {
    _memory: TempDir,
    queue: JobQueue,
}

impl World {
    fn new() -> Self {
        let memory = TempDir::new().unwrap();
        let queue = queue_in(memory.path());
        queue.folders.create_all().unwrap();
        Self { _memory: memory, queue }
    }

    /// Puts a file in a folder, last touched at this moment.
    fn put(&self, place: JobFolder, name: &str, bytes: &[u8], seconds: i64) -> PathBuf {
        let path = self.queue.folders.folder_path(place).join(name);
        fs::write(&path, bytes).unwrap();
        job_folder::touch_file(&path, at(seconds)).unwrap();
        path
    }

    /// A job as this machine writes it.
    fn bytes(&self, job: &Job) -> Vec<u8> {
        render_sealed_job(job, &self.queue.folders.key).unwrap()
    }

    fn claim(&self, seconds: i64) -> Option<ClaimedJobFile> {
        self.queue.claim_job(&token("w"), LEASE, at(seconds)).unwrap()
    }

    fn names(&self, place: JobFolder) -> Vec<String> {
        names(&self.queue.folders.folder_path(place))
    }
}

#[test]
fn a_file_that_is_being_written_is_left_alone_and_put_aside_when_it_is_old() {
    let world = World::new();
    world.put(JobFolder::New, "aa-1.json", b"", 0);
    world.put(JobFolder::New, "bb-1.json", b"{\"errand\":{\"refl", 0);
    assert!(world.claim(59).is_none());
    assert_eq!(world.names(JobFolder::New), ["aa-1.json", "bb-1.json"]);
    assert!(world.claim(61).is_none());
    assert_eq!(world.names(JobFolder::New), [""; 0]);
    let aside = ["aa-1.json.broken", "aa-1.json.broken.why", "bb-1.json.broken", "bb-1.json.broken.why"];
    assert_eq!(world.names(JobFolder::Dead), aside);
    assert_eq!(
        shown(&world.queue, at(70)),
        ["dead it is empty", "dead EOF while parsing a string at line 1 column 16"]
    );
}

#[test]
fn a_job_that_somebody_began_to_write_is_written_anew() {
    let world = World::new();
    let name = job("a", 10).name();
    world.put(JobFolder::New, name.as_str(), b"{\"errand\"", 0);
    assert_eq!(world.queue.enqueue(&job("a", 10)).unwrap(), EnqueueResult::New);
    assert_eq!(world.claim(0).unwrap().job(), &job("a", 10));
    // So is one that was put aside and cannot be read.
    world.put(JobFolder::Dead, job("b", 1).name().as_str(), b"{", 0);
    assert_eq!(world.queue.enqueue(&job("b", 1)).unwrap(), EnqueueResult::New);
    assert_eq!(world.claim(0).unwrap().job(), &job("b", 1));
}

#[test]
fn strange_things_in_any_folder_stop_nobody() {
    let world = World::new();
    for place in JobFolder::ALL {
        let folder = world.queue.folders.folder_path(place);
        world.put(place, "notes.txt", b"by hand", 0);
        world.put(place, ".hidden", b"", 0);
        world.put(place, "zero.json", b"", 0);
        world.put(place, "bytes.json", b"\xff\x00", 0);
        world.put(place, "long.json", &vec![b' '; MAX_JOB_BYTES + 1], 0);
        world.put(place, "future.json.w-1", b"{\"errand\":{\"dance\":{}}}", 0);
        fs::create_dir(folder.join("folder.json")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc/passwd", folder.join("link.json")).unwrap();
    }
    world.queue.enqueue(&job("a", 10)).unwrap();
    let before: usize = JobFolder::ALL.into_iter().map(|place| world.names(place).len()).sum();
    assert!(world.queue.list_jobs(LEASE, at(100_000)).unwrap().len() > 10);
    let after: usize = JobFolder::ALL.into_iter().map(|place| world.names(place).len()).sum();
    assert_eq!(before, after, "looking changes nothing");

    let claimed = world.claim(100_000).unwrap();
    assert_eq!(claimed.job(), &job("a", 10));
    assert_eq!(claimed.complete("ok", at(100_000)).unwrap(), JobOwnership::Yes);
    assert!(world.claim(100_001).is_none());
    assert_eq!(world.queue.next_due(LEASE, at(100_001)).unwrap(), None);
    assert!(
        world.names(JobFolder::New).iter().all(|name| !name.ends_with(".json")),
        "{:?}",
        world.names(JobFolder::New)
    );
    assert!(world.names(JobFolder::New).contains(&"notes.txt".to_owned()), "what is no job of ours is not touched");
    let listed = world.queue.list_jobs(LEASE, at(100_001)).unwrap();
    assert!(listed.iter().any(|listed| listed.place == JobFolder::Done && listed.job.is_ok()));
    assert!(!fs::metadata("/etc/passwd").is_ok_and(|found| found.len() == 0));
}

#[test]
fn a_job_that_is_in_two_places_is_where_it_counts_more() {
    let name = |session| job(session, 1).name();
    let world = World::new();
    for (session, places) in [
        ("a", [JobFolder::New, JobFolder::Done]),
        ("b", [JobFolder::New, JobFolder::Dead]),
        ("c", [JobFolder::Dead, JobFolder::Done]),
    ] {
        for place in places {
            world.put(place, name(session).as_str(), &world.bytes(&job(session, 1)), 0);
        }
    }
    world.put(JobFolder::Claimed, &format!("{}.other", name("d")), &world.bytes(&job("d", 1)), 0);
    world.put(JobFolder::New, name("d").as_str(), &world.bytes(&job("d", 1)), 0);
    world.put(JobFolder::Claimed, &format!("{}.other", name("e")), &world.bytes(&job("e", 1)), -100);
    world.put(JobFolder::Done, name("e").as_str(), &world.bytes(&job("e", 1)), 0);
    let mut lines = shown(&world.queue, at(1));
    lines.sort();
    assert_eq!(lines, ["claimed d", "dead b", "done a", "done c", "done e"]);

    assert!(world.claim(1).is_none(), "one has it, the others are settled");
    assert_eq!(world.names(JobFolder::New), [name("d").as_str()]);
    assert_eq!(world.names(JobFolder::Claimed), [format!("{}.other", name("d"))]);
    let taken_over = world.claim(100).unwrap();
    assert_eq!((taken_over.name(), taken_over.job().attempts.len()), (&name("d"), 1));
    taken_over.complete("", at(101)).unwrap();
    assert!(world.claim(102).is_none());
    assert_eq!(world.names(JobFolder::New), [""; 0]);
}

#[test]
fn a_clock_that_goes_backwards_takes_nothing_from_the_living_and_leaves_nothing_with_the_dead() {
    let world = World::new();
    world.queue.enqueue(&job("a", 10)).unwrap();
    let claimed = world.claim(100_000).unwrap();
    // The clock is set back by a day. The worker has one lease to show that it lives.
    assert!(world.claim(10).is_none());
    assert_eq!(claimed.send_heartbeat(at(50)).unwrap(), JobOwnership::Yes);
    assert!(world.claim(100).is_none());
    assert_eq!(world.claim(111).unwrap().job().attempts.len(), 1);
    // A job that waits for a day that is long in coming is due.
    let far = Job { not_before: Some(at(1_000_000)), ..job("b", 1) };
    world.queue.enqueue(&far).unwrap();
    assert_eq!(world.claim(112).unwrap().job(), &far);
    // A file that is torn, and of the future, is old.
    world.put(JobFolder::New, "aa-1.json", b"", 100_000);
    assert!(world.claim(113).is_none());
    assert!(world.names(JobFolder::Dead).contains(&"aa-1.json.broken".to_owned()));
}

#[test]
fn moments_at_the_end_of_time_are_only_moments() {
    let world = World::new();
    let last = Timestamp::MAX_UTC;
    world.queue.enqueue(&Job { enqueued_at: last, not_before: Some(last), ..job("a", 10) }).unwrap();
    let _ = world.queue.next_due(Duration::MAX, last).unwrap();
    let _ = world.queue.list_jobs(Duration::MAX, Timestamp::MIN_UTC).unwrap();
    let _ = world.queue.claim_job(&token("w"), Duration::MAX, last);
}

#[test]
fn a_folder_that_somebody_deleted_is_made_again() {
    let world = World::new();
    world.queue.enqueue(&job("a", 10)).unwrap();
    fs::remove_dir_all(world.queue.folders.folder_path(JobFolder::Claimed)).unwrap();
    fs::remove_dir_all(world.queue.folders.folder_path(JobFolder::Done)).unwrap();
    assert_eq!(world.claim(0).unwrap().complete("ok", at(1)).unwrap(), JobOwnership::Yes);
    assert_eq!(shown(&world.queue, at(2)), ["done a: ok"]);
}

#[cfg(unix)]
#[test]
fn nothing_goes_through_a_link() {
    let (memory, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let queue = queue_in(memory.path());
    std::os::unix::fs::symlink(elsewhere.path(), memory.path().join("queue")).unwrap();
    let refused = |queue: &JobQueue| matches!(queue.enqueue(&job("a", 10)), Err(QueueError::Symlink { .. }));
    assert!(refused(&queue));
    fs::remove_file(memory.path().join("queue")).unwrap();
    fs::create_dir(memory.path().join("queue")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), memory.path().join("queue/new")).unwrap();
    assert!(refused(&queue));
    assert!(matches!(queue.claim_job(&token("w"), LEASE, at(0)), Err(QueueError::Symlink { .. })));
    assert_eq!(names(elsewhere.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_look_and_git_does_not() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let memory = TempDir::new().unwrap();
    let queue = queue_in(memory.path());
    queue.enqueue(&job("a", 10)).unwrap();
    for place in JobFolder::ALL {
        assert_eq!(mode(&queue.folders.folder_path(place)), 0o700);
    }
    assert_eq!(
        (mode(queue.queue_dir()), mode(&queue.folders.job_path(JobFolder::New, &job("a", 10).name()))),
        (0o700, 0o600)
    );
    assert_eq!(fs::read_to_string(queue.queue_dir().join(".gitignore")).unwrap(), "*\n");

    let check = |listed: &str, expected: bool| {
        let memory = TempDir::new().unwrap();
        fs::write(memory.path().join(".gitignore"), listed).unwrap();
        let queue = queue_in(memory.path());
        queue.enqueue(&job("a", 10)).unwrap();
        assert_eq!(queue.queue_dir().join(".gitignore").exists(), expected, "{listed:?}");
    };
    check("index/\nqueue/\n", false);
    check("index/\n", true);
}

#[test]
fn a_job_that_is_too_long_is_refused() {
    let memory = TempDir::new().unwrap();
    let mut long = job("a", 10);
    long.event = "x".repeat(MAX_JOB_BYTES);
    let error = queue_in(memory.path()).enqueue(&long).unwrap_err();
    assert!(matches!(error, QueueError::TooLarge { .. }) && error.hint().is_some() && !error.is_ours());
    assert_eq!(names(memory.path()), [""; 0]);
}
