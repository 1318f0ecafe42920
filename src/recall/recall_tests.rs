use proptest::prelude::*;

use super::{Vocabulary, Weights, meets_topic, recency, relevance, score};
use crate::domain::{Facet, FacetSet};

const SPEC: Weights = Weights { importance: 0.4, recency: 0.3, relevance: 0.3 };
const DAY: i64 = 86_400_000;

#[test]
fn the_spec_formula() {
    let check = |(importance, recency, relevance): (f64, f64, f64), expected: f64| {
        assert!((score(&SPEC, importance, recency, relevance).score - expected).abs() < 1e-9);
    };
    check((1.0, 1.0, 1.0), 1.0);
    check((0.0, 0.0, 0.0), 0.0);
    check((0.3, 1.0, 0.0), 0.42);
    check((0.9, 0.5, 0.25), 0.585);
}

#[test]
fn recency_halves_with_each_half_life() {
    let check = |days, half_life, expected: f64| {
        assert!((recency(days * DAY, half_life) - expected).abs() < 1e-9, "{days} {half_life:?}");
    };
    check(0, Some(30.0), 1.0);
    check(30, Some(30.0), 0.5);
    check(90, Some(30.0), 0.125);
    check(90, Some(90.0), 0.5);
    check(-5, Some(30.0), 1.0);
    check(4000, None, 1.0);
}

#[test]
fn nothing_asked_is_nothing_met() {
    assert_eq!(Vocabulary::default().measure().relevance(&[], 0), 0.0);
    assert_eq!(relevance(0.0, 0.0, FacetSet::default()), 0.0);
    assert!(!meets_topic(0.0, 0.0, FacetSet::default(), 0.0));
}

#[test]
fn circumstances_raise_relevance_but_are_no_topic() {
    let tool: FacetSet = [Facet::Tool].into_iter().collect();
    assert!(relevance(0.0, 0.0, tool) > 0.0);
    assert!(!meets_topic(0.0, 0.0, tool, 0.0));
    let failure: FacetSet = [Facet::ErrorFamily].into_iter().collect();
    assert!(meets_topic(0.0, 0.0, failure, 0.5));
}

#[test]
fn of_two_lessons_with_every_word_the_one_with_more_of_them_is_better() {
    let measure = Vocabulary { documents: 100, length: 1_000, holders: vec![5, 50] }.measure();
    let (once, twice) = (measure.relevance(&[2, 2], 10), measure.relevance(&[4, 2], 10));
    assert!(once < twice && twice < 1.0, "{once} {twice}");
    assert!(measure.relevance(&[2, 2], 40) < once, "talk thins it out");
    assert!(measure.relevance(&[2, 0], 10) > measure.relevance(&[0, 2], 10), "the rarer word says more");
}

proptest! {
    #[test]
    fn relevance_stays_within_its_bounds(
        counts in prop::collection::vec(0u32..50, 1..6),
        extra in 0u32..500,
        documents in 1u64..100_000,
        tags in 0.0..=1.0,
        bits: u8,
    ) {
        let length = counts.iter().sum::<u32>() + extra;
        let holders = vec![documents / 2; counts.len()];
        let vocabulary = Vocabulary { documents, length: documents * 40, holders };
        let text = vocabulary.measure().relevance(&counts, length);
        prop_assert!((0.0..=1.0).contains(&text));
        let joined = relevance(text, tags, FacetSet::from_bits(bits));
        prop_assert!((0.0..=1.0).contains(&joined));
        prop_assert!(joined >= text - 1e-12);
    }

    #[test]
    fn recency_never_rises_with_age(days in 0i64..20_000, more in 0i64..20_000, half_life in 0.5..400.0) {
        let young = recency(days * DAY, Some(half_life));
        let old = recency((days + more) * DAY, Some(half_life));
        prop_assert!(old <= young && old >= 0.0);
    }
}
