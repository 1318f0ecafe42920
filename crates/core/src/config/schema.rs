//! The JSON schema of the configuration file, from which the check of each value takes its rules.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::layers;
use super::settings::Config;

/// Returns the JSON schema (draft 2020-12) of a configuration file: every key with its description, bounds and default.
///
/// Nothing is required, because every key has a default, and no other key is allowed.
pub fn config_schema() -> Value {
    let mut schema = schema_without_defaults();
    for (key, default) in layers::default_values() {
        if let Some(node) = schema_node_mut(&mut schema, &key) {
            node.insert("default".to_owned(), default);
        }
    }
    schema
}

/// Returns the schema without the defaults, which is enough to check a value.
pub(super) fn schema_without_defaults() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<Config>());
    tidy_schema(&mut schema);
    schema
}

/// Returns the dotted key of `name` inside the section `path`; the empty path is the top level.
pub(super) fn join_key(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn schema_node_mut<'schema>(schema: &'schema mut Value, key: &str) -> Option<&'schema mut Map<String, Value>> {
    let mut node = schema;
    for name in key.split('.') {
        node = node.get_mut("properties")?.get_mut(name)?;
    }
    node.as_object_mut()
}

/// Adapts the generated schema to a configuration file: sections are closed, nothing is required, number widths are
/// dropped, a choice is an `enum`, a description is one line.
fn tidy_schema(node: &mut Value) {
    let Some(fields) = node.as_object_mut() else {
        return;
    };
    fields.remove("required");
    fields.remove("format");
    if let Some(choices) = fields.remove("oneOf") {
        let names: Vec<Value> =
            choices.as_array().into_iter().flatten().filter_map(|one| one.get("const").cloned()).collect();
        fields.insert("enum".to_owned(), Value::from(names));
        fields.insert("type".to_owned(), Value::from("string"));
    }
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(tidy_schema);
        fields.insert("additionalProperties".to_owned(), Value::from(false));
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
