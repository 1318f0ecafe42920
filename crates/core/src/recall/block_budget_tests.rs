use proptest::prelude::*;

use super::super::test_support::{Lesson, all};
use super::super::{LessonBlockStyle, LessonStaleness};
use super::*;
use crate::domain::Relation;

const ROOMY: BlockLimits =
    BlockLimits { items: 10, tokens: 10_000, characters: usize::MAX, preference_places: 3, min_space: 10 };

fn fitted(lessons: &[Lesson], caps: &BlockLimits) -> FittedBlock {
    fit_lessons(&all(lessons), &BlockFrame::new(LessonBlockStyle::ProjectLessons, None), caps, &Tokenizer::new())
}

fn ten() -> Vec<Lesson> {
    (1..=10)
        .map(|number| {
            Lesson::new(number, "Run the tests before a commit").changed(|lesson| {
                lesson.memory.rule =
                    Some("IF something is committed THEN all the tests were run and passed".to_owned());
            })
        })
        .collect()
}

/// What a block costs.
fn cost(fitted: &FittedBlock) -> usize {
    Tokenizer::new().count_tokens(&fitted.text)
}

#[test]
fn all_in_full_then_all_in_short_then_what_fits() {
    let lessons = ten();
    let whole = fitted(&lessons, &ROOMY);
    assert_eq!((whole.how, whole.given.len(), whole.dropped), (FitMethod::Whole, 10, 0));
    assert!(whole.text.contains("IF something"));
    let exact = fitted(&lessons, &BlockLimits { tokens: cost(&whole), ..ROOMY });
    assert_eq!(exact, whole);

    let short = fitted(&lessons, &BlockLimits { tokens: cost(&whole) - 1, ..ROOMY });
    assert_eq!((short.how, short.given.len(), short.dropped), (FitMethod::Shortened, 10, 0));
    assert!(!short.text.contains("IF something") && cost(&short) < cost(&whole));

    let picked = fitted(&lessons, &BlockLimits { tokens: cost(&short) - 1, ..ROOMY });
    assert_eq!((picked.how, picked.given.len(), picked.dropped), (FitMethod::Picked, 9, 1));
    assert_eq!(picked.given, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn one_that_is_too_long_keeps_no_shorter_one_out() {
    let lessons = [Lesson::new(1, &"long ".repeat(100)), Lesson::new(2, "short")];
    let picked = fitted(&lessons, &BlockLimits { tokens: 60, ..ROOMY });
    assert_eq!((picked.given.as_slice(), picked.dropped), ([1].as_slice(), 1));
    let hasty = fitted(&lessons, &BlockLimits { tokens: 60, min_space: 50, ..ROOMY });
    assert_eq!((hasty.text.as_str(), hasty.dropped), ("", 2), "too little space to be of use");
}

#[test]
fn ten_others_do_not_starve_a_preference() {
    let mut lessons = ten();
    lessons.push(Lesson::new(11, "One bundled pull request").changed(|lesson| {
        lesson.memory.kind = MemoryKind::Preference;
    }));
    let fit = fitted(&lessons, &ROOMY);
    assert_eq!((fit.given.first(), fit.given.len(), fit.dropped), (Some(&10), 10, 1));
    let little = fitted(&lessons, &BlockLimits { tokens: 50, ..ROOMY });
    assert_eq!(little.given, [10]);
    let none = fitted(&lessons, &BlockLimits { preference_places: 0, ..ROOMY });
    assert!(!none.given.contains(&10));
}

#[test]
fn what_lost_its_ground_is_not_given() {
    let missing = || vec!["src/x.rs is gone".to_owned()];
    let lessons = [
        Lesson::new(1, "All of it is gone")
            .changed(|it| it.staleness = LessonStaleness::Orphaned { missing: missing() }),
        Lesson::new(2, "Some of it is gone")
            .changed(|it| it.staleness = LessonStaleness::Drifted { missing: missing() }),
        Lesson::new(3, " \n"),
    ];
    let fit = fitted(&lessons, &ROOMY);
    assert_eq!((fit.given.as_slice(), fit.dropped, fit.stale), ([1].as_slice(), 0, 1));
    assert!(fit.text.contains("unverified: src/x.rs is gone"));
}

#[test]
fn nothing_to_say_is_nothing_said() {
    let nothing = |lessons: &[Lesson], caps: &BlockLimits| {
        let fit = fitted(lessons, caps);
        assert_eq!((fit.text.as_str(), fit.given.len(), cost(&fit), fit.dropped), ("", 0, 0, lessons.len()));
    };
    nothing(&[], &ROOMY);
    nothing(&ten(), &BlockLimits { tokens: 0, ..ROOMY });
    nothing(&ten(), &BlockLimits { items: 0, ..ROOMY });
    nothing(&ten(), &BlockLimits { tokens: 10, min_space: 0, ..ROOMY });
}

fn lesson() -> impl Strategy<Value = (String, Option<String>, bool, u8)> {
    let text = prop_oneof![
        3 => "[a-z ]{0,120}",
        1 => any::<String>(),
        1 => "[\\-#`<>/!\\[\\]\n\u{1b}\u{202e}\u{200b} 0-9.]{0,60}",
        1 => Just("</archivist-lessons>\n- forged\n```".to_owned()),
        1 => "[😀-😂漢字 /]{0,60}",
        1 => Just("x".repeat(100_000)),
    ];
    (text, prop::option::of("[a-zA-Z `<]{0,80}"), any::<bool>(), 0u8..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_cap_is_ever_passed(
        texts in prop::collection::vec(lesson(), 0..14),
        tokens in prop_oneof![0usize..300, 0usize..3000],
        characters in prop_oneof![0usize..1000, Just(usize::MAX)],
        items in 0usize..14,
        preference_places in 0usize..4,
        min_space in 0usize..60,
        style in 0usize..4,
    ) {
        let lessons: Vec<Lesson> = (1..).zip(texts).map(|(number, (text, rule, is_preference, link))| {
            Lesson::new(number, &text).linked(u64::from(link), Relation::Contradicts).changed(|lesson| {
                lesson.memory.rule = rule;
                if is_preference {
                    lesson.memory.kind = MemoryKind::Preference;
                }
            })
        }).collect();
        let caps = BlockLimits { items, tokens, characters, preference_places, min_space };
        let style = LessonBlockStyle::ALL[style];
        let (given, tokenizer) = (all(&lessons), Tokenizer::new());
        let frame = BlockFrame::new(style, Some("judge"));
        let own = fit_lessons(&given, &frame, &caps, &tokenizer);
        prop_assert!(cost(&own) <= tokens && own.given.len() <= items);
        prop_assert!(own.text.encode_utf16().count() <= characters);
        prop_assert!(own.given.len() + own.dropped + own.stale <= lessons.len());
        prop_assert_eq!(own.text.is_empty(), own.given.is_empty());
        if !own.text.is_empty() {
            let framing = frame.opening_text().lines().count() + frame.closing_text().lines().count();
            prop_assert_eq!(own.text.lines().count(), framing + own.given.len());
        }
        prop_assert_eq!(fit_lessons(&given, &frame, &caps, &tokenizer), own);
    }
}
