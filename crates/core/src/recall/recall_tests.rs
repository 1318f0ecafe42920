use proptest::prelude::*;

use super::{ScoreWeights, recency_score, weighted_score};

const SPEC: ScoreWeights = ScoreWeights { importance: 0.4, recency: 0.3, relevance: 0.3 };
const DAY: i64 = 86_400_000;

#[test]
fn the_spec_formula() {
    let check = |(importance, recency, relevance): (f64, f64, f64), expected: f64| {
        assert!((weighted_score(&SPEC, importance, recency, relevance).score - expected).abs() < 1e-9);
    };
    check((1.0, 1.0, 1.0), 1.0);
    check((0.0, 0.0, 0.0), 0.0);
    check((0.3, 1.0, 0.0), 0.42);
    check((0.9, 0.5, 0.25), 0.585);
}

#[test]
fn recency_halves_with_each_half_life() {
    let check = |days, half_life, expected: f64| {
        assert!((recency_score(days * DAY, half_life) - expected).abs() < 1e-9, "{days} {half_life:?}");
    };
    check(0, Some(30.0), 1.0);
    check(30, Some(30.0), 0.5);
    check(90, Some(30.0), 0.125);
    check(90, Some(90.0), 0.5);
    check(-5, Some(30.0), 1.0);
    check(4000, None, 1.0);
}

proptest! {
    #[test]
    fn recency_never_rises_with_age(days in 0i64..20_000, more in 0i64..20_000, half_life in 0.5..400.0) {
        let young = recency_score(days * DAY, Some(half_life));
        let old = recency_score((days + more) * DAY, Some(half_life));
        prop_assert!(old <= young && old >= 0.0);
    }
}
