//! The JSON schema of the configuration file, and what the check of each value reads from it.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::layers;
use super::settings::Config;

/// The JSON schema (draft 2020-12) of a configuration file: every key with its description, bounds and default.
///
/// Nothing is required, since whatever a file leaves out has a default, and no other key is allowed.
pub fn schema() -> Value {
    let mut schema = rules();
    for (key, default) in layers::defaults() {
        if let Some(node) = node_mut(&mut schema, &key) {
            node.insert("default".to_owned(), default);
        }
    }
    schema
}

/// The schema without the defaults: all that is needed to check a value.
pub(super) fn rules() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<Config>());
    tidy(&mut schema);
    schema
}

/// The dotted key of `name` inside the section `path`, where the empty path is the top level.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn node_mut<'schema>(schema: &'schema mut Value, key: &str) -> Option<&'schema mut Map<String, Value>> {
    let mut node = schema;
    for name in key.split('.') {
        node = node.get_mut("properties")?.get_mut(name)?;
    }
    node.as_object_mut()
}

/// Turns what the generator says about Rust types into what is true of a file: sections are closed, nothing is
/// required, the width of a number is no matter of the reader's, a choice is an `enum`, a description is one line.
fn tidy(node: &mut Value) {
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
        properties.values_mut().for_each(tidy);
        fields.insert("additionalProperties".to_owned(), Value::from(false));
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
