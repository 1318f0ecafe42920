use super::*;
use crate::domain::{Extra, ReflectOnSettings, SessionId};

fn config(success: bool, failure: bool, healer: bool) -> ArchivistConfig {
    let reflect_on =
        ReflectOnSettings { session_success: success, session_failure: failure, healer_invocation: healer };
    ArchivistConfig { enabled: true, max_memories_per_run: 5, min_importance_to_persist: 0.3, reflect_on }
}

fn trigger(scenario: ReflectionScenario, healer_status: Option<&str>) -> ReflectionTrigger {
    ReflectionTrigger {
        scenario,
        project_root: "/shop".to_owned(),
        session_id: SessionId::parse("s-1").unwrap(),
        main_task_id: None,
        subtask_id: None,
        log_paths: Vec::new(),
        healer_status: healer_status.map(str::to_owned),
        outcome: None,
        extra: Extra::new(),
    }
}

#[test]
fn what_is_off_is_skipped_and_says_which_key() {
    let check = |config: ArchivistConfig, trigger: ReflectionTrigger, status: EpisodeStatus, expected: Option<&str>| {
        let said = check_trigger(&config, &trigger).and_then(|()| check_status(&config, &trigger, &status));
        assert_eq!(said.err().map(|skip| skip.to_string()).as_deref(), expected, "{trigger:?}");
    };
    let all = || config(true, true, true);
    let (complete, failed) = (ReflectionScenario::SessionComplete, ReflectionScenario::SessionFailed);
    let (healer, pattern) = (ReflectionScenario::HealerInvocation, ReflectionScenario::PatternDetected);
    let off = |key: &str| Some(format!("`{key}` is off"));
    let (success_off, failure_off) = (off("reflectOn.sessionSuccess"), off("reflectOn.sessionFailure"));
    let healer_off = off("reflectOn.healerInvocation");

    check(all(), trigger(complete.clone(), None), EpisodeStatus::Success, None);
    check(all(), trigger(failed.clone(), None), EpisodeStatus::Failed, None);
    check(config(false, true, true), trigger(complete.clone(), None), EpisodeStatus::Success, success_off.as_deref());
    check(config(false, true, true), trigger(complete.clone(), None), EpisodeStatus::Failed, None);
    check(config(true, false, true), trigger(complete.clone(), None), EpisodeStatus::Failed, failure_off.as_deref());
    check(config(true, false, true), trigger(failed, None), EpisodeStatus::Success, failure_off.as_deref());
    check(config(true, true, false), trigger(healer.clone(), None), EpisodeStatus::Failed, healer_off.as_deref());
    for status in ["resolved", "contained", "unresolved"] {
        check(all(), trigger(healer.clone(), Some(status)), EpisodeStatus::Failed, None);
    }
    let idle = Some("the Healer did nothing");
    check(all(), trigger(healer, Some("Skipped")), EpisodeStatus::Failed, idle);
    check(config(false, false, false), trigger(pattern, None), EpisodeStatus::Failed, None);
    let disabled = ArchivistConfig { enabled: false, ..all() };
    check(disabled, trigger(complete, None), EpisodeStatus::Success, Some("reflecting is switched off (`enabled`)"));
}
