use proptest::prelude::*;

use super::super::test_support::lines;
use super::*;

fn lesson(id: &str, kind: &str, frequency: u64, domain: &str, archetype: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"{kind}","source":"guardian","description":"Text of {id}","frequency":{frequency},"domain":"{domain}","archetype":{archetype}}}"#
    )
}

fn given(lessons: &[String], domain: &str, archetype: &str) -> Vec<String> {
    choose_lessons(&lines(&lessons.iter().map(String::as_str).collect::<Vec<_>>()), domain, archetype).lessons
}

#[test]
fn who_gets_what() {
    for (kind, frequency, of, archetype, domain, asked, expected) in [
        ("pattern", 1, "code", "null", "", "", false),
        ("pattern", 2, "code", "null", "", "", true),
        ("pattern", 2, "code", "null", "code", "", true),
        ("pattern", 2, "code", "null", "writing", "", false),
        ("pattern", 2, "general", "null", "writing", "", true),
        ("pattern", 5, "code", "null", "writing", "", true),
        ("pattern", 4, "code", "null", "writing", "", false),
        ("archetype_hint", 3, "code", "\"sage\"", "code", "sage", true),
        ("archetype_hint", 3, "code", "\"sage\"", "code", "guardian", false),
        ("archetype_hint", 3, "code", "\"sage\"", "code", "", true),
        ("archetype_hint", 5, "code", "\"sage\"", "writing", "guardian", true),
        ("pattern", 2, "code", "null", "code", "guardian", true),
        ("preference", 1, "writing", "null", "code", "", true),
        ("preference", 0, "writing", "\"sage\"", "code", "guardian", true),
        ("anti_pattern", 1, "code", "null", "code", "", false),
    ] {
        let found = !given(&[lesson("m-001", kind, frequency, of, archetype)], domain, asked).is_empty();
        assert_eq!(found, expected, "{kind} {frequency} {of} {archetype} for {domain:?} {asked:?}");
    }
}

#[test]
fn the_most_frequent_come_first_and_equals_in_order() {
    let lessons = [("m-001", 2), ("m-002", 4), ("m-003", 2), ("m-004", 4)];
    let lessons = lessons.map(|(id, frequency)| lesson(id, "pattern", frequency, "code", "null"));
    assert_eq!(given(&lessons, "", ""), ["m-002", "m-004", "m-001", "m-003"]);
}

#[test]
fn preferences_are_not_crowded_out() {
    let mut lessons: Vec<String> =
        (1..=12).map(|number| lesson(&format!("m-{number:03}"), "pattern", 6, "code", "null")).collect();
    lessons.push(lesson("m-099", "preference", 1, "general", "null"));
    let texts: Vec<&str> = lessons.iter().map(String::as_str).collect();
    let injection = choose_lessons(&lines(&texts), "code", "");
    assert_eq!(injection.lessons.len(), 10);
    assert_eq!(injection.lessons.last().map(String::as_str), Some("m-099"));
    assert_eq!(injection.left_out, 3);
}

#[test]
fn a_text_stays_on_its_line() {
    let line = r##"{"id":"m-001","type":"preference","source":"a\nb","description":"First\n## Heading\n- [x] \u001b[31mred\u0000","frequency":1}"##;
    let injection =
        choose_lessons(&lines(&[line, "junk", r#"{"id":"m-002","type":"preference","description":" \n "}"#]), "", "");
    assert_eq!(injection.block, "## Known Issues (from past runs)\n- First ## Heading - [x] red [seen 1x, a b]\n");
    assert_eq!(injection.strangers, 1);
    assert_eq!(injection.lessons, ["m-001"]);
    assert_eq!(choose_lessons(&lines(&[]), "", ""), ArcheFlowInjection::default());
}

proptest! {
    #[test]
    fn never_more_than_the_cap_and_always_in_order(frequencies in prop::collection::vec((0..9_u64, any::<bool>()), 0..30)) {
        let lessons: Vec<String> = frequencies.iter().enumerate().map(|(number, (frequency, is_preference))| {
            let kind = if *is_preference { "preference" } else { "pattern" };
            lesson(&format!("m-{number:03}"), kind, *frequency, "code", "null")
        }).collect();
        let texts: Vec<&str> = lessons.iter().map(String::as_str).collect();
        let injection = choose_lessons(&lines(&texts), "code", "");
        prop_assert!(injection.lessons.len() <= MAX_LESSONS);
        prop_assert_eq!(injection.block.lines().count(), injection.lessons.len() + usize::from(!injection.lessons.is_empty()));
        let preferences = frequencies.iter().filter(|(_, is_preference)| *is_preference).count();
        let shown: Vec<(u64, bool)> = injection.lessons.iter().map(|id| frequencies[id.trim_start_matches("m-").parse::<usize>().unwrap()]).collect();
        prop_assert!(shown.is_sorted_by(|left, right| left.0 >= right.0));
        prop_assert_eq!(shown.iter().filter(|(_, is_preference)| *is_preference).count(), preferences.min(MAX_LESSONS));
    }
}
