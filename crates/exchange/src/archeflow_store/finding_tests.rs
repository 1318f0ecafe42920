use proptest::prelude::*;
use serde_json::json;

use super::*;
use archivist_core::text::overlap_percent;

fn finding(description: &str, category: &str) -> ReviewFinding {
    ReviewFinding::from_json(json!({"severity": "bug", "description": description, "category": category}), "guardian")
        .unwrap()
}

fn matcher(lessons: &[(&str, &str)]) -> LessonMatcher {
    let mut matcher = LessonMatcher::default();
    for (domain, description) in lessons {
        matcher.add_lesson(Some((domain, description, &[])));
    }
    matcher
}

#[test]
fn reviewers_have_many_words() {
    for (word, severity) in [
        ("bug", FindingSeverity::Bug),
        ("CRITICAL", FindingSeverity::Bug),
        ("High", FindingSeverity::Bug),
        ("error", FindingSeverity::Bug),
        ("WARNING", FindingSeverity::Warning),
        ("warn", FindingSeverity::Warning),
        ("medium", FindingSeverity::Warning),
        ("never heard of", FindingSeverity::Warning),
        ("INFO", FindingSeverity::Info),
        ("low", FindingSeverity::Info),
        ("", FindingSeverity::Info),
        (" info ", FindingSeverity::Info),
        ("Recommendation", FindingSeverity::Recommendation),
        ("suggestion", FindingSeverity::Recommendation),
    ] {
        assert_eq!(FindingSeverity::from_word(word), severity, "{word}");
    }
}

#[test]
fn findings_are_read_as_well_as_they_can_be() {
    let read = |value: Value| ReviewFinding::from_json(value, "sage");
    let plain = read(json!({"description": "Too long"})).unwrap();
    assert_eq!(
        (plain.severity, plain.category.as_str(), plain.source.as_str()),
        (FindingSeverity::Info, "general", "sage")
    );
    assert_eq!(read(json!("Only words")).unwrap().description, "Only words");
    assert_eq!(read(json!({"description": "x", "category": 7})).unwrap().category, "7");
    for nothing in [json!(null), json!(7), json!({}), json!({"description": " "}), json!({"description": null})] {
        assert_eq!(read(nothing), None);
    }
}

#[test]
fn half_of_the_words_are_a_match() {
    let lessons = matcher(&[("code", "one two")]);
    for (text, number) in [
        ("one two three four", Some(0)),
        ("one two three four five", None),
        ("one two", Some(0)),
        ("three", None),
        ("is it ok", None),
    ] {
        assert_eq!(lessons.find_best_match(&finding(text, "code")), number, "{text}");
    }
}

#[test]
fn the_best_match_wins_and_the_first_among_equals() {
    let lessons = matcher(&[("code", "alpha beta"), ("code", "alpha beta gamma"), ("code", "gamma beta alpha")]);
    assert_eq!(lessons.find_best_match(&finding("alpha beta gamma delta", "code")), Some(1));
    assert_eq!(lessons.find_best_match(&finding("alpha beta", "code")), Some(0));
}

#[test]
fn another_category_is_another_matter() {
    let lessons = matcher(&[("writing", "alpha beta"), ("code", "alpha beta"), ("general", "delta epsilon")]);
    assert_eq!(lessons.find_best_match(&finding("alpha beta", "code")), Some(1));
    assert_eq!(lessons.find_best_match(&finding("alpha beta", "security")), None);
    assert_eq!(lessons.find_best_match(&finding("alpha beta", "general")), Some(0));
    assert_eq!(lessons.find_best_match(&finding("delta epsilon", "security")), Some(2));
}

#[test]
fn tags_are_words_of_a_lesson() {
    let mut lessons = LessonMatcher::default();
    lessons.add_lesson(None);
    lessons.add_lesson(Some(("code", "Timeline", &["continuity".to_owned()])));
    assert_eq!(lessons.find_best_match(&finding("continuity broken", "code")), Some(1));
}

#[test]
fn without_words_the_text_decides() {
    let lessons = matcher(&[("code", "Is it OK?")]);
    assert_eq!(lessons.find_best_match(&finding("is  it ok?", "code")), Some(0));
    assert_eq!(lessons.find_best_match(&finding("is it ok", "code")), None);
}

proptest! {
    #[test]
    fn a_look_at_all_pairs_finds_the_same(
        lessons in prop::collection::vec("(aaa |bbb |ccc |ddd |eee |Größe ){0,4}", 0..6),
        text in "(aaa |bbb |ccc |ddd |größe ){1,5}",
    ) {
        let pairs: Vec<(&str, &str)> = lessons.iter().map(|text| ("code", text.as_str())).collect();
        let overlaps: Vec<usize> = lessons.iter().map(|lesson| overlap_percent(&text, lesson)).collect();
        let best = overlaps.iter().copied().max().filter(|best| *best >= MATCH_PERCENT);
        let expected = best.and_then(|best| overlaps.iter().position(|overlap| *overlap == best));
        prop_assert_eq!(matcher(&pairs).find_best_match(&finding(&text, "code")), expected);
    }
}

#[test]
fn the_fingerprint_of_a_finding_stays_the_same() {
    let said = json!({"severity": "bug", "description": "No lock", "category": "general"});
    let finding = ReviewFinding::from_json(said, "critic");
    assert_eq!(finding.unwrap().fingerprint(), "34ed195380a5bd6b");
}
