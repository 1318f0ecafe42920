//! Claude Code's transcripts, and the stream of its headless mode (`claude -p --output-format stream-json`).
//!
//! A transcript is a tree that is only ever appended to. One answer of the model is spread over several lines with the
//! same message id and the same, growing usage; results of tools stand between them, as words of the user; a resumed
//! session copies lines of an earlier file. All of that is put right here: one step per message, the last word on its
//! usage, and every line once. Each file is a trajectory of its own, with steps that count from 1.

mod about;
mod agent;
mod recent;
mod said;
mod system;
mod titles;
mod tools;
mod usage;
mod user;

use std::collections::BTreeSet;

use serde_json::Value;

use super::Reader;
use super::pick::{self, Object};
use crate::domain::{About, Event, Happening, Sink, Skipped, Speaker, Step, Timestamp, Usage};
use about::Known;
use recent::{Recent, hash};
use titles::Titles;

pub(super) use said::Said;

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "arbitrary_tests.rs"]
mod arbitrary_tests;

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod corpus_tests;

/// So many lines are remembered at least, so that copies of them are known: 9 MB, or 19 MB in logs of more lines.
const REMEMBERED_LINES: usize = 917_504;

/// So many messages are remembered at least: a message that is further back is over.
const REMEMBERED_MESSAGES: usize = 4_096;

/// So many calls are remembered at least, so that an answer is known to be a person's.
const REMEMBERED_CALLS: usize = 8_192;

/// Someone can go back so many lines at least, and it will be noticed.
const REMEMBERED_PLACES: usize = 57_344;

/// So many kinds of unknown lines are reported; more is noise.
const REPORTED_KINDS: usize = 64;

/// Reads the transcripts of one session, one after the other.
#[derive(Debug)]
pub(super) struct Claude {
    /// Every line of every file so far.
    lines: Recent<()>,
    /// The answers of the model, of every file so far.
    messages: Recent<Message>,
    /// Calls of every file so far, and whether each asked a person.
    calls: Recent<bool>,
    /// Counts the files.
    file: u32,
    /// What is known of the current one.
    log: Log,
}

/// One answer of the model.
#[derive(Debug, Default)]
struct Message {
    file: u32,
    step: u32,
    usage: Usage,
    /// It was paid for elsewhere.
    is_copied: bool,
    /// Hashes of its parts, so that none is told twice.
    parts: Vec<u64>,
}

/// What is known of one file.
#[derive(Debug)]
struct Log {
    /// The last step told.
    step: u32,
    /// The last step of the main chain that is somebody's turn, rather than words of the harness.
    turn: u32,
    /// The last step of the agent.
    agent_step: u32,
    /// Lines of the main chain, and the turn at which each stands.
    places: Recent<u32>,
    known: Known,
    titles: Titles,
    model: Option<String>,
    /// Whether the whole file is that of a subagent, as soon as a line tells.
    is_of_subagent: Option<bool>,
    /// What its messages cost together.
    spent: Usage,
    /// What the last lines of headless runs say that it cost.
    total: Usage,
    /// Messages of it were paid for elsewhere.
    has_copies: bool,
    /// A hook objected since the agent spoke last.
    hook_objected: bool,
    /// The step after which the context was compacted last.
    compacted_at: Option<u32>,
    unknown_kinds: BTreeSet<u64>,
}

/// Where a line stands.
#[derive(Debug, Default)]
struct Place {
    number: u64,
    at: Option<Timestamp>,
    /// It belongs to a subagent whose lines stand among the others.
    subagent: Option<String>,
    /// It is no line of the main chain.
    is_aside: bool,
    is_copied: bool,
    parent: Option<u64>,
}

impl Default for Claude {
    fn default() -> Self {
        Self {
            lines: Recent::new(REMEMBERED_LINES),
            messages: Recent::new(REMEMBERED_MESSAGES),
            calls: Recent::new(REMEMBERED_CALLS),
            file: 0,
            log: Log::default(),
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            step: 0,
            turn: 0,
            agent_step: 0,
            places: Recent::new(REMEMBERED_PLACES),
            known: Known::default(),
            titles: Titles::default(),
            model: None,
            is_of_subagent: None,
            spent: Usage::default(),
            total: Usage::default(),
            has_copies: false,
            hook_objected: false,
            compacted_at: None,
            unknown_kinds: BTreeSet::new(),
        }
    }
}

impl Reader for Claude {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let mut line = pick::object(line);
        match pick::str(&line, "type").unwrap_or_default() {
            // Requests repeat messages that have lines of their own.
            "progress" | "api-request-blob" => self.pass(&line),
            "summary" => {
                let leaf = pick::str(&line, "leafUuid").map(hash);
                self.log.titles.summary(leaf, pick::string(&line, "summary"));
            }
            "ai-title" => self.log.titles.ai(title(&line, "aiTitle")),
            "custom-title" => self.log.titles.custom(title(&line, "customTitle")),
            "rate_limit_event" => self.rate_limit(&line, sink),
            "attachment" => match queued(&mut line) {
                Some(mut line) => self.told_line(number, Kind::User, &mut line, sink),
                None => self.pass(&line),
            },
            kind => match Kind::of(kind, &line) {
                Some(kind) => self.told_line(number, kind, &mut line, sink),
                None if KNOWN_METADATA.contains(&kind) => {}
                None if kind.is_empty() => self.unknown(number, "a line without a type".to_owned(), sink),
                None => self.unknown(number, format!("unknown type `{}`", pick::name(kind)), sink),
            },
        }
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        let log = std::mem::take(&mut self.log);
        self.file = self.file.saturating_add(1);
        // Messages of a headless run are written before they are whole, with figures that may be too small.
        let total = usage::beyond(log.total, log.spent);
        if !total.is_unknown() {
            sink.hear(Event::Total(total));
        }
        let (started_at, finished_at) = log.known.lived();
        let title = log.titles.best(|leaf| log.places.get(leaf).is_some());
        let about = About { title, started_at, finished_at, ..About::default() };
        if about != About::default() {
            sink.hear(Event::About(Box::new(about)));
        }
    }
}

/// A line that tells something.
#[derive(Debug, Clone, Copy)]
enum Kind {
    User,
    Agent,
    System,
    Result,
}

impl Kind {
    fn of(kind: &str, line: &Object) -> Option<Self> {
        match kind {
            "user" => return Some(Self::User),
            "assistant" => return Some(Self::Agent),
            "system" => return Some(Self::System),
            "result" => return Some(Self::Result),
            _ if KNOWN_METADATA.contains(&kind) => return None,
            _ => {}
        }
        let message = line.get("message")?.as_object()?;
        match pick::str(message, "role") {
            Some("user") => Some(Self::User),
            Some("assistant") => Some(Self::Agent),
            _ => message.contains_key("usage").then_some(Self::Agent),
        }
    }
}

impl Claude {
    fn told_line(&mut self, number: u64, kind: Kind, line: &mut Object, sink: &mut dyn Sink) {
        let uuid = pick::str(line, "uuid").map(hash);
        if let Some(uuid) = uuid
            && !self.lines.insert(uuid, ())
        {
            self.log.places.insert(uuid, self.log.turn);
            return;
        }
        let place = self.place(number, kind, line);
        if let Some(about) = self.log.known.news(line, place.at, self.log.is_of_subagent == Some(true)) {
            sink.hear(Event::About(about));
        }
        match kind {
            Kind::User => self.user(&place, line, sink),
            Kind::Agent => self.agent(&place, line, sink),
            Kind::System => self.system(&place, line, sink),
            Kind::Result => self.result(line, sink),
        }
        if let Some(uuid) = uuid.filter(|_| !place.is_aside) {
            self.log.places.insert(uuid, self.log.turn);
        }
    }

    /// A line that tells nothing, but may be the parent of one that does.
    fn pass(&mut self, line: &Object) {
        if let Some(uuid) = pick::str(line, "uuid") {
            self.log.places.insert(hash(uuid), self.log.turn);
        }
    }

    fn place(&mut self, number: u64, kind: Kind, line: &Object) -> Place {
        let is_sidechain = pick::flag(line, "isSidechain") == Some(true);
        if matches!(kind, Kind::User | Kind::Agent) {
            // The first line decides, and one line of the main chain is enough to decide otherwise.
            let is_of_subagent = self.log.is_of_subagent.unwrap_or(true) && is_sidechain;
            self.log.is_of_subagent = Some(is_of_subagent);
        }
        let caller = pick::str(line, "parent_tool_use_id");
        let is_aside = caller.is_some() || (is_sidechain && self.log.is_of_subagent != Some(true));
        let subagent = is_aside.then(|| pick::str(line, "agentId").or(caller).unwrap_or("sidechain").to_owned());
        Place {
            number,
            at: pick::time(line, "timestamp"),
            subagent,
            is_aside,
            is_copied: line.contains_key("forkedFrom"),
            parent: pick::str(line, "parentUuid").map(hash),
        }
    }

    /// Tells a step and gives it the next number.
    fn step(&mut self, place: &Place, mut step: Step, sink: &mut dyn Sink) -> u32 {
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
        sink.hear(Event::Step(Box::new(step)));
        self.log.step
    }

    fn happened(&mut self, what: Happening, text: String, sink: &mut dyn Sink) {
        sink.hear(Event::Happened(self.log.step, what, text));
    }

    fn unknown(&mut self, line: u64, why: String, sink: &mut dyn Sink) {
        let kinds = &mut self.log.unknown_kinds;
        if kinds.len() < REPORTED_KINDS && kinds.insert(hash(&why)) {
            sink.hear(Event::Skipped(Skipped { line, why }));
        }
    }
}

fn title(line: &Object, key: &str) -> Option<String> {
    pick::string(line, key).or_else(|| pick::string(line, "title"))
}

/// What somebody said while the agent was at work: it stands in an attachment, and in no other place.
fn queued(line: &mut Object) -> Option<Object> {
    let mut attachment = pick::take_object(line, "attachment")?;
    if pick::str(&attachment, "type") != Some("queued_command") {
        return None;
    }
    let content = attachment.get_mut("prompt").map(Value::take)?;
    let mut line = std::mem::take(line);
    if let Some(origin) = attachment.remove("origin") {
        line.insert("origin".to_owned(), origin);
    } else if let Some(mode) = attachment.remove("commandMode").filter(|mode| mode == "task-notification") {
        line.insert("origin".to_owned(), Value::Object(Object::from_iter([("kind".to_owned(), mode)])));
    }
    let message = Object::from_iter([("content".to_owned(), content)]);
    line.insert("message".to_owned(), Value::Object(message));
    Some(line)
}

/// Lines that tell nothing about what the agent did. Those of `progress` repeat it.
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
