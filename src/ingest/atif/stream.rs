//! OpenAgents' stream: a header, then one step a line, written while the agent works.

use std::collections::HashSet;

use serde_json::Value;

use super::strict::Strict;
use super::told::Told;
use crate::domain::Event;
use crate::domain::Sink;
use crate::domain::Skipped;
use crate::ingest::Reader;
use crate::ingest::Rules;
use crate::ingest::pick;
use crate::ingest::pick::Object;

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;

/// Tells a stream. It may have lost its header, its first steps, or both.
#[derive(Debug)]
pub(in crate::ingest) struct Stream {
    rules: Rules,
    told: Told,
    /// The numbers that steps give themselves.
    step_ids: HashSet<u64>,
    session_id: Option<String>,
    has_begun: bool,
    has_skipped: bool,
}

impl Stream {
    pub(in crate::ingest) fn new(rules: Rules) -> Self {
        Self {
            rules,
            told: Told::new(strict(rules)),
            step_ids: HashSet::new(),
            session_id: None,
            has_begun: false,
            has_skipped: false,
        }
    }

    /// Notes whose lines follow. Another session than before is another trajectory.
    fn session(&mut self, head: &Object, sink: &mut dyn Sink) {
        let id = pick::string(head, "session_id");
        let is_other = self.session_id.is_some() && id.is_some() && id != self.session_id;
        if is_other && self.told.steps > 0 {
            self.told.end(sink);
            sink.hear(Event::Begin);
            self.told = Told::new(strict(self.rules));
            self.step_ids.clear();
        }
        self.session_id = id.or_else(|| self.session_id.take());
    }

    fn head(&mut self, head: Object, sink: &mut dyn Sink) {
        for (key, value) in head {
            if !matches!(key.as_str(), "__header__" | "steps" | "subagent_trajectories") {
                self.told.field(&key, value, sink);
            }
        }
    }

    fn step(&mut self, step: Object, sink: &mut dyn Sink) {
        if let Some(id) = pick::count(&step, "step_id") {
            self.step_ids.insert(id);
        }
        self.told.step(Value::Object(step), sink);
    }

    /// A whole document: what it has and the lines before it had not.
    fn document(&mut self, mut document: Object, sink: &mut dyn Sink) {
        self.session(&document, sink);
        let steps = pick::take_array(&mut document, "steps");
        self.head(document, sink);
        let known = std::mem::take(&mut self.step_ids);
        for step in steps {
            let step = pick::object(step);
            let is_known = pick::count(&step, "step_id").is_some_and(|id| known.contains(&id));
            if !is_known {
                self.step(step, sink);
            }
        }
        self.step_ids.extend(known);
    }
}

impl Reader for Stream {
    fn line(&mut self, number: u64, line: Value, sink: &mut dyn Sink) {
        let line = pick::object(line);
        if self.rules.strict && !std::mem::replace(&mut self.has_begun, true) {
            Strict::new("trajectory".to_owned()).whole("a stream of lines, where one object was expected", sink);
        }
        if line.contains_key("__header__") {
            self.session(&line, sink);
            self.head(line, sink);
        } else if line.get("steps").is_some_and(Value::is_array) {
            self.document(line, sink);
        } else if ["step_id", "source", "message", "tool_calls", "observation"]
            .iter()
            .any(|key| line.contains_key(*key))
        {
            self.step(line, sink);
        } else if line.contains_key("final_metrics") {
            self.head(line, sink);
        } else if !std::mem::replace(&mut self.has_skipped, true) {
            let why = "neither a header nor a step".to_owned();
            sink.hear(Event::Skipped(Skipped { line: number, why }));
        }
    }

    fn end(&mut self, sink: &mut dyn Sink) {
        self.told.end(sink);
    }
}

fn strict(rules: Rules) -> Option<Strict> {
    rules.strict.then(|| Strict::new("trajectory".to_owned()))
}
