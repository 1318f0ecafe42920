//! How much of everything a log holds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::{About, Breach, Cut, Elsewhere, Skipped, Usage};

/// How many places are named of what was skipped, breached or referred to; the rest is counted.
const NAMED: usize = 200;

/// Counts over one log, or over all logs of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Survey {
    /// What the log is about.
    #[serde(flatten)]
    pub counts: Counts,
    /// The same of subagents whose work stands in the same log.
    #[serde(skip_serializing_if = "Counts::is_empty")]
    pub subagents: Counts,
    /// What it cost.
    pub usage: Usage,
    /// What the subagents in the same log cost.
    #[serde(skip_serializing_if = "Usage::is_unknown")]
    pub subagent_usage: Usage,
    /// Whether the last check of the last trajectory passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_check_passed: Option<bool>,
    /// What happened besides steps, and how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub happenings: BTreeMap<String, u64>,
    /// What could not be read: the first of it.
    pub skipped: Vec<Skipped>,
    /// All of it.
    pub skipped_total: u64,
    /// What breaks the format's rules: the first of it.
    pub findings: Vec<Breach>,
    /// All of it.
    pub findings_total: u64,
    /// What stands elsewhere: the first of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
    /// What was too long.
    pub cut: Cut,
    /// Steps that were shed to stay within memory.
    pub shed: u64,
    /// Outputs whose call is not in the log.
    pub orphaned_outputs: u64,
    /// Blocks of lessons that the session was given by Archivist.
    pub injected: u64,
    /// Signals beyond those told.
    pub signals_left_out: u64,
}

/// Counts over trajectories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Runs.
    pub trajectories: u64,
    /// Turns, copied ones among them.
    pub steps: u64,
    /// Turns repeated from an earlier trajectory.
    pub copied_steps: u64,
    /// Calls, copied ones among them.
    pub tool_calls: u64,
    /// Calls of copied steps.
    pub copied_tool_calls: u64,
    /// Calls that failed, by flag or by what they printed.
    pub tool_errors: u64,
    /// Calls that the log itself calls failed.
    pub flagged_tool_errors: u64,
    /// Turns of a person.
    pub user_turns: u64,
}

impl Counts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Both together.
    #[must_use]
    pub(super) fn plus(mut self, other: Self) -> Self {
        let trajectories = self.trajectories + other.trajectories;
        self.add(other);
        Self { trajectories, ..self }
    }

    fn add(&mut self, other: Self) {
        self.trajectories += 1;
        self.steps += other.steps;
        self.copied_steps += other.copied_steps;
        self.tool_calls += other.tool_calls;
        self.copied_tool_calls += other.copied_tool_calls;
        self.tool_errors += other.tool_errors;
        self.flagged_tool_errors += other.flagged_tool_errors;
        self.user_turns += other.user_turns;
    }
}

impl Survey {
    /// A trajectory is over.
    pub(super) fn add(&mut self, index: u32, about: &About, counts: Counts, usage: Usage, passed: Option<bool>) {
        if index > 0 && about.parent_session_id.is_some() {
            self.subagents.add(counts);
            self.subagent_usage = self.subagent_usage.plus(usage);
        } else {
            self.counts.add(counts);
            self.usage = self.usage.plus(usage);
            self.last_check_passed = passed.or(self.last_check_passed);
        }
    }

    pub(super) fn skip(&mut self, skipped: Skipped) {
        self.skipped_total += 1;
        push(&mut self.skipped, skipped);
    }

    pub(super) fn breach(&mut self, breach: Breach) {
        self.findings_total += 1;
        push(&mut self.findings, breach);
    }

    pub(super) fn refer(&mut self, elsewhere: Elsewhere) {
        if !self.elsewhere.contains(&elsewhere) {
            push(&mut self.elsewhere, elsewhere);
        }
    }
}

fn push<T>(named: &mut Vec<T>, one: T) {
    if named.len() < NAMED {
        named.push(one);
    }
}
