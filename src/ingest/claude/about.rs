//! What the lines say about the session, told once.

use super::super::pick::{self, Object};
use crate::domain::{About, Timestamp};

/// What was told already.
#[derive(Debug, Default)]
pub(super) struct Known {
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

impl Known {
    /// What this line says that no line before it said.
    pub(super) fn news(&mut self, line: &Object, at: Option<Timestamp>, is_of_subagent: bool) -> Option<Box<About>> {
        self.lives(at);
        if self.is_begun && self.session && self.version && self.directory && self.branch {
            return None;
        }
        let mut about = About {
            session_id: news(&mut self.session, || {
                pick::string(line, "sessionId").or_else(|| pick::string(line, "session_id"))
            }),
            agent_version: news(&mut self.version, || {
                pick::string(line, "version").or_else(|| pick::string(line, "claude_code_version"))
            }),
            directory: news(&mut self.directory, || pick::string(line, "cwd")),
            branch: news(&mut self.branch, || pick::string(line, "gitBranch")),
            ..About::default()
        };
        if is_of_subagent {
            about.trajectory_id =
                news(&mut self.trajectory, || pick::str(line, "agentId").map(|id| format!("agent-{id}")));
            about.parent_session_id = news(&mut self.parent, || pick::string(line, "sessionId"));
        } else {
            about.parent_session_id = news(&mut self.parent, || {
                let origin = line.get("forkedFrom")?;
                origin.as_object().map_or_else(
                    || origin.as_str().filter(|id| !id.is_empty()).map(str::to_owned),
                    |origin| pick::string(origin, "sessionId"),
                )
            });
        }
        if !self.is_begun {
            self.is_begun = true;
            about.agent = Some("claude-code".to_owned());
            about.started_at = at;
        }
        (about != About::default()).then(|| Box::new(about))
    }

    /// The first and the last sign of life.
    pub(super) fn lived(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        (self.first, self.last)
    }

    fn lives(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }
}

fn news(is_known: &mut bool, find: impl FnOnce() -> Option<String>) -> Option<String> {
    if *is_known {
        return None;
    }
    let found = find();
    *is_known = found.is_some();
    found
}
