//! Whose file it is, and which of its records were a parent's.

use serde_json::Value;

use crate::domain::About;
use crate::domain::Timestamp;
use crate::ingest::pick;
use crate::ingest::pick::Object;

/// Records of a parent that get new timestamps are copied within this time.
const COPYING_MS: i64 = 1000;

/// Where a session comes from.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// Its thread, once its first line is read.
    thread: Option<String>,
    created: Option<Timestamp>,
    /// When its first line was written.
    opened: Option<Timestamp>,
    /// Records with a lower ordinal are a parent's.
    first_own: Option<u64>,
    is_fork: bool,
    is_subagent: bool,
    /// Whether what follows may be a parent's, for its first line was there.
    is_in_parent: bool,
}

impl Origin {
    /// Hears the first line of this file, or of a parent's in it. Only the first one tells about this session.
    pub(super) fn meta(&mut self, mut meta: Object, at: Option<Timestamp>) -> Option<About> {
        let thread = pick::string(&meta, "id").or_else(|| pick::string(&meta, "session_id"));
        if self.is_known() {
            self.is_in_parent = thread != self.thread;
            return None;
        }
        let spawn = spawn(&mut meta);
        let of_spawn = |key: &str| spawn.as_ref().and_then(|spawn| pick::string(spawn, key));
        let base = pick::take_object(&mut meta, "history_base").unwrap_or_default();
        let git = pick::take_object(&mut meta, "git").unwrap_or_default();
        let parent = pick::string(&meta, "parent_thread_id").or_else(|| of_spawn("parent_thread_id"));
        let fork = pick::string(&meta, "forked_from_id").or_else(|| pick::string(&base, "thread_id"));
        let root = pick::string(&meta, "session_id").filter(|root| Some(root) != thread.as_ref());
        let of_agent = |key: &str| pick::string(&meta, key).or_else(|| of_spawn(key));
        let role = of_agent("agent_role").or_else(|| of_agent("agent_type"));
        let title = match (of_agent("agent_nickname"), role) {
            (Some(name), Some(role)) => Some(format!("{name} ({role})")),
            (name, role) => name.or(role),
        };
        self.created = pick::time(&meta, "timestamp").or(at);
        self.opened = at;
        self.first_own =
            pick::count(&meta, "subagent_history_start_ordinal").max(pick::count(&base, "end_ordinal_exclusive"));
        self.is_subagent = spawn.is_some() || parent.is_some() || pick::str(&meta, "thread_source") == Some("subagent");
        self.is_fork = self.is_subagent || fork.is_some();
        self.thread = Some(thread.clone().unwrap_or_default());
        let mut about = About {
            session_id: thread,
            agent: Some("codex".to_owned()),
            agent_version: pick::string(&meta, "cli_version"),
            model: pick::string(&meta, "model"),
            directory: pick::string(&meta, "cwd"),
            branch: pick::string(&git, "branch"),
            repository: pick::string(&git, "repository_url"),
            parent_session_id: parent.or(fork).or(root),
            title,
            ..About::default()
        };
        about.lived(self.created);
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

    /// A turn begins; one that began after this session did is its own.
    pub(super) fn turn(&mut self, started: Option<Timestamp>) {
        let created = self.created.map(|created| created.timestamp());
        if started.map(|started| started.timestamp()) >= created && started.is_some() {
            self.is_in_parent = false;
        }
    }

    /// Whether a record is a parent's.
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

/// What a session that another agent started says of that.
fn spawn(meta: &mut Object) -> Option<Object> {
    match meta.get_mut("source")? {
        Value::String(source) => (source == "subagent").then(Object::new),
        Value::Object(source) => match source.get_mut("subagent")? {
            Value::Object(subagent) => Some(pick::take_object(subagent, "thread_spawn").unwrap_or_default()),
            _ => Some(Object::new()),
        },
        _ => None,
    }
}
