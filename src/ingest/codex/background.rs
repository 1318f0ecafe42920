//! Calls that wrap commands: scripts, commands that run on in a session or a cell, and the polls that ask for more.
//!
//! A poll is told as a call of its own, with the command that it asks for, so that what it brings is known as that
//! command's. What came before a command was over is marked as no result.

use std::collections::HashMap;
use std::collections::VecDeque;

use serde_json::Value;

use super::outputs;
use super::script_outputs;
use super::script_outputs::PrintedResult;
use super::script_outputs::ScriptEnding;
use super::scripts;
use super::scripts::ScriptText;
use super::twins::fingerprint;
use crate::domain::Call;
use crate::domain::Output;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;

/// So many calls, and so many running commands, are remembered.
const MAX_REMEMBERED: usize = 512;

/// A poll that sends nothing waits at least so long.
const MIN_SILENT_POLL_MS: u64 = 5000;

/// How an output begins that came before the command was over. Claude Code says it in the same words.
const RUNNING: &str = "Command running in background";

/// How the output of a poll begins that found no such session.
const LOST: &str = "write_stdin failed";

/// The tool that asks a session for more. Polls of a cell whose command is known are told by this name too.
const POLL: &str = "write_stdin";

/// A command, and the arguments that say where it runs.
type CommandArguments = Object;

/// One call that stands within a script, or alone.
#[derive(Debug, Default)]
struct WrappedCall {
    id: String,
    tool: String,
    command: Option<CommandArguments>,
    /// It is a poll of this session.
    session: Option<String>,
    /// It comes back after so long at the latest, whether the command is over or not.
    yield_ms: Option<u64>,
    /// Another line told of this call already.
    is_matched: bool,
    /// What that line said of its end.
    end: Option<Output>,
}

/// A call of the model whose output is awaited.
#[derive(Debug, Default)]
struct AwaitedCall {
    script: ScriptText,
    is_script: bool,
    /// It may have waited for a person's permission, so that the time it took tells nothing.
    asks_permission: bool,
    /// It asks for more of the script in this cell.
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
        let key = fingerprint(key);
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
        self.entries.get(&fingerprint(key))
    }

    fn remove(&mut self, key: &str) -> Option<V> {
        let key = fingerprint(key);
        self.order.retain(|known| *known != key);
        self.entries.remove(&key)
    }

    /// Visits the entries, the newest first.
    fn find_newest<T>(&mut self, mut find: impl FnMut(&mut V) -> Option<T>) -> Option<T> {
        let Self { entries, order } = self;
        order.iter().rev().find_map(|key| find(entries.get_mut(key)?))
    }
}

/// Commands in flight.
#[derive(Debug, Default)]
pub(super) struct BackgroundCommands {
    awaited: BoundedMap<AwaitedCall>,
    /// Scripts that run on, by cell.
    cells: BoundedMap<AwaitedCall>,
    /// Commands that run on, by session.
    sessions: BoundedMap<CommandArguments>,
}

impl BackgroundCommands {
    /// Takes a call apart into those that it wraps, each with the command that it runs or asks for.
    pub(super) fn unwrap_call(&mut self, mut call: Call) -> Vec<Call> {
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
                    unwrapped.push(Call { id, tool: one.tool, arguments: one.arguments, output: None });
                }
                awaited.script.calls = calls;
                if unwrapped.is_empty() {
                    unwrapped.push(call.clone());
                }
            }
            "wait" => {
                let Some(cell) = id_argument(&call.arguments, "cell_id") else { return vec![call] };
                if let Some(command) = self.cells.get(&cell).and_then(AwaitedCall::joined_command) {
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
            let session = id_argument(&one.arguments, "session_id").filter(|_| one.tool == POLL);
            if let Some(command) = session.as_ref().and_then(|session| self.sessions.get(session)) {
                add_command(&mut one.arguments, command.clone());
            }
            awaited.asks_permission |= asks_permission(&one.arguments);
            awaited.calls.push(WrappedCall {
                id: one.id.clone(),
                tool: one.tool.clone(),
                command: command_arguments(&one.arguments),
                yield_ms: yield_ms(&one.arguments),
                session,
                ..WrappedCall::default()
            });
        }
        self.awaited.insert(&call.id, awaited);
        unwrapped
    }

    /// Matches what an event tells of a call with one that stands in a script; returns whether there is one.
    pub(super) fn absorb_event(&mut self, tool: &str, end: Option<&Output>) -> bool {
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

    /// Reads what came back from a call of the model, for each call that it wraps.
    pub(super) fn read_output(&mut self, id: &str, content: Value) -> Vec<(String, Output)> {
        let Some(mut awaited) = self.awaited.remove(id) else {
            return vec![(id.to_owned(), outputs::output(content))];
        };
        let reply = if awaited.is_script { script_outputs::open_envelope(&content) } else { None };
        let Some(reply) = reply else {
            let mut output = outputs::output(content);
            let polled = awaited.calls.last().and_then(|call| call.session.clone());
            let lost = polled.filter(|_| output.text.starts_with(LOST));
            if let Some(session) = outputs::running_session(&output.text).map(str::to_owned).or(lost) {
                self.remember_session(&session, awaited.calls.last());
                mark_running(&mut output, "session", &session);
            }
            return vec![(id.to_owned(), output)];
        };
        // A poll brings what the script prints that it asks for.
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
        let shared = if is_shared { script_outputs::share_texts(&awaited.script, &reply.texts) } else { None };
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

    fn end_call(&mut self, mut call: WrappedCall, result: PrintedResult) -> (String, Output) {
        // A script may print the output of a poll alone: then the time it took tells whether the command was over.
        let has_waited = call.yield_ms.zip(result.duration_ms).is_some_and(|(longest, took)| took >= longest);
        // That a poll went wrong says nothing of the command.
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
    /// Joins the commands of a script, one a line, with the folder in which all of them run.
    fn joined_command(&self) -> Option<CommandArguments> {
        let commands: Vec<&CommandArguments> = self.calls.iter().filter_map(|call| call.command.as_ref()).collect();
        let lines: Vec<&str> = commands.iter().filter_map(|command| pick::str(command, "cmd")).collect();
        let mut joined = (*commands.first()?).clone();
        if commands.iter().any(|command| command.get("workdir") != joined.get("workdir")) {
            joined.remove("workdir");
        }
        joined.insert("cmd".to_owned(), Value::String(lines.join("\n")));
        Some(joined)
    }
}

/// Compares names of tools, in which events may write other separators.
fn is_same_tool(one: &str, other: &str) -> bool {
    let letters = |name: &'_ str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    one == other || letters(one) == letters(other)
}

/// Marks an output that came before its command was over, so that nobody takes it for the result.
fn mark_running(output: &mut Output, place: &str, number: &str) {
    let text = std::mem::take(&mut output.text);
    let separator = if text.is_empty() { "" } else { "\n" };
    output.text = format!("{RUNNING} ({place} {number}){separator}{text}");
    output.failed = None;
}

/// Reads a number or a text that names something.
fn id_argument(arguments: &Value, key: &str) -> Option<String> {
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

/// Reads how long a poll waits. One that sends nothing waits at least five seconds.
fn yield_ms(arguments: &Value) -> Option<u64> {
    let asked = arguments.get("yield_time_ms")?.as_u64()?;
    let is_silent = arguments.get("chars").and_then(Value::as_str).is_none_or(str::is_empty);
    Some(if is_silent { asked.max(MIN_SILENT_POLL_MS) } else { asked })
}

fn command_arguments(arguments: &Value) -> Option<CommandArguments> {
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
