//! Tracks the session details that transcript lines give, so that each is emitted once.

use super::super::json_fields::{self, Object};
use crate::domain::{SessionDetails, Timestamp};

/// The session details that were emitted already, and the time span of the lines.
#[derive(Debug, Default)]
pub(super) struct EmittedSessionDetails {
    is_begun: bool,
    session: bool,
    trajectory: bool,
    version: bool,
    directory: bool,
    branch: bool,
    parent: bool,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl EmittedSessionDetails {
    /// Returns the details of this line that no line before it gave.
    pub(super) fn new_details(
        &mut self,
        line: &Object,
        at: Option<Timestamp>,
        is_of_subagent: bool,
    ) -> Option<Box<SessionDetails>> {
        self.extend_time_span(at);
        if self.is_begun && self.session && self.version && self.directory && self.branch {
            return None;
        }
        let mut about = SessionDetails {
            session_id: find_once(&mut self.session, || {
                json_fields::get_string(line, "sessionId").or_else(|| json_fields::get_string(line, "session_id"))
            }),
            agent_version: find_once(&mut self.version, || {
                json_fields::get_string(line, "version")
                    .or_else(|| json_fields::get_string(line, "claude_code_version"))
            }),
            directory: find_once(&mut self.directory, || json_fields::get_string(line, "cwd")),
            branch: find_once(&mut self.branch, || json_fields::get_string(line, "gitBranch")),
            ..SessionDetails::default()
        };
        if is_of_subagent {
            about.trajectory_id = find_once(&mut self.trajectory, || {
                json_fields::get_str(line, "agentId").map(|id| format!("agent-{id}"))
            });
            about.parent_session_id = find_once(&mut self.parent, || json_fields::get_string(line, "sessionId"));
        } else {
            about.parent_session_id = find_once(&mut self.parent, || {
                let origin = line.get("forkedFrom")?;
                origin.as_object().map_or_else(
                    || origin.as_str().filter(|id| !id.is_empty()).map(str::to_owned),
                    |origin| json_fields::get_string(origin, "sessionId"),
                )
            });
        }
        if !self.is_begun {
            self.is_begun = true;
            about.agent = Some("claude-code".to_owned());
            about.started_at = at;
        }
        (about != SessionDetails::default()).then(|| Box::new(about))
    }

    /// Returns the first and the last timestamp.
    pub(super) fn time_span(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.first, self.last)
    }

    fn extend_time_span(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }
}

fn find_once(is_known: &mut bool, find: impl FnOnce() -> Option<String>) -> Option<String> {
    if *is_known {
        return None;
    }
    let found = find();
    *is_known = found.is_some();
    found
}
