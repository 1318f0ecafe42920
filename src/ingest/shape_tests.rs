use proptest::prelude::*;

use super::*;

fn keys(text: &str) -> Vec<String> {
    Shape::of(text.as_bytes()).map(|shape| shape.keys.into_iter().map(|(key, _)| key).collect()).unwrap_or_default()
}

#[test]
fn the_outermost_keys_are_seen_also_of_what_is_cut_off() {
    let table: &[(&str, &[&str])] = &[
        (r#"{"a":1,"b":{"c":2},"d":[{"e":3}],"f":"x"}"#, &["a", "b", "d", "f"]),
        (r#"{"a":1,"b":{"c":2"#, &["a", "b"]),
        (r#"{"a":"unfinished"#, &["a"]),
        (r#"{"a\"b":1,"c":"}{"}"#, &["ab", "c"]),
        ("{}", &[]),
        ("[1]", &[]),
        ("", &[]),
        ("{\"a\": \"cut\n{\"b\":1}", &["a"]),
    ];
    for (text, expected) in table {
        assert_eq!(keys(text), *expected, "{text}");
    }
}

#[test]
fn a_short_text_is_told_and_the_line_is_known() {
    let shape = Shape::of(br#"{"type":"user","n":1}"#).unwrap();
    assert_eq!((shape.text("type"), shape.text("n"), shape.is_one_line()), (Some("user"), None, true));
    assert!(!Shape::of(b"{\n \"a\": 1\n}").unwrap().is_one_line());
    assert!(Shape::of(b"{\"a\":1}\n{\"b\":2}").unwrap().is_one_line());
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = Shape::of(&bytes);
        let mut object = b"{\"".to_vec();
        object.extend(bytes);
        let _ = Shape::of(&object);
    }
}
