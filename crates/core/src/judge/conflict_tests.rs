use super::*;
use crate::domain::{FacetValues, MemoryCategory, MemoryKind};
use crate::judge::LessonStatement;
use crate::text::WordSplitter;

fn features(summary: &str) -> LessonFeatures {
    let facets = FacetValues::default();
    let (kind, category) = (&MemoryKind::Lesson, &MemoryCategory::Heuristic);
    LessonFeatures::extract(
        &LessonStatement { summary, rule: None, tags: &[], facets: &facets, kind, category },
        &mut WordSplitter::default(),
    )
}

fn check(one: &str, other: &str, expected: Option<LessonConflict>) {
    let (a, b) = (features(one), features(other));
    assert_eq!(find_conflict(&a, &b, &WordFrequencies::default()), expected, "{one} / {other}");
    assert_eq!(find_conflict(&b, &a, &WordFrequencies::default()), expected, "{other} / {one}");
}

#[test]
fn two_lessons_may_disagree_in_several_ways() {
    check("Redis listens on port 6379", "Redis listens on port 6380", Some(LessonConflict::Number));
    check(
        "Set `retries: 3` for the upload",
        "Set `retries: 5` for the upload, 3 is too few",
        Some(LessonConflict::Number),
    );
    check("Indent with two spaces", "Indent with four spaces", Some(LessonConflict::Number));
    check("We deploy from trunk", "We no longer deploy from trunk", Some(LessonConflict::Changed));
    check("Run gofmt before the linter", "Run gofmt after the linter", Some(LessonConflict::Opposed));
    check("Use Bazel for the SDK", "Do not use Bazel for the SDK", Some(LessonConflict::Turned));
    check("Deploy to the namespace `shop`", "Deploy to the namespace `shop-v2`", Some(LessonConflict::Renamed));
    check("Use Bazel, not Buck", "Use Buck, not Bazel", Some(LessonConflict::Turned));
}

#[test]
fn another_wording_is_no_conflict() {
    check("Never push to trunk", "Do not push to trunk", None);
    check("Start redis on port 6379", "Redis must be started", None);
    check("Use Bazel for the SDK", "Use Bazel for the SDK", None);
    check("", "", None);
}
