use super::*;
use crate::lesson_origin::parse_timestamp;

fn now() -> Timestamp {
    parse_timestamp("2026-01-01T00:00:00Z").unwrap()
}

const MEMORY: &str = r#"{"id":"mem-epi-1","memoryType":"episodic","scope":"project","status":"active","description":"Task: Write hello.txt - Outcome: failure","content":{"type":"episodic","outcome":"failure","errorMessage":"context window exceeded","skillsUsed":[]},"importance":"high","tags":["failure"],"accessCount":3,"lastAccessedAt":"2025-12-06T22:49:10.321Z","createdAt":"2025-12-06T22:49:10.321Z","updatedAt":"2025-12-06T22:49:10.321Z","source":"task"}"#;

const REFLECTION: &str = r#"{"id":"ref-1","taskId":"oa-1","analysis":"Type errors were found.","suggestion":"Check type annotations.","actionItems":["Run the type checker"],"createdAt":"2025-12-05T05:59:49.006Z"}"#;

#[test]
fn memories_reflections_and_runs_of_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join(".openagents");
    std::fs::create_dir_all(inside.join("memory")).unwrap();
    std::fs::write(inside.join(MEMORIES), format!("{MEMORY}\nbroken\n")).unwrap();
    std::fs::write(inside.join(REFLECTIONS), REFLECTION).unwrap();
    let run = |number: u32| {
        format!(
            "{{\"id\":\"traj-{number}\",\"taskId\":\"t\",\"taskDescription\":\"Do it\",\"actions\":[{{\"type\":\"tool_call\",\
             \"tool\":\"bash\",\"content\":\"ls\",\"success\":true,\"timestamp\":\"2025-12-06T10:00:00.000Z\"}}],\
             \"outcome\":\"success\",\"timestamp\":\"2025-12-06T10:00:0{number}.000Z\"}}\n"
        )
    };
    std::fs::write(inside.join(TRAJECTORIES), run(1) + &run(2)).unwrap();
    let bundle = read_memory(folder.path(), now()).unwrap();
    let said: Vec<&str> =
        bundle.lessons.iter().map(|brought| brought.current_version().unwrap().summary.as_str()).collect();
    assert_eq!(said, ["Task: Write hello.txt - Outcome: failure", "Check type annotations."]);
    assert_eq!(bundle.lessons[0].used, Some(3));
    assert_eq!(bundle.lessons[0].current_version().unwrap().detail.as_deref(), Some("context window exceeded"));
    let runs: Vec<&str> = bundle.episodes.iter().map(|episode| episode.session_id.as_str()).collect();
    assert_eq!(runs, ["traj-1", "traj-2"]);
    assert_eq!(bundle.skipped.len(), 1, "{:?}", bundle.skipped);
}

#[test]
fn a_folder_without_any_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let why = read_memory(folder.path(), now()).unwrap_err().to_string();
    assert!(why.ends_with("there is neither memories.jsonl nor trajectories.jsonl in it"), "{why}");
}
