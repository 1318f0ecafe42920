//! Which format a log is in: by what it holds, never by its name.

use std::io::Cursor;
use std::io::Read;

use super::Unreadable;
use super::lines::read_some;
use super::shape::Shape;

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;

/// How much is looked at.
const LOOKED_AT_BYTES: usize = 256 * 1024;

/// How many lines are looked at: some logs begin with lines that tell nothing.
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
    /// One value over many lines.
    Document,
}

/// A log whose format is known.
pub(super) struct Detected<'i> {
    pub(super) format: Format,
    pub(super) layout: Layout,
    /// From its beginning, and unpacked if it was packed.
    pub(super) input: Box<dyn Read + Send + 'i>,
}

/// Looks at the beginning of a log.
pub(super) fn detect<'i>(input: &'i mut (dyn Read + Send)) -> Result<Detected<'i>, Unreadable> {
    let (beginning, rest) = unpacked(input)?;
    let (format, layout) = format_of(&beginning)?;
    Ok(Detected { format, layout, input: Box::new(Cursor::new(beginning).chain(rest)) })
}

/// How a log of a known format is laid out, and the log from its beginning.
pub(super) fn layout<'i>(input: &'i mut (dyn Read + Send)) -> std::io::Result<(Layout, Box<dyn Read + Send + 'i>)> {
    let (beginning, rest) = unpacked(input)?;
    let layout = match Shape::of(&beginning) {
        Some(shape) if !shape.is_one_line() => Layout::Document,
        _ => Layout::Lines,
    };
    Ok((layout, Box::new(Cursor::new(beginning).chain(rest))))
}

/// The beginning of a log and the rest of it, unpacked if it was packed.
fn unpacked<'i>(input: &'i mut (dyn Read + Send)) -> std::io::Result<(Vec<u8>, Box<dyn Read + Send + 'i>)> {
    let packed = beginning(input)?;
    if !packed.starts_with(&ZSTD_MAGIC) {
        return Ok((packed, Box::new(input)));
    }
    let mut rest = ruzstd::decoding::StreamingDecoder::new(Cursor::new(packed).chain(input))
        .map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?;
    Ok((beginning(&mut rest)?, Box::new(rest)))
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

/// The format of a log that begins like this.
fn format_of(beginning: &[u8]) -> Result<(Format, Layout), Unreadable> {
    let text = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning).trim_ascii_start();
    match text.first() {
        None => return Err(Unreadable::Empty),
        Some(b'[') => {
            let element = text.get(1..).unwrap_or_default().trim_ascii_start();
            return match Shape::of(element).as_ref().and_then(classify) {
                Some(Format::Atif) => Ok((Format::Atif, Layout::Document)),
                _ => Err(Unreadable::UnknownFormat("it is a JSON array".to_owned())),
            };
        }
        Some(b'{') => {}
        Some(_) => {
            let is_progress = ["# Session Progress", "## Session Info", "## Session info"]
                .iter()
                .any(|heading| memchr::memmem::find(text, heading.as_bytes()).is_some());
            return if is_progress { Ok((Format::ProgressNotes, Layout::Document)) } else { Err(not_json(text)) };
        }
    }
    let lines: Vec<Shape> = text.split(|byte| *byte == b'\n').take(LOOKED_AT_LINES).filter_map(Shape::of).collect();
    let document = Shape::of(text).filter(|shape| !shape.is_one_line());
    if let Some(format) = document.as_ref().and_then(classify) {
        return Ok((format, Layout::Document));
    }
    if let Some(format) = lines.iter().find_map(classify) {
        return Ok((format, Layout::Lines));
    }
    let stranger = document.iter().chain(&lines).find_map(known_stranger);
    Err(Unreadable::UnknownFormat(stranger.unwrap_or("none of its first lines is one of a session log").to_owned()))
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
    } else if has("steps") && (has("schema_version") || has("agent") || has("session_id")) {
        Format::Atif
    } else if kind.starts_with("thread.") || kind.starts_with("turn.") || (kind.starts_with("item.") && has("item")) {
        Format::CodexExec
    } else if (has("payload") && has("type")) || has("record_type") {
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
    } else if is_claude(shape, kind) {
        Format::ClaudeCode
    } else if is_flat_codex(shape, kind) {
        Format::Codex
    } else if has("role") && (has("content") || has("tool_calls")) || has("session") && shape.has_one_key() {
        Format::Generic
    } else {
        return None;
    };
    Some(format)
}

fn is_claude(shape: &Shape, kind: &str) -> bool {
    let has = |key: &str| shape.has(key);
    (has("message") && matches!(kind, "user" | "assistant" | "progress"))
        || (has("message") && (has("sessionId") || has("requestId") || has("costUSD")))
        || (has("uuid") && has("sessionId"))
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
        || (kind == "mode" && has("sessionId"))
}

/// Codex of 2025: bare items, under a first line that has no type.
fn is_flat_codex(shape: &Shape, kind: &str) -> bool {
    let has = |key: &str| shape.has(key);
    (kind.is_empty() && has("id") && has("timestamp") && (has("instructions") || has("git")))
        || (kind == "message" && has("role") && has("content"))
        || (kind == "reasoning" && has("summary"))
        || (has("call_id") && matches!(kind, "function_call" | "function_call_output" | "local_shell_call"))
}

fn is_state(shape: &Shape) -> bool {
    let has = |key: &str| shape.has(key);
    (has("taskId") && (has("logFilePath") || has("sessionFilePath") || has("totalTurns")))
        || (has("session_id") && has("checkpoint"))
        || has("attempts")
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

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
