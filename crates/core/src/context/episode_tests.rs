use super::super::test_support::Does::{Edits, Fails, Runs, User};
use super::super::test_support::{gather, gather_events};
use super::*;
use crate::domain::{SessionDetails, TrajectoryEvent};

const RED: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored";
const GREEN: &str = "test result: ok. 2 passed; 0 failed; 0 ignored";

fn run() -> SessionDescription {
    SessionDescription {
        session_id: SessionId::parse("s-1").unwrap(),
        project_root: "/home/dev/shop".to_owned(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now: Timestamp::from_timestamp(1_800_000_000, 0).unwrap(),
    }
}

#[test]
fn a_summary_has_one_to_three_sentences() {
    let gathered = gather(&[
        User("Make the tests green. Then push. And tell me."),
        Fails("cargo test", RED),
        Edits("src/cart.rs", "a", "b"),
        Runs("cargo test", GREEN),
    ]);
    let summary = outline_episode(&gathered, None).summary;
    assert_eq!(
        summary,
        "Make the tests green; Then push; And tell me. Success: 4 steps, 3 calls, 1 failed. \
         `cargo test` failed (test result: FAILED; 1 passed; 1 failed; 0 ignored) and passed after edits to src/cart.rs."
    );
    assert!(summary.matches(". ").count() <= 2);
}

#[test]
fn reflecting_again_gives_the_same_episode() {
    let gathered = gather(&[User("hi"), Fails("cargo test", RED)]);
    let (one, two) = (build_episode(&run(), &gathered), build_episode(&run(), &gathered));
    assert_eq!(one, two);
    let other = SessionDescription { session_id: SessionId::parse("s-2").unwrap(), ..run() };
    assert_ne!(one.id, build_episode(&other, &gathered).id);
    assert_eq!(one.error_families.len(), 1);
    assert!(one.tags.contains(&"bash".to_owned()) && one.tags.contains(&"failed-call".to_owned()), "{:?}", one.tags);
}

#[test]
fn what_the_log_says_about_itself_is_used_and_what_is_asked_for_wins() {
    let about = SessionDetails {
        task_id: Some("oa-1".to_owned()),
        agent: Some("healer".to_owned()),
        ..SessionDetails::default()
    };
    let gathered = gather_events(vec![TrajectoryEvent::About(Box::new(about))]);
    let episode_of = |run: &SessionDescription| build_episode(run, &gathered);
    assert_eq!(
        (episode_of(&run()).task_id.as_deref(), episode_of(&run()).kind),
        (Some("oa-1"), EpisodeKind::HealerRun)
    );
    let asked =
        SessionDescription { task_id: Some("oa-2".to_owned()), kind: Some(EpisodeKind::OrchestratorRun), ..run() };
    assert_eq!(
        (episode_of(&asked).task_id.as_deref(), episode_of(&asked).kind),
        (Some("oa-2"), EpisodeKind::OrchestratorRun)
    );
}
