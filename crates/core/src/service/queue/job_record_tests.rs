use proptest::prelude::*;

use super::*;
use crate::service::queue::test_support::{at, job};

/// A file with so many tries that failed.
fn file(failures: i64) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(&job("a", 10)).unwrap();
    for number in 0..failures {
        let happened = JobEvent::attempt_failed(&format!("error {number}"), at(number), Some(at(number + 30)));
        bytes.extend(happened.to_line().unwrap().into_bytes());
    }
    bytes
}

fn with(mut bytes: Vec<u8>, happened: &JobEvent) -> Vec<u8> {
    bytes.extend(happened.to_line().unwrap().into_bytes());
    bytes
}

#[test]
fn what_happened_is_told_in_its_order() {
    let record = JobRecord::parse(&file(2)).unwrap();
    assert_eq!(record.note.as_deref(), Some("error 1"));
    assert_eq!((record.job.attempts.len(), record.job.not_before), (2, Some(at(31))));
    let record = JobRecord::parse(&with(file(2), &JobEvent::completed("3 lessons", at(9)))).unwrap();
    assert_eq!((record.note.as_deref(), record.job.not_before), (Some("3 lessons"), None));
}

#[test]
fn a_job_that_is_brought_back_is_tried_as_if_it_were_new() {
    let buried = with(file(5), &JobEvent::marked_dead("hopeless", at(9)));
    let record = JobRecord::parse(&buried).unwrap();
    assert_eq!((record.job.attempts.len(), record.note.as_deref()), (5, Some("hopeless")));
    assert_eq!(record.into_task(), job("a", 10));
    let again = with(buried, &JobEvent::attempt_failed("busy", at(20), None));
    assert_eq!(
        JobRecord::parse(&again).unwrap().into_task().attempts,
        [FailedAttempt { at: at(20), error: "busy".to_owned() }]
    );
}

#[test]
fn a_file_that_a_person_wrote_is_read() {
    let mut bytes = serde_json::to_string_pretty(&job("a", 10)).unwrap().into_bytes();
    bytes.extend(b"\n\n# tried by hand\n");
    assert_eq!(JobRecord::parse(&with(bytes, &JobEvent::completed("x", at(1)))).unwrap().note.as_deref(), Some("x"));
}

#[test]
fn without_a_whole_job_there_is_nothing() {
    assert_eq!(JobRecord::parse(b"").unwrap_err(), "it is empty");
    for bytes in [&b"{"[..], b"[]", b"{\"errand\":{\"dance\":{}}}", b"\xff\xfe", b"\0\0\0"] {
        assert!(JobRecord::parse(bytes).is_err(), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn a_crash_in_the_middle_of_a_line_costs_that_line_only(cut in 0_usize..200) {
        let (whole, next) = (file(3), JobEvent::attempt_failed("later", at(50), None));
        let job_bytes = file(0).len();
        let kept = whole.len().saturating_sub(cut).max(job_bytes);
        let before = JobRecord::parse(&whole[..kept]).unwrap();
        let after = JobRecord::parse(&with(whole[..kept].to_vec(), &next)).unwrap();
        prop_assert_eq!(after.job.attempts.len(), before.job.attempts.len() + 1);
        prop_assert_eq!(after.note.as_deref(), Some("later"));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), keep in 0_usize..400) {
        let mut file = file(2);
        file.truncate(keep);
        file.extend(bytes);
        let _ = JobRecord::parse(&file).map(JobRecord::into_task);
    }
}
