use super::super::test_support::Does::{Fails, User};
use super::super::test_support::gather;
use super::*;
use crate::domain::SessionId;

fn inputs() -> Inputs {
    Inputs {
        run: Run {
            session_id: SessionId::parse("s-1").unwrap(),
            project_root: "/home/dev/shop".to_owned(),
            repo_id: None,
            task_id: None,
            subtask_id: None,
            kind: None,
            now: Timestamp::default(),
        },
        gathered: gather(&[User("build"), Fails("cargo build", "error: could not compile `shop`")]),
        sessions: Vec::new(),
        config: None,
        progress_md: None,
        apm_snapshot: None,
        episodes: Vec::new(),
        memories: Vec::new(),
    }
}

#[test]
fn all_nine_fields_are_there_and_what_is_missing_is_named() {
    let redactor = Redactor::new();
    let mut full = inputs();
    full.progress_md = Some(["# Session Progress\ntoken gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat());
    full.apm_snapshot = Some(serde_json::json!({"combined": {}}));
    full.config = Some(Extra::new());
    let json = serde_json::to_value(ReflectionContext::build(full, &redactor)).unwrap();
    for field in [
        "projectRoot",
        "config",
        "episode",
        "relatedEpisodes",
        "trajectories",
        "sessions",
        "progressMd",
        "apmSnapshot",
        "existingMemories",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
    assert_eq!(json["missing"], serde_json::json!(["sessions", "relatedEpisodes", "existingMemories"]));
    assert!(!json.to_string().contains("16C7e42F"));
}

#[test]
fn a_context_is_built_from_nothing_at_all() {
    let empty = Inputs { gathered: Gathered::default(), ..inputs() };
    let context = ReflectionContext::build(empty, &Redactor::new());
    assert_eq!(context.missing.len(), 7);
    assert_eq!(context.episode.session_id.as_str(), "s-1");
}
