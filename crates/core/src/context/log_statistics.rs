//! Counts everything that a log contains.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::{FormatViolation, LogReference, SessionDetails, SkippedLogLine, TokenUsage, TruncationCount};

/// The number of skipped, invalid or referenced places that are listed; the rest is only counted.
const NAMED: usize = 200;

/// Statistics over one log, or over all logs of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogStatistics {
    /// The counts of the session's own trajectories.
    #[serde(flatten)]
    pub counts: TrajectoryCounts,
    /// The counts of subagents whose work is in the same log.
    #[serde(skip_serializing_if = "TrajectoryCounts::is_empty")]
    pub subagents: TrajectoryCounts,
    /// The tokens and money it cost.
    pub usage: TokenUsage,
    /// The tokens and money that subagents in the same log cost.
    #[serde(skip_serializing_if = "TokenUsage::is_unknown")]
    pub subagent_usage: TokenUsage,
    /// True if the last check of the last trajectory with a check passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_check_passed: Option<bool>,
    /// The number of events besides steps, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub happenings: BTreeMap<String, u64>,
    /// The first places that could not be read.
    pub skipped: Vec<SkippedLogLine>,
    /// The number of all places that could not be read.
    pub skipped_total: u64,
    /// The first breaches of the format's rules.
    pub findings: Vec<FormatViolation>,
    /// The number of all breaches of the format's rules.
    pub findings_total: u64,
    /// The first references to parts stored elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<LogReference>,
    /// The amount that was cut because it was too long.
    pub cut: TruncationCount,
    /// The number of steps dropped to save memory.
    pub shed: u64,
    /// The number of outputs whose call is not in the log.
    pub orphaned_outputs: u64,
    /// The number of blocks of lessons that Archivist injected into the session.
    pub injected: u64,
    /// The number of signals beyond those that are kept.
    pub signals_left_out: u64,
}

/// Counts over one or more trajectories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrajectoryCounts {
    /// The number of trajectories.
    pub trajectories: u64,
    /// The number of steps, including copied ones.
    pub steps: u64,
    /// The number of steps repeated from an earlier trajectory.
    pub copied_steps: u64,
    /// The number of calls, including copied ones.
    pub tool_calls: u64,
    /// The number of calls in copied steps.
    pub copied_tool_calls: u64,
    /// The number of calls that failed, by flag or by their output.
    pub tool_errors: u64,
    /// The number of calls that the log itself flags as failed.
    pub flagged_tool_errors: u64,
    /// The number of steps of a person.
    pub user_turns: u64,
}

impl TrajectoryCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the sum of both.
    #[must_use]
    pub(super) fn plus(mut self, other: Self) -> Self {
        let trajectories = self.trajectories + other.trajectories;
        self.add_trajectory(other);
        Self { trajectories, ..self }
    }

    fn add_trajectory(&mut self, other: Self) {
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

impl LogStatistics {
    /// Adds a finished trajectory to the counts.
    pub(super) fn add_trajectory(
        &mut self,
        index: u32,
        about: &SessionDetails,
        counts: TrajectoryCounts,
        usage: TokenUsage,
        passed: Option<bool>,
    ) {
        if index > 0 && about.parent_session_id.is_some() {
            self.subagents.add_trajectory(counts);
            self.subagent_usage = self.subagent_usage.add_usage(usage);
        } else {
            self.counts.add_trajectory(counts);
            self.usage = self.usage.add_usage(usage);
            self.last_check_passed = passed.or(self.last_check_passed);
        }
    }

    pub(super) fn add_skipped(&mut self, skipped: SkippedLogLine) {
        self.skipped_total += 1;
        push_limited(&mut self.skipped, skipped);
    }

    pub(super) fn add_breach(&mut self, breach: FormatViolation) {
        self.findings_total += 1;
        push_limited(&mut self.findings, breach);
    }

    pub(super) fn add_reference(&mut self, elsewhere: LogReference) {
        if !self.elsewhere.contains(&elsewhere) {
            push_limited(&mut self.elsewhere, elsewhere);
        }
    }
}

fn push_limited<T>(named: &mut Vec<T>, one: T) {
    if named.len() < NAMED {
        named.push(one);
    }
}
