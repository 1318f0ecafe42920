//! Makes a table of `config/schema.json`, so that no process has to read the schema to check its settings, and links a
//! program that needs no relocation when it starts, and one library less.
//!
//! A hook is a process of a few milliseconds, of which each of the first two took one: see docs/decisions.md.

#![allow(clippy::print_stdout, reason = "a build script talks to cargo")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const SCHEMA: &str = "config/schema.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={SCHEMA}");
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if has_archive("libgcc_eh.a") {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
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

/// Whether the linker has an archive. `libgcc_eh.a` is `libgcc_s.so` for programs that bring it along: the shared one asks
/// the processor about a dozen things when it is loaded, and on a virtual machine each of them is a call to the host.
fn has_archive(name: &str) -> bool {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let told = Command::new(linker).arg(format!("-print-file-name={name}")).output();
    // A compiler that has no such file says its name again; one that does not know the question says nothing.
    told.is_ok_and(|told| Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_absolute())
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

/// The expression for one key: see `ConfigKey` in `src/config/check.rs`.
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
        "ConfigKey {{ key: {key:?}, default: {default}, secrecy: Secrecy::{secrecy}, is_users: {is_users}, \
         kind: ConfigValueKind::{kind}, choices: &{choices:?}, least: {least}, above: {above}, most: {most}, \
         fewest_chars: {fewest_chars} }}",
        secrecy = if is_secret { "Secret" } else { "Open" },
        is_users = text("x-set-by") == Some("user"),
        least = bound("minimum"),
        above = bound("exclusiveMinimum"),
        most = bound("maximum"),
        fewest_chars = rule.get("minLength").and_then(Value::as_u64).unwrap_or(0),
    ))
}
