//! Handles calls that wrap commands: scripts, commands that keep running in a session or a cell, and polls for them.
//!
//! A poll is emitted as a call of its own with the command that it polls, so that its output is attributed to that
//! command. Output that came before a command ended is marked as not being its result.

use std::collections::HashMap;
use std::collections::VecDeque;

use serde_json::Value;

use super::script_outputs;
use super::script_outputs::PrintedResult;
use super::script_outputs::ScriptEnding;
use super::scripts;
use super::scripts::ScriptText;
use super::tool_outputs;
use crate::domain::ToolCall;
use crate::domain::ToolOutput;
use crate::ingest::chat_messages::fingerprint_trimmed;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "wrapped_commands_tests.rs"]
mod tests;

/// The maximum number of calls, and of running commands, that are remembered.
const MAX_REMEMBERED: usize = 512;

/// The minimum wait of a poll that sends nothing.
const MIN_SILENT_POLL_MS: u64 = 5000;

/// The opening of an output that came before the command ended. Claude Code uses the same words.
const RUNNING: &str = "Command running in background";

/// The opening of a poll's output if there is no such session.
const LOST: &str = "write_stdin failed";

/// The tool that polls a session. Polls of a cell with a known command are emitted under this name too.
const POLL: &str = "write_stdin";

/// A command, with the arguments that say where it runs.
type CommandArguments = Object;

/// A call inside a script, or a call of its own.
#[derive(Debug, Default)]
struct WrappedCall {
    id: String,
    tool: String,
    command: Option<CommandArguments>,
    /// The session that the call polls.
    session: Option<String>,
    /// The time after which the call returns even if the command is still running.
    yield_ms: Option<u64>,
    /// True if another line already reported this call.
    is_matched: bool,
    /// The end of the call as that line reported it.
    end: Option<ToolOutput>,
}

/// A call of the model whose output is awaited.
#[derive(Debug, Default)]
struct AwaitedCall {
    script: ScriptText,
    is_script: bool,
    /// True if the call may have waited for a person's permission, so that its duration means nothing.
    asks_permission: bool,
    /// The cell of the script that the call polls.
    cell: Option<String>,
    calls: Vec<WrappedCall>,
}

/// A map that forgets its oldest entries.
#[derive(Debug)]
struct BoundedMap<V> {
    entries: HashMap<u64, V>,
    order: VecDeque<u64>,
}

impl<V> Default for BoundedMap<V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new() }
    }
}

impl<V> BoundedMap<V> {
    fn insert(&mut self, key: &str, value: V) {
        let key = fingerprint_trimmed(key);
        self.order.retain(|known| *known != key);
        self.order.push_back(key);
        self.entries.insert(key, value);
        if self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    fn get(&self, key: &str) -> Option<&V> {
        self.entries.get(&fingerprint_trimmed(key))
    }

    fn remove(&mut self, key: &str) -> Option<V> {
        let key = fingerprint_trimmed(key);
        self.order.retain(|known| *known != key);
        self.entries.remove(&key)
    }

    /// Returns the first match among the entries, from the newest to the oldest.
    fn find_newest<T>(&mut self, mut find: impl FnMut(&mut V) -> Option<T>) -> Option<T> {
        let Self { entries, order } = self;
        order.iter().rev().find_map(|key| find(entries.get_mut(key)?))
    }
}

/// The commands whose output is awaited or that are still running.
#[derive(Debug, Default)]
pub(super) struct BackgroundCommands {
    awaited: BoundedMap<AwaitedCall>,
    /// The scripts that are still running, by cell.
    cells: BoundedMap<AwaitedCall>,
    /// The commands that are still running, by session.
    sessions: BoundedMap<CommandArguments>,
}

impl BackgroundCommands {
    /// Splits a call into those that it wraps, each with the command that it runs or polls.
    pub(super) fn unwrap_call(&mut self, mut call: ToolCall) -> Vec<ToolCall> {
        let mut awaited = AwaitedCall::default();
        let mut unwrapped = Vec::new();
        match call.tool.as_str() {
            "exec" => {
                let Some(script) = call.arguments.get("input").and_then(Value::as_str) else { return vec![call] };
                awaited.is_script = true;
                awaited.script = scripts::read_script(script);
                let calls = std::mem::take(&mut awaited.script.calls);
                let count = calls.len();
                for (number, one) in (1..).zip(calls.clone()) {
                    let id = if number == count { call.id.clone() } else { format!("{}/{number}", call.id) };
                    unwrapped.push(ToolCall { id, tool: one.tool, arguments: one.arguments, output: None });
                }
                awaited.script.calls = calls;
                if unwrapped.is_empty() {
                    unwrapped.push(call.clone());
                }
            }
            "wait" => {
                let Some(cell) = read_id_argument(&call.arguments, "cell_id") else { return vec![call] };
                if let Some(command) = self.cells.get(&cell).and_then(AwaitedCall::join_commands) {
                    add_command(&mut call.arguments, command);
                    POLL.clone_into(&mut call.tool);
                }
                awaited.is_script = true;
                awaited.cell = Some(cell);
                unwrapped.push(call.clone());
            }
            "exec_command" | POLL => unwrapped.push(call.clone()),
            _ => return vec![call],
        }
        for one in &mut unwrapped {
            let session = read_id_argument(&one.arguments, "session_id").filter(|_| one.tool == POLL);
            if let Some(command) = session.as_ref().and_then(|session| self.sessions.get(session)) {
                add_command(&mut one.arguments, command.clone());
            }
            awaited.asks_permission |= asks_permission(&one.arguments);
            awaited.calls.push(WrappedCall {
                id: one.id.clone(),
                tool: one.tool.clone(),
                command: read_command_arguments(&one.arguments),
                yield_ms: read_yield_ms(&one.arguments),
                session,
                ..WrappedCall::default()
            });
        }
        self.awaited.insert(&call.id, awaited);
        unwrapped
    }

    /// Matches a call reported by an event with a call inside a script; returns true if there is one.
    pub(super) fn absorb_event(&mut self, tool: &str, end: Option<&ToolOutput>) -> bool {
        let tool = match tool {
            "shell" => "exec_command",
            "web_search" => "web__run",
            tool => tool,
        };
        let mut absorb = |awaited: &mut AwaitedCall| {
            let is_script = awaited.is_script && !awaited.script.calls.is_empty();
            let mut calls = awaited.calls.iter_mut().filter(|call| is_script && !call.is_matched);
            let call = calls.find(|call| is_same_tool(&call.tool, tool))?;
            call.is_matched = true;
            call.end = end.cloned();
            Some(())
        };
        self.awaited.find_newest(&mut absorb).or_else(|| self.cells.find_newest(absorb)).is_some()
    }

    /// Reads the output of a call of the model, for each call that it wraps.
    pub(super) fn read_output(&mut self, id: &str, content: Value) -> Vec<(String, ToolOutput)> {
        let Some(mut awaited) = self.awaited.remove(id) else {
            return vec![(id.to_owned(), tool_outputs::parse_output(content))];
        };
        let reply = if awaited.is_script { script_outputs::open_envelope(&content) } else { None };
        let Some(reply) = reply else {
            let mut output = tool_outputs::parse_output(content);
            let polled = awaited.calls.last().and_then(|call| call.session.clone());
            let lost = polled.filter(|_| output.text.starts_with(LOST));
            if let Some(session) = tool_outputs::find_running_session(&output.text).map(str::to_owned).or(lost) {
                self.remember_session(&session, awaited.calls.last());
                mark_running(&mut output, "session", &session);
            }
            return vec![(id.to_owned(), output)];
        };
        // A poll returns what the polled script prints.
        if let Some(cell) = &awaited.cell
            && let Some(script) = self.cells.remove(cell)
        {
            awaited.script = script.script;
            awaited.asks_permission = script.asks_permission;
            let is_alone = script.calls.len() == 1;
            let end = script.calls.into_iter().next_back().and_then(|call| call.end).filter(|_| is_alone);
            if let Some(call) = awaited.calls.last_mut() {
                call.end = end;
            }
        }
        let duration_ms = reply.duration_ms.filter(|_| !awaited.asks_permission);
        if let ScriptEnding::Running(cell) = reply.ending {
            let mut output = script_outputs::join_texts(&awaited.script, reply.texts).into_output();
            output.duration_ms = duration_ms;
            mark_running(&mut output, "cell", &cell);
            self.cells.insert(&cell, awaited);
            return vec![(id.to_owned(), output)];
        }
        let is_shared = awaited.calls.len() > 1 && reply.ending == ScriptEnding::Completed;
        let shared =
            if is_shared { script_outputs::assign_texts_to_calls(&awaited.script, &reply.texts) } else { None };
        let mut given = Vec::new();
        match shared {
            Some(results) => {
                for (call, result) in awaited.calls.into_iter().zip(results) {
                    given.push(self.end_call(call, result));
                }
            }
            None => {
                let mut result = script_outputs::join_texts(&awaited.script, reply.texts);
                result.duration_ms = result.duration_ms.or(duration_ms);
                if reply.ending == ScriptEnding::Failed {
                    result.failed = Some(true);
                }
                let mut calls = awaited.calls;
                let last = calls.pop();
                for call in calls.into_iter().filter(|call| call.end.is_some()) {
                    given.push(self.end_call(call, PrintedResult::default()));
                }
                given.extend(last.map(|last| self.end_call(last, result)));
            }
        }
        given
    }

    fn end_call(&mut self, mut call: WrappedCall, result: PrintedResult) -> (String, ToolOutput) {
        // A script may print only the output of a poll: then the duration shows whether the command ended.
        let has_waited = call.yield_ms.zip(result.duration_ms).is_some_and(|(longest, took)| took >= longest);
        // A failed poll says nothing about the command.
        let is_lost = result.failed == Some(true);
        let polled = call.session.take().filter(|_| has_waited || is_lost);
        let session = result.session.clone().or(polled).filter(|_| result.exit_code.is_none());
        let mut output = result.into_output();
        if let Some(end) = call.end.take() {
            if output.text.is_empty() {
                output.text = end.text;
            }
            output.exit_code = output.exit_code.or(end.exit_code);
            output.failed = output.failed.or(end.failed);
            output.duration_ms = end.duration_ms.or(output.duration_ms);
        }
        if let Some(session) = session {
            self.remember_session(&session, Some(&call));
            mark_running(&mut output, "session", &session);
        }
        (call.id, output)
    }

    fn remember_session(&mut self, session: &str, call: Option<&WrappedCall>) {
        if let Some(command) = call.and_then(|call| call.command.clone()) {
            self.sessions.insert(session, command);
        }
    }
}

impl AwaitedCall {
    /// Joins the commands of a script, one per line, with the folder if all of them run in the same one.
    fn join_commands(&self) -> Option<CommandArguments> {
        let commands: Vec<&CommandArguments> = self.calls.iter().filter_map(|call| call.command.as_ref()).collect();
        let lines: Vec<&str> = commands.iter().filter_map(|command| json_fields::get_str(command, "cmd")).collect();
        let mut joined = (*commands.first()?).clone();
        if commands.iter().any(|command| command.get("workdir") != joined.get("workdir")) {
            joined.remove("workdir");
        }
        joined.insert("cmd".to_owned(), Value::String(lines.join("\n")));
        Some(joined)
    }
}

/// Returns true if two tool names are equal apart from separators, which differ in events.
fn is_same_tool(one: &str, other: &str) -> bool {
    let letters = |name: &'_ str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    one == other || letters(one) == letters(other)
}

/// Marks an output that came before its command ended, so that it is not taken for the result.
fn mark_running(output: &mut ToolOutput, place: &str, number: &str) {
    let text = std::mem::take(&mut output.text);
    let separator = if text.is_empty() { "" } else { "\n" };
    output.text = format!("{RUNNING} ({place} {number}){separator}{text}");
    output.failed = None;
}

/// Reads an id that is a number or a text.
fn read_id_argument(arguments: &Value, key: &str) -> Option<String> {
    match arguments.get(key)? {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Tells whether a call asks to run outside the sandbox, which a person may have to permit.
fn asks_permission(arguments: &Value) -> bool {
    arguments.get("sandbox_permissions").is_some_and(|asked| asked != "use_default")
        || arguments.get("with_escalated_permissions") == Some(&Value::Bool(true))
}

/// Reads the maximum wait of a call. A poll that sends nothing waits at least five seconds.
fn read_yield_ms(arguments: &Value) -> Option<u64> {
    let asked = arguments.get("yield_time_ms")?.as_u64()?;
    let is_silent = arguments.get("chars").and_then(Value::as_str).is_none_or(str::is_empty);
    Some(if is_silent { asked.max(MIN_SILENT_POLL_MS) } else { asked })
}

fn read_command_arguments(arguments: &Value) -> Option<CommandArguments> {
    let command = ["cmd", "command"].iter().find_map(|key| arguments.get(key)?.as_str())?;
    let mut found = Object::from_iter([("cmd".to_owned(), Value::String(command.to_owned()))]);
    if let Some(folder) = ["workdir", "cwd"].iter().find_map(|key| arguments.get(key)?.as_str()) {
        found.insert("workdir".to_owned(), Value::String(folder.to_owned()));
    }
    Some(found)
}

fn add_command(arguments: &mut Value, command: CommandArguments) {
    if let Value::Object(arguments) = arguments {
        for (key, value) in command {
            arguments.entry(key).or_insert(value);
        }
    }
}
