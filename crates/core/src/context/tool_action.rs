//! Reads what a tool call does, whatever the tool is called.

use crate::domain::fingerprint_text;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

mod shell_effect;

pub(crate) use shell_effect::{ShellCommand, is_read_only_command, parse_shell_commands};
pub(super) use shell_effect::{all_commands_match, parse_git_command};

use super::command_prefixes::{SHELLS, contains_word};
use crate::text::shell_lexer::{
    CommandSeparator, ShellWord, WordRole, program_name, split_commands, strip_leading_commands,
};

#[cfg(test)]
#[path = "tool_action_tests.rs"]
mod tests;

/// The number of bytes of a command that are read.
const MAX_COMMAND_BYTES: usize = 4096;

/// The action that an agent asks a tool to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolAction {
    /// Runs a command.
    Run {
        /// The command as given, without the shell around it.
        command: String,
    },
    /// Changes one or more files.
    Edit(Vec<EditedFile>),
    /// Reads files or folders.
    Read {
        /// The file or folder, where the call names one.
        path: Option<String>,
    },
    /// Fetches something from outside.
    Fetch,
    /// Delegates work to another agent.
    Delegate,
    /// Does anything else.
    Other,
}

/// One file that an edit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditedFile {
    /// The path of the file.
    pub(crate) path: String,
    /// A fingerprint of the replaced text; 0 if the call does not give it.
    pub(super) before: u64,
    /// A fingerprint of the new text; 0 if the call does not give it.
    pub(super) after: u64,
}

impl ToolAction {
    /// Reads the action from a tool's name and arguments.
    pub(crate) fn from_call(tool: &str, arguments: &Value) -> Self {
        let name = normalize_tool_name(tool);
        match classify_tool(&name) {
            ToolActionKind::Run => find_command(arguments).map_or(Self::Other, |command| Self::Run { command }),
            ToolActionKind::Edit => Self::Edit(read_edited_files(arguments)),
            // Several editors have one such tool; a command among its arguments says what it does.
            ToolActionKind::Editor => match arguments.get("command").and_then(Value::as_str) {
                Some("view") => Self::Read { path: find_path(arguments) },
                _ => Self::Edit(read_edited_files(arguments)),
            },
            ToolActionKind::Read => Self::Read { path: find_path(arguments) },
            ToolActionKind::Fetch => Self::Fetch,
            ToolActionKind::Delegate => Self::Delegate,
            ToolActionKind::Other if tool.starts_with("mcp__") => Self::Fetch,
            ToolActionKind::Other => {
                find_explicit_command(arguments).map_or(Self::Other, |command| Self::Run { command })
            }
        }
    }

    /// Returns the command, if the action runs one.
    pub(super) fn command(&self) -> Option<&str> {
        match self {
            Self::Run { command } => Some(command),
            _ => None,
        }
    }

    /// Returns true if a finished call of this action may have changed what the next call finds.
    pub(super) fn may_change(&self, tool: &str, has_passed: bool) -> bool {
        match self {
            // An empty command stands for what a person ran in a terminal; the log does not show it.
            Self::Run { command } if command.is_empty() => true,
            Self::Run { command } => shell_effect::may_change(command, has_passed),
            Self::Edit(_) => has_passed,
            Self::Read { .. } => false,
            Self::Fetch => tool.strip_prefix("mcp__").is_some_and(|tool| !is_read_only_tool(tool)),
            Self::Delegate => true,
            Self::Other => !is_note_tool(&normalize_tool_name(tool)),
        }
    }
}

/// Returns true if a tool only takes notes, plans or thinks.
fn is_note_tool(name: &str) -> bool {
    const NOTE_TOOLS: &str = "\
        todowrite todoread todo updatetodo writetodos updateplan plan exitplanmode enterplanmode think \
        sequentialthinking askuserquestion taskcreate taskupdate tasklist taskget taskoutput bashoutput";
    contains_word(NOTE_TOOLS, name)
}

/// Returns true if an MCP tool's name, after that of its server, speaks only of reading.
fn is_read_only_tool(tool: &str) -> bool {
    const LOOKS: &[&str] =
        &["get", "list", "read", "search", "fetch", "view", "find", "query", "show", "think", "resolve"];
    const DEEDS: &[&str] = &[
        "create", "update", "delete", "write", "set", "replace", "edit", "insert", "remove", "run", "execute", "add",
        "apply", "move", "rename", "put", "post", "patch", "push", "merge", "send", "click",
    ];
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let mut words: Vec<String> = vec![String::new()];
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    has(LOOKS) && !has(DEEDS)
}

enum ToolActionKind {
    Run,
    Edit,
    Editor,
    Read,
    Fetch,
    Delegate,
    Other,
}

fn classify_tool(name: &str) -> ToolActionKind {
    match name {
        "bash" | "shell" | "sh" | "terminal" | "execcommand" | "bashcommand" | "localshell" | "localshellcall"
        | "runterminalcmd" | "runterminalcommand" | "executebash" | "executecommand" | "runshellcommand"
        | "runcommand" | "commandexecution" | "containerexec" | "exec" | "process" | "unifiedexec" | "shellcommand"
        | "powershell" | "verify" | "runtests" => ToolActionKind::Run,
        "edit" | "multiedit" | "write" | "notebookedit" | "applypatch" | "patch" | "writefile" | "createfile"
        | "editfile" | "replace" | "searchreplace" | "strreplace" | "filechange" | "filewrite" | "applydiff"
        | "deletefile" | "insertedit" | "update" => ToolActionKind::Edit,
        "strreplaceeditor" | "strreplacebasededittool" | "texteditor" | "editor" => ToolActionKind::Editor,
        "read" | "readfile" | "readmanyfiles" | "view" | "viewfile" | "viewimage" | "openfile" | "cat" | "grep"
        | "glob" | "ls" | "list" | "listdir" | "listdirectory" | "listfiles" | "search" | "searchfiles"
        | "searchfilecontent" | "codebasesearch" | "grepsearch" | "filesearch" | "find" | "toolsearch" | "lsp" => {
            ToolActionKind::Read
        }
        "webfetch" | "websearch" | "websearchcall" | "fetch" | "httpget" | "browse" | "googlewebsearch" | "browser"
        | "openurl" | "curl" => ToolActionKind::Fetch,
        "task" | "agent" | "spawnagent" | "delegate" | "subagent" | "sendmessage" | "waitagent" | "dispatchagent" => {
            ToolActionKind::Delegate
        }
        name if name.starts_with("browser") || name.starts_with("playwright") => ToolActionKind::Fetch,
        _ => ToolActionKind::Other,
    }
}

/// Returns a tool's name in lower case, without separators between words and without its namespace.
fn normalize_tool_name(tool: &str) -> String {
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    last.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Finds the command among the arguments of a tool that runs commands.
fn find_command(arguments: &Value) -> Option<String> {
    let given = ["command", "cmd", "keystrokes", "script", "commands", "code", "input"]
        .iter()
        .find_map(|key| arguments.get(key))
        .unwrap_or(arguments);
    read_command_value(given).or_else(|| given.get("command").and_then(read_command_value))
}

/// Finds the command of an unknown tool, if its arguments name one explicitly.
fn find_explicit_command(arguments: &Value) -> Option<String> {
    read_command_value(arguments.get("command").or_else(|| arguments.get("cmd"))?)
}

fn read_command_value(given: &Value) -> Option<String> {
    let command = match given {
        Value::String(command) => command.trim().to_owned(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                // A shell that runs one script is left out; the script is the command.
                [shell, flag, script]
                    if contains_word(SHELLS, program_name(shell)) && flag.starts_with('-') && flag.ends_with('c') =>
                {
                    script.trim().to_owned()
                }
                words => words.join(" "),
            }
        }
        _ => return None,
    };
    // The later part of a long script is its data.
    let shown = command.get(..command.floor_char_boundary(MAX_COMMAND_BYTES)).unwrap_or_default();
    (!shown.is_empty()).then(|| shown.to_owned())
}

fn find_path(arguments: &Value) -> Option<String> {
    ["file_path", "path", "filePath", "absolute_path", "filename", "target_file", "notebook_path", "file"]
        .iter()
        .find_map(|key| arguments.get(key)?.as_str())
        .map(str::to_owned)
}

/// Returns the files that an edit changes.
fn read_edited_files(arguments: &Value) -> Vec<EditedFile> {
    let patch = match arguments {
        Value::String(patch) => Some(patch.as_str()),
        arguments => ["input", "patch", "diff"].iter().find_map(|key| arguments.get(key)?.as_str()),
    };
    if let Some(patch) = patch {
        return read_patched_files(patch);
    }
    if let Some(changes) = arguments.get("changes") {
        return read_listed_files(changes);
    }
    let Some(path) = find_path(arguments) else { return Vec::new() };
    let text = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(key)?.as_str()).map_or(0, fingerprint_content);
    match arguments.get("edits").and_then(Value::as_array) {
        Some(edits) => edits
            .iter()
            .map(|edit| {
                let text = |key: &str| edit.get(key).and_then(Value::as_str).map_or(0, fingerprint_content);
                EditedFile { path: path.clone(), before: text("old_string"), after: text("new_string") }
            })
            .collect(),
        None => vec![EditedFile {
            before: text(&["old_string", "old_str", "oldString", "search"]),
            after: text(&["new_string", "new_str", "newString", "content", "file_text", "contents", "replace"]),
            path,
        }],
    }
}

/// Returns the files of a list or map of changes, as Codex writes them.
fn read_listed_files(changes: &Value) -> Vec<EditedFile> {
    let change = |path: &str| EditedFile { path: path.to_owned(), before: 0, after: 0 };
    match changes {
        Value::Object(by_path) => by_path.keys().map(|path| change(path)).collect(),
        Value::Array(list) => list.iter().filter_map(|entry| entry.get("path")?.as_str()).map(change).collect(),
        _ => Vec::new(),
    }
}

/// Returns the files that a patch names, with fingerprints of the removed and added lines.
fn read_patched_files(patch: &str) -> Vec<EditedFile> {
    let mut changes: Vec<(String, DefaultHasher, DefaultHasher)> = Vec::new();
    for line in patch.lines() {
        let named = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"]
            .iter()
            .find_map(|marker| line.strip_prefix(marker));
        if let Some(path) = named {
            changes.push((path.trim().to_owned(), DefaultHasher::new(), DefaultHasher::new()));
        } else if let Some((_, before, after)) = changes.last_mut() {
            match line.split_at_checked(1) {
                Some(("-", text)) => text.hash(before),
                Some(("+", text)) => text.hash(after),
                _ => {}
            }
        }
    }
    changes
        .into_iter()
        .map(|(path, before, after)| EditedFile { path, before: before.finish(), after: after.finish() })
        .collect()
}

/// Returns a fingerprint of a text that ignores trailing whitespace.
pub(super) fn fingerprint_content(text: &str) -> u64 {
    fingerprint_text(text.trim_end())
}

/// Returns a key that equal commands share: a hash of words and folder, without what varies between runs or only cuts
/// the output.
pub(super) fn command_key(command: &str, folder: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let mut before = CommandSeparator::Next;
    for part in split_commands(command) {
        let reached_by = std::mem::replace(&mut before, part.separator);
        if reached_by == CommandSeparator::Pipe && matches!(part.program(), "tail" | "head") {
            continue;
        }
        reached_by.hash(&mut hasher);
        let is_varied = |word: &ShellWord| {
            word.role == WordRole::Duplicate || matches!(word.text.as_str(), "--no-color" | "--nocapture")
        };
        for word in part.words.iter().filter(|word| !is_varied(word)) {
            (word.role, &word.text).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Splits a leading `cd` off a command: returns the folder and the rest of the command.
pub(super) fn split_leading_cd(command: &str) -> (Option<&str>, &str) {
    let mut folder = None;
    let rest = strip_leading_commands(command, |part| {
        let is_first_cd = folder.is_none() && part.program() == "cd";
        folder = folder.or(part.arguments().nth(1).filter(|_| is_first_cd).map(|word| word.as_written(command)));
        is_first_cd && folder.is_some()
    });
    (folder, if folder.is_some() { rest } else { command })
}
