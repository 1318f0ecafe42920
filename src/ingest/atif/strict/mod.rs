//! Harbor's own rules for ATIF, as its models of v1.8 enforce them.
//!
//! Every breach is told, where Harbor would tell the first of a kind; whether there is any is the same. Left out is the
//! one rule that needs files: that the local images and sounds which a document names exist.

mod lax;
mod model;
mod time;

use std::collections::HashSet;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use serde_json::Value;

use crate::domain::Sink;
use model::Check;

#[cfg(test)]
#[path = "strict_tests.rs"]
mod tests;

/// Holds one trajectory, told part by part, against the rules.
#[derive(Debug)]
pub(super) struct Strict {
    path: String,
    has_agent: bool,
    steps: Option<usize>,
    trajectory_id: Option<u64>,
    embedded: usize,
    embedded_ids: HashSet<u64>,
}

impl Strict {
    /// A trajectory that stands at this path.
    pub(super) fn new(path: String) -> Self {
        Self { path, has_agent: false, steps: None, trajectory_id: None, embedded: 0, embedded_ids: HashSet::new() }
    }

    /// Checks a field of the root, apart from steps and embedded trajectories.
    pub(super) fn field(&mut self, key: &str, value: &Value, sink: &mut dyn Sink) {
        self.has_agent |= key == "agent";
        if key == "trajectory_id" {
            self.trajectory_id = value.as_str().map(hash);
        }
        self.check(sink).root_field(key, value);
    }

    /// Steps, or embedded trajectories, are no list.
    pub(super) fn no_list(&mut self, key: &str, sink: &mut dyn Sink) {
        if key == "steps" {
            self.steps.get_or_insert(1);
        }
        self.check(sink).within(key, |check| check.breach("expected a list"));
    }

    /// The list of steps begins.
    pub(super) fn steps(&mut self) {
        self.steps = Some(0);
    }

    /// Checks the next step.
    pub(super) fn step(&mut self, step: &Value, sink: &mut dyn Sink) {
        let index = self.steps.unwrap_or_default();
        self.steps = Some(index + 1);
        self.check(sink).within("steps", |check| check.within(&index.to_string(), |check| check.step(index, step)));
    }

    /// Where the next embedded trajectory stands.
    pub(super) fn next_embedded(&mut self) -> String {
        let index = self.embedded;
        self.embedded += 1;
        format!("{}.subagent_trajectories.{index}", self.path)
    }

    /// An embedded trajectory was checked.
    pub(super) fn embedded(&mut self, child: &Self, sink: &mut dyn Sink) {
        let problem = match child.trajectory_id {
            None => "required field is missing: an embedded trajectory needs an id",
            Some(id) if !self.embedded_ids.insert(id) => "not unique among the embedded trajectories",
            Some(_) => return,
        };
        child.check(sink).within("trajectory_id", |check| check.breach(problem));
    }

    /// Something is wrong with the whole.
    pub(super) fn whole(&self, problem: &str, sink: &mut dyn Sink) {
        self.check(sink).breach(problem);
    }

    /// Checks what must have been there by now.
    pub(super) fn end(&self, sink: &mut dyn Sink) {
        let mut check = self.check(sink);
        if !self.has_agent {
            check.within("agent", |check| check.breach("required field is missing"));
        }
        match self.steps {
            None => check.within("steps", |check| check.breach("required field is missing")),
            Some(0) => check.within("steps", |check| check.breach("expected at least one step")),
            Some(_) => {}
        }
    }

    fn check<'s>(&self, sink: &'s mut dyn Sink) -> Check<'s> {
        Check::new(self.path.clone(), sink)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
