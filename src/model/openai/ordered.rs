//! JSON in which a schema tells its members in the order in which it requires them.
//!
//! Whoever writes under a schema writes in its order: proof before claim, what happened before what follows from it. Our
//! own objects are sorted by name, and a list is not.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

#[cfg(test)]
#[path = "ordered_tests.rs"]
mod tests;

/// A value that is written so.
pub(super) struct Ordered<'v>(pub(super) &'v Value);

/// The members of a schema, and which of them are required.
struct Members<'v> {
    members: &'v Map<String, Value>,
    required: Option<&'v Vec<Value>>,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(list) => {
                let mut out = serializer.serialize_seq(Some(list.len()))?;
                for value in list {
                    out.serialize_element(&Ordered(value))?;
                }
                out.end()
            }
            Value::Object(fields) => {
                let required = fields.get("required").and_then(Value::as_array);
                let mut out = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    match value {
                        Value::Object(members) if name == "properties" => {
                            out.serialize_entry(name, &Members { members, required })?;
                        }
                        value => out.serialize_entry(name, &Ordered(value))?,
                    }
                }
                out.end()
            }
            plain => plain.serialize(serializer),
        }
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = |name: &str| {
            self.required.and_then(|required| required.iter().position(|one| one == name)).unwrap_or(usize::MAX)
        };
        let mut members: Vec<(&String, &Value)> = self.members.iter().collect();
        members.sort_by_key(|(name, _)| place(name));
        let mut out = serializer.serialize_map(Some(members.len()))?;
        for (name, value) in members {
            out.serialize_entry(name, &Ordered(value))?;
        }
        out.end()
    }
}
