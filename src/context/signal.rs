//! What in a session is worth remembering: failures, fixes, corrections.

use serde::{Deserialize, Serialize};

use crate::domain::words::words;
use crate::domain::{ErrorFamily, Extra};

/// One thing that stands out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signal {
    /// What it is.
    pub kind: SignalKind,
    /// Which failure, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_family: Option<ErrorFamily>,
    /// What sort of failure, where it is about one: `compile`, `not_found`, `permission`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// Which of the trajectories that were read together, counted from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trajectory: u32,
    /// Where it shows best.
    pub step: u32,
    /// Every step that it rests on, in order, `step` among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<u32>,
    /// Where else: a step of each of the other trajectories, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<SeenAt>,
    /// How often.
    #[serde(default = "once", skip_serializing_if = "is_one")]
    pub times: u32,
    /// With which tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Something else was done instead: what failed was not mended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alternative: bool,
    /// In one line.
    pub text: String,
    /// Words of the log that show it, letter for letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// What this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A place in another trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenAt {
    /// Which one, counted from 0.
    pub trajectory: u32,
    /// Its step.
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
    /// What stands out.
    SignalKind, "a signal" {
        /// A call failed.
        FailedCall = "failed_call",
        /// It ran out of time.
        Timeout = "timeout",
        /// A provider asked to slow down.
        RateLimit = "rate_limit",
        /// More was sent to a model than it can read.
        ContextWindow = "context_window",
        /// The same failure again and again, whatever was done between.
        RepeatedFailure = "repeated_failure",
        /// The same call again and again, with nothing done between.
        RetryLoop = "retry_loop",
        /// What failed passes later.
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
        /// An edit was taken back.
        EditReverted = "edit_reverted",
    }
}

impl SignalKind {
    /// Whether it tells that something failed.
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
