use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_schema_is_told_in_the_order_of_what_it_requires() {
    let schema = json!({
        "type": "object",
        "required": ["proof", "claim"],
        "properties": {
            "claim": {"type": "string"},
            "aside": {"type": "string"},
            "proof": {"type": "array", "items": {
                "required": ["step", "at"],
                "properties": {"at": {"type": "string"}, "step": {"type": "integer"}},
            }},
        },
    });
    let written = serde_json::to_string(&SchemaOrderedJson(&schema)).unwrap();
    let place = |name: &str| written.find(&format!("\"{name}\":{{")).unwrap();
    assert!(place("proof") < place("claim") && place("claim") < place("aside"), "{written}");
    assert!(place("step") < place("at"), "{written}");
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), schema);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from)
    ];
    let name = prop_oneof![Just("properties".to_owned()), Just("required".to_owned()), "[a-d]{1,2}"];
    leaf.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_is_lost_or_changed(value in value()) {
        let written = serde_json::to_string(&SchemaOrderedJson(&value)).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), value);
    }
}
