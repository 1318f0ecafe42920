use super::*;

#[test]
fn every_tool_says_what_it_takes_and_whether_it_changes_anything() {
    for tool in all_tools() {
        let schema = &tool.input_schema;
        assert_eq!(schema.get("type"), Some(&json!("object")), "{}", tool.name);
        assert_eq!(schema.get("additionalProperties"), Some(&json!(false)), "{}", tool.name);
        let hints = tool.annotations.unwrap();
        assert!(hints.read_only_hint.is_some() && hints.open_world_hint == Some(false), "{}", tool.name);
        assert!(hints.read_only_hint == Some(true) || hints.destructive_hint == Some(false), "{}", tool.name);
    }
}

#[test]
fn schemas_hold_nothing_that_only_rust_knows_of() {
    let text = serde_json::to_string(&all_tools()).unwrap();
    for word in ["$ref", "$defs", "$schema", "uint", "\"double\"", "\"default\":null"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    for tool in all_tools() {
        let schema = serde_json::to_string(&tool.input_schema).unwrap();
        assert!(!schema.contains("null"), "{}: {schema}", tool.name);
    }
}

/// An agent reads all of this at the start of every session.
#[test]
fn the_list_of_tools_is_short() {
    let listed = all_tools().into_iter().map(|mut tool| {
        tool.output_schema = None;
        serde_json::to_string(&tool).unwrap().len()
    });
    let length: usize = listed.sum();
    assert!(length < 9_000, "{length} bytes");
}
