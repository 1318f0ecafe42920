use proptest::prelude::*;

use super::*;
use crate::domain::{FacetValues, MemoryCategory, MemoryKind};
use crate::judge::LessonStatement;
use crate::text::WordSplitter;

fn features(summary: &str, rule: Option<&str>) -> LessonFeatures {
    let facets = FacetValues::default();
    let (kind, category) = (&MemoryKind::Lesson, &MemoryCategory::Heuristic);
    LessonFeatures::extract(
        &LessonStatement { summary, rule, tags: &[], facets: &facets, kind, category },
        &mut WordSplitter::default(),
    )
}

fn alike(one: &str, other: &str) -> f64 {
    measure_similarity(&features(one, None), &features(other, None), &WordFrequencies::default(), None)
}

#[test]
fn the_same_in_other_words_is_more_alike_than_another_matter() {
    let check = |lesson: &str, reworded: &str, other: &str| {
        let (same, different) = (alike(lesson, reworded), alike(lesson, other));
        assert!(same > 0.5 && different < 0.5 && same > different + 0.3, "{lesson}: {same} {different}");
    };
    check(
        "Delete the build folder before running the type checker",
        "Remove the build directory before you run the type checker",
        "Rotate the signing keys every month",
    );
    check(
        "Start redis before the billing tests",
        "The billing tests need redis started first",
        "The search tests are slow under valgrind",
    );
}

#[test]
fn a_text_without_words_is_like_itself_and_nothing_else() {
    assert_eq!(alike("", ""), 1.0);
    assert_eq!(alike("do it", "Do  it"), 1.0);
    assert!(alike("", "Start redis") < 0.1);
    assert!(alike("do it", "be it") < 0.5);
}

#[test]
fn an_embedding_can_raise_and_lower() {
    let (one, other) = (features("Start redis first", None), features("Bring the cache server up", None));
    let with = |cosine| measure_similarity(&one, &other, &WordFrequencies::default(), Some(cosine));
    let without = measure_similarity(&one, &other, &WordFrequencies::default(), None);
    assert!(with(0.95) > without && with(0.0) < 0.05, "{without}");
    assert_eq!(with(f64::NAN), without);
}

proptest! {
    #[test]
    fn similarity_is_a_share_and_does_not_mind_the_order(
        one in "[a-z`_0-9 ]{0,60}",
        other in "[a-z`_0-9 ]{0,60}",
        rule in prop::option::of("IF [a-z ]{0,20} THEN [a-z ]{0,20}"),
        cosine in prop::option::of(-1.0..=1.0),
    ) {
        let (one, other) = (features(&one, rule.as_deref()), features(&other, None));
        let background = WordFrequencies::from_lessons([&one, &other]);
        let there = measure_similarity(&one, &other, &background, cosine);
        let back = measure_similarity(&other, &one, &background, cosine);
        prop_assert!((0.0..=1.0).contains(&there));
        prop_assert!((there - back).abs() < 1e-9);
        prop_assert_eq!(measure_similarity(&one, &one, &background, cosine), 1.0);
    }
}
