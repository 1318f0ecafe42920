//! Whether a reflection is wanted at all. Pure.

use super::outcome::Skip;
use crate::domain::{ArchivistConfig, EpisodeStatus, ReflectionScenario, ReflectionTrigger};

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;

/// What a Healer says that found nothing to do.
const HEALER_SKIPPED: &str = "skipped";

/// What can be said before anything is read.
pub(super) fn admits(config: &ArchivistConfig, trigger: &ReflectionTrigger) -> Result<(), Skip> {
    let on = &config.reflect_on;
    let is_idle = trigger.healer_status.as_deref().is_some_and(|status| status.eq_ignore_ascii_case(HEALER_SKIPPED));
    match trigger.scenario {
        _ if !config.enabled => Err(Skip::Disabled),
        ReflectionScenario::HealerInvocation if is_idle => Err(Skip::HealerSkipped),
        ReflectionScenario::HealerInvocation => wanted(on.healer_invocation, "reflectOn.healerInvocation"),
        ReflectionScenario::SessionFailed => wanted(on.session_failure, "reflectOn.sessionFailure"),
        ReflectionScenario::SessionComplete => {
            wanted(on.session_success || on.session_failure, "reflectOn.sessionSuccess")
        }
        _ => Ok(()),
    }
}

/// What only the log tells: a session that is over may have failed.
pub(super) fn admits_status(
    config: &ArchivistConfig,
    trigger: &ReflectionTrigger,
    status: &EpisodeStatus,
) -> Result<(), Skip> {
    let on = &config.reflect_on;
    match (&trigger.scenario, status) {
        (ReflectionScenario::SessionComplete, EpisodeStatus::Failed | EpisodeStatus::Aborted) => {
            wanted(on.session_failure, "reflectOn.sessionFailure")
        }
        (ReflectionScenario::SessionComplete, _) => wanted(on.session_success, "reflectOn.sessionSuccess"),
        _ => Ok(()),
    }
}

fn wanted(is_on: bool, key: &'static str) -> Result<(), Skip> {
    if is_on { Ok(()) } else { Err(Skip::Unwanted { key }) }
}
