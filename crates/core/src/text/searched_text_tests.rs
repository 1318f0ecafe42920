use super::*;

fn is_found(text: &str, bytes: &str) -> bool {
    SearchedText::new(text).unwrap().is_in(bytes.as_bytes())
}

#[test]
fn a_text_is_found_in_any_case_and_with_any_white_space() {
    assert!(is_found("Blue Heron", r#"{"summary":"the BLUE  heron flies"}"#));
    assert!(is_found("blue heron", "the blue\nheron"));
    assert!(is_found("ÄRGER macht", "viel Ärger macht das"));
    assert!(!is_found("blue heron", "a blue egret"));
}

#[test]
fn a_text_is_found_behind_escapes() {
    let said = "it said \"blue heron\"\nand \\ left — 🦉";
    let once = serde_json::to_string(said).unwrap();
    let twice = serde_json::to_string(&once).unwrap();
    for stored in [said.to_owned(), once, twice] {
        for wanted in ["\"blue heron\"\nand", "heron\" and \\ left", "left — 🦉"] {
            assert!(is_found(wanted, &stored), "{wanted} in {stored}");
        }
    }
    assert!(is_found("blue heron", r#"{"a":"\u0062lue\u0020her\u006fn"}"#));
    assert!(is_found("left 🦉", r#""left \ud83e\udd89""#));
    assert!(is_found(r#"the \"blue\" one"#, r#"{"a":"the \"blue\" one"}"#));
}

#[test]
fn what_is_short_is_refused() {
    for text in ["", "abc", " a b c ", "\n\n\n\n\n"] {
        assert_eq!(SearchedText::new(text), None, "{text:?}");
    }
    assert!(SearchedText::new("abcd").is_some());
}

#[test]
fn bytes_that_are_no_text_are_searched() {
    assert!(SearchedText::new("heron").unwrap().is_in(b"\xff\xfe heron \\u12 \\"));
    assert!(!SearchedText::new("heron").unwrap().is_in(b"\xff\xfe \\ud800 \\u"));
}

#[test]
fn the_names_of_members_are_no_hits() {
    assert!(!is_found("summary", r#"{"summary":"dates are in UTC","importance":0.5}"#));
    assert!(is_found("summary", r#"{"rule":"write a summary"}"#));
    assert!(is_found("key-1234", r#"{"extra":{"key-1234":1}}"#));
    assert!(is_found("12345678", r#"{"a":12345678}"#));
    let two = "{\"summary\":\"a\"}\n{\"rule\":\"of the summary\"}\n";
    assert!(
        is_found("summary", two) && !is_found("summary", &two.replace("of the ", "no ").replace("no summary", "no"))
    );
    assert!(is_found("summary", "summary {"));
}
