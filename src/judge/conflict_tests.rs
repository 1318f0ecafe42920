use super::*;
use crate::domain::{Facets, MemoryCategory, MemoryKind};
use crate::judge::Saying;
use crate::text::Cutter;

fn features(summary: &str) -> Features {
    let facets = Facets::default();
    let (kind, category) = (&MemoryKind::Lesson, &MemoryCategory::Heuristic);
    Features::of(&Saying { summary, rule: None, tags: &[], facets: &facets, kind, category }, &mut Cutter::default())
}

fn check(one: &str, other: &str, expected: Option<Conflict>) {
    let (a, b) = (features(one), features(other));
    assert_eq!(conflict(&a, &b, &Background::default()), expected, "{one} / {other}");
    assert_eq!(conflict(&b, &a, &Background::default()), expected, "{other} / {one}");
}

#[test]
fn two_lessons_may_disagree_in_several_ways() {
    check("Redis listens on port 6379", "Redis listens on port 6380", Some(Conflict::Number));
    check("Set `retries: 3` for the upload", "Set `retries: 5` for the upload, 3 is too few", Some(Conflict::Number));
    check("Indent with two spaces", "Indent with four spaces", Some(Conflict::Number));
    check("We deploy from trunk", "We no longer deploy from trunk", Some(Conflict::Changed));
    check("Run gofmt before the linter", "Run gofmt after the linter", Some(Conflict::Opposed));
    check("Use Bazel for the SDK", "Do not use Bazel for the SDK", Some(Conflict::Turned));
    check("Deploy to the namespace `shop`", "Deploy to the namespace `shop-v2`", Some(Conflict::Renamed));
    check("Use Bazel, not Buck", "Use Buck, not Bazel", Some(Conflict::Turned));
}

#[test]
fn another_wording_is_no_conflict() {
    check("Never push to trunk", "Do not push to trunk", None);
    check("Start redis on port 6379", "Redis must be started", None);
    check("Use Bazel for the SDK", "Use Bazel for the SDK", None);
    check("", "", None);
}
