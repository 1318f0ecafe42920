use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn no_byte_of_a_stranger_is_lost() {
    let file = b"{\"id\":\"m-001\"}\r\nnot json\n\n[1]\n\xff\xfe\n{\"id\":\"m-002\"}";
    let lines = LessonLines::from_bytes(file);
    assert_eq!(lines.lessons().map(|lesson| lesson.id.as_str()).collect::<Vec<_>>(), ["m-001", "m-002"]);
    assert_eq!(lines.foreign_line_count(), 3);
    assert_eq!(lines.to_bytes(), [file.as_slice(), b"\n"].concat());
}

#[test]
fn a_changed_line_keeps_the_rest_of_its_bytes() {
    let mut lines = LessonLines::from_bytes(b"\xef\xbb\xbf{ \"id\" : \"m-001\", \"x\": 1.0 }\r\nbroken\n");
    for line in &mut lines.list {
        line.set_fields(&[("frequency", json!(2))]);
    }
    let expected = b"\xef\xbb\xbf{ \"id\" : \"m-001\", \"x\": 1.0,\"frequency\":2 }\r\nbroken\n";
    assert_eq!(lines.to_bytes(), expected);
    assert_eq!(lines.lessons().next().map(|lesson| lesson.frequency), Some(2));
    assert_eq!(lines.list[0].to_line_bytes(), b"{ \"id\" : \"m-001\", \"x\": 1.0,\"frequency\":2 }\n");
}

#[test]
fn the_time_of_writing_makes_no_other_line() {
    let lines = LessonLines::from_bytes(b"{\"id\":\"m-001\",\"ts\":\"a\",\"frequency\":0}\n");
    let lesson = |text: &str| ArcheFlowLesson::parse(text).unwrap();
    assert!(lines.contains_lesson(&lesson(r#"{"id":"m-001","ts":"b","frequency":0}"#)));
    assert!(!lines.contains_lesson(&lesson(r#"{"id":"m-001","ts":"a","frequency":1}"#)));
    assert!(!lines.contains_lesson(&lesson(r#"{"id":"m-002","ts":"a","frequency":0}"#)));
}

proptest! {
    #[test]
    fn bytes_come_back(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'{'), Just(b'}'), any::<u8>()], 0..60)) {
        let mut expected = bytes.clone();
        if expected.last().is_some_and(|byte| *byte != b'\n') {
            expected.push(b'\n');
        }
        prop_assert_eq!(LessonLines::from_bytes(&bytes).to_bytes(), expected);
    }
}
