//! Reads what harnesses write around an output: exit codes in words, JSON with the output in a field.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem;
use serde_json::Value;

use super::failure_detection::ToolPurpose;
use super::plain_output::{prefix_to_byte, suffix_from_byte};

/// The number of bytes at each end of an output in which a harness writes its own words.
const EDGE_BYTES: usize = 400;

/// The largest JSON that is read as an envelope; anything larger is a document.
const MAX_JSON_BYTES: usize = 4 * 1024 * 1024;

/// An output taken out of its envelope.
#[derive(Debug, PartialEq)]
pub(super) struct UnwrappedOutput<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) exit_code: Option<i32>,
    pub(super) failed: Option<bool>,
}

/// Returns the exit code that a harness wrote into the text.
pub(super) fn stated_exit_code(output: &str, told: Option<bool>) -> Option<i32> {
    let head = prefix_to_byte(output, EDGE_BYTES);
    let tail = suffix_from_byte(output, output.len().saturating_sub(EDGE_BYTES));
    if output.trim_start().starts_with('{') {
        return [tail, head].iter().find_map(|edge| json_exit_code(edge));
    }
    let lines = head.lines().take(8).chain(tail.lines().rev().take(4));
    lines.into_iter().find_map(exit_code_of_line).or_else(|| {
        if told == Some(false) {
            return None;
        }
        static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("\n[exit_code] "));
        let at = FINDER.find_iter(output.as_bytes()).last()?;
        exit_code_of_line(prefix_to_byte(suffix_from_byte(output, at + 1), 64).lines().next()?)
    })
}

fn exit_code_of_line(line: &str) -> Option<i32> {
    const STARTS: &[&str] = &[
        "Exit code: ",
        "Exit code ",
        "Process exited with code ",
        "Command exited with code ",
        "(Command exited with code ",
        "Command failed with exit code ",
        "[exit_code] ",
        "<exit_code>",
        "exit_code: ",
        "Error: Exit code ",
        "Error: Command failed with exit code ",
        "[exit code: ",
        "[Exit code: ",
        "(exit code ",
        "[Command exited with code ",
    ];
    let line = line.trim();
    if !line.starts_with(['E', 'P', 'C', '(', '[', '<', 'e', 'f']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("failed in sandbox ") {
        return rest.split_once("exit code: ").and_then(|(_, rest)| leading_number(rest)).or(Some(1));
    }
    let rest = STARTS.iter().find_map(|start| line.strip_prefix(start))?;
    // Only the number may follow: "Exit code 1 means that …" is prose.
    let code = leading_number(rest)?;
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').trim_start();
    (behind.is_empty() || behind.starts_with([')', ']', '<', '.', ',', ':', '('])).then_some(code)
}

/// Returns the exit code that a command prints itself: `make; echo "EXIT: $?"`.
pub(super) fn echoed_exit_code(command: &str, output: &str) -> Option<i32> {
    let at = command.rfind("$?").or_else(|| command.rfind("${PIPESTATUS[0]}"))?;
    let (_, label) = command.get(..at)?.rsplit_once("echo ")?;
    let label = label.trim_start_matches(['"', '\'', ' ']);
    let tail = suffix_from_byte(output, output.len().saturating_sub(EDGE_BYTES));
    if label.contains(['\n', ';', '|', '$', '`']) {
        return None;
    }
    tail.lines().rev().take(4).find_map(|line| {
        let rest = line.trim().strip_prefix(label.trim_end())?.trim_start();
        let is_number = rest.trim_end_matches(|c: char| !c.is_ascii_digit()).bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| leading_number(rest)).flatten()
    })
}

fn json_exit_code(edge: &str) -> Option<i32> {
    for key in ["\"exit_code\"", "\"exitCode\"", "\"returncode\""] {
        if let Some(at) = edge.rfind(key) {
            let rest = edge.get(at + key.len()..)?.trim_start().strip_prefix(':')?.trim_start();
            return leading_number(rest);
        }
    }
    None
}

fn leading_number(text: &str) -> Option<i32> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text.get(..digits)?.parse().ok()
}

/// Returns true if the text contains a harness's line that reports a failure.
pub(super) fn reports_failure(output: &str) -> bool {
    const LINE: &str = "[error] tool reported failure";
    static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(LINE));
    FINDER.find_iter(output.as_bytes()).last().is_some_and(|at| {
        let before = at.checked_sub(1).and_then(|before| output.as_bytes().get(before));
        let behind = output.as_bytes().get(at + LINE.len());
        before.is_none_or(|byte| *byte == b'\n') && behind.is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    })
}

/// Returns the last exit code other than 0 that a program reports near the end of the output.
pub(super) fn inner_exit_code(text: &str) -> Option<i32> {
    const PHRASES: &[&str] = &[
        "exited with code ",
        "failed with exit code ",
        "exit status ",
        "completed with exit code ",
        "returned non-zero exit status ",
        "] Error ",
        "exit code: ",
    ];
    let tail = suffix_from_byte(text, text.len().saturating_sub(EDGE_BYTES * 2));
    tail.lines().rev().take(12).find_map(|line| {
        let at = PHRASES.iter().find_map(|phrase| line.rfind(phrase).map(|at| at + phrase.len()))?;
        leading_number(line.get(at..)?).filter(|code| *code != 0)
    })
}

/// Takes the output out of a JSON object in which a harness wrapped it. Other text is returned unchanged.
pub(super) fn unwrap_output(kind: ToolPurpose, output: &str) -> UnwrappedOutput<'_> {
    let closed = UnwrappedOutput { text: Cow::Borrowed(output), exit_code: None, failed: None };
    if !output.trim_start().starts_with('{') || output.len() > MAX_JSON_BYTES || !may_be_envelope(output) {
        return closed;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(output) else { return closed };
    let code = |value: Option<&Value>| value.and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let metadata = fields.get("metadata").and_then(|metadata| metadata.get("exit_code"));
    let exit_code =
        ["exit_code", "exitCode", "returncode"].iter().find_map(|key| code(fields.get(*key))).or(code(metadata));
    let said = |key: &str| fields.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let flag = |key: &str| fields.get(key).and_then(Value::as_bool);
    let complains = said("error").is_some();
    let is_run =
        ["output", "stdout", "passed", "success", "status", "tool"].iter().any(|key| fields.contains_key(*key));
    let shows = ["content", "text", "matches", "data", "results"].iter().any(|key| fields.contains_key(*key));
    let failed = match said("status") {
        _ if shows && kind == ToolPurpose::Shows => None,
        Some("error" | "failed" | "failure" | "timeout") => Some(true),
        _ if [flag("success"), flag("passed"), flag("ok")].contains(&Some(false)) => Some(true),
        _ if [flag("is_error"), flag("isError")].contains(&Some(true)) => Some(true),
        // A server's answer may also be JSON with an error in it, but then nothing ran.
        _ if complains && (is_run || kind != ToolPurpose::Runs) => Some(true),
        Some("success" | "ok" | "completed") => Some(false),
        _ if [flag("success"), flag("passed")].contains(&Some(true)) => Some(false),
        _ => None,
    };
    if exit_code.is_none() && failed.is_none() && !is_run {
        return closed;
    }
    let parts: Vec<&str> =
        ["output", "stdout", "stderr", "error", "message", "errorMessage"].iter().filter_map(|key| said(key)).collect();
    let text = if parts.is_empty() && exit_code.is_none() && failed != Some(true) {
        Cow::Borrowed(output)
    } else {
        Cow::Owned(parts.join("\n"))
    };
    UnwrappedOutput { text, exit_code, failed }
}

fn may_be_envelope(output: &str) -> bool {
    const KEYS: &[&str] = &[
        "\"exit_code\"",
        "\"exitCode\"",
        "\"status\"",
        "\"success\"",
        "\"passed\"",
        "\"error\"",
        "\"isError\"",
        "\"is_error\"",
    ];
    let head = prefix_to_byte(output, EDGE_BYTES);
    let tail = suffix_from_byte(output, output.len().saturating_sub(EDGE_BYTES));
    KEYS.iter().any(|key| head.contains(key) || tail.contains(key))
}
