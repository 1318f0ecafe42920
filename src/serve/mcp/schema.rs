//! What tools take and answer, as JSON schemas that every client understands and that cost an agent little to read.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of what a tool takes. What may be left out need not be null as well.
pub(super) fn taken<A: JsonSchema>() -> Arc<JsonObject> {
    schema::<A>(Nulls::LeftOut)
}

/// The schema of what a tool answers.
pub(super) fn answered<A: JsonSchema>() -> Arc<JsonObject> {
    schema::<A>(Nulls::Kept)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nulls {
    Kept,
    LeftOut,
}

fn schema<A: JsonSchema>(nulls: Nulls) -> Arc<JsonObject> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut object = match settings.into_generator().into_root_schema_for::<A>().to_value() {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    // The name and the sentence of the type are ours; the tool has its own.
    object.remove("title");
    object.remove("description");
    let mut schema = Value::Object(object);
    tidy(&mut schema, nulls);
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// Takes out what only Rust knows of: the widths of numbers, and that an optional field is null in between.
fn tidy(schema: &mut Value, nulls: Nulls) {
    match schema {
        Value::Object(object) => {
            if object.get("format").and_then(Value::as_str).is_some_and(is_width) {
                object.remove("format");
            }
            if nulls == Nulls::LeftOut {
                without_null(object);
            }
            object.values_mut().for_each(|value| tidy(value, nulls));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tidy(item, nulls)),
        _ => {}
    }
}

fn is_width(format: &str) -> bool {
    format.starts_with("uint") || format.starts_with("int") || matches!(format, "double" | "float")
}

fn without_null(object: &mut JsonObject) {
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
        // What stands beside the choice is about this field, so it wins.
        for (key, value) in one {
            object.entry(key).or_insert(value);
        }
    }
}
