//! Harbor's validation rules for ATIF, as its models of v1.8 enforce them.
//!
//! Every breach is reported, while Harbor reports only the first of a kind; both agree on whether there is any. The one
//! rule that needs files is left out: that the local images and audio files named by a document exist.

mod harbor_schema;
mod lenient_values;
mod timestamps;

use std::collections::HashSet;

use serde_json::Value;

use crate::domain::EventSink;
use crate::domain::fingerprint_text;
use harbor_schema::AtifSchemaCheck;

#[cfg(test)]
#[path = "strict_tests.rs"]
mod tests;

/// Validates one trajectory, part by part, against Harbor's rules.
#[derive(Debug)]
pub(super) struct AtifValidator {
    path: String,
    has_agent: bool,
    steps: Option<usize>,
    trajectory_id: Option<u64>,
    embedded: usize,
    embedded_ids: HashSet<u64>,
}

impl AtifValidator {
    /// Creates a validator for the trajectory at this path.
    pub(super) fn new(path: String) -> Self {
        Self { path, has_agent: false, steps: None, trajectory_id: None, embedded: 0, embedded_ids: HashSet::new() }
    }

    /// Checks a field of the root, except steps and embedded trajectories.
    pub(super) fn check_field(&mut self, key: &str, value: &Value, sink: &mut dyn EventSink) {
        self.has_agent |= key == "agent";
        if key == "trajectory_id" {
            self.trajectory_id = value.as_str().map(fingerprint_text);
        }
        self.start_check(sink).check_root_field(key, value);
    }

    /// Reports that steps or embedded trajectories are not a list.
    pub(super) fn report_no_list(&mut self, key: &str, sink: &mut dyn EventSink) {
        if key == "steps" {
            self.steps.get_or_insert(1);
        }
        self.start_check(sink).check_within(key, |check| check.report_breach("expected a list"));
    }

    /// Begins the list of steps.
    pub(super) fn begin_steps(&mut self) {
        self.steps = Some(0);
    }

    /// Checks the next step.
    pub(super) fn check_step(&mut self, step: &Value, sink: &mut dyn EventSink) {
        let index = self.steps.unwrap_or_default();
        self.steps = Some(index + 1);
        self.start_check(sink).check_within("steps", |check| {
            check.check_within(&index.to_string(), |check| check.check_step(index, step));
        });
    }

    /// Returns the path of the next embedded trajectory.
    pub(super) fn next_embedded_path(&mut self) -> String {
        let index = self.embedded;
        self.embedded += 1;
        format!("{}.subagent_trajectories.{index}", self.path)
    }

    /// Checks the id of an embedded trajectory.
    pub(super) fn check_embedded(&mut self, child: &Self, sink: &mut dyn EventSink) {
        let problem = match child.trajectory_id {
            None => "required field is missing: an embedded trajectory needs an id",
            Some(id) if !self.embedded_ids.insert(id) => "not unique among the embedded trajectories",
            Some(_) => return,
        };
        child.start_check(sink).check_within("trajectory_id", |check| check.report_breach(problem));
    }

    /// Reports a breach of the trajectory as a whole.
    pub(super) fn report_root_breach(&self, problem: &str, sink: &mut dyn EventSink) {
        self.start_check(sink).report_breach(problem);
    }

    /// Reports required fields that are missing at the end.
    pub(super) fn check_required_fields(&self, sink: &mut dyn EventSink) {
        let mut check = self.start_check(sink);
        if !self.has_agent {
            check.check_within("agent", |check| check.report_breach("required field is missing"));
        }
        match self.steps {
            None => check.check_within("steps", |check| check.report_breach("required field is missing")),
            Some(0) => check.check_within("steps", |check| check.report_breach("expected at least one step")),
            Some(_) => {}
        }
    }

    fn start_check<'s>(&self, sink: &'s mut dyn EventSink) -> AtifSchemaCheck<'s> {
        AtifSchemaCheck::new(self.path.clone(), sink)
    }
}
