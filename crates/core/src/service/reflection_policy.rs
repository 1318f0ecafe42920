//! Decides whether a reflection is wanted at all. It is pure.

use super::reflection_outcome::SkipReason;
use crate::domain::{ArchivistConfig, EpisodeStatus, ReflectionScenario, ReflectionTrigger};

#[cfg(test)]
#[path = "reflection_policy_tests.rs"]
mod tests;

/// The status of a Healer that found nothing to do.
const HEALER_SKIPPED: &str = "skipped";

/// Checks what the trigger alone decides, before anything is read.
pub(super) fn check_trigger(config: &ArchivistConfig, trigger: &ReflectionTrigger) -> Result<(), SkipReason> {
    let on = &config.reflect_on;
    let is_idle = trigger.healer_status.as_deref().is_some_and(|status| status.eq_ignore_ascii_case(HEALER_SKIPPED));
    match trigger.scenario {
        _ if !config.enabled => Err(SkipReason::Disabled),
        ReflectionScenario::HealerInvocation if is_idle => Err(SkipReason::HealerSkipped),
        ReflectionScenario::HealerInvocation => require_enabled(on.healer_invocation, "reflectOn.healerInvocation"),
        ReflectionScenario::SessionFailed => require_enabled(on.session_failure, "reflectOn.sessionFailure"),
        ReflectionScenario::SessionComplete => {
            require_enabled(on.session_success || on.session_failure, "reflectOn.sessionSuccess")
        }
        _ => Ok(()),
    }
}

/// Checks what only the log shows: a session that is over may have failed.
pub(super) fn check_status(
    config: &ArchivistConfig,
    trigger: &ReflectionTrigger,
    status: &EpisodeStatus,
) -> Result<(), SkipReason> {
    let on = &config.reflect_on;
    match (&trigger.scenario, status) {
        (ReflectionScenario::SessionComplete, EpisodeStatus::Failed | EpisodeStatus::Aborted) => {
            require_enabled(on.session_failure, "reflectOn.sessionFailure")
        }
        (ReflectionScenario::SessionComplete, _) => require_enabled(on.session_success, "reflectOn.sessionSuccess"),
        _ => Ok(()),
    }
}

fn require_enabled(is_on: bool, key: &'static str) -> Result<(), SkipReason> {
    if is_on { Ok(()) } else { Err(SkipReason::Unwanted { key }) }
}
