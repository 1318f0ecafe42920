use super::*;
use proptest::prelude::*;

fn features(summary: &str, rule: Option<&str>) -> LessonFeatures {
    let facets = FacetValues::default();
    let (kind, category) = (&MemoryKind::Lesson, &MemoryCategory::Heuristic);
    LessonFeatures::extract(
        &LessonStatement { summary, rule, tags: &[], facets: &facets, kind, category },
        &mut WordSplitter::default(),
    )
}

#[test]
fn what_is_turned_round_is_told_from_what_is_not() {
    let check = |text: &str, turned: &[&str], straight: &[&str]| {
        let found = features(text, None);
        for word in turned {
            assert!(found.turned.contains(*word) && !found.straight.contains(*word), "{text}: {word}");
        }
        for word in straight {
            assert!(found.straight.contains(*word) && !found.turned.contains(*word), "{text}: {word}");
        }
    };
    check("Do not use moto, use the fake", &["moto"], &["fake"]);
    check("Use yarn instead of bower", &["bower"], &["yarn"]);
    check("The lockfile must not be committed", &["lockfil", "commit"], &[]);
    check("Leave the changelog alone", &["changelog"], &[]);
    check("Never rebase, but squash", &["rebas"], &["squash"]);
}

#[test]
fn numbers_are_kept_by_the_word_they_stand_behind() {
    let found = features("Set `timeout-minutes: 30` on port 5432, at most twice", None);
    let slots: Vec<(&str, Vec<&str>)> = found
        .slots
        .iter()
        .map(|(word, numbers)| (word.as_str(), numbers.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(slots, [("port", vec!["5432"]), ("timeout-minutes", vec!["30"])]);
    assert!(found.numbers.contains("2"), "{:?}", found.numbers);
}

#[test]
fn the_advice_is_what_stands_behind_then() {
    let words = |bag: &Bag| bag.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>();
    assert_eq!(words(&features("Use uv", Some("IF adding a wheel THEN pick uv")).recommendation), ["pick", "uv"]);
    assert_eq!(words(&features("Pick uv", None).recommendation), ["pick", "uv"]);
}

proptest! {
    #[test]
    fn any_text_is_cut_up(summary in "\\PC{0,80}", rule in prop::option::of("\\PC{0,80}")) {
        let found = features(&summary, rule.as_deref());
        prop_assert!(found.whole.is_sorted_by(|a, b| a.0 < b.0));
        prop_assert!(found.grams.is_sorted_by(|a, b| a.0 < b.0));
    }
}
