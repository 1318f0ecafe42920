//! Reader for OpenAgents' ATIF stream: a header, then one step per line, written while the agent works.

use std::collections::HashSet;

use serde_json::Value;

use super::strict::AtifValidator;
use super::trajectory_state::AtifTrajectoryReader;
use crate::domain::EventSink;
use crate::domain::SkippedLogLine;
use crate::domain::TrajectoryEvent;
use crate::ingest::LogReader;
use crate::ingest::ReaderSettings;
use crate::ingest::json_fields;
use crate::ingest::json_fields::Object;

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;

/// Reads a stream. It may lack its header, its first steps, or both.
#[derive(Debug)]
pub(in crate::ingest) struct AtifStreamReader {
    rules: ReaderSettings,
    told: AtifTrajectoryReader,
    /// The step ids that were read.
    step_ids: HashSet<u64>,
    session_id: Option<String>,
    has_begun: bool,
    has_skipped: bool,
}

impl AtifStreamReader {
    pub(in crate::ingest) fn new(rules: ReaderSettings) -> Self {
        Self {
            rules,
            told: AtifTrajectoryReader::new(new_validator(rules)),
            step_ids: HashSet::new(),
            session_id: None,
            has_begun: false,
            has_skipped: false,
        }
    }

    /// Records the session of the following lines. A different session begins another trajectory.
    fn switch_session(&mut self, head: &Object, sink: &mut dyn EventSink) {
        let id = json_fields::get_string(head, "session_id");
        let is_other = self.session_id.is_some() && id.is_some() && id != self.session_id;
        if is_other && self.told.steps > 0 {
            self.told.finish_trajectory(sink);
            sink.receive_event(TrajectoryEvent::Begin);
            self.told = AtifTrajectoryReader::new(new_validator(self.rules));
            self.step_ids.clear();
        }
        self.session_id = id.or_else(|| self.session_id.take());
    }

    fn read_header(&mut self, head: Object, sink: &mut dyn EventSink) {
        for (key, value) in head {
            if !matches!(key.as_str(), "__header__" | "steps" | "subagent_trajectories") {
                self.told.read_field(&key, value, sink);
            }
        }
    }

    fn read_step(&mut self, step: Object, sink: &mut dyn EventSink) {
        if let Some(id) = json_fields::get_count(&step, "step_id") {
            self.step_ids.insert(id);
        }
        self.told.read_step(Value::Object(step), sink);
    }

    /// Reads a whole document and emits what the lines before it did not contain.
    fn read_whole_document(&mut self, mut document: Object, sink: &mut dyn EventSink) {
        self.switch_session(&document, sink);
        let steps = json_fields::take_array(&mut document, "steps");
        self.read_header(document, sink);
        let known = std::mem::take(&mut self.step_ids);
        for step in steps {
            let step = json_fields::into_object(step);
            let is_known = json_fields::get_count(&step, "step_id").is_some_and(|id| known.contains(&id));
            if !is_known {
                self.read_step(step, sink);
            }
        }
        self.step_ids.extend(known);
    }
}

impl LogReader for AtifStreamReader {
    fn read_log_line(&mut self, number: u64, line: Value, sink: &mut dyn EventSink) {
        let line = json_fields::into_object(line);
        if self.rules.strict && !std::mem::replace(&mut self.has_begun, true) {
            AtifValidator::new("trajectory".to_owned())
                .report_root_breach("a stream of lines, where one object was expected", sink);
        }
        if line.contains_key("__header__") {
            self.switch_session(&line, sink);
            self.read_header(line, sink);
        } else if line.get("steps").is_some_and(Value::is_array) {
            self.read_whole_document(line, sink);
        } else if ["step_id", "source", "message", "tool_calls", "observation"]
            .iter()
            .any(|key| line.contains_key(*key))
        {
            self.read_step(line, sink);
        } else if line.contains_key("final_metrics") {
            self.read_header(line, sink);
        } else if !std::mem::replace(&mut self.has_skipped, true) {
            let why = "neither a header nor a step".to_owned();
            sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line: number, why }));
        }
    }

    fn finish_log(&mut self, sink: &mut dyn EventSink) {
        self.told.finish_trajectory(sink);
    }
}

fn new_validator(rules: ReaderSettings) -> Option<AtifValidator> {
    rules.strict.then(|| AtifValidator::new("trajectory".to_owned()))
}
