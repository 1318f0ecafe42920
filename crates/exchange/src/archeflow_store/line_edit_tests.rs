use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn check(line: &str, fields: &[(&str, Value)], expected: &str) {
    assert_eq!(set_json_fields(line, fields).as_deref(), Some(expected), "{line}");
}

#[test]
fn a_field_is_set_where_it_stands() {
    let set = [("frequency", json!(3))];
    check(
        r#"{"id":"m-001","frequency":2,"x":[1,{"frequency":9}]}"#,
        &set,
        r#"{"id":"m-001","frequency":3,"x":[1,{"frequency":9}]}"#,
    );
    check(r#"{ "frequency" : null , "a" : 1 }"#, &set, r#"{ "frequency" : 3 , "a" : 1 }"#);
    check(r#"{"a":"frequency\":2","frequency":"2"}"#, &set, r#"{"a":"frequency\":2","frequency":3}"#);
    check(r#"{"frequency":1,"frequency":2}"#, &set, r#"{"frequency":3,"frequency":3}"#);
    check(r#"{"frequency":{"deep":[1,2]}}"#, &set, r#"{"frequency":3}"#);
    check(r#"{"freque\u006ecy":1}"#, &set, r#"{"freque\u006ecy":3}"#);
}

#[test]
fn a_new_field_goes_behind_the_last() {
    check("{}", &[("a", json!(1)), ("b", json!("x\ny"))], r#"{"a":1,"b":"x\ny"}"#);
    check(r#"{"a":1 }"#, &[("b", json!(2))], r#"{"a":1,"b":2 }"#);
    check("\u{feff}{\"a\":1}\r", &[("b", json!(2))], "\u{feff}{\"a\":1,\"b\":2}\r");
}

#[test]
fn what_is_no_object_is_left_alone() {
    for line in ["", "[]", "7", "{", "{\"a\":1,}", "{\"a\":1} {}", "null"] {
        assert_eq!(set_json_fields(line, &[("a", json!(1))]), None, "{line}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn setting_is_setting(
        map in prop::collection::btree_map("[a-d\"\\\\]{0,3}", value(), 0..6),
        key in "[a-d\"\\\\]{0,3}",
        set in value(),
        is_pretty in any::<bool>(),
    ) {
        let mut map: Map<String, Value> = map.into_iter().collect();
        let line = if is_pretty { serde_json::to_string_pretty(&map) } else { serde_json::to_string(&map) }.unwrap();
        let edited = set_json_fields(&line, &[(&key, set.clone())]).unwrap();
        map.insert(key, set);
        prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), Value::Object(map));
    }

    #[test]
    fn nothing_panics(line in ".*") {
        let _ = set_json_fields(&line, &[("a", Value::Null)]);
    }
}
