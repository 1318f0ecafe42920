//! Signals: what in a session is worth remembering, such as failures, fixes and corrections.

use serde::{Deserialize, Serialize};

use crate::domain::word_enum::words;
use crate::domain::{ErrorFamily, Extra};

/// Something noticed in a trajectory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    /// The kind of signal.
    pub kind: SignalKind,
    /// The error family, if the signal is about a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_family: Option<ErrorFamily>,
    /// The class of the failure, if it is about one: `compile`, `not_found`, `permission`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// The index of the trajectory, counted from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trajectory: u32,
    /// The step that shows the signal best.
    pub step: u32,
    /// All steps that it rests on, in order, including `step`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
    /// Places in other trajectories: a step of each, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<SignalPlace>,
    /// The number of times it occurred.
    #[serde(default = "once", skip_serializing_if = "is_one")]
    pub times: u32,
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// True if something else was done instead, so that the failure was not fixed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternative: bool,
    /// The description in one line.
    pub text: String,
    /// Words of the log that show it, letter for letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A place in another trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalPlace {
    /// The index of the trajectory, counted from 0.
    pub trajectory: u32,
    /// The step in that trajectory.
    pub step: u32,
}

fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(times: &u32) -> bool {
    *times == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(index: &u32) -> bool {
    *index == 0
}

words! {
    /// The kinds of signals.
    SignalKind, "a signal" {
        /// A call failed.
        FailedCall = "failed_call",
        /// A call ran out of time.
        Timeout = "timeout",
        /// A provider limited the rate of requests.
        RateLimit = "rate_limit",
        /// More was sent to a model than its context window holds.
        ContextWindow = "context_window",
        /// One failure occurred repeatedly, whatever was done between.
        RepeatedFailure = "repeated_failure",
        /// One call failed repeatedly, with nothing done between.
        RetryLoop = "retry_loop",
        /// A command that failed passed later.
        Fixed = "fixed",
        /// A test passes and fails with no edit between.
        FlakyTest = "flaky_test",
        /// A person corrects the agent.
        UserCorrection = "user_correction",
        /// The last check of the session passed.
        VerificationPassed = "verification_passed",
        /// The last check of the session failed.
        VerificationFailed = "verification_failed",
        /// A step cost much more than the others.
        CostlyStep = "costly_step",
        /// A call took much longer than the others.
        SlowCall = "slow_call",
        /// An edit was reverted.
        EditReverted = "edit_reverted",
    }
}

impl SignalKind {
    /// Returns true if the kind reports a failure.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::FailedCall
                | Self::Timeout
                | Self::RateLimit
                | Self::ContextWindow
                | Self::RepeatedFailure
                | Self::RetryLoop
        )
    }
}
