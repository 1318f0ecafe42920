use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::service::queue::test_support::{at, job, sweep, trigger};

fn pace() -> WorkerPace {
    WorkerPace {
        processes: 1,
        lease: Duration::from_secs(60),
        max_attempts: 3,
        retry: Duration::from_secs(30),
        quiet: Duration::from_secs(120),
        after_end: Duration::from_secs(2),
        linger: Duration::ZERO,
        keep_done: Duration::from_secs(60),
    }
}

proptest! {
    #[test]
    fn a_wait_doubles_and_stays_near_its_middle(failures in 1_usize..100, session in "[a-z]{1,8}") {
        let name = job(&session, 1).name();
        let wait = pace().retry_delay(failures, &name);
        let shift = u32::try_from(failures - 1).unwrap().min(20);
        let middle = Duration::from_secs(30 * (1 << shift)).min(LONGEST_BACKOFF);
        prop_assert!(wait >= middle * 4 / 5 && wait <= (middle * 6 / 5).min(LONGEST_BACKOFF), "{wait:?} near {middle:?}");
        prop_assert_eq!(wait, pace().retry_delay(failures, &name));
    }
}

#[test]
fn waits_of_different_jobs_differ() {
    let waits: std::collections::BTreeSet<_> =
        (0..50).map(|bytes| pace().retry_delay(1, &job("a", bytes).name())).collect();
    assert!(waits.len() > 30, "{waits:?}");
    assert_eq!(WorkerPace { retry: Duration::ZERO, ..pace() }.retry_delay(9, &job("a", 1).name()), Duration::ZERO);
    assert_eq!(
        WorkerPace { retry: Duration::MAX, ..pace() }.retry_delay(9, &job("a", 1).name()).max(LONGEST_BACKOFF),
        LONGEST_BACKOFF
    );
}

#[test]
fn a_job_is_given_up_after_so_many_tries() {
    let check = |max_attempts, failures, expected| {
        assert_eq!(
            WorkerPace { max_attempts, ..pace() }.is_out_of_attempts(failures),
            expected,
            "{failures} of {max_attempts}"
        );
    };
    check(3, 2, false);
    check(3, 3, true);
    check(1, 1, true);
    check(0, 0, false);
}

#[test]
fn a_log_comes_to_rest_before_it_is_read() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log.jsonl");
    std::fs::write(&log, "x").unwrap();
    std::fs::File::open(&log).unwrap().set_modified(at(100).into()).unwrap();
    let with = |urgency, path: &Path| {
        let log_paths = vec![path.display().to_string()];
        let kind = JobKind::Reflect(crate::domain::ReflectionTrigger { log_paths, ..trigger("a") });
        Job { kind, urgency, ..job("a", 1) }
    };
    let check = |urgency, seconds, expected: Option<i64>| {
        assert_eq!(
            pace().quiet_log_deadline(&with(urgency, &log), at(seconds)),
            expected.map(at),
            "{urgency:?} at {seconds}"
        );
    };
    check(JobUrgency::Over, 101, Some(102));
    check(JobUrgency::Over, 102, None);
    check(JobUrgency::Pause, 101, Some(220));
    check(JobUrgency::Pause, 220, None);
    check(JobUrgency::Sweep, 101, None);
    // The clock was set back: the log is of the future, and says nothing.
    check(JobUrgency::Over, 50, None);
    check(JobUrgency::Pause, 50, Some(120));
    check(JobUrgency::Pause, -50, None);
    // Without a log a session is quiet from the moment it was told of.
    let missing = folder.path().join("none");
    assert_eq!(pace().quiet_log_deadline(&with(JobUrgency::Pause, &missing), at(5)), Some(at(120)));
    assert_eq!(pace().quiet_log_deadline(&with(JobUrgency::Over, &missing), at(5)), None);
    assert_eq!(pace().quiet_log_deadline(&sweep(), at(5)), None);
}
