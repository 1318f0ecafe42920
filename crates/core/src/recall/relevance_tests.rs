use proptest::prelude::*;

use super::{
    RelevanceQuery, TermStatistics, WordOverlap, combined_closeness, combined_relevance, facet_nearness, meets_topic,
};
use crate::domain::{Facet, FacetSet};

/// A question, and a collection of 100 lessons of ten words each in which every term stands in five.
fn asked(text: &str) -> (RelevanceQuery, TermStatistics) {
    let question = RelevanceQuery::from_text(text);
    let vocabulary = TermStatistics { documents: 100, length: 2_000, holders: vec![5; question.terms().len()] };
    (question, vocabulary)
}

fn counts(question: &RelevanceQuery, words: &[&str], count: u32) -> Vec<u32> {
    question.terms().iter().map(|term| if words.contains(&term.as_str()) { count } else { 0 }).collect()
}

#[test]
fn nothing_asked_is_nothing_met() {
    let question = RelevanceQuery::from_text("");
    let measure = TermStatistics::empty(&question).build_measure(&question);
    assert_eq!(measure.measure_overlap(&[], 0), None);
    assert_eq!(measure.text_relevance(None, None), 0.0);
    assert_eq!(combined_closeness(None, None), 0.0);
    assert_eq!(combined_relevance(0.0, 0.0, FacetSet::default()), 0.0);
    assert!(!meets_topic(0.0, 0.0, FacetSet::default(), 0.0));
}

#[test]
fn circumstances_raise_relevance_but_are_no_topic() {
    let tool: FacetSet = [Facet::Tool].into_iter().collect();
    assert!(combined_relevance(0.0, 0.0, tool) > 0.0);
    assert!(!meets_topic(0.0, 0.0, tool, 0.0));
    let failure: FacetSet = [Facet::ErrorFamily].into_iter().collect();
    assert!(meets_topic(0.0, 0.0, failure, 0.5));
}

#[test]
fn the_same_failure_is_nearer_than_circumstances_and_these_than_nothing() {
    let (failure, tool): (FacetSet, FacetSet) =
        (FacetSet::from_facet(Facet::ErrorFamily), FacetSet::from_facet(Facet::Tool));
    let both: FacetSet = [Facet::Tool, Facet::Provider].into_iter().collect();
    assert!(facet_nearness(0.0, failure) > facet_nearness(1.0, both));
    assert!(
        facet_nearness(0.0, both) > facet_nearness(0.0, tool)
            && facet_nearness(0.0, tool) > facet_nearness(0.0, FacetSet::default())
    );
}

#[test]
fn a_word_is_met_by_its_like_for_less() {
    let (question, vocabulary) = asked("copy redis");
    let measure = vocabulary.build_measure(&question);
    let share = |words: &[&str]| measure.measure_overlap(&counts(&question, words, 2), 20).unwrap_or_default().share;
    assert!(share(&["copi"]) > share(&["cp"]), "{:?}", question.terms());
    assert!(share(&["cp"]) > share(&["clone"]) && share(&["clone"]) > 0.0);
    assert_eq!(share(&["cp", "clone"]), share(&["cp"]), "met is met");
}

#[test]
fn what_is_asked_for_by_itself_meets_itself_alone() {
    let (question, vocabulary) = asked("delete remove");
    let measure = vocabulary.build_measure(&question);
    let one = measure.measure_overlap(&counts(&question, &["delet"], 2), 20).unwrap_or_default();
    assert!((one.covered - 0.5).abs() < 1e-9 && one.share < 0.6, "{one:?}");
}

#[test]
fn of_two_lessons_with_every_word_the_one_with_more_of_them_is_closer() {
    let question = RelevanceQuery::from_text("redis kafka");
    let measure = TermStatistics { documents: 100, length: 2_000, holders: vec![50, 5] }.build_measure(&question);
    let share = |counts: &[u32], length| measure.measure_overlap(counts, length).unwrap_or_default().share;
    assert!(share(&[2, 2], 20) < share(&[2, 4], 20));
    assert!(share(&[2, 2], 80) < share(&[2, 2], 20), "talk thins it out");
    assert!(share(&[2, 0], 20) < share(&[0, 2], 20), "the rarer word says more");
    assert!((share(&[2, 2], 20) - 1.0).abs() < 1e-9, "each word once in a lesson of middling length is all of it");
}

#[test]
fn one_word_of_a_long_question_is_chance_and_half_of_it_is_not() {
    let (question, vocabulary) = asked("redis refuses connections while kafka rebalances");
    let measure = vocabulary.build_measure(&question);
    let of = |words: &[&str]| measure.text_relevance(measure.measure_overlap(&counts(&question, words, 2), 20), None);
    assert!(of(&["kafka"]) < 0.5);
    assert!(of(&["kafka", "redi", "rebal"]) > 0.5, "{} {:?}", of(&["kafka", "redi", "rebal"]), question.terms());
}

#[test]
fn a_few_names_of_a_very_long_question_are_chance() {
    let short = "redis kafka docker refuses connections";
    let names: Vec<String> = (0..60).map(|number| format!("zq{number}x")).collect();
    let of = |text: &str| {
        let (question, vocabulary) = asked(text);
        let measure = vocabulary.build_measure(&question);
        measure.text_relevance(measure.measure_overlap(&counts(&question, &["redi", "kafka", "docker"], 2), 20), None)
    };
    assert!(of(short) > 0.55, "{}", of(short));
    let long = format!("{short} {}", names.join(" "));
    assert!(of(&long) < 0.55, "{}", of(&long));
}

#[test]
fn common_words_bring_no_lesson_up_where_there_are_many() {
    let question = RelevanceQuery::from_text("flaky kafka");
    let many = TermStatistics { documents: 10_000, length: 200_000, holders: vec![5_000, 3] };
    let places = |word: &str| question.terms().iter().position(|term| term == word).unwrap_or(usize::MAX);
    let measure = TermStatistics {
        holders: question.terms().iter().map(|term| if term == "flaki" { 5_000 } else { 3 }).collect(),
        ..many.clone()
    }
    .build_measure(&question);
    assert!(!measure.is_retrieving_term(places("flaki")) && measure.is_retrieving_term(places("kafka")));
    assert_eq!(measure.measure_overlap(&counts(&question, &["flaki"], 2), 20), None);
    let all_common = TermStatistics { holders: vec![5_000; question.terms().len()], ..many }.build_measure(&question);
    assert!(all_common.is_retrieving_term(places("flaki")), "better those than nothing");
}

#[test]
fn an_embedding_finds_what_shares_no_word() {
    let (question, vocabulary) = asked("redis kafka");
    let measure = vocabulary.build_measure(&question);
    assert!(measure.text_relevance(None, Some(0.8)) > 0.9);
    assert!(measure.text_relevance(None, Some(0.1)) < 0.1);
}

proptest! {
    #[test]
    fn no_lesson_gains_more_by_its_words_than_they_can_add(
        counts in prop::collection::vec(prop_oneof![Just(0u32), 1u32..50], 80),
        holders in prop::collection::vec(0u64..5_000, 80),
        extra in 0u32..500,
        documents in 1u64..100_000,
        names in 0usize..40,
    ) {
        let names: String = (0..names).map(|number| format!(" zq{number}x")).collect();
        let question = "redis refuses connections while kafka rebalances its slow test suite in docker";
        let question = RelevanceQuery::from_text(&format!("{question}{names}"));
        prop_assume!(question.terms().len() <= 80);
        let within = |numbers: Vec<u32>| numbers.into_iter().take(question.terms().len()).collect::<Vec<_>>();
        let (counts, holders) = (within(counts), holders.into_iter().take(question.terms().len()).map(|held| held.min(documents)).collect());
        let length = counts.iter().sum::<u32>() + extra;
        let measure = TermStatistics { documents, length: documents * 40, holders }.build_measure(&question);
        let overlap = measure.measure_overlap(&counts, length);
        let held = || counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(term, _)| term);
        let share: f64 = held().map(|term| measure.max_share(term)).sum();
        prop_assert!(overlap.unwrap_or_default().share <= share + 1e-9);
        let relevance = measure.text_relevance(overlap, None);
        let gain: f64 = held().map(|term| measure.max_gain(term)).sum();
        prop_assert!(overlap.is_none() || measure.needed_gain(relevance) <= gain + 1e-6, "{relevance} {gain}");
    }

    #[test]
    fn relevance_stays_within_its_bounds(
        counts in prop::collection::vec(0u32..50, 12),
        extra in 0u32..500,
        documents in 1u64..100_000,
        tags in 0.0..=1.0,
        cosine in prop::option::of(-1.0..=1.0),
        bits: u8,
    ) {
        let question = RelevanceQuery::from_text("alpha beta gamma delta");
        let counts: Vec<u32> = question.terms().iter().zip(counts).map(|(_, count)| count).collect();
        let length = counts.iter().sum::<u32>() + extra;
        let holders = vec![documents / 2; counts.len()];
        let measure = TermStatistics { documents, length: documents * 40, holders }.build_measure(&question);
        let overlap = measure.measure_overlap(&counts, length);
        let WordOverlap { share, covered, .. } = overlap.unwrap_or_default();
        prop_assert!(share >= 0.0 && (0.0..=1.0 + 1e-9).contains(&covered));
        let text = measure.text_relevance(overlap, cosine);
        prop_assert!((0.0..=1.0).contains(&text));
        let joined = combined_relevance(text, tags, FacetSet::from_bits(bits));
        prop_assert!((0.0..=1.0).contains(&joined));
        prop_assert!(joined >= text - 1e-12);
    }
}
