use super::super::test_support::lines;
use super::*;

#[test]
fn a_table_has_its_columns() {
    let listing = build_table(&lines(&[
        r#"{"id":"m-001","frequency":3,"type":"pattern","domain":"writing","description":"Timeline  references"}"#,
        r#"{"id":"m-002","frequency":null,"type":"archetype_hint","domain":"a-long-domain","description":"a\tb\nc\\d\u001b[0m"}"#,
        "junk",
    ]));
    let expected = [
        "ID       Freq  Type             Domain   Description",
        "----     ----  ----             ------   -----------",
        "m-001    3     pattern          writing  Timeline  references",
        "m-002    0     archetype_hint   a-long-domain a\\tb\\nc\\\\d",
    ];
    assert_eq!(listing.rows, expected);
    assert_eq!(listing.message_lines(), ["[archeflow-memory] Left 1 line(s) alone that are no lessons"]);
}

#[test]
fn kinds_have_their_words() {
    for kind in ArcheFlowLessonKind::ALL {
        assert_eq!(ArcheFlowLessonKind::from_word(kind.as_str()), Some(kind));
    }
    assert_eq!(ArcheFlowLessonKind::from_word("banana"), None);
    assert_eq!(ArcheFlowLessonKind::from_word("Pattern"), None);
}
