//! Which format a log is in: by what it holds, never by its name.

use std::io::Cursor;
use std::io::Read;

use super::Unreadable;
use super::lines::read_some;
use super::packed::Damage;
use super::packed::Unpacked;
use super::packed::is_packed;
use super::shape::Shape;
use super::shape::trimmed;

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;

/// How much is looked at.
const LOOKED_AT_BYTES: usize = 256 * 1024;

/// How many lines are looked at where something else than JSON comes first.
const LOOKED_AT_LINES: usize = 40;

/// What a log is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(into = "&'static str")]
pub enum Format {
    /// Harbor's interchange format, in one document, or in an array of them.
    Atif,
    /// The same, one step a line.
    AtifStream,
    /// Claude Code's transcripts, and the stream of its headless mode.
    ClaudeCode,
    /// Codex's rollouts, of all generations.
    Codex,
    /// What `codex exec --json` prints.
    CodexExec,
    /// OpenAgents' sessions.
    OpenAgentsSession,
    /// OpenAgents' run logs.
    OpenAgentsRunLog,
    /// OpenAgents' own trajectory records.
    OpenAgentsTrajectories,
    /// OpenAgents' small documents: run metadata, stream index, Healer state, APM snapshots.
    OpenAgentsState,
    /// OpenAgents' `progress.md`.
    ProgressNotes,
    /// ArcheFlow's run events.
    ArcheFlow,
    /// Gemini CLI's chats.
    Gemini,
    /// OpenCode's exported sessions.
    OpenCode,
    /// Chat messages, one a line: see `docs/formats.md`.
    Generic,
}

impl Format {
    /// Its name in `inspect --json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Atif => "atif",
            Self::AtifStream => "atif-stream",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::CodexExec => "codex-exec",
            Self::OpenAgentsSession => "openagents-session",
            Self::OpenAgentsRunLog => "openagents-run-log",
            Self::OpenAgentsTrajectories => "openagents-trajectories",
            Self::OpenAgentsState => "openagents-state",
            Self::ProgressNotes => "progress-notes",
            Self::ArcheFlow => "archeflow",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Generic => "generic",
        }
    }
}

impl From<Format> for &'static str {
    fn from(format: Format) -> Self {
        format.as_str()
    }
}

/// How a log's JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// One object a line.
    Lines,
    /// Values over many lines, or an array.
    Document,
}

/// A log whose format is known.
pub(super) struct Detected<'i> {
    pub(super) format: Format,
    pub(super) layout: Layout,
    /// From its beginning, and unpacked if it was packed.
    pub(super) input: Box<dyn Read + Send + 'i>,
    /// Whether it could not be unpacked to its end.
    pub(super) damage: Damage,
}

/// Looks at the beginning of a log.
pub(super) fn detect<'i>(input: &'i mut (dyn Read + Send)) -> Result<Detected<'i>, Unreadable> {
    let (beginning, rest, damage) = unpacked(input)?;
    let (format, layout) = format_of(&beginning)?;
    Ok(Detected { format, layout, input: Box::new(Cursor::new(beginning).chain(rest)), damage })
}

/// A log of a known format.
pub(super) fn known<'i>(format: Format, input: &'i mut (dyn Read + Send)) -> std::io::Result<Detected<'i>> {
    let (beginning, rest, damage) = unpacked(input)?;
    let text = text_of(&beginning);
    let layout = match text.first() {
        Some(b'[') if Shape::of(text.get(1..).unwrap_or_default()).is_some() => Layout::Document,
        Some(b'{') => layout_of(text),
        _ => Layout::Lines,
    };
    Ok(Detected { format, layout, input: Box::new(Cursor::new(beginning).chain(rest)), damage })
}

type Beginning<'i> = (Vec<u8>, Box<dyn Read + Send + 'i>, Damage);

/// The beginning of a log and the rest of it, unpacked if it was packed.
fn unpacked<'i>(input: &'i mut (dyn Read + Send)) -> std::io::Result<Beginning<'i>> {
    let packed = beginning(input)?;
    if !is_packed(&packed) {
        return Ok((packed, Box::new(input), Damage::default()));
    }
    let mut rest = Unpacked::new(packed, input);
    let damage = rest.damage();
    let beginning = beginning(&mut rest)?;
    if beginning.is_empty() && damage.is_there() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "it cannot be unpacked"));
    }
    Ok((beginning, Box::new(rest), damage))
}

fn beginning(input: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; LOOKED_AT_BYTES];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match read_some(input, room)? {
            0 => break,
            read => filled += read,
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn text_of(beginning: &[u8]) -> &[u8] {
    trimmed(beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning))
}

/// The format of a log that begins like this.
fn format_of(beginning: &[u8]) -> Result<(Format, Layout), Unreadable> {
    let text = text_of(beginning);
    match text.first() {
        None => Err(if beginning.contains(&0) { not_json(beginning) } else { Unreadable::Empty }),
        Some(b'{') => format_of_objects(text),
        Some(b'[') => {
            let element = Shape::of(text.get(1..).unwrap_or_default());
            if let Some(format) = element.as_ref().and_then(classify) {
                return Ok((format, Layout::Document));
            }
            let array = || Unreadable::UnknownFormat("it is a JSON array".to_owned());
            format_among_others(text).map(|format| (format, Layout::Lines)).ok_or_else(array)
        }
        Some(_) => {
            let is_progress = ["# Session Progress", "## Session Info", "## Session info"]
                .iter()
                .any(|heading| memchr::memmem::find(text, heading.as_bytes()).is_some());
            match format_among_others(text) {
                _ if is_progress => Ok((Format::ProgressNotes, Layout::Document)),
                Some(format) => Ok((format, Layout::Lines)),
                None => Err(not_json(beginning)),
            }
        }
    }
}

/// The format of a log that begins with an object.
fn format_of_objects(text: &[u8]) -> Result<(Format, Layout), Unreadable> {
    let document = Some(layout_of(text)).filter(|layout| *layout == Layout::Document).and_then(|_| Shape::of(text));
    if let Some(format) = document.as_ref().and_then(classify) {
        return Ok((format, Layout::Document));
    }
    let mut lines = text.split(|byte| *byte == b'\n').filter_map(Shape::of);
    let first: Vec<Shape> = lines.by_ref().take(LOOKED_AT_LINES).collect();
    if let Some(format) = first.iter().find_map(classify) {
        return Ok((format, Layout::Lines));
    }
    let stranger = document.iter().chain(&first).find_map(known_stranger);
    if stranger.is_none()
        && let Some(format) = lines.find_map(|line| classify(&line))
    {
        return Ok((format, Layout::Lines));
    }
    Err(Unreadable::UnknownFormat(stranger.unwrap_or("none of its first lines is one of a session log").to_owned()))
}

/// The format of a log whose first line is none of JSON: something else was printed before it, or it lost its beginning.
fn format_among_others(text: &[u8]) -> Option<Format> {
    let mut lines = text.split(|byte| *byte == b'\n').take(LOOKED_AT_LINES);
    lines.find_map(|line| Shape::of(line).filter(|_| line.starts_with(b"{")).as_ref().and_then(classify))
}

/// How a log that begins with an object is laid out.
fn layout_of(text: &[u8]) -> Layout {
    let mut lines = text.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let is_whole = |text: &[u8]| Shape::of(text).is_some_and(|shape| shape.is_whole());
    if first.len() == text.len() || is_whole(first) {
        return Layout::Lines;
    }
    if is_whole(text) {
        return Layout::Document;
    }
    // The first line may be cut off. Then there are others that are whole, and no elements of an array.
    let mut last = first.trim_ascii_end().last().copied();
    for line in lines {
        if line.starts_with(b"{") && !matches!(last, Some(b'[' | b',' | b':')) && is_whole(line) {
            return Layout::Lines;
        }
        last = line.trim_ascii_end().last().copied().or(last);
    }
    Layout::Document
}

fn not_json(text: &[u8]) -> Unreadable {
    let is_text = std::str::from_utf8(text.get(..text.len().min(1024)).unwrap_or_default())
        .map_or_else(|error| error.error_len().is_none(), |text| !text.contains('\0'));
    Unreadable::UnknownFormat(
        if is_text { "it is neither JSON nor progress notes" } else { "it is not text" }.to_owned(),
    )
}

/// The format in which an object of this shape is written. The order matters: what is more telling comes first.
fn classify(shape: &Shape) -> Option<Format> {
    let has = |key: &str| shape.has(key);
    let kind = shape.text("type").unwrap_or_default();
    let is_one_of = |kinds: &[&str]| kinds.contains(&kind);
    let format = if has("__header__") || (has("step_id") && has("source")) {
        Format::AtifStream
    } else if has("steps") && (has("schema_version") || has("agent") || has("session_id") || is_step(shape)) {
        Format::Atif
    } else if kind.starts_with("thread.") || kind.starts_with("turn.") || (kind.starts_with("item.") && has("item")) {
        Format::CodexExec
    } else if (has("payload") && has("type")) || has("record_type") || is_early_codex(shape) {
        Format::Codex
    } else if has("actions") && has("outcome") {
        Format::OpenAgentsTrajectories
    } else if (has("run_id") || has("runId")) && has("type") && (has("data") || has("phase")) {
        Format::ArcheFlow
    } else if has("ts") && is_one_of(RUN_LOG_TYPES) {
        Format::OpenAgentsRunLog
    } else if is_one_of(&["session_start", "session_end", "user_message", "turn"]) && has("timestamp") {
        Format::OpenAgentsSession
    } else if is_state(shape) {
        Format::OpenAgentsState
    } else if has("projectHash") || (has("sessionId") && has("messages")) {
        Format::Gemini
    } else if has("info") && has("messages") {
        Format::OpenCode
    } else if is_headless_session(shape, kind) {
        Format::OpenAgentsSession
    } else if is_claude(shape, kind) {
        Format::ClaudeCode
    } else if is_flat_codex(shape, kind) {
        Format::Codex
    } else if has("role") && (has("content") || has("tool_calls")) || has("session") && shape.keys() == 1 {
        Format::Generic
    } else {
        return None;
    };
    Some(format)
}

/// Whether the first of the steps is one of ATIF.
fn is_step(shape: &Shape) -> bool {
    shape.step_has("source") && (shape.step_has("step_id") || shape.step_has("message"))
}

/// OpenAgents' first sessions look like Claude Code's, apart from their ids; here one has lost its first line.
fn is_headless_session(shape: &Shape, kind: &str) -> bool {
    matches!(kind, "user" | "assistant" | "tool_result")
        && shape.has("message")
        && !shape.has("isSidechain")
        && shape.text("sessionId").is_some_and(|id| id.starts_with("session-"))
}

fn is_claude(shape: &Shape, kind: &str) -> bool {
    let has = |key: &str| shape.has(key);
    (has("message") && matches!(kind, "user" | "assistant" | "progress"))
        || (has("message") && (has("sessionId") || has("requestId") || has("costUSD")))
        || (has("uuid") && has("sessionId"))
        || (has("parentUuid") && has("isSidechain"))
        || (has("leafUuid") && kind == "summary")
        || (has("subtype") && (has("session_id") || has("sessionId")))
        || matches!(
            kind,
            "file-history-snapshot"
                | "queue-operation"
                | "ai-title"
                | "custom-title"
                | "last-prompt"
                | "permission-mode"
        )
        // All of what it notes beside the messages is written-like-this.
        || (has("sessionId") && (kind.contains('-') || matches!(kind, "mode" | "tag" | "attachment" | "system")))
}

/// What `codex exec --json` printed in 2025, and the sessions of the CLI before that.
fn is_early_codex(shape: &Shape) -> bool {
    (shape.keys() == 2 && shape.is_text("id") && shape.is_object("msg"))
        || (shape.keys() == 2 && shape.is_object("session") && shape.is_list("items"))
}

/// Codex of 2025: bare items, under a first line that has no type.
fn is_flat_codex(shape: &Shape, kind: &str) -> bool {
    let has = |key: &str| shape.has(key);
    (kind.is_empty() && has("id") && has("timestamp") && (has("instructions") || has("git")))
        || (kind == "message" && has("role") && has("content") && !is_chat_message(shape))
        || (kind == "reasoning" && has("summary"))
        || (has("call_id") && matches!(kind, "function_call" | "function_call_output" | "local_shell_call"))
}

/// What is typed like an item of Codex, but is none.
fn is_chat_message(shape: &Shape) -> bool {
    shape.has("tool_calls")
        || shape.has("tool_call_id")
        || shape.text("role") == Some("tool")
        || shape.is_text("content")
}

fn is_state(shape: &Shape) -> bool {
    let has = |key: &str| shape.has(key);
    (has("taskId") && (has("logFilePath") || has("sessionFilePath") || has("totalTurns")))
        || (has("session_id") && has("checkpoint"))
        || shape.is_list("attempts")
        || (has("combined") && has("comparison"))
        || matches!(shape.text("type"), Some("apm_snapshot" | "apm_update" | "usage_update"))
}

/// Files that lie beside logs and hold no session, so that the message can say so.
fn known_stranger(shape: &Shape) -> Option<&'static str> {
    let has = |key: &str| shape.has(key);
    if has("memoryType") || (has("category") && has("importance")) {
        Some("it looks like a memory store; `archivist import` is for those")
    } else if has("suiteVersion") {
        Some("it looks like benchmark results")
    } else if has("projectId") && has("defaultBranch") {
        Some("it looks like a project's configuration")
    } else if has("completedSubtaskIds") || has("batches") {
        Some("it looks like a checkpoint of a run")
    } else {
        None
    }
}

const RUN_LOG_TYPES: &[&str] = &[
    "run_start",
    "run_end",
    "task_selected",
    "task_closed",
    "turn_start",
    "llm_request",
    "llm_response",
    "tool_call",
    "tool_result",
    "edit_detected",
    "verify_start",
    "verify_ok",
    "verify_fail",
    "retry_prompt",
    "commit_pushed",
    "timeout",
    "log_trimmed",
];
