//! Makes a table of `config/schema.json`, so that no process has to read the schema to check its settings.
//!
//! A hook is a process of a few milliseconds, of which that took one: see docs/decisions.md.

#![allow(clippy::print_stdout, reason = "a build script talks to cargo")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

const SCHEMA: &str = "../../config/schema.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCHEMA}");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(SCHEMA)?)?;
    let mut leaves = Vec::new();
    collect(&schema, "", &mut leaves);
    leaves.sort_by(|left, right| left.0.cmp(&right.0));
    let mut table = String::from("&[\n");
    for (key, rule) in leaves {
        writeln!(table, "{},", leaf(&key, rule).ok_or_else(|| format!("{SCHEMA}: `{key}` has no default"))?)?;
    }
    table.push(']');
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    Ok(std::fs::write(out.join("keys.rs"), table)?)
}

fn collect<'schema>(node: &'schema Value, path: &str, leaves: &mut Vec<(String, &'schema Value)>) {
    match node.get("properties").and_then(Value::as_object) {
        Some(properties) => {
            for (name, child) in properties {
                let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(child, &below, leaves);
            }
        }
        None => leaves.push((path.to_owned(), node)),
    }
}

/// The expression for one key: see `ConfigKey` in `src/config/value_check.rs` of this package.
fn leaf(key: &str, rule: &Value) -> Option<String> {
    let text = |name: &str| rule.get(name).and_then(Value::as_str);
    let bound = |name: &str| match rule.get(name).and_then(Value::as_f64) {
        Some(bound) => format!("Some({bound:?})"),
        None => "None".to_owned(),
    };
    let default = rule.get("default")?;
    let (kind, default) = match text("type")? {
        "boolean" => ("Boolean", format!("DefaultValue::Boolean({})", default.as_bool()?)),
        "integer" => ("Integer", format!("DefaultValue::Integer({})", default.as_i64()?)),
        "number" => ("Number", format!("DefaultValue::Number({:?})", default.as_f64()?)),
        _ => ("Text", format!("DefaultValue::Text({:?})", default.as_str()?)),
    };
    let is_secret = rule.get("writeOnly").and_then(Value::as_bool).unwrap_or(false);
    let choices = rule.get("enum").and_then(Value::as_array).into_iter().flatten();
    let choices: Vec<&str> = choices.filter_map(Value::as_str).collect();
    Some(format!(
        "ConfigKey {{ key: {key:?}, default: {default}, secrecy: Secrecy::{secrecy}, setters: KeySetters::{setters}, \
         kind: ConfigValueKind::{kind}, choices: &{choices:?}, least: {least}, above: {above}, most: {most}, \
         fewest_chars: {fewest_chars} }}",
        secrecy = if is_secret { "Secret" } else { "Open" },
        setters = match text("x-set-by") {
            Some("user-file") => "UserFile",
            Some(_) => "User",
            None => "Anyone",
        },
        least = bound("minimum"),
        above = bound("exclusiveMinimum"),
        most = bound("maximum"),
        fewest_chars = rule.get("minLength").and_then(Value::as_u64).unwrap_or(0),
    ))
}
