//! Detects the format of a log by its content, never by its name.

use std::io::Cursor;
use std::io::Read;

use super::UnreadableLog;
use super::json_key_scan::ObjectShape;
use super::json_key_scan::trim_leading_blanks;
use super::json_lines::read_some;
use super::zstd_log::DamageFlag;
use super::zstd_log::DecompressedLog;
use super::zstd_log::is_zstd_compressed;

#[cfg(test)]
#[path = "detect_tests.rs"]
mod tests;

/// The number of bytes that are examined.
const LOOKED_AT_BYTES: usize = 256 * 1024;

/// The number of lines that are examined where the log does not begin with JSON.
const LOOKED_AT_LINES: usize = 40;

/// The format in which a log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(into = "&'static str")]
pub enum LogFormat {
    /// Harbor's interchange format, as one document or as an array of documents.
    Atif,
    /// Harbor's interchange format with one step per line.
    AtifStream,
    /// Claude Code's transcripts, and the stream of its headless mode.
    ClaudeCode,
    /// Codex's rollouts, of all generations.
    Codex,
    /// The stream that `codex exec --json` prints.
    CodexExec,
    /// The session logs of OpenAgents.
    OpenAgentsSession,
    /// The run logs of OpenAgents.
    OpenAgentsRunLog,
    /// OpenAgents' own trajectory records.
    OpenAgentsTrajectories,
    /// OpenAgents' small documents: run metadata, stream index, Healer state, APM snapshots.
    OpenAgentsState,
    /// The `progress.md` of OpenAgents.
    ProgressNotes,
    /// ArcheFlow's run events.
    ArcheFlow,
    /// The chats of Gemini CLI.
    Gemini,
    /// OpenCode's exported sessions.
    OpenCode,
    /// Chat messages, one per line: see `docs/formats.md`.
    Generic,
}

impl LogFormat {
    /// Returns its name in `inspect --json`.
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

impl From<LogFormat> for &'static str {
    fn from(format: LogFormat) -> Self {
        format.as_str()
    }
}

/// The way in which a log's JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogLayout {
    /// One JSON object per line.
    Lines,
    /// Values that span several lines, or an array.
    Document,
}

/// A log whose format was detected or given.
pub(super) struct DetectedLog<'i> {
    pub(super) format: LogFormat,
    pub(super) layout: LogLayout,
    /// The log from its beginning, decompressed if it was compressed.
    pub(super) input: Box<dyn Read + Send + 'i>,
    /// Set when the log could not be decompressed to its end.
    pub(super) damage: DamageFlag,
}

/// Detects the format of a log from its beginning.
pub(super) fn detect_format<'i>(input: &'i mut (dyn Read + Send)) -> Result<DetectedLog<'i>, UnreadableLog> {
    let (beginning, rest, damage) = decompress_beginning(input)?;
    let (format, layout) = classify_beginning(&beginning)?;
    Ok(DetectedLog { format, layout, input: Box::new(Cursor::new(beginning).chain(rest)), damage })
}

/// Opens a log as one of the given format.
pub(super) fn open_in_format<'i>(
    format: LogFormat,
    input: &'i mut (dyn Read + Send),
) -> std::io::Result<DetectedLog<'i>> {
    let (beginning, rest, damage) = decompress_beginning(input)?;
    let text = trim_beginning(&beginning);
    let layout = match text.first() {
        Some(b'[') if ObjectShape::from_bytes(text.get(1..).unwrap_or_default()).is_some() => LogLayout::Document,
        Some(b'{') => detect_layout(text),
        _ => LogLayout::Lines,
    };
    Ok(DetectedLog { format, layout, input: Box::new(Cursor::new(beginning).chain(rest)), damage })
}

type Beginning<'i> = (Vec<u8>, Box<dyn Read + Send + 'i>, DamageFlag);

/// Returns the beginning of a log and the rest of it, decompressed if it was compressed.
fn decompress_beginning<'i>(input: &'i mut (dyn Read + Send)) -> std::io::Result<Beginning<'i>> {
    let packed = read_beginning(input)?;
    if !is_zstd_compressed(&packed) {
        return Ok((packed, Box::new(input), DamageFlag::default()));
    }
    let mut rest = DecompressedLog::new(packed, input);
    let damage = rest.damage_flag();
    let beginning = read_beginning(&mut rest)?;
    if beginning.is_empty() && damage.is_set() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "it cannot be unpacked"));
    }
    Ok((beginning, Box::new(rest), damage))
}

fn read_beginning(input: &mut dyn Read) -> std::io::Result<Vec<u8>> {
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

fn trim_beginning(beginning: &[u8]) -> &[u8] {
    trim_leading_blanks(beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning))
}

/// Returns the format and layout of a log with this beginning.
fn classify_beginning(beginning: &[u8]) -> Result<(LogFormat, LogLayout), UnreadableLog> {
    let text = trim_beginning(beginning);
    match text.first() {
        None => Err(if beginning.contains(&0) { not_json_error(beginning) } else { UnreadableLog::Empty }),
        Some(b'{') => classify_objects(text),
        Some(b'[') => {
            let element = ObjectShape::from_bytes(text.get(1..).unwrap_or_default());
            if let Some(format) = element.as_ref().and_then(classify_object) {
                return Ok((format, LogLayout::Document));
            }
            let array = || UnreadableLog::UnknownFormat("it is a JSON array".to_owned());
            find_format_in_lines(text).map(|format| (format, LogLayout::Lines)).ok_or_else(array)
        }
        Some(_) => {
            let is_progress = ["# Session Progress", "## Session Info", "## Session info"]
                .iter()
                .any(|heading| memchr::memmem::find(text, heading.as_bytes()).is_some());
            match find_format_in_lines(text) {
                _ if is_progress => Ok((LogFormat::ProgressNotes, LogLayout::Document)),
                Some(format) => Ok((format, LogLayout::Lines)),
                None => Err(not_json_error(beginning)),
            }
        }
    }
}

/// Returns the format and layout of a log that begins with an object.
fn classify_objects(text: &[u8]) -> Result<(LogFormat, LogLayout), UnreadableLog> {
    let document = Some(detect_layout(text))
        .filter(|layout| *layout == LogLayout::Document)
        .and_then(|_| ObjectShape::from_bytes(text));
    if let Some(format) = document.as_ref().and_then(classify_object) {
        return Ok((format, LogLayout::Document));
    }
    let mut lines = text.split(|byte| *byte == b'\n').filter_map(ObjectShape::from_bytes);
    let first: Vec<ObjectShape> = lines.by_ref().take(LOOKED_AT_LINES).collect();
    if let Some(format) = first.iter().find_map(classify_object) {
        return Ok((format, LogLayout::Lines));
    }
    let stranger = document.iter().chain(&first).find_map(describe_other_file);
    if stranger.is_none()
        && let Some(format) = lines.find_map(|line| classify_object(&line))
    {
        return Ok((format, LogLayout::Lines));
    }
    Err(UnreadableLog::UnknownFormat(stranger.unwrap_or("none of its first lines is one of a session log").to_owned()))
}

/// Returns the format of a log whose first line is not JSON: other output precedes it, or its beginning is lost.
fn find_format_in_lines(text: &[u8]) -> Option<LogFormat> {
    let mut lines = text.split(|byte| *byte == b'\n').take(LOOKED_AT_LINES);
    lines.find_map(|line| {
        ObjectShape::from_bytes(line).filter(|_| line.starts_with(b"{")).as_ref().and_then(classify_object)
    })
}

/// Returns the layout of a log that begins with an object.
fn detect_layout(text: &[u8]) -> LogLayout {
    let mut lines = text.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let is_whole = |text: &[u8]| ObjectShape::from_bytes(text).is_some_and(|shape| shape.is_whole());
    if first.len() == text.len() || is_whole(first) {
        return LogLayout::Lines;
    }
    if is_whole(text) {
        return LogLayout::Document;
    }
    // The first line may be cut off. Then other lines are complete objects, and are not elements of an array.
    let mut last = first.trim_ascii_end().last().copied();
    for line in lines {
        if line.starts_with(b"{") && !matches!(last, Some(b'[' | b',' | b':')) && is_whole(line) {
            return LogLayout::Lines;
        }
        last = line.trim_ascii_end().last().copied().or(last);
    }
    LogLayout::Document
}

fn not_json_error(text: &[u8]) -> UnreadableLog {
    let is_text = std::str::from_utf8(text.get(..text.len().min(1024)).unwrap_or_default())
        .map_or_else(|error| error.error_len().is_none(), |text| !text.contains('\0'));
    UnreadableLog::UnknownFormat(
        if is_text { "it is neither JSON nor progress notes" } else { "it is not text" }.to_owned(),
    )
}

/// Returns the format in which an object of this shape is written. More specific formats are tested first.
fn classify_object(shape: &ObjectShape) -> Option<LogFormat> {
    let has = |key: &str| shape.has_key(key);
    let kind = shape.text("type").unwrap_or_default();
    let is_one_of = |kinds: &[&str]| kinds.contains(&kind);
    let format = if has("__header__") || (has("step_id") && has("source")) {
        LogFormat::AtifStream
    } else if has("steps") && (has("schema_version") || has("agent") || has("session_id") || has_atif_step(shape)) {
        LogFormat::Atif
    } else if kind.starts_with("thread.") || kind.starts_with("turn.") || (kind.starts_with("item.") && has("item")) {
        LogFormat::CodexExec
    } else if (has("payload") && has("type")) || has("record_type") || is_early_codex(shape) {
        LogFormat::Codex
    } else if has("actions") && has("outcome") {
        LogFormat::OpenAgentsTrajectories
    } else if (has("run_id") || has("runId")) && has("type") && (has("data") || has("phase")) {
        LogFormat::ArcheFlow
    } else if has("ts") && is_one_of(RUN_LOG_TYPES) {
        LogFormat::OpenAgentsRunLog
    } else if is_one_of(&["session_start", "session_end", "user_message", "turn"]) && has("timestamp") {
        LogFormat::OpenAgentsSession
    } else if is_openagents_state(shape) {
        LogFormat::OpenAgentsState
    } else if has("projectHash") || (has("sessionId") && has("messages")) {
        LogFormat::Gemini
    } else if has("info") && has("messages") {
        LogFormat::OpenCode
    } else if is_openagents_session(shape, kind) {
        LogFormat::OpenAgentsSession
    } else if is_claude_line(shape, kind) {
        LogFormat::ClaudeCode
    } else if is_flat_codex(shape, kind) {
        LogFormat::Codex
    } else if has("role") && (has("content") || has("tool_calls")) || has("session") && shape.key_count() == 1 {
        LogFormat::Generic
    } else {
        return None;
    };
    Some(format)
}

/// Returns true if the first step is an ATIF step.
fn has_atif_step(shape: &ObjectShape) -> bool {
    shape.step_has_key("source") && (shape.step_has_key("step_id") || shape.step_has_key("message"))
}

/// Returns true for a line of OpenAgents' first sessions, which differ from Claude Code's only in their ids.
fn is_openagents_session(shape: &ObjectShape, kind: &str) -> bool {
    matches!(kind, "user" | "assistant" | "tool_result")
        && shape.has_key("message")
        && !shape.has_key("isSidechain")
        && shape.text("sessionId").is_some_and(|id| id.starts_with("session-"))
}

fn is_claude_line(shape: &ObjectShape, kind: &str) -> bool {
    let has = |key: &str| shape.has_key(key);
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
        // Lines of Claude Code other than messages have types in kebab case.
        || (has("sessionId") && (kind.contains('-') || matches!(kind, "mode" | "tag" | "attachment" | "system")))
}

/// Returns true for the stream of `codex exec --json` of 2025 and for the sessions of the CLI before that.
fn is_early_codex(shape: &ObjectShape) -> bool {
    (shape.key_count() == 2 && shape.has_string("id") && shape.has_object("msg"))
        || (shape.key_count() == 2 && shape.has_object("session") && shape.has_object_array("items"))
}

/// Returns true for Codex logs of 2025: bare items after a first line that has no type.
fn is_flat_codex(shape: &ObjectShape, kind: &str) -> bool {
    let has = |key: &str| shape.has_key(key);
    (kind.is_empty() && has("id") && has("timestamp") && (has("instructions") || has("git")))
        || (kind == "message" && has("role") && has("content") && !is_chat_message(shape))
        || (kind == "reasoning" && has("summary"))
        || (has("call_id") && matches!(kind, "function_call" | "function_call_output" | "local_shell_call"))
}

/// Returns true for a chat message that has the same type as a Codex item.
fn is_chat_message(shape: &ObjectShape) -> bool {
    shape.has_key("tool_calls")
        || shape.has_key("tool_call_id")
        || shape.text("role") == Some("tool")
        || shape.has_string("content")
}

fn is_openagents_state(shape: &ObjectShape) -> bool {
    let has = |key: &str| shape.has_key(key);
    (has("taskId") && (has("logFilePath") || has("sessionFilePath") || has("totalTurns")))
        || (has("session_id") && has("checkpoint"))
        || shape.has_object_array("attempts")
        || (has("combined") && has("comparison"))
        || matches!(shape.text("type"), Some("apm_snapshot" | "apm_update" | "usage_update"))
}

/// Describes files that lie next to logs but contain no session, for the error message.
fn describe_other_file(shape: &ObjectShape) -> Option<&'static str> {
    let has = |key: &str| shape.has_key(key);
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
