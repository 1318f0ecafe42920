use proptest::prelude::*;

use super::*;

fn keys(text: &str) -> Vec<String> {
    ObjectShape::from_bytes(text.as_bytes())
        .map(|shape| shape.keys.into_iter().map(|key| key.name).collect())
        .unwrap_or_default()
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
    let shape = ObjectShape::from_bytes(br#"{"type":"user","n":1,"o":{},"l":[ {"a":1}],"e":[],"f":[1]}"#).unwrap();
    assert_eq!((shape.text("type"), shape.text("n"), shape.key_count()), (Some("user"), None, 6));
    assert!(shape.has_string("type") && !shape.has_string("n") && !shape.has_string("none"));
    assert!(shape.has_object("o") && !shape.has_object("l"));
    assert!(
        shape.has_object_array("l")
            && shape.has_object_array("e")
            && !shape.has_object_array("f")
            && !shape.has_object_array("o")
    );
}

#[test]
fn the_first_step_is_looked_into_also_if_it_is_cut_off() {
    for text in
        [r#"{"steps":[{"step_id":1,"source":"user","message":"xxx"#, "{\"steps\": [\n {\"step_id\":1,\"source\":2}]}"]
    {
        let shape = ObjectShape::from_bytes(text.as_bytes()).unwrap();
        assert!(shape.step_has_key("step_id") && shape.step_has_key("source") && !shape.step_has_key("steps"));
    }
    assert!(!ObjectShape::from_bytes(br#"{"steps":["step_id"],"a":[{"step_id":1}]}"#).unwrap().step_has_key("step_id"));
    let nested = "{\"steps\":[".repeat(100_000);
    assert!(ObjectShape::from_bytes(nested.as_bytes()).unwrap().step_has_key("steps"));
}

#[test]
fn an_object_is_whole_if_it_ends_with_its_line() {
    for text in ["{}", "{\"a\":1} \r\n{\"b\"", "{\n \"a\": 1\n}\n", "\0{\"a\":1}\0"] {
        assert!(ObjectShape::from_bytes(text.as_bytes()).unwrap().is_whole(), "{text}");
    }
    for text in ["{\"a\":1},", "{\"a\":1", "{\"a\":{\"b\":1}", "{\"a\":\"x\n{\"b\":1}", "{\"a\":{\"b\"\n{\"c\":1}"] {
        assert!(!ObjectShape::from_bytes(text.as_bytes()).unwrap().is_whole(), "{text}");
    }
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let _ = ObjectShape::from_bytes(&bytes);
        let mut object = b"{\"".to_vec();
        object.extend(bytes);
        let _ = ObjectShape::from_bytes(&object);
    }
}
