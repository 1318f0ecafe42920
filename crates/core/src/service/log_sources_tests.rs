use std::fs;

use super::*;
use crate::domain::{Extra, ReflectionScenario, SessionId};

fn trigger(root: &Path, paths: &[&str]) -> ReflectionTrigger {
    ReflectionTrigger {
        scenario: ReflectionScenario::SessionComplete,
        project_root: root.display().to_string(),
        session_id: SessionId::parse("s-1").unwrap(),
        main_task_id: None,
        subtask_id: None,
        log_paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        healer_status: None,
        outcome: None,
        extra: Extra::new(),
    }
}

#[test]
fn a_log_is_found_where_the_trigger_says() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("shop");
    fs::create_dir_all(root.join("logs")).unwrap();
    fs::write(home.path().join("a.jsonl"), "12345").unwrap();
    fs::write(root.join("logs/b.jsonl"), "123").unwrap();
    let places = SearchPlaces { project: root.clone(), ..SearchPlaces::default() };
    let trigger = trigger(&root, &["~/a.jsonl", "logs/b.jsonl", "gone.jsonl", "logs"]);
    let found = LogSources::for_trigger(&trigger, &places, Some(home.path())).unwrap();
    assert_eq!(found.files, [home.path().join("a.jsonl"), root.join("logs/b.jsonl")]);
    assert_eq!(found.total_bytes(), 8);
}

#[test]
fn a_session_without_a_log_says_so() {
    let home = tempfile::tempdir().unwrap();
    let places = SearchPlaces { project: home.path().to_owned(), ..SearchPlaces::default() };
    for paths in [&[][..], &["gone.jsonl"][..]] {
        let skip = LogSources::for_trigger(&trigger(home.path(), paths), &places, None).unwrap_err();
        assert!(matches!(skip, SkipReason::NoLog(_)) && skip.is_transient(), "{skip}");
    }
}

#[test]
fn a_session_is_found_among_those_of_the_project() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".openagents/sessions");
    fs::create_dir_all(&folder).unwrap();
    let line = r#"{"type":"session_start","sessionId":"s-1","timestamp":"2026-01-01T00:00:00Z","uuid":"u"}"#;
    fs::write(folder.join("s-1.jsonl"), format!("{line}\n")).unwrap();
    let places = SearchPlaces { project: home.path().to_owned(), ..SearchPlaces::default() };
    let found = LogSources::for_trigger(&trigger(home.path(), &[]), &places, None).unwrap();
    assert_eq!(found.files.len(), 1, "{found:?}");
}
