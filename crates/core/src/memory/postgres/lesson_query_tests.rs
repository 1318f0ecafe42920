use proptest::prelude::*;

use super::*;

const TEXT: &str = "redis refuses connections while kafka rebalances its slow test suite in docker";

fn ask_for(tags: &[&str]) -> PreparedQuery {
    let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
    let query = MemoryQuery { text: Some(TEXT.to_owned()), tags, ..MemoryQuery::for_project("/app") };
    PreparedQuery::for_query(&query, BankTenancy::Own)
}

fn vocabulary(ask: &PreparedQuery, documents: u64, holders: impl Fn(usize) -> u64) -> TermStatistics {
    let holders = (0..ask.question.terms().len()).map(holders).collect();
    TermStatistics { documents, length: documents * 40, holders }
}

#[test]
fn a_question_looks_up_pairs_of_words_until_what_is_left_cannot_make_an_answer() {
    let ask = ask_for(&[]);
    let held = vocabulary(&ask, 100_000, |place| 10 + 100 * place as u64);
    let everything = WordSearch::for_query(3, &ask, &held, SearchBound::Share(f64::NEG_INFINITY));
    assert_eq!(everything.searches.len(), ask.question.terms().len(), "without a bound every word counts");
    assert_eq!(everything.least, f64::NEG_INFINITY);
    let search = WordSearch::for_query(3, &ask, &held, SearchBound::Relevance(0.55));
    assert!(search.least > 0.0 && !search.searches.is_empty());
    let rarest = &everything.searches[0];
    assert!(search.searches[0].starts_with(&format!("{rarest} & (")), "none is enough alone: {}", search.searches[0]);
    let commonest = everything.searches.last().unwrap();
    assert!(!search.searches.iter().any(|search| search.starts_with(commonest.as_str())));
}

#[test]
fn a_word_that_is_enough_is_looked_up_alone() {
    let query = MemoryQuery { text: Some("mkdocs".to_owned()), ..MemoryQuery::for_project("/app") };
    let ask = PreparedQuery::for_query(&query, BankTenancy::Own);
    let search = WordSearch::for_query(3, &ask, &vocabulary(&ask, 1_000, |_| 2), SearchBound::Relevance(0.55));
    assert_eq!(search.searches, ["'3:mkdoc'"]);
}

#[test]
fn words_that_nobody_holds_are_not_looked_up() {
    let ask = ask_for(&[]);
    assert!(
        WordSearch::for_query(3, &ask, &vocabulary(&ask, 100, |_| 0), SearchBound::Relevance(0.55)).searches.is_empty()
    );
}

#[test]
fn a_tag_brings_up_whatever_has_it() {
    let ask = ask_for(&["slow"]);
    let search = WordSearch::for_query(3, &ask, &vocabulary(&ask, 100, |_| 0), SearchBound::Relevance(0.55));
    assert_eq!((search.searches, search.gains), (vec!["'3#tag slow'".to_owned()], vec![f64::INFINITY]));
}

#[test]
fn where_few_lessons_hold_a_word_all_of_them_are_looked_at() {
    let held = |ask: &PreparedQuery, holders: u64| search_for_few(3, ask, &vocabulary(ask, 1_000, |_| holders));
    let plain = ask_for(&[]);
    assert_eq!(held(&plain, 1).unwrap().split(" | ").count(), plain.question.terms().len());
    assert_eq!(held(&plain, 0).as_deref(), Some(""), "nobody holds any");
    assert_eq!(held(&plain, 49), None, "there are more than few");
    assert_eq!(held(&ask_for(&["slow"]), 1), None, "nobody knows how many share a tag");
}

#[test]
fn no_question_reads_the_whole_index() {
    let ask = ask_for(&[]);
    let search =
        WordSearch::for_query(3, &ask, &vocabulary(&ask, 1_000_000, |_| 30_000), SearchBound::Share(f64::NEG_INFINITY));
    assert_eq!(search.searches.len(), 1);
}

/// Whether a lesson that holds these terms answers a search as the server takes it.
fn is_found(search: &WordSearch, own: &[String]) -> bool {
    let matches = |sought: &str| match sought.split_once(" & ") {
        None => own.iter().any(|term| term == sought),
        Some((first, others)) => {
            let others = others.trim_matches(['(', ')']);
            own.iter().any(|term| term == first) && others.split(" | ").any(|other| own.iter().any(|own| own == other))
        }
    };
    let found = search.searches.iter().zip(&search.gains).filter(|(search, _)| matches(search));
    let gains: Vec<f64> = found.map(|(_, gain)| *gain).collect();
    !gains.is_empty() && gains.iter().sum::<f64>() >= search.least
}

proptest! {
    #[test]
    fn whatever_comes_to_what_is_needed_is_found(
        counts in prop::collection::vec(prop_oneof![2 => Just(0u32), 1 => 1u32..20], 40),
        holders in prop::collection::vec(1u64..3_000, 40),
        documents in 3_000u64..30_000,
        extra in 0u32..60,
        bound in 0.05..0.95,
        repeats in 1usize..5,
    ) {
        // Longer questions are looked up word by word.
        let more: String = (0..repeats * repeats).map(|n| format!(" word{n} other{n}")).collect();
        let query = MemoryQuery { text: Some(format!("{TEXT}{more}")), ..MemoryQuery::for_project("/app") };
        let ask = PreparedQuery::for_query(&query, BankTenancy::Own);
        let held = vocabulary(&ask, documents, |place| holders[place % holders.len()]);
        let measure = held.build_measure(&ask.question);
        let counts: Vec<u32> = (0..ask.question.terms().len()).map(|place| counts[place % counts.len()]).collect();
        let length = counts.iter().sum::<u32>() + extra;
        let overlap = measure.measure_overlap(&counts, length);
        let terms = ask.question.terms().iter().zip(&counts).filter(|(_, count)| **count > 0);
        let own: Vec<String> = terms.map(|(term, _)| render_term_query(3, term)).collect();
        let relevance = measure.text_relevance(overlap, None);
        let search = WordSearch::for_query(3, &ask, &held, SearchBound::Relevance(bound));
        prop_assert!(is_found(&search, &own) || relevance < bound, "{relevance} {}", search.least);
        let share = overlap.unwrap_or_default().share;
        let search = WordSearch::for_query(3, &ask, &held, SearchBound::Share(bound));
        prop_assert!(is_found(&search, &own) || share < bound, "{share} {}", search.least);
        let search = WordSearch::for_query(3, &ask, &held, SearchBound::Share(f64::NEG_INFINITY));
        let seen = search.searches.iter().zip(&search.gains).filter(|(term, _)| own.contains(term));
        let most = seen.map(|(_, gain)| gain).sum::<f64>() + search.unseen;
        prop_assert!(share <= most + 1e-9, "{share} {most}");
    }
}
