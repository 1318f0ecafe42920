use proptest::prelude::*;

use super::*;
use crate::domain::{EpisodeId, Evidence, EvidenceLevel, FacetValues, MemoryCategory, MemoryScope, Quote};

const FAMILY: &str = "00112233aabbccdd";
const OTHER: &str = "ffffffffffffffff";

fn family(name: &str) -> ErrorFamily {
    ErrorFamily::parse(name).unwrap()
}

fn candidate(of: Option<&str>) -> Candidate {
    Candidate {
        summary: "Start redis before the tests".to_owned(),
        rule: None,
        detail: None,
        kind: MemoryKind::Lesson,
        category: MemoryCategory::Infra,
        scope: MemoryScope::Project,
        facets: FacetValues { error_family: of.map(family), ..FacetValues::default() },
        tags: Vec::new(),
        importance: Importance::MANUAL,
        importance_reason: None,
        severity: None,
        evidence: Evidence::default(),
        quarantine: None,
        near: Vec::new(),
        mended: Vec::new(),
    }
}

fn quoting(trust: TrustClass) -> Candidate {
    let mut candidate = candidate(None);
    candidate.evidence.quotes.extend(Quote::verify_passage(
        "t",
        1,
        "use pnpm",
        "use pnpm",
        EvidenceLevel::Reasoning,
        trust,
    ));
    candidate
}

#[track_caller]
fn check(candidate: &Candidate, signs: &[(&str, Option<&str>, u32)], basis: ImportanceBasis, times: u32) {
    let families: Vec<_> = signs.iter().map(|(_, name, _)| name.map(family)).collect();
    let signs: Vec<PlainSignal<'_>> = signs
        .iter()
        .zip(&families)
        .map(|(&(kind, _, times), family)| PlainSignal { kind, family: family.as_ref(), times })
        .collect();
    assert_eq!(find_basis(candidate, &signs), CountedBasis { basis, times });
    let turned: Vec<PlainSignal<'_>> = signs.into_iter().rev().collect();
    assert_eq!(find_basis(candidate, &turned), CountedBasis { basis, times }, "the order of signs decides");
}

#[test]
fn a_failure_counts_for_the_lesson_that_is_about_it() {
    use ImportanceBasis::*;
    let about = candidate(Some(FAMILY));
    check(&about, &[], Routine, 1);
    check(&about, &[("failed_call", Some(FAMILY), 1)], Routine, 1);
    check(&about, &[("failed_call", Some(FAMILY), 3)], RepeatedFailure, 3);
    check(&about, &[("fixed", Some(FAMILY), 1)], FailureWithFix, 1);
    check(&about, &[("fixed", Some(FAMILY), 1), ("repeated_failure", Some(FAMILY), 4)], RepeatedFailure, 4);
    check(&about, &[("retry_loop", Some(FAMILY), 0)], RepeatedFailure, 1);
    check(&about, &[("timeout", Some(FAMILY), 1)], FailureWithFix, 1);
    check(&about, &[("rate_limit", Some(FAMILY), 2)], RepeatedFailure, 2);
    check(&about, &[("context_window", Some(FAMILY), 9)], RepeatedFailure, 9);
    check(&about, &[("flaky_test", Some(FAMILY), 2)], FlakyTest, 2);
    check(&about, &[("verification_passed", Some(FAMILY), 1)], Routine, 1);
    check(&about, &[("a word of tomorrow", Some(FAMILY), 7)], Routine, 7);
    check(&about, &[("repeated_failure", Some(OTHER), 9)], Routine, 1);
    check(&candidate(None), &[("repeated_failure", None, 9), ("fixed", Some(FAMILY), 1)], Routine, 1);
}

#[test]
fn a_failure_of_several_sessions_is_weightier_than_one_of_one_session() {
    let mut about = candidate(Some(FAMILY));
    about.evidence.episode_ids = ["ep-1", "ep-1"].map(|id| EpisodeId::parse(id).unwrap()).to_vec();
    check(&about, &[("fixed", Some(FAMILY), 1)], ImportanceBasis::FailureWithFix, 1);
    about.evidence.episode_ids.push(EpisodeId::parse("ep-2").unwrap());
    check(&about, &[("fixed", Some(FAMILY), 1)], ImportanceBasis::FailureAcrossSessions, 1);
}

#[test]
fn a_correction_counts_for_the_lesson_that_quotes_a_person() {
    let said = [("user_correction", None, 1), ("repeated_failure", Some(FAMILY), 5)];
    check(&quoting(TrustClass::User), &said, ImportanceBasis::UserPreference, 1);
    check(&quoting(TrustClass::Agent), &said, ImportanceBasis::Routine, 1);
    check(&quoting(TrustClass::User), &[], ImportanceBasis::Routine, 1);
    let mut request = quoting(TrustClass::User);
    request.kind = MemoryKind::Preference;
    check(&request, &[], ImportanceBasis::UserPreference, 1);
}

#[test]
fn a_flaky_test_is_known_by_its_tag_where_no_failure_is_named() {
    let mut flaky = candidate(None);
    flaky.tags.push("Flaky-Test".to_owned());
    check(&flaky, &[("flaky_test", None, 3)], ImportanceBasis::FlakyTest, 3);
    check(&candidate(None), &[("flaky_test", None, 3)], ImportanceBasis::Routine, 1);
}

#[test]
fn the_weightiest_sign_says_how_much_a_session_teaches() {
    let sign = |kind, times| PlainSignal { kind, family: None, times };
    let signs = [sign("user_correction", 1), sign("fixed", 2), sign("flaky_test", 9)];
    assert_eq!(strongest_basis(&signs), CountedBasis { basis: ImportanceBasis::FailureWithFix, times: 2 });
    assert_eq!(strongest_basis(&[]), CountedBasis { basis: ImportanceBasis::Routine, times: 1 });
}

#[test]
fn a_word_is_kept_within_the_leeway() {
    #[track_caller]
    fn check(said: f64, prior: f64, leeway: f64, expected: f64) {
        assert!(
            (clamp_to_prior(make_importance(said), make_importance(prior), leeway).value() - expected).abs() < 1e-9
        );
    }
    check(0.65, 0.6, 0.2, 0.65);
    check(0.95, 0.6, 0.2, 0.8);
    check(0.1, 0.6, 0.2, 0.4);
    check(1.0, 0.95, 0.2, 1.0);
    check(0.0, 0.1, 0.2, 0.0);
    check(0.9, 0.6, 0.0, 0.6);
    check(0.9, 0.6, -1.0, 0.6);
    check(0.9, 0.6, f64::NAN, 0.6);
    check(0.9, 0.6, f64::INFINITY, 0.9);
}

proptest! {
    #[test]
    fn what_is_held_lies_within_the_leeway_and_is_held_once(said in 0.0..=1.0, prior in 0.0..=1.0, leeway in 0.0..=1.0) {
        let (said, prior) = (make_importance(said), make_importance(prior));
        let once = clamp_to_prior(said, prior, leeway);
        prop_assert!((once.value() - prior.value()).abs() <= leeway + 1e-9);
        prop_assert!((0.0..=1.0).contains(&once.value()));
        prop_assert_eq!(clamp_to_prior(once, prior, leeway), once);
    }
}
