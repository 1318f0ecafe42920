use proptest::prelude::*;

use super::*;

fn keys(text: &str) -> Vec<String> {
    Shape::of(text.as_bytes()).map(|shape| shape.keys.into_iter().map(|key| key.name).collect()).unwrap_or_default()
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
fn values_are_told_by_their_beginning() {
    let shape = Shape::of(br#"{"type":"user","n":1,"o":{},"l":[ {"a":1}],"e":[],"f":[1]}"#).unwrap();
    assert_eq!((shape.text("type"), shape.text("n"), shape.keys()), (Some("user"), None, 6));
    assert!(shape.is_text("type") && !shape.is_text("n") && !shape.is_text("none"));
    assert!(shape.is_object("o") && !shape.is_object("l"));
    assert!(shape.is_list("l") && shape.is_list("e") && !shape.is_list("f") && !shape.is_list("o"));
}

#[test]
fn the_first_step_is_looked_into_also_if_it_is_cut_off() {
    for text in
        [r#"{"steps":[{"step_id":1,"source":"user","message":"xxx"#, "{\"steps\": [\n {\"step_id\":1,\"source\":2}]}"]
    {
        let shape = Shape::of(text.as_bytes()).unwrap();
        assert!(shape.step_has("step_id") && shape.step_has("source") && !shape.step_has("steps"));
    }
    assert!(!Shape::of(br#"{"steps":["step_id"],"a":[{"step_id":1}]}"#).unwrap().step_has("step_id"));
    let nested = "{\"steps\":[".repeat(100_000);
    assert!(Shape::of(nested.as_bytes()).unwrap().step_has("steps"));
}

#[test]
fn an_object_is_whole_if_it_ends_with_its_line() {
    for text in ["{}", "{\"a\":1} \r\n{\"b\"", "{\n \"a\": 1\n}\n", "\0{\"a\":1}\0"] {
        assert!(Shape::of(text.as_bytes()).unwrap().is_whole(), "{text}");
    }
    for text in ["{\"a\":1},", "{\"a\":1", "{\"a\":{\"b\":1}", "{\"a\":\"x\n{\"b\":1}", "{\"a\":{\"b\"\n{\"c\":1}"] {
        assert!(!Shape::of(text.as_bytes()).unwrap().is_whole(), "{text}");
    }
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
