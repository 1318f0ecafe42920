use serde_json::json;

use super::*;

#[derive(Default)]
struct Collect {
    lines: Vec<(u64, Value)>,
    is_over: bool,
}

impl LogReader for Collect {
    fn read_log_line(&mut self, number: u64, line: Value, _sink: &mut dyn EventSink) {
        self.lines.push((number, line));
    }

    fn finish_log(&mut self, _sink: &mut dyn EventSink) {
        self.is_over = true;
    }
}

fn read(bytes: &[u8]) -> (Vec<(u64, Value)>, Vec<TrajectoryEvent>) {
    let mut collect = Collect::default();
    let mut events = Vec::new();
    read_documents(&mut &*bytes, &mut collect, &mut events).unwrap();
    assert!(collect.is_over);
    (collect.lines, events)
}

fn skipped(line: u64, why: &str) -> TrajectoryEvent {
    TrajectoryEvent::Skipped(SkippedLogLine { line, why: why.to_owned() })
}

#[test]
fn a_document_may_be_any_layout() {
    for bytes in
        [&b"{\n  \"a\": [1,\n 2]\n}\n"[..], b"\xef\xbb\xbf{\"a\":[1,2]}", b"[{\"a\":[1,2]}]", b"\0\0{\"a\":[1,2]}"]
    {
        let (lines, events) = read(bytes);
        assert_eq!(lines, [(1, json!({"a": [1, 2]}))]);
        assert!(events.is_empty(), "{events:?}");
    }
}

#[test]
fn objects_one_after_the_other_and_in_an_array_are_lines() {
    for text in [
        "{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n{\"a\":3}",
        "[{\"a\":1},\n{\"a\":2},{\"a\":3}]",
        "[{\"a\":1}]{\"a\":2}[{\"a\":3}]",
    ] {
        let (lines, events) = read(text.as_bytes());
        assert_eq!(lines, [(1, json!({"a": 1})), (2, json!({"a": 2})), (3, json!({"a": 3}))], "{text}");
        assert!(events.is_empty(), "{events:?}");
    }
}

#[test]
fn what_is_no_object_is_reported() {
    let (lines, events) = read(b"[1,{\"a\":1},[2],null]");
    assert_eq!(lines, [(2, json!({"a": 1}))]);
    let expected = [
        skipped(1, "a bare JSON value, where an object was expected"),
        skipped(3, "a JSON array, where an object was expected"),
        skipped(4, "a bare JSON value, where an object was expected"),
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_flawed_document_is_mended() {
    let (lines, events) = read(b"{\n\"a\": NaN, \"b\": \"\\ud83d\", \"c\": \"caf\xe9\tx\"}");
    assert_eq!(lines, [(1, json!({"a": -5e-324, "b": "\u{fffd}", "c": "caf\u{fffd}\tx"}))]);
    assert!(events.is_empty());
}

#[test]
fn a_document_that_is_cut_off_keeps_what_can_be_read() {
    let (lines, events) = read(b"{\"id\": \"x\", \"messages\": [{\"n\": 1}, {\"n\": 2}, {\"n\":");
    assert_eq!(lines, [(1, json!({"id": "x", "messages": [{"n": 1}, {"n": 2}]}))]);
    assert_eq!(events, [skipped(0, "the JSON is cut off")]);
    let (lines, events) = read(b"[{\"a\": 1}, {\"a\": {\"b\"");
    assert_eq!(lines, [(1, json!({"a": 1}))]);
    assert_eq!(events, [skipped(0, "the JSON is cut off")]);
    let (lines, events) = read(b"{\"a\": [");
    assert_eq!((lines.len(), events), (0, vec![skipped(0, "the JSON is cut off")]));
}

#[test]
fn the_messages_of_a_long_chat_are_told_in_turns() {
    let message = json!({"text": "w".repeat(20_000)});
    let text = json!({"id": "x", "messages": vec![message; 1000], "zone": "y"}).to_string();
    let (lines, events) = read(text.as_bytes());
    assert!(events.is_empty(), "{events:?}");
    assert!(lines.len() > 3 && lines.iter().all(|(number, line)| *number == 1 && line["id"] == "x"));
    let told: usize = lines.iter().map(|(_, line)| line["messages"].as_array().unwrap().len()).sum();
    assert_eq!(told, 1000);
    assert_eq!(lines.last().unwrap().1["zone"], "y");
}

#[test]
fn a_long_array_is_read_element_by_element_and_one_that_is_too_long_ends_it() {
    let element = json!({"text": "w".repeat(20_000)});
    let (lines, events) = read(json!(vec![element; 1000]).to_string().as_bytes());
    assert_eq!((lines.len(), events.len()), (1000, 0));
    let many: Object = (0..400).map(|n| (n.to_string(), "y".repeat(60_000).into())).collect();
    let (lines, events) = read(json!([{"a": 1}, many, {"a": 2}]).to_string().as_bytes());
    assert_eq!(lines, [(1, json!({"a": 1}))]);
    assert_eq!(events, [skipped(0, "a part of the document is longer than 8 MB")]);
}

#[test]
fn an_error_of_the_disk_is_one() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let mut collect = Collect::default();
    let error =
        read_documents(&mut b"[{\"a\":1},".as_slice().chain(Broken), &mut collect, &mut Vec::new()).unwrap_err();
    assert_eq!((error.to_string().as_str(), collect.lines.len()), ("the disk is gone", 1));
}
