use std::collections::BTreeMap;

use serde_json::json;

use super::super::{ConfigLoadRequest, load_config};
use super::*;

/// Keys whose name sounds like a secret but is none. Every other such key must carry `writeOnly`.
const NAMES_THAT_ONLY_SOUND_SECRET: [&str; 1] = ["project.key"];

/// Every key that holds a value, dotted, with its part of the schema, sorted by key.
fn leaves(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    collect_leaves(schema, "", &mut found);
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

fn collect_leaves<'schema>(node: &'schema Value, path: &str, found: &mut Vec<(String, &'schema Value)>) {
    match node.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            for (name, child) in properties {
                collect_leaves(child, &join_key(path, name), found);
            }
        }
        None => found.push((path.to_owned(), node)),
    }
}

#[test]
fn the_schema_and_the_defaults_have_the_same_keys() {
    let rules = schema_without_defaults();
    let in_schema: Vec<String> = leaves(&rules).into_iter().map(|(key, _)| key).collect();
    let in_defaults: Vec<String> = layers::default_values().into_keys().collect();
    assert_eq!(in_schema, in_defaults);
}

#[test]
fn the_defaults_pass_every_check() {
    let request = ConfigLoadRequest { project_root: "/nowhere".into(), ..ConfigLoadRequest::default() };
    let loaded = load_config(&request).expect("the defaults must load");
    let values: BTreeMap<String, Value> =
        loaded.values.into_iter().map(|setting| (setting.key, setting.value)).collect();
    assert_eq!(values, layers::default_values());
}

#[test]
fn every_key_says_what_it_is() {
    let schema = config_schema();
    for (key, rule) in leaves(&schema) {
        let kind = rule.get("type").and_then(Value::as_str);
        assert!(matches!(kind, Some("boolean" | "integer" | "number" | "string")), "{key}: {kind:?}");
        let description = rule.get("description").and_then(Value::as_str);
        assert!(description.is_some_and(|text| !text.is_empty() && !text.contains('\n')), "{key}: {description:?}");
        assert!(rule.get("default").is_some(), "{key} has no default");
        if matches!(kind, Some("integer" | "number")) {
            assert!(rule.get("maximum").is_some(), "{key} has no upper bound");
            let lower = rule.get("minimum").or(rule.get("exclusiveMinimum"));
            assert!(lower.is_some(), "{key} has no lower bound");
        }
    }
}

#[test]
fn a_key_that_sounds_secret_is_marked_secret() {
    for (key, rule) in leaves(&schema_without_defaults()) {
        let name = key.to_lowercase();
        let sounds_secret = ["key", "token", "secret", "password"].iter().any(|word| name.ends_with(word));
        let is_marked = rule.get("writeOnly") == Some(&json!(true));
        assert!(
            !sounds_secret || is_marked || NAMES_THAT_ONLY_SOUND_SECRET.contains(&key.as_str()),
            "{key} needs `#[schemars(extend(\"writeOnly\" = true))]`"
        );
    }
}

#[test]
fn every_section_is_closed_and_requires_nothing() {
    fn check(node: &Value) {
        assert_eq!(node.get("required"), None, "{node}");
        let Some(properties) = node.get("properties").and_then(Value::as_object) else {
            return;
        };
        assert_eq!(node.get("additionalProperties"), Some(&json!(false)), "{node}");
        properties.values().for_each(check);
    }
    check(&config_schema());
}

#[test]
fn the_parts_look_as_published() {
    let schema = config_schema();
    let check = |pointer: &str, expected: Value| assert_eq!(schema.pointer(pointer), Some(&expected), "{pointer}");
    check("/$schema", json!("https://json-schema.org/draft/2020-12/schema"));
    check("/title", json!("Archivist configuration"));
    check("/type", json!("object"));
    check(
        "/properties/maxMemoriesPerRun",
        json!({
            "type": "integer", "minimum": 1, "maximum": 1000, "default": 5,
            "description": "The most memories one reflection may write."
        }),
    );
    check("/properties/memory/properties/sync/enum", json!(["durable", "lazy"]));
    check("/properties/memory/properties/sync/type", json!("string"));
    check("/properties/memory/properties/sync/default", json!("durable"));
    check("/properties/memory/properties/backend/enum", json!(["jsonl", "postgres"]));
    check("/properties/memory/properties/dir/minLength", json!(1));
    check(
        "/properties/recall/properties/halfLifeDays/properties/lesson",
        json!({
            "type": "number", "exclusiveMinimum": 0.0, "maximum": 36500.0, "default": 30.0,
            "description": "The half life of a lesson, in days."
        }),
    );
}

#[test]
fn every_key_of_the_defaults_has_a_comment() {
    let text = include_str!("../../../../config/default.toml");
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2) {
        if pair[1].contains(" = ") && !pair[1].starts_with('#') {
            assert!(pair[0].starts_with('#'), "{} has no comment", pair[1]);
        }
    }
}
