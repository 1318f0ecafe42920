use super::*;
use crate::domain::{EpisodeId, EpisodeKind, EpisodeStatus, ErrorFamily, Extra, SessionId, Timestamp};

fn episode(name: &str, task: Option<&str>, families: &[&str], tags: &[&str], day: i64) -> Episode {
    let at = Timestamp::from_timestamp(day * 86_400, 0).unwrap();
    Episode {
        id: EpisodeId::parse(&format!("ep-{name}")).unwrap(),
        project_root: "/home/dev/shop".to_owned(),
        repo_id: None,
        task_id: task.map(str::to_owned),
        subtask_id: None,
        session_id: SessionId::parse(name).unwrap(),
        kind: EpisodeKind::SubagentRun,
        started_at: at,
        finished_at: at,
        status: EpisodeStatus::Success,
        status_basis: None,
        summary: String::new(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        error_families: families.iter().map(|family| ErrorFamily::parse(family).unwrap()).collect(),
        trajectories: Vec::new(),
        usage: None,
        failures: Vec::new(),
        request: None,
        reflected: None,
        extra: Extra::new(),
    }
}

#[test]
fn runs_that_met_the_same_thing_are_related() {
    const FAMILY: &str = "00112233445566aa";
    let this = episode("this", Some("t-1"), &[FAMILY], &["bash", "edit", "read", "flaky-test"], 10);
    let others = vec![
        this.clone(),
        episode("stranger", Some("t-2"), &["ffffffffffffffff"], &["bash", "edit"], 9),
        episode("tags", None, &[], &["bash", "edit", "flaky-test"], 8),
        episode("older-family", None, &[FAMILY], &[], 2),
        episode("newer-family", None, &[FAMILY], &[], 7),
        episode("task", Some("t-1"), &[], &[], 1),
    ];
    let names: Vec<String> =
        find_related_episodes(&this, others).iter().map(|one| one.session_id.to_string()).collect();
    assert_eq!(names, ["task", "newer-family", "older-family", "tags"]);
}

#[test]
fn there_are_never_too_many() {
    let this = episode("this", Some("t"), &[], &[], 1);
    let others = (0..500).map(|n| episode(&format!("other-{n}"), Some("t"), &[], &[], n)).collect();
    let related = find_related_episodes(&this, others);
    assert_eq!(related.len(), MAX_RELATED);
    assert_eq!(related[0].session_id.as_str(), "other-499");
}
