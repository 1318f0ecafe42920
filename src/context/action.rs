//! What a call does, whatever the tool is called.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

mod shell;

pub(crate) use shell::{Part, is_look, parts};
pub(super) use shell::{git, is_assignment};

#[cfg(test)]
#[path = "action_tests.rs"]
mod tests;

/// As much of a command as is looked at.
const MAX_COMMAND_BYTES: usize = 4096;

/// What an agent asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// To run a command.
    Run {
        /// As it was given, without the shell around it.
        command: String,
    },
    /// To change files.
    Edit(Vec<Change>),
    /// To look at files.
    Read {
        /// The file or folder, where one is named.
        path: Option<String>,
    },
    /// To fetch something from outside.
    Fetch,
    /// To have another agent do something.
    Delegate,
    /// Anything else.
    Other,
}

/// One file that is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Which.
    pub(crate) path: String,
    /// A fingerprint of what stood there; 0 if that is not told.
    pub(super) before: u64,
    /// A fingerprint of what stands there now; 0 if that is not told.
    pub(super) after: u64,
}

impl Action {
    /// Reads a call.
    pub(crate) fn of(tool: &str, arguments: &Value) -> Self {
        let name = bare(tool);
        match kind(&name) {
            Kind::Run => command(arguments).map_or(Self::Other, |command| Self::Run { command }),
            Kind::Edit => Self::Edit(changes(arguments)),
            // One tool of several editors, told apart by a command among its arguments.
            Kind::Editor => match arguments.get("command").and_then(Value::as_str) {
                Some("view") => Self::Read { path: path(arguments) },
                _ => Self::Edit(changes(arguments)),
            },
            Kind::Read => Self::Read { path: path(arguments) },
            Kind::Fetch => Self::Fetch,
            Kind::Delegate => Self::Delegate,
            Kind::Other if tool.starts_with("mcp__") => Self::Fetch,
            Kind::Other => command_alone(arguments).map_or(Self::Other, |command| Self::Run { command }),
        }
    }

    /// The command, if one is run.
    pub(super) fn command(&self) -> Option<&str> {
        match self {
            Self::Run { command } => Some(command),
            _ => None,
        }
    }

    /// Whether a call of it that came back may have changed what the next one finds.
    pub(super) fn may_change(&self, tool: &str, has_passed: bool) -> bool {
        match self {
            // What a person ran in a terminal is not told.
            Self::Run { command } if command.is_empty() => true,
            Self::Run { command } => shell::may_change(command, has_passed),
            Self::Edit(_) => has_passed,
            Self::Read { .. } => false,
            Self::Fetch => tool.strip_prefix("mcp__").is_some_and(|tool| !is_look_of_tool(tool)),
            Self::Delegate => true,
            Self::Other => !is_note(&bare(tool)),
        }
    }
}

/// Whether a tool only notes or thinks.
fn is_note(name: &str) -> bool {
    matches!(
        name,
        "todowrite"
            | "todoread"
            | "todo"
            | "updatetodo"
            | "writetodos"
            | "updateplan"
            | "plan"
            | "exitplanmode"
            | "enterplanmode"
            | "think"
            | "sequentialthinking"
            | "askuserquestion"
            | "taskcreate"
            | "taskupdate"
            | "tasklist"
            | "taskget"
            | "taskoutput"
            | "bashoutput"
    )
}

/// Whether the name of a tool, behind that of its server, speaks of looking alone.
fn is_look_of_tool(tool: &str) -> bool {
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

enum Kind {
    Run,
    Edit,
    Editor,
    Read,
    Fetch,
    Delegate,
    Other,
}

fn kind(name: &str) -> Kind {
    match name {
        "bash" | "shell" | "sh" | "terminal" | "execcommand" | "bashcommand" | "localshell" | "localshellcall"
        | "runterminalcmd" | "runterminalcommand" | "executebash" | "executecommand" | "runshellcommand"
        | "runcommand" | "commandexecution" | "containerexec" | "exec" | "process" | "unifiedexec" | "shellcommand"
        | "powershell" | "verify" | "runtests" => Kind::Run,
        "edit" | "multiedit" | "write" | "notebookedit" | "applypatch" | "patch" | "writefile" | "createfile"
        | "editfile" | "replace" | "searchreplace" | "strreplace" | "filechange" | "filewrite" | "applydiff"
        | "deletefile" | "insertedit" | "update" => Kind::Edit,
        "strreplaceeditor" | "strreplacebasededittool" | "texteditor" | "editor" => Kind::Editor,
        "read" | "readfile" | "readmanyfiles" | "view" | "viewfile" | "viewimage" | "openfile" | "cat" | "grep"
        | "glob" | "ls" | "list" | "listdir" | "listdirectory" | "listfiles" | "search" | "searchfiles"
        | "searchfilecontent" | "codebasesearch" | "grepsearch" | "filesearch" | "find" | "toolsearch" | "lsp" => {
            Kind::Read
        }
        "webfetch" | "websearch" | "websearchcall" | "fetch" | "httpget" | "browse" | "googlewebsearch" | "browser"
        | "openurl" | "curl" => Kind::Fetch,
        "task" | "agent" | "spawnagent" | "delegate" | "subagent" | "sendmessage" | "waitagent" | "dispatchagent" => {
            Kind::Delegate
        }
        name if name.starts_with("browser") || name.starts_with("playwright") => Kind::Fetch,
        _ => Kind::Other,
    }
}

/// A tool's name in lower case, without what separates its words and without its namespace.
fn bare(tool: &str) -> String {
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    last.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The command among the arguments of a tool that runs commands.
fn command(arguments: &Value) -> Option<String> {
    let given = ["command", "cmd", "keystrokes", "script", "commands", "code", "input"]
        .iter()
        .find_map(|key| arguments.get(key))
        .unwrap_or(arguments);
    spoken(given).or_else(|| given.get("command").and_then(spoken))
}

/// The command of a tool that nobody here knows, if there is no doubt that it is one.
fn command_alone(arguments: &Value) -> Option<String> {
    spoken(arguments.get("command").or_else(|| arguments.get("cmd"))?)
}

fn spoken(given: &Value) -> Option<String> {
    let command = match given {
        Value::String(command) => command.trim().to_owned(),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                // A shell that runs one script is not worth mentioning.
                [shell, flag, script] if is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') => {
                    script.trim().to_owned()
                }
                words => words.join(" "),
            }
        }
        _ => return None,
    };
    // What comes later in a long script is its data.
    let shown = command.get(..command.floor_char_boundary(MAX_COMMAND_BYTES)).unwrap_or_default();
    (!shown.is_empty()).then(|| shown.to_owned())
}

fn is_shell(program: &str) -> bool {
    matches!(program.rsplit('/').next().unwrap_or(program), "bash" | "sh" | "zsh" | "dash" | "fish")
}

fn path(arguments: &Value) -> Option<String> {
    ["file_path", "path", "filePath", "absolute_path", "filename", "target_file", "notebook_path", "file"]
        .iter()
        .find_map(|key| arguments.get(key)?.as_str())
        .map(str::to_owned)
}

/// The files that an edit changes.
fn changes(arguments: &Value) -> Vec<Change> {
    let patch = match arguments {
        Value::String(patch) => Some(patch.as_str()),
        arguments => ["input", "patch", "diff"].iter().find_map(|key| arguments.get(key)?.as_str()),
    };
    if let Some(patch) = patch {
        return patched(patch);
    }
    if let Some(changes) = arguments.get("changes") {
        return listed(changes);
    }
    let Some(path) = path(arguments) else { return Vec::new() };
    let text = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(key)?.as_str()).map_or(0, fingerprint);
    match arguments.get("edits").and_then(Value::as_array) {
        Some(edits) => edits
            .iter()
            .map(|edit| {
                let text = |key: &str| edit.get(key).and_then(Value::as_str).map_or(0, fingerprint);
                Change { path: path.clone(), before: text("old_string"), after: text("new_string") }
            })
            .collect(),
        None => vec![Change {
            before: text(&["old_string", "old_str", "oldString", "search"]),
            after: text(&["new_string", "new_str", "newString", "content", "file_text", "contents", "replace"]),
            path,
        }],
    }
}

/// The files of a list or map of changes, as Codex tells them.
fn listed(changes: &Value) -> Vec<Change> {
    let change = |path: &str| Change { path: path.to_owned(), before: 0, after: 0 };
    match changes {
        Value::Object(by_path) => by_path.keys().map(|path| change(path)).collect(),
        Value::Array(list) => list.iter().filter_map(|entry| entry.get("path")?.as_str()).map(change).collect(),
        _ => Vec::new(),
    }
}

/// The files that a patch names, with the lines taken out and put in.
fn patched(patch: &str) -> Vec<Change> {
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
        .map(|(path, before, after)| Change { path, before: before.finish(), after: after.finish() })
        .collect()
}

/// Stands for a text that is compared and never shown.
pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.trim_end().hash(&mut hasher);
    hasher.finish()
}

/// What makes two commands the same: the words and the folder, without what differs from run to run.
pub(super) fn command_key(command: &str, folder: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    let mut rest = command;
    while let Some(pipe) = rest.find('|') {
        let (before, behind) = rest.split_at_checked(pipe).unwrap_or((rest, ""));
        let behind = behind.trim_start_matches('|');
        hash_words(before, &mut hasher);
        rest = if is_cut(behind.trim_start()) { behind_cut(behind) } else { behind };
        if !is_cut(behind.trim_start()) {
            '|'.hash(&mut hasher);
        }
    }
    hash_words(rest, &mut hasher);
    hasher.finish()
}

fn hash_words(text: &str, hasher: &mut DefaultHasher) {
    for word in text.split_whitespace().filter(|word| !matches!(*word, "2>&1" | "--no-color" | "--nocapture")) {
        word.hash(hasher);
    }
}

/// Whether a part of a pipe only cuts what came before.
fn is_cut(part: &str) -> bool {
    ["tail", "head"].iter().any(|program| {
        part.strip_prefix(program)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "-_./".contains(c)))
    })
}

/// What follows that part of the pipe.
fn behind_cut(part: &str) -> &str {
    let end = [part.find([';', '\n', '|']), part.find("&&")].into_iter().flatten().min();
    end.and_then(|end| part.get(end..)).unwrap_or_default()
}

/// The folder that a command goes to first, and what it does there.
pub(super) fn at_folder(command: &str) -> (Option<&str>, &str) {
    let moved = command.trim_start().strip_prefix("cd ").and_then(|rest| {
        let ends = [rest.find("&&").map(|at| (at, 2)), rest.find([';', '\n']).map(|at| (at, 1))];
        let (at, length) = ends.into_iter().flatten().min()?;
        let folder = rest.get(..at)?.trim().trim_matches(['"', '\'']);
        Some((Some(folder), rest.get(at + length..)?.trim()))
    });
    moved.filter(|(_, rest)| !rest.is_empty()).unwrap_or((None, command))
}
