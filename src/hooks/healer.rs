//! How the Healer speaks: it says once that a rescue is over, and how it ended.

use super::dialect::{Common, Dialect, Moment};
use super::generic;

/// How a rescue ends. One that was skipped is told too, so that it is known to have been no rescue.
pub(super) const STATUSES: &[&str] = &["resolved", "contained", "unresolved", "skipped"];

pub(super) const DIALECT: Dialect = Dialect {
    events: &[
        ("healer-invocation-complete", Moment::End),
        ("healer-invocation", Moment::End),
        ("healer-complete", Moment::End),
        ("complete", Moment::End),
    ],
    common: Common::Ends,
    event: &["type"],
    reason: &["scenario", "reason"],
    outcome: &["status", "outcome"],
    ..generic::DIALECT
};
