//! How the Healer speaks: it says once that a rescue is over, and how it ended.

use super::dialect::{CommonEvents, HookDialect, SessionPhase};
use super::generic;

/// How a rescue ends. One that was skipped is told too, so that it is known to have been no rescue.
pub(super) const STATUSES: &[&str] = &["resolved", "contained", "unresolved", "skipped"];

pub(super) const DIALECT: HookDialect = HookDialect {
    events: &[
        ("healer-invocation-complete", SessionPhase::End),
        ("healer-invocation", SessionPhase::End),
        ("healer-complete", SessionPhase::End),
        ("complete", SessionPhase::End),
    ],
    common: CommonEvents::Ends,
    event: &["type"],
    reason: &["scenario", "reason"],
    outcome: &["status", "outcome"],
    ..generic::DIALECT
};
