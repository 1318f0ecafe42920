use super::super::test_support::Does::{Fails, User};
use super::super::test_support::gather;
use super::*;
use crate::domain::{EpisodeStatus, MemoryId, SessionId};

fn inputs() -> ReflectionInputs {
    ReflectionInputs {
        run: SessionDescription {
            session_id: SessionId::parse("s-1").unwrap(),
            project_root: "/home/dev/shop".to_owned(),
            repo_id: None,
            task_id: None,
            subtask_id: None,
            kind: None,
            outcome: None,
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
    assert_eq!(json["survey"]["steps"], 2);
}

#[test]
fn a_context_is_built_from_nothing_at_all() {
    let empty = ReflectionInputs { gathered: GatheredLogs::default(), ..inputs() };
    let context = ReflectionContext::build(empty, &Redactor::new());
    assert_eq!(context.missing.len(), 7);
    assert_eq!(context.episode.session_id.as_str(), "s-1");
}

#[test]
fn no_input_brings_a_secret_along() {
    let key = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let mut full = inputs();
    let mut other = ReflectionContext::build(inputs(), &Redactor::new()).episode;
    other.id = crate::domain::EpisodeId::parse("ep-other").unwrap();
    other.session_id = SessionId::parse(&key).unwrap();
    other.summary = format!("pushed with {key}");
    other.task_id = Some("task-1".to_owned());
    other.extra.insert("password".to_owned(), serde_json::json!("hunter2-Correct9"));
    full.run.task_id = Some("task-1".to_owned());
    full.run.session_id = SessionId::parse(&format!("s-{key}")).unwrap();
    full.run.project_root = format!("/home/dev/{key}");
    full.episodes = vec![other];
    let mut memory = AgentMemory::new(MemoryId::parse("mem-1").unwrap(), Timestamp::default(), format!("use {key}"));
    memory.detail = Some(format!("export TOKEN={key}"));
    let whole = AgentMemory::new(MemoryId::parse("mem-2").unwrap(), Timestamp::default(), "Build before a push");
    full.memories = vec![memory, whole.clone()];
    full.config =
        serde_json::from_value(serde_json::json!({"env": {"DB_PASSWORD": "hunter2-Correct9", "x": key}})).ok();
    full.apm_snapshot = Some(serde_json::json!({"by": key, "secret": {"value": "hunter2-Correct9"}}));
    full.progress_md = Some(format!("token {key}"));
    full.sessions = vec![SessionSummary {
        session_id: Some(key.clone()),
        format: "claude".to_owned(),
        path: format!("logs/{key}.jsonl"),
        agent: Some(key.clone()),
        model: Some(key.clone()),
        started_at: None,
        finished_at: None,
        outcome: Some(SessionOutcome {
            status: EpisodeStatus::Failed,
            reward: None,
            error: Some(format!("bad {key}")),
            from: key.clone(),
        }),
        steps: 1,
        tool_calls: 0,
        tool_errors: 0,
        usage: TokenUsage::default(),
    }];
    let context = ReflectionContext::build(full, &Redactor::new());
    assert_eq!((context.related_episodes.len(), context.existing_memories.len()), (1, 2));
    assert_eq!(context.existing_memories[1], whole);
    assert!(context.related_episodes[0].session_id.as_str().starts_with("redacted:"));
    let shown = serde_json::to_string(&context).unwrap();
    assert!(!shown.contains("16C7e42F") && !shown.contains("hunter2"), "{shown}");
}
