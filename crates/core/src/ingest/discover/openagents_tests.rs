use super::super::is_same_session;
use super::super::support::Tree;

const SESSION: &str = r#"{"type":"session_start","uuid":"u1","parentUuid":null,"timestamp":"2025-12-05T08:07:41.882Z","sessionId":"session-2025-12-05T08-07-41-882Z-aaaaaa","taskId":"oa-abc123","cwd":"/home/dev/shop"}
{"type":"user","timestamp":"2025-12-05T08:07:42Z","message":{"role":"user","content":"Wire the checks"}}
"#;
const RUN: &str = r#"{"type":"run_start","ts":"2025-12-05T08:07:41Z","runId":"run-20251205-080741-ab12"}
{"type":"task_selected","ts":"2025-12-05T08:07:42Z","taskId":"oa-abc123"}
"#;
const METADATA: &str = r#"{
  "id": "run-20251205-080741-ab12", "taskId": "oa-abc123", "status": "success",
  "startedAt": "2025-12-05T08:07:41Z", "finishedAt": "2025-12-05T08:11:00Z", "workDir": "/home/dev/shop",
  "logFilePath": "/home/dev/shop/.openagents/run-logs/20251205/run-20251205-080741-ab12.jsonl",
  "sessionFilePath": "/home/dev/shop/.openagents/sessions/session-2025-12-05T08-07-41-882Z-aaaaaa.jsonl"
}"#;
const HEADER: &str = r#"{"__header__":true,"schema_version":"ATIF-v1.4","session_id":"session-2025-12-05T08-07-41-875Z-bbbbbb","agent":{"name":"orchestrator"},"created_at":"2025-12-05T08:07:41.876Z"}
{"step_id":1,"timestamp":"2025-12-05T08:07:41.883Z","source":"system","message":"Session started: session-2025-12-05T08-07-41-882Z-aaaaaa"}
"#;
const DOCUMENT: &str = r#"{
  "schema_version": "ATIF-v1.4", "session_id": "session-2025-12-05T08-07-41-875Z-bbbbbb",
  "agent": {"name": "orchestrator"},
  "steps": [{"step_id": 1, "timestamp": "2025-12-05T08:07:41.883Z", "source": "system", "message": "Session started: x"}]
}
"#;
const INDEX: &str = r#"{"session_id":"session-2025-12-05T08-07-41-875Z-bbbbbb","agent":{"name":"orchestrator"},
 "checkpoint":{"step_id":13,"timestamp":"2025-12-05T08:10:47.148Z"},"status":"in_progress","created_at":"2025-12-05T08:07:41.876Z"}"#;
const STEM: &str = "shop/.openagents/trajectories/20251205/session-2025-12-05T08-07-41-875Z-bbbbbb";

#[test]
fn sessions_run_logs_and_their_metadata() {
    let tree = Tree::new()
        .file("shop/.openagents/sessions/session-2025-12-05T08-07-41-882Z-aaaaaa.jsonl", SESSION)
        .file("shop/.openagents/run-logs/20251205/run-20251205-080741-ab12.jsonl", RUN)
        .file("shop/.openagents/run-logs/20251205/080741-oa-abc123.json", METADATA)
        .file(
            "shop/.openagents/run-logs/20251206/090000-oa-zzz.json",
            &METADATA.replace("ab12", "none").replace("aaaaaa", "none"),
        );
    tree.check(&[
        "run-20251205-080741-ab12: run-20251205-080741-ab12.jsonl ? 080741-oa-abc123.json",
        "run-20251205-080741-none: 090000-oa-zzz.json",
        "session-2025-12-05T08-07-41-882Z-aaaaaa: session-2025-12-05T08-07-41-882Z-aaaaaa.jsonl ? 080741-oa-abc123.json",
    ]);
    let found = tree.found().sessions;
    assert_eq!(found[0].facts.task_id.as_deref(), Some("oa-abc123"));
    assert!(is_same_session(&found[0].facts, &found[2].facts));
}

#[test]
fn of_a_trajectory_in_several_forms_the_whole_one_counts() {
    let check = |parts: &[(&str, &str)], expected: &[&str]| {
        let tree = parts.iter().fold(Tree::new(), |tree, (ending, text)| tree.file(&format!("{STEM}{ending}"), text));
        let told = tree.told();
        let short: Vec<String> =
            told.iter().map(|line| line.replace("session-2025-12-05T08-07-41-875Z-bbbbbb", "b")).collect();
        assert_eq!(short, expected);
    };
    let headless = HEADER.lines().nth(1).unwrap();
    let cut = DOCUMENT.split("\"steps\"").next().unwrap();
    check(
        &[(".atif.json", DOCUMENT), (".atif.jsonl", HEADER), (".index.json", INDEX)],
        &["b: b.atif.json ? b.index.json"],
    );
    check(&[(".atif.json", DOCUMENT), (".atif.jsonl", headless)], &["b: b.atif.json"]);
    check(&[(".atif.jsonl", HEADER), (".index.json", INDEX)], &["b: b.atif.jsonl ? b.index.json"]);
    check(&[(".atif.jsonl", headless)], &["b: b.atif.jsonl"]);
    check(&[(".atif.json", cut), (".atif.jsonl", HEADER)], &["b: b.atif.jsonl"]);
    check(&[(".atif.json", cut), (".atif.jsonl", headless)], &["b: b.atif.json"]);
    check(&[(".atif.json", cut)], &["b: b.atif.json"]);
    check(&[(".index.json", INDEX)], &[]);
}

#[test]
fn notes_state_and_records() {
    let notes = "# Session Progress\n\n## Session Info\n- **Session ID**: session-2025-12-05T08-07-41-882Z-aaaaaa\n\
                 - Started: 2025-12-05T08:07:41.882Z\n- **Task**: oa-abc123 - Wire the checks\n";
    let tree = Tree::new()
        .file("shop/.openagents/progress.md", notes)
        .file("shop/.openagents/healer-state.json", "{\"attempts\":[]}")
        .file("shop/.openagents/trajectories.jsonl", "{\"id\":\"traj-1\",\"actions\":[],\"outcome\":\"failure\"}\n")
        .file(&format!("{STEM}.atif.jsonl"), HEADER);
    let found = tree.found();
    let ids: Vec<&str> = found.sessions.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "session-2025-12-05T08-07-41-875Z-bbbbbb",
            "session-2025-12-05T08-07-41-882Z-aaaaaa",
            "healer-state",
            "trajectories"
        ]
    );
    assert_eq!(found.sessions[1].facts.task_id.as_deref(), Some("oa-abc123"));
    assert!(is_same_session(&found.sessions[0].facts, &found.sessions[1].facts));
}

#[test]
fn folders_are_where_the_projects_settings_put_them() {
    let settings = r#"{"projectId":"shop","sessionDir":"logs/sessions","runLogDir":".openagents/runs","trajectory":{"enabled":true,"directory":"traces"}}"#;
    Tree::new()
        .file("shop/.openagents/project.json", settings)
        .file("shop/logs/sessions/s.jsonl", SESSION)
        .file("shop/.openagents/sessions/unseen.jsonl", SESSION)
        .file("shop/.openagents/runs/20251205/r.jsonl", RUN)
        .file("shop/.openagents/traces/20251205/t.atif.jsonl", HEADER)
        .check(&["r: r.jsonl", "t: t.atif.jsonl", "s: s.jsonl"]);
    for outside in ["../other", "/etc", "logs/../../other"] {
        let settings = format!(r#"{{"sessionDir":"{outside}"}}"#);
        let found = Tree::new()
            .file("shop/.openagents/project.json", &settings)
            .file("shop/.openagents/sessions/s.jsonl", SESSION)
            .file("other/x.jsonl", SESSION)
            .found();
        assert_eq!((found.sessions.len(), found.problems.len()), (1, 1), "{outside}");
        assert_eq!(found.problems[0].why, "`sessionDir` leads out of the project and is not followed");
    }
}

#[test]
fn the_window_goes_by_change_and_by_the_id() {
    let tree = Tree::new()
        .file("shop/.openagents/sessions/session-20251202-185110-33ph.jsonl", "not JSON\n")
        .file("shop/.openagents/sessions/s.jsonl", SESSION)
        .changed("shop/.openagents/sessions/s.jsonl", "2025-12-05T09:00:00Z");
    let tree = tree.since("2025-12-05T10:00:00Z");
    tree.check(&["session-20251202-185110-33ph: session-20251202-185110-33ph.jsonl"]);
    tree.until("2025-12-02T00:00:00Z").check(&[]);
}

#[test]
fn the_real_state_of_a_project() {
    let Some(corpus) = std::env::var_os("ARCHIVIST_CORPUS") else {
        println!("skipped: ARCHIVIST_CORPUS is not set");
        return;
    };
    let real = std::path::Path::new(&corpus).join("openagents");
    let mut tree = Tree::new();
    for folder in ["", "trajectories/20251205"] {
        for entry in std::fs::read_dir(real.join(folder)).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                let name = format!("shop/.openagents/{folder}/{}", entry.file_name().to_string_lossy());
                tree = tree.file(&name, &std::fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    for file in ["trajectories.jsonl", "healer-state.json"] {
        tree = tree.changed(&format!("shop/.openagents/{file}"), "2025-12-06");
    }
    tree.check(&[
        "session-2025-12-05T07-45-57-649Z-x8251x: session-2025-12-05T07-45-57-649Z-x8251x.atif.json ? \
         session-2025-12-05T07-45-57-649Z-x8251x.index.json",
        "session-2025-12-05T08-00-23-404Z-ew8gut: session-2025-12-05T08-00-23-404Z-ew8gut.atif.json ? \
         session-2025-12-05T08-00-23-404Z-ew8gut.index.json",
        "session-2025-12-05T08-07-41-875Z-ebphxk: session-2025-12-05T08-07-41-875Z-ebphxk.atif.jsonl ? \
         session-2025-12-05T08-07-41-875Z-ebphxk.index.json",
        "session-2025-12-05T08-07-41-882Z-35za38: progress.md",
        "healer-state: healer-state.json",
        "trajectories: trajectories.jsonl",
    ]);
    let found = tree.found().sessions;
    let links: Vec<bool> = (0..3).map(|at| is_same_session(&found[at].facts, &found[3].facts)).collect();
    assert_eq!(links, [false, false, true]);
}
