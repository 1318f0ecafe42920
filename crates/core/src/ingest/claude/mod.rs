//! Reader for Claude Code's transcripts and its headless stream (`claude -p --output-format stream-json`).
//!
//! A transcript is an append-only tree. One message of the model is spread over several lines with the same message id
//! and the same, growing usage; tool results stand between them as user lines; a resumed session copies lines of an
//! earlier file. This reader emits one step per message with its final usage, and every line once. Each file is a
//! trajectory of its own, with steps numbered from 1.

mod agent_lines;
mod harness_lines;
mod recent_entries;
mod session_details;
mod speaker_split;
mod titles;
mod tool_results;
mod usage;
mod user_lines;

use std::collections::BTreeSet;

use serde_json::Value;

use super::LogReader;
use super::json_fields::{self, Object};
use crate::domain::{
    EventSink, Happening, SessionDetails, SkippedLogLine, Speaker, Step, Timestamp, TokenUsage, TrajectoryEvent,
    fingerprint_text,
};
use recent_entries::RecentEntries;
use session_details::EmittedSessionDetails;
use titles::SessionTitles;
use tool_results::CalledTool;

pub(super) use speaker_split::AttributedText;

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "arbitrary_tests.rs"]
mod arbitrary_tests;

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod corpus_tests;

/// The minimum number of lines remembered to recognise copies: 9 MB, or 19 MB in longer logs.
const REMEMBERED_LINES: usize = 917_504;

/// The minimum number of messages remembered; a message further back is complete.
const REMEMBERED_MESSAGES: usize = 4_096;

/// The minimum number of calls remembered to recognise a person's answers.
const REMEMBERED_CALLS: usize = 8_192;

/// The minimum number of lines remembered to detect that someone went back to one.
const REMEMBERED_PLACES: usize = 57_344;

/// The maximum number of unknown line types that are reported.
const REPORTED_KINDS: usize = 64;

/// Reads the transcripts of one session, one after another.
#[derive(Debug)]
pub(super) struct ClaudeReader {
    /// The hashes of the lines of all files so far.
    lines: RecentEntries<()>,
    /// The model's messages in all files so far.
    messages: RecentEntries<ClaudeMessage>,
    /// The calls of all files so far.
    calls: RecentEntries<CalledTool>,
    /// The number of files completed.
    file: u32,
    /// The state of the current file.
    log: ClaudeFileState,
}

/// A message of the model.
#[derive(Debug, Default)]
struct ClaudeMessage {
    file: u32,
    step: u32,
    usage: TokenUsage,
    /// True if the message was paid for in another file or session.
    is_copied: bool,
    /// The hashes of its parts, so that none is emitted twice.
    parts: Vec<u64>,
}

/// The state of one transcript file.
#[derive(Debug)]
struct ClaudeFileState {
    /// The number of the last step.
    step: u32,
    /// The last step of the main chain by a person or an agent, not by the harness.
    turn: u32,
    /// The last step of the agent.
    agent_step: u32,
    /// The lines of the main chain, each with its turn.
    places: RecentEntries<u32>,
    known: EmittedSessionDetails,
    titles: SessionTitles,
    model: Option<String>,
    /// True if the whole file is a subagent's; none until a line shows it.
    is_of_subagent: Option<bool>,
    /// The sum of the messages' usage.
    spent: TokenUsage,
    /// The usage that the last lines of headless sessions report.
    total: TokenUsage,
    /// True if some of its messages were paid for in another file or session.
    has_copies: bool,
    /// True if a hook objected since the agent's last step.
    hook_objected: bool,
    /// The step after which the context was last compacted.
    compacted_at: Option<u32>,
    unknown_kinds: BTreeSet<u64>,
}

/// The position of a line in the transcript.
#[derive(Debug, Default)]
struct ClaudeLineContext {
    number: u64,
    at: Option<Timestamp>,
    /// The subagent of a line that stands among the main lines.
    subagent: Option<String>,
    /// True if the line is not of the main chain.
    is_aside: bool,
    is_copied: bool,
    parent: Option<u64>,
}

impl Default for ClaudeReader {
    fn default() -> Self {
        Self {
            lines: RecentEntries::new(REMEMBERED_LINES),
            messages: RecentEntries::new(REMEMBERED_MESSAGES),
            calls: RecentEntries::new(REMEMBERED_CALLS),
            file: 0,
            log: ClaudeFileState::default(),
        }
    }
}

impl Default for ClaudeFileState {
    fn default() -> Self {
        Self {
            step: 0,
            turn: 0,
            agent_step: 0,
            places: RecentEntries::new(REMEMBERED_PLACES),
            known: EmittedSessionDetails::default(),
            titles: SessionTitles::default(),
            model: None,
            is_of_subagent: None,
            spent: TokenUsage::default(),
            total: TokenUsage::default(),
            has_copies: false,
            hook_objected: false,
            compacted_at: None,
            unknown_kinds: BTreeSet::new(),
        }
    }
}

impl LogReader for ClaudeReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let mut line = json_fields::into_object(line);
        match json_fields::get_str(&line, "type").unwrap_or_default() {
            // Requests repeat messages that have their own lines.
            "progress" | "api-request-blob" => self.skip_line(&line),
            "summary" => {
                let leaf = json_fields::get_str(&line, "leafUuid").map(fingerprint_text);
                self.log.titles.add_summary(leaf, json_fields::get_string(&line, "summary"));
            }
            "ai-title" => self.log.titles.set_ai_title(read_title(&line, "aiTitle")),
            "custom-title" => self.log.titles.set_custom_title(read_title(&line, "customTitle")),
            "rate_limit_event" => self.read_rate_limit(&line, sink),
            "attachment" => match unwrap_queued_prompt(&mut line) {
                Some(mut line) => self.read_typed_line(number, ClaudeLineKind::User, &mut line, sink),
                None => self.skip_line(&line),
            },
            kind => match ClaudeLineKind::classify(kind, &line) {
                Some(kind) => self.read_typed_line(number, kind, &mut line, sink),
                None if KNOWN_METADATA.contains(&kind) => {}
                None if kind.is_empty() => self.report_unknown(number, "a line without a type".to_owned(), sink),
                None => self.report_unknown(
                    number,
                    format!("unknown type `{}`", json_fields::bounded_kind_name(kind)),
                    sink,
                ),
            },
        }
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        let log = std::mem::take(&mut self.log);
        self.file = self.file.saturating_add(1);
        // A headless session writes messages before they are complete, so their figures may be too small.
        let total = usage::figures_exceeding(log.total, log.spent);
        if !total.is_unknown() {
            sink.receive_event(TrajectoryEvent::Total(total));
        }
        let (started_at, finished_at) = log.known.time_span();
        let title = log.titles.best_title(|leaf| log.places.get(leaf).is_some());
        let about = SessionDetails { title, started_at, finished_at, ..SessionDetails::default() };
        if about != SessionDetails::default() {
            sink.receive_event(TrajectoryEvent::About(Box::new(about)));
        }
    }
}

/// The type of a line that is read in full.
#[derive(Debug, Clone, Copy)]
enum ClaudeLineKind {
    User,
    Agent,
    System,
    Result,
}

impl ClaudeLineKind {
    fn classify(kind: &str, line: &Object) -> Option<Self> {
        match kind {
            "user" => return Some(Self::User),
            "assistant" => return Some(Self::Agent),
            "system" => return Some(Self::System),
            "result" => return Some(Self::Result),
            _ if KNOWN_METADATA.contains(&kind) => return None,
            _ => {}
        }
        let message = line.get("message")?.as_object()?;
        match json_fields::get_str(message, "role") {
            Some("user") => Some(Self::User),
            Some("assistant") => Some(Self::Agent),
            _ => message.contains_key("usage").then_some(Self::Agent),
        }
    }
}

impl ClaudeReader {
    fn read_typed_line(&mut self, number: u64, kind: ClaudeLineKind, line: &mut Object, sink: &mut dyn EventSink) {
        let uuid = json_fields::get_str(line, "uuid").map(fingerprint_text);
        if let Some(uuid) = uuid
            && !self.lines.insert(uuid, ())
        {
            self.log.places.insert(uuid, self.log.turn);
            return;
        }
        let place = self.build_line_context(number, kind, line);
        if let Some(about) = self.log.known.new_details(line, place.at, self.log.is_of_subagent == Some(true)) {
            sink.receive_event(TrajectoryEvent::About(about));
        }
        match kind {
            ClaudeLineKind::User => self.read_user_line(&place, line, sink),
            ClaudeLineKind::Agent => self.read_agent_line(&place, line, sink),
            ClaudeLineKind::System => self.read_system_line(&place, line, sink),
            ClaudeLineKind::Result => self.read_result_line(line, sink),
        }
        if let Some(uuid) = uuid.filter(|_| !place.is_aside) {
            self.log.places.insert(uuid, self.log.turn);
        }
    }

    /// Skips a line without content, which may still be the parent of another one.
    fn skip_line(&mut self, line: &Object) {
        if let Some(uuid) = json_fields::get_str(line, "uuid") {
            self.log.places.insert(fingerprint_text(uuid), self.log.turn);
        }
    }

    fn build_line_context(&mut self, number: u64, kind: ClaudeLineKind, line: &Object) -> ClaudeLineContext {
        let is_sidechain = json_fields::get_flag(line, "isSidechain") == Some(true);
        if matches!(kind, ClaudeLineKind::User | ClaudeLineKind::Agent) {
            // The file is a subagent's only if its first line and all others are of a sidechain.
            let is_of_subagent = self.log.is_of_subagent.unwrap_or(true) && is_sidechain;
            self.log.is_of_subagent = Some(is_of_subagent);
        }
        let caller = json_fields::get_str(line, "parent_tool_use_id");
        let is_aside = caller.is_some() || (is_sidechain && self.log.is_of_subagent != Some(true));
        let subagent =
            is_aside.then(|| json_fields::get_str(line, "agentId").or(caller).unwrap_or("sidechain").to_owned());
        ClaudeLineContext {
            number,
            at: json_fields::get_time(line, "timestamp"),
            subagent,
            is_aside,
            is_copied: line.contains_key("forkedFrom"),
            parent: json_fields::get_str(line, "parentUuid").map(fingerprint_text),
        }
    }

    /// Emits a step with the next number.
    fn emit_step(&mut self, place: &ClaudeLineContext, mut step: Step, sink: &mut dyn EventSink) -> u32 {
        self.log.step = self.log.step.saturating_add(1);
        step.number = self.log.step;
        step.at = place.at;
        step.subagent.clone_from(&place.subagent);
        step.copied |= place.is_copied;
        if step.speaker == Speaker::Agent {
            self.log.agent_step = step.number;
            self.log.hook_objected = false;
        }
        if !place.is_aside && matches!(step.speaker, Speaker::User | Speaker::Agent | Speaker::OtherAgent) {
            self.log.turn = step.number;
        }
        sink.receive_event(TrajectoryEvent::Step(Box::new(step)));
        self.log.step
    }

    fn emit_session_event(&mut self, what: Happening, text: String, sink: &mut dyn EventSink) {
        sink.receive_event(TrajectoryEvent::Happened(self.log.step, what, text));
    }

    fn report_unknown(&mut self, line: u64, why: String, sink: &mut dyn EventSink) {
        let kinds = &mut self.log.unknown_kinds;
        if kinds.len() < REPORTED_KINDS && kinds.insert(fingerprint_text(&why)) {
            sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line, why }));
        }
    }
}

fn read_title(line: &Object, key: &str) -> Option<String> {
    json_fields::get_string(line, key).or_else(|| json_fields::get_string(line, "title"))
}

/// Returns a prompt sent while the agent worked as a user line; it stands only in an attachment.
fn unwrap_queued_prompt(line: &mut Object) -> Option<Object> {
    let mut attachment = json_fields::take_object(line, "attachment")?;
    if json_fields::get_str(&attachment, "type") != Some("queued_command") {
        return None;
    }
    let content = attachment.get_mut("prompt").map(Value::take)?;
    let mut line = std::mem::take(line);
    if let Some(mode) = attachment.remove("commandMode").filter(|mode| mode != "prompt") {
        line.insert("origin".to_owned(), Value::Object(Object::from_iter([("kind".to_owned(), mode)])));
    } else if let Some(origin) = attachment.remove("origin") {
        line.insert("origin".to_owned(), origin);
    }
    line.extend(attachment.remove("isMeta").map(|is_meta| ("isMeta".to_owned(), is_meta)));
    let message = Object::from_iter([("content".to_owned(), content)]);
    line.insert("message".to_owned(), Value::Object(message));
    Some(line)
}

/// The line types that say nothing about the agent's work. Those of `progress` repeat other lines.
const KNOWN_METADATA: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "attribution-snapshot",
    "auth_status",
    "bridge-session",
    "content-replacement",
    "control_cancel_request",
    "control_request",
    "control_response",
    "cost-state",
    "file-history-delta",
    "file-history-snapshot",
    "keep_alive",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "prompt_suggestion",
    "queue-operation",
    "speculation-accept",
    "stream_event",
    "streamlined_text",
    "streamlined_tool_use_summary",
    "tag",
    "task-summary",
    "tool_progress",
    "tool_use_summary",
    "transcript_mirror",
    "worktree-state",
];
