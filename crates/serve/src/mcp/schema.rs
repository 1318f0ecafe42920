//! JSON schemas of tool arguments and answers, kept simple for all clients and short for the agent that reads them.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the schema of a tool's arguments. An optional field is never null.
pub(super) fn input_schema<A: JsonSchema>() -> Arc<JsonObject> {
    build_tool_schema::<A>(NullHandling::LeftOut)
}

/// Returns the schema of a tool's answer.
pub(super) fn output_schema<A: JsonSchema>() -> Arc<JsonObject> {
    build_tool_schema::<A>(NullHandling::Kept)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NullHandling {
    Kept,
    LeftOut,
}

fn build_tool_schema<A: JsonSchema>(nulls: NullHandling) -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut object = match settings.into_generator().into_root_schema_for::<A>().to_value() {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    // The title and description of the type are internal; the tool has its own.
    object.remove("title");
    object.remove("description");
    let mut schema = Value::Object(object);
    tidy_tool_schema(&mut schema, nulls);
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// Removes details that only matter in Rust: the widths of numbers and, if wanted, the null of optional fields.
fn tidy_tool_schema(schema: &mut Value, nulls: NullHandling) {
    match schema {
        Value::Object(object) => {
            if object.get("format").and_then(Value::as_str).is_some_and(is_number_width) {
                object.remove("format");
            }
            if nulls == NullHandling::LeftOut {
                remove_null_choice(object);
            }
            object.values_mut().for_each(|value| tidy_tool_schema(value, nulls));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tidy_tool_schema(item, nulls)),
        _ => {}
    }
}

fn is_number_width(format: &str) -> bool {
    format.starts_with("uint") || format.starts_with("int") || matches!(format, "double" | "float")
}

fn remove_null_choice(object: &mut JsonObject) {
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    for choices in ["type", "enum"] {
        if let Some(Value::Array(choices)) = object.get_mut(choices) {
            choices.retain(|choice| !choice.is_null() && choice != "null");
        }
    }
    if let Some(Value::Array(kinds)) = object.get("type")
        && let [only] = kinds.as_slice()
    {
        let only = only.clone();
        object.insert("type".to_owned(), only);
    }
    let one = match object.get("anyOf") {
        Some(Value::Array(choices)) => match choices.as_slice() {
            [Value::Object(one), other] if other.get("type").is_some_and(|kind| kind == "null") => Some(one.clone()),
            _ => None,
        },
        _ => None,
    };
    if let Some(one) = one {
        object.remove("anyOf");
        // The keys next to the choice describe this field, so they win.
        for (key, value) in one {
            object.entry(key).or_insert(value);
        }
    }
}
