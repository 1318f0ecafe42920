use proptest::prelude::*;

use super::*;

const TEXT: &str = "redis refuses connections while kafka rebalances its slow test suite in docker";

fn ask_for(tags: &[&str]) -> Ask {
    let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    let query = MemoryQuery { text: Some(TEXT.to_owned()), tags, ..MemoryQuery::for_project("/app") };
    Ask::query(&query, Tenancy::Own)
}

fn vocabulary(ask: &Ask, documents: u64, holders: impl Fn(usize) -> u64) -> Vocabulary {
    let holders = (0..ask.question.terms().len()).map(holders).collect();
    Vocabulary { documents, length: documents * 40, holders }
}

#[test]
fn a_question_looks_up_its_rarest_words_and_asks_for_the_rest_of_what_is_needed() {
    let ask = ask_for(&[]);
    let held = vocabulary(&ask, 100_000, |place| 10 + 100 * place as u64);
    let everything = Search::of(3, &ask, &held, 0.0);
    assert_eq!(everything.searches.len(), ask.question.terms().len(), "without a floor every word counts");
    assert_eq!(everything.least, f64::NEG_INFINITY);
    let search = Search::of(3, &ask, &held, 0.55);
    assert!(search.searches.len() < everything.searches.len() && !search.searches.is_empty());
    assert!(everything.searches.starts_with(&search.searches), "the rarest first");
    assert!(search.least > 0.0 && search.least <= search.gains.iter().sum());
}

#[test]
fn words_that_nobody_holds_are_not_looked_up() {
    let ask = ask_for(&[]);
    assert!(Search::of(3, &ask, &vocabulary(&ask, 100, |_| 0), 0.55).searches.is_empty());
}

#[test]
fn a_tag_brings_up_whatever_has_it() {
    let ask = ask_for(&["slow"]);
    let search = Search::of(3, &ask, &vocabulary(&ask, 100, |_| 0), 0.55);
    assert_eq!((search.searches, search.gains), (vec!["'3#tag slow'".to_owned()], vec![f64::INFINITY]));
}

#[test]
fn no_question_reads_the_whole_index() {
    let ask = ask_for(&[]);
    let search = Search::of(3, &ask, &vocabulary(&ask, 1_000_000, |_| 30_000), 0.0);
    assert_eq!(search.searches.len(), 1);
}

proptest! {
    #[test]
    fn whatever_is_relevant_enough_is_found(
        counts in prop::collection::vec(prop_oneof![2 => Just(0u32), 1 => 1u32..20], 40),
        holders in prop::collection::vec(1u64..3_000, 40),
        documents in 3_000u64..100_000,
        extra in 0u32..60,
        floor in 0.05..0.95,
    ) {
        let ask = ask_for(&[]);
        let held = vocabulary(&ask, documents, |place| holders[place]);
        let measure = held.measure(&ask.question);
        let counts: Vec<u32> = counts.into_iter().take(ask.question.terms().len()).collect();
        let length = counts.iter().sum::<u32>() + extra;
        let relevance = measure.relevance(measure.overlap(&counts, length), None);
        let search = Search::of(3, &ask, &held, floor);
        let terms = ask.question.terms().iter().zip(&counts).filter(|(_, count)| **count > 0);
        let own: Vec<String> = terms.map(|(term, _)| search_term(3, term)).collect();
        let found = search.searches.iter().zip(&search.gains).filter(|(search, _)| own.contains(search));
        let gains: Vec<f64> = found.map(|(_, gain)| *gain).collect();
        let is_found = !gains.is_empty() && gains.iter().sum::<f64>() >= search.least;
        prop_assert!(is_found || relevance < floor, "{relevance} {gains:?} {}", search.least);
    }
}
