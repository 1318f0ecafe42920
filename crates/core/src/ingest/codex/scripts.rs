//! Reads scripts in which Codex, since 0.144, wraps its calls: `const r = await tools.exec_command({cmd: "ls"})`.
//!
//! Only literals, constants that are literals, and their concatenation are read.
//! Nothing is ever run.

use serde_json::Value;

use super::script_literals::LiteralReader;
use super::script_literals::ScriptConstants;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;

/// The maximum number of calls in a script; one with more is kept as it is.
const MAX_CALLS: usize = 64;

/// The maximum length of a script; a longer one is kept as it is.
const MAX_SCRIPT_BYTES: usize = 256 * 1024;

/// The maximum number of constants that are read.
const MAX_CONSTANTS: usize = 256;

/// A call of a tool inside a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptCall {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// The parts of a script that could be read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ScriptText {
    /// The calls; empty if the script makes none, or one that cannot be read.
    pub(super) calls: Vec<ScriptCall>,
    /// True if the script prints whole results, not only the output of commands.
    pub(super) prints_results: bool,
    /// The texts around the number of a session that the script prints.
    pub(super) session_mark: Option<(String, String)>,
    /// The texts that the script prints before the output of each call, where it prints all of them as one text.
    pub(super) labels: Vec<String>,
}

/// Reads the calls of a script.
pub(super) fn read_script(script: &str) -> ScriptText {
    if script.len() > MAX_SCRIPT_BYTES {
        return ScriptText::default();
    }
    let mut calls = Vec::new();
    let mut seen_constants = 0_usize;
    let mut constants = ScriptConstants::default();
    let mut reader = LiteralReader::new(script);
    let mut labels = None;
    let mut texts = 0_usize;
    let mut prints_results = false;
    while let Some(word) = reader.next_word() {
        match word {
            "const" if seen_constants < MAX_CONSTANTS => {
                seen_constants += 1;
                if let Some((name, value)) = reader.read_constant(&constants) {
                    constants.insert(name, value);
                }
            }
            "tools" => {
                let Some(tool) = reader.read_called_member() else { continue };
                match reader.read_argument(&constants).and_then(|argument| read_call(tool, argument)) {
                    Some(call) if calls.len() < MAX_CALLS => calls.push(call),
                    _ => return ScriptText::default(),
                }
            }
            "JSON" => prints_results |= reader.read_called_member() == Some("stringify"),
            "text" => {
                texts += 1;
                prints_results |= reader.is_called_with_result();
                labels = reader.read_labels();
            }
            _ => {}
        }
    }
    let labels = labels.filter(|labels| texts == 1 && labels.len() == calls.len()).unwrap_or_default();
    ScriptText { calls, prints_results, session_mark: find_session_mark(script), labels }
}

fn read_call(tool: &str, argument: Option<Value>) -> Option<ScriptCall> {
    let arguments = match argument {
        Some(Value::Object(arguments)) => arguments,
        Some(Value::String(text)) => Object::from_iter([("input".to_owned(), Value::String(text))]),
        Some(_) => return None,
        None => Object::new(),
    };
    let is_readable = match tool {
        "exec_command" => ["cmd", "command"].iter().any(|key| json_fields::get_str(&arguments, key).is_some()),
        "apply_patch" => ["input", "patch"].iter().any(|key| json_fields::get_str(&arguments, key).is_some()),
        _ => true,
    };
    is_readable.then(|| ScriptCall { tool: tool.to_owned(), arguments: Value::Object(arguments) })
}

/// Finds the template in which a script prints the number of a session: `` text(`SESSION=${r.session_id}`) ``.
fn find_session_mark(script: &str) -> Option<(String, String)> {
    let (before, rest) = script.split_once(".session_id}")?;
    let (before, _) = before.rsplit_once("${")?;
    let (_, before) = before.rsplit_once('`')?;
    let (after, _) = rest.split_once('`')?;
    let is_plain = |text: &str| !text.contains(['\\', '$']) && text.len() < 80;
    (is_plain(before) && is_plain(after)).then(|| (before.to_owned(), after.to_owned()))
}
