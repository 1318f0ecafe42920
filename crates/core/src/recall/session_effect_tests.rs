use crate::domain::{
    AgentMemory, Effect, ErrorFamily, EvidenceLevel, Extra, LessonMerge, MemoryId, Quote, Timestamp, TrustClass,
};

use super::{
    FinalCheck, ObservedAction, ObservedFailure, ObservedFinding, ObservedReview, ObservedSession, judge_lesson_effect,
};

const THRESHOLD: f64 = 0.3;

fn at(minute: i64) -> Timestamp {
    let noon: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    noon + chrono::TimeDelta::minutes(minute)
}

fn family(letter: char) -> ErrorFamily {
    ErrorFamily::parse(&letter.to_string().repeat(16)).unwrap()
}

fn lesson() -> AgentMemory {
    let mut memory = AgentMemory::new(MemoryId::parse("mem-1").unwrap(), at(-9000), "The billing tests need the cache");
    memory.rule = Some("IF `pytest tests/billing` is due THEN run `docker compose up -d redis` first".to_owned());
    memory.facets.error_family = Some(family('a'));
    memory.tags = vec!["redis".to_owned()];
    memory
}

fn failure(family: Option<ErrorFamily>, at: Option<Timestamp>) -> ObservedFailure {
    ObservedFailure { family, trajectory: "t-1".to_owned(), steps: vec![4], at }
}

fn ran(command: &str) -> (ObservedAction, Option<Timestamp>) {
    (ObservedAction::Ran(command.split_whitespace().map(str::to_owned).collect()), Some(at(2)))
}

fn found(descriptions: &[&str]) -> ObservedReview {
    let finding = |description: &&str| ObservedFinding { description: (*description).to_owned(), at: Some(at(9)) };
    ObservedReview::Held(descriptions.iter().map(finding).collect())
}

fn quote(step: u32) -> Quote {
    Quote {
        trajectory_id: "t-1".to_owned(),
        step,
        start: 0,
        end: 7,
        text: "refused".to_owned(),
        level: EvidenceLevel::Execution,
        trust: TrustClass::BuildOutput,
        extra: Extra::new(),
    }
}

fn check(course: &ObservedSession, expected: Effect) {
    assert_eq!(judge_lesson_effect(&lesson(), at(0), course, &[], THRESHOLD), expected, "{course:?}");
}

/// Had occasion, and its check passed.
fn spared() -> ObservedSession {
    ObservedSession {
        actions: vec![ran("pytest tests/billing -q")],
        check: FinalCheck::Passed(Some(at(3))),
        ..ObservedSession::default()
    }
}

#[test]
fn the_failure_shows_again() {
    let course = ObservedSession { failures: vec![failure(Some(family('a')), Some(at(1)))], ..spared() };
    check(&course, Effect::Recurred);
    let without_time =
        ObservedSession { failures: vec![failure(Some(family('a')), None)], ..ObservedSession::default() };
    check(&without_time, Effect::Recurred);
}

#[test]
fn a_failure_of_a_lesson_that_was_taken_in_counts() {
    let mut absorbed = lesson();
    absorbed.facets.error_family = Some(family('b'));
    let mut memory = lesson();
    memory.merges = vec![LessonMerge { absorbed: Box::new(absorbed), kept: Box::new(lesson()), at: at(-100) }];
    let course =
        ObservedSession { failures: vec![failure(Some(family('b')), Some(at(1)))], ..ObservedSession::default() };
    assert_eq!(judge_lesson_effect(&memory, at(0), &course, &[], THRESHOLD), Effect::Recurred);
    check(&course, Effect::Unknown);
}

#[test]
fn what_failed_before_the_lesson_was_given_is_not_held_against_it() {
    let before = ObservedSession { failures: vec![failure(Some(family('a')), Some(at(-1)))], ..spared() };
    check(&before, Effect::Prevented);
    let failed = ObservedSession { check: FinalCheck::Failed, ..before };
    check(&failed, Effect::Unknown);
}

#[test]
fn it_is_spared_where_it_could_have_failed() {
    check(&spared(), Effect::Prevented);
    let wrapped = ObservedSession { actions: vec![ran("pytest tests/billing")], ..spared() };
    check(&wrapped, Effect::Prevented);
}

#[test]
fn without_occasion_nobody_can_tell() {
    for command in ["pytest tests/cart", "docker compose up -d redis", "ls", "pytest"] {
        check(&ObservedSession { actions: vec![ran(command)], ..spared() }, Effect::Unknown);
    }
    check(
        &ObservedSession { actions: vec![(ObservedAction::Used("bash".to_owned()), None)], ..spared() },
        Effect::Unknown,
    );
    let earlier = vec![(ObservedAction::Ran(vec!["pytest".to_owned(), "tests/billing".to_owned()]), Some(at(-5)))];
    check(&ObservedSession { actions: earlier, ..spared() }, Effect::Unknown);
}

#[test]
fn without_a_check_that_passed_nobody_can_tell() {
    check(&ObservedSession { check: FinalCheck::NotMade, ..spared() }, Effect::Unknown);
    check(&ObservedSession { check: FinalCheck::Failed, ..spared() }, Effect::Unknown);
    check(&ObservedSession { check: FinalCheck::Passed(Some(at(-1))), ..spared() }, Effect::Unknown);
    check(&ObservedSession::default(), Effect::Unknown);
}

#[test]
fn a_failure_that_cannot_be_known_again_is_never_said_to_be_spared() {
    let mut memory = lesson();
    memory.facets.error_family = None;
    assert_eq!(judge_lesson_effect(&memory, at(0), &spared(), &[], THRESHOLD), Effect::Unknown);
}

#[test]
fn a_component_or_a_rare_tool_is_an_occasion() {
    let mut memory = lesson();
    memory.rule = None;
    memory.facets.component = Some("src/net".to_owned());
    memory.facets.tool = Some("Deploy".to_owned());
    let with = |action: ObservedAction| ObservedSession { actions: vec![(action, None)], ..spared() };
    for (action, expected) in [
        (ObservedAction::Touched("/home/me/shop/src/net/http.rs".to_owned()), Effect::Prevented),
        (ObservedAction::Touched("src/network/http.rs".to_owned()), Effect::Unknown),
        (ObservedAction::Used("deploy".to_owned()), Effect::Prevented),
        (ObservedAction::Used("bash".to_owned()), Effect::Unknown),
    ] {
        assert_eq!(judge_lesson_effect(&memory, at(0), &with(action.clone()), &[], THRESHOLD), expected, "{action:?}");
    }
    memory.facets.tool = Some("bash".to_owned());
    assert_eq!(
        judge_lesson_effect(&memory, at(0), &with(ObservedAction::Used("bash".to_owned())), &[], THRESHOLD),
        Effect::Unknown
    );
}

#[test]
fn a_lesson_that_is_taught_again_by_what_went_wrong_did_not_help() {
    let course = ObservedSession { failures: vec![failure(None, Some(at(1)))], ..spared() };
    assert_eq!(judge_lesson_effect(&lesson(), at(0), &course, &[quote(4)], THRESHOLD), Effect::Recurred);
    assert_eq!(judge_lesson_effect(&lesson(), at(0), &course, &[quote(9)], THRESHOLD), Effect::Unknown);
    let mut elsewhere = quote(4);
    elsewhere.trajectory_id = "t-2".to_owned();
    assert_eq!(judge_lesson_effect(&lesson(), at(0), &course, &[elsewhere], THRESHOLD), Effect::Unknown);
}

#[test]
fn reviewers_speak_finding_by_finding() {
    let review = |descriptions: &[&str]| ObservedSession { review: found(descriptions), ..ObservedSession::default() };
    check(&review(&["The billing tests fail without redis"]), Effect::Recurred);
    check(&review(&["Rename the button", "Missing null check in the handler"]), Effect::Prevented);
    check(&review(&[]), Effect::Prevented);
    // Together these two hold all of the lesson's words; each for itself holds too few.
    check(
        &review(&["billing address is never shown on small screens", "cache headers lack a maximum age everywhere"]),
        Effect::Prevented,
    );
    check(&ObservedSession::default(), Effect::Unknown);
}

#[test]
fn the_threshold_is_the_share_of_the_findings_words() {
    let course = ObservedSession {
        review: found(&["one two three redis four five six seven eight billing"]),
        ..ObservedSession::default()
    };
    let ends = |threshold| judge_lesson_effect(&lesson(), at(0), &course, &[], threshold);
    assert_eq!((ends(0.2), ends(0.21)), (Effect::Recurred, Effect::Prevented));
}

#[test]
fn a_clean_review_does_not_excuse_the_failure() {
    let course = ObservedSession {
        failures: vec![failure(Some(family('a')), Some(at(1)))],
        review: found(&[]),
        ..ObservedSession::default()
    };
    check(&course, Effect::Recurred);
}
