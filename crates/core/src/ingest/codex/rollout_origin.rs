//! Identifies the session of a rollout, and the records that it inherited from a parent.

use serde_json::Value;

use crate::domain::SessionDetails;
use crate::domain::Timestamp;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

/// The time within which a parent's records are copied if they get new timestamps.
const COPYING_MS: i64 = 1000;

/// The origin of a session: its thread, its parent, and its own records.
#[derive(Debug, Default)]
pub(super) struct CodexSessionOrigin {
    /// The session's thread, once its first line is read.
    thread: Option<String>,
    created: Option<Timestamp>,
    /// The time at which the first line was written.
    opened: Option<Timestamp>,
    /// The ordinal of the first record that is not a parent's.
    first_own: Option<u64>,
    is_fork: bool,
    is_subagent: bool,
    /// True if the following records may be a parent's, because a parent's first line preceded them.
    is_in_parent: bool,
}

impl CodexSessionOrigin {
    /// Reads the first line of this file or of a parent. Only the first one describes this session.
    pub(super) fn read_session_meta(&mut self, mut meta: Object, at: Option<Timestamp>) -> Option<SessionDetails> {
        let thread = json_fields::get_string(&meta, "id").or_else(|| json_fields::get_string(&meta, "session_id"));
        if self.is_known() {
            self.is_in_parent = thread != self.thread;
            return None;
        }
        let spawn = take_spawn_details(&mut meta);
        let of_spawn = |key: &str| spawn.as_ref().and_then(|spawn| json_fields::get_string(spawn, key));
        let base = json_fields::take_object(&mut meta, "history_base").unwrap_or_default();
        let git = json_fields::take_object(&mut meta, "git").unwrap_or_default();
        let parent = json_fields::get_string(&meta, "parent_thread_id").or_else(|| of_spawn("parent_thread_id"));
        let fork =
            json_fields::get_string(&meta, "forked_from_id").or_else(|| json_fields::get_string(&base, "thread_id"));
        let root = json_fields::get_string(&meta, "session_id").filter(|root| Some(root) != thread.as_ref());
        let of_agent = |key: &str| json_fields::get_string(&meta, key).or_else(|| of_spawn(key));
        let role = of_agent("agent_role").or_else(|| of_agent("agent_type"));
        let title = match (of_agent("agent_nickname"), role) {
            (Some(name), Some(role)) => Some(format!("{name} ({role})")),
            (name, role) => name.or(role),
        };
        self.created = json_fields::get_time(&meta, "timestamp").or(at);
        self.opened = at;
        self.first_own = json_fields::get_count(&meta, "subagent_history_start_ordinal")
            .max(json_fields::get_count(&base, "end_ordinal_exclusive"));
        self.is_subagent =
            spawn.is_some() || parent.is_some() || json_fields::get_str(&meta, "thread_source") == Some("subagent");
        self.is_fork = self.is_subagent || fork.is_some();
        self.thread = Some(thread.clone().unwrap_or_default());
        let mut about = SessionDetails {
            session_id: thread,
            agent: Some("codex".to_owned()),
            agent_version: json_fields::get_string(&meta, "cli_version"),
            model: json_fields::get_string(&meta, "model"),
            directory: json_fields::get_string(&meta, "cwd"),
            branch: json_fields::get_string(&git, "branch"),
            repository: json_fields::get_string(&git, "repository_url"),
            parent_session_id: parent.or(fork).or(root),
            title,
            ..SessionDetails::default()
        };
        about.extend_time_span(self.created);
        Some(about)
    }

    pub(super) fn is_known(&self) -> bool {
        self.thread.is_some()
    }

    pub(super) fn is_fork(&self) -> bool {
        self.is_fork
    }

    pub(super) fn is_subagent(&self) -> bool {
        self.is_subagent
    }

    /// Records the start of a turn; a turn that began after the session is its own.
    pub(super) fn note_turn_start(&mut self, started: Option<Timestamp>) {
        let created = self.created.map(|created| created.timestamp());
        if started.map(|started| started.timestamp()) >= created && started.is_some() {
            self.is_in_parent = false;
        }
    }

    /// Returns true if a record was inherited from a parent.
    pub(super) fn is_inherited(&self, ordinal: Option<u64>, at: Option<Timestamp>) -> bool {
        if let (Some(first), Some(ordinal)) = (self.first_own, ordinal) {
            return ordinal < first;
        }
        let Some(at) = at else { return false };
        let is_older = self.created.is_some_and(|created| at < created);
        let is_copied_now = self.opened.is_some_and(|opened| (at - opened).num_milliseconds() < COPYING_MS);
        (self.is_fork && is_older) || (self.is_in_parent && (is_older || is_copied_now))
    }
}

/// Takes the details of a session that another agent started.
fn take_spawn_details(meta: &mut Object) -> Option<Object> {
    match meta.get_mut("source")? {
        Value::String(source) => (source == "subagent").then(Object::new),
        Value::Object(source) => match source.get_mut("subagent")? {
            Value::Object(subagent) => Some(json_fields::take_object(subagent, "thread_spawn").unwrap_or_default()),
            _ => Some(Object::new()),
        },
        _ => None,
    }
}
