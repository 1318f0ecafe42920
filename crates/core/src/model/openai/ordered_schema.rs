//! JSON in which the members of a schema are written in the order of its `required` list.
//!
//! A model that writes under a schema writes in its order: proof before claim, cause before conclusion. Our own objects
//! are sorted by name, and a list is not.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

#[cfg(test)]
#[path = "ordered_schema_tests.rs"]
mod tests;

/// A JSON value that is written in that order.
pub(super) struct SchemaOrderedJson<'v>(pub(super) &'v Value);

/// The members of a schema, and which of them are required.
struct SchemaMembers<'v> {
    members: &'v Map<String, Value>,
    required: Option<&'v Vec<Value>>,
}

impl Serialize for SchemaOrderedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(list) => {
                let mut out = serializer.serialize_seq(Some(list.len()))?;
                for value in list {
                    out.serialize_element(&SchemaOrderedJson(value))?;
                }
                out.end()
            }
            Value::Object(fields) => {
                let required = fields.get("required").and_then(Value::as_array);
                let mut out = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    match value {
                        Value::Object(members) if name == "properties" => {
                            out.serialize_entry(name, &SchemaMembers { members, required })?;
                        }
                        value => out.serialize_entry(name, &SchemaOrderedJson(value))?,
                    }
                }
                out.end()
            }
            plain => plain.serialize(serializer),
        }
    }
}

impl Serialize for SchemaMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = |name: &str| {
            self.required.and_then(|required| required.iter().position(|one| one == name)).unwrap_or(usize::MAX)
        };
        let mut members: Vec<(&String, &Value)> = self.members.iter().collect();
        members.sort_by_key(|(name, _)| place(name));
        let mut out = serializer.serialize_map(Some(members.len()))?;
        for (name, value) in members {
            out.serialize_entry(name, &SchemaOrderedJson(value))?;
        }
        out.end()
    }
}
