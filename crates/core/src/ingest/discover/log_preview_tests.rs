use proptest::prelude::*;

use super::*;

#[test]
fn strings_by_their_place() {
    let check = |text: &str, path: &str, expected: Option<&str>| {
        assert_eq!(ObjectPreview::from_text(text).text(path), expected, "{text}");
    };
    check(r#"{"a":"1","b":{"c":"2"}}"#, "a", Some("1"));
    check(r#"{"a":"1","b":{"c":"2"}}"#, "b.c", Some("2"));
    check(r#"{"a":[{"b":"1"},{"b":"2"}]}"#, "a.b", Some("1"));
    check(r#"{"a":["x","y"]}"#, "a", Some("x"));
    check(r#"{"a":true,"a":"later"}"#, "a", Some("true"));
    check(r#"{"a":1,"b":null,"c":-1,"d":0.5,"e":"é\n"}"#, "e", Some("é\n"));
    check(r#"{"a":""}"#, "a", None);
    check(r#"{"a":"1","b":"cut o"#, "a", Some("1"));
    check(r#"{"a":"1","b":"cut o"#, "b", None);
    check(r#"{"a":"1" broken "b":"2"}"#, "a", Some("1"));
    check(r#"{"a":{"b":{"c":{"d":{"e":{"f":"deep"}}}}},"z":"on"}"#, "z", Some("on"));
    check("[1,2]", "a", None);
}

#[test]
fn long_strings_lose_their_end() {
    let peek = ObjectPreview::from_text(&format!("{{\"a\":\"{}\"}}", "é".repeat(5000)));
    assert_eq!(peek.text("a").map(str::len), Some(MAX_STRING_BYTES));
}

proptest! {
    #[test]
    fn nothing_breaks_it(text in ".*", keys in prop::collection::vec("[a-c]{1,2}", 0..5)) {
        ObjectPreview::from_text(&text);
        let nested = keys.iter().fold("\"x\"".to_owned(), |inner, key| format!("{{\"{key}\":[{inner}]}}"));
        ObjectPreview::from_text(&nested);
        ObjectPreview::from_text(nested.get(..nested.len() / 2).unwrap_or_default());
    }
}
