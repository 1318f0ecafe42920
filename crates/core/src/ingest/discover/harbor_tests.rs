use super::super::support::Tree;

const TRAJECTORY: &str = r#"{"schema_version":"ATIF-v1.7","session_id":"s-1","agent":{"name":"terminus-2","version":"2"},
 "steps":[{"step_id":1,"timestamp":"2026-03-01T10:00:00","source":"user","message":"Sort the list"}]}"#;

#[test]
fn one_session_for_each_trial() {
    let job = "shop/jobs/2026-03-01__10-00-00";
    let tree = Tree::new()
        .file(&format!("{job}/sort__aB3/agent/trajectory.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.cont-10.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.cont-2.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.summarization-1-answers.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.summarization-1-questions.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.summarization-1-summary.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.summarization-12-summary.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectory.summarization-2-summary.json"), TRAJECTORY)
        .file(&format!("{job}/sort__aB3/agent/trajectories.json"), "{}")
        .file(&format!("{job}/sort__aB3/result.json"), "{}")
        .file(&format!("{job}/crashed__x/exception.txt"), "boom")
        .file(&format!("{job}/other__cD4/agent/trajectory.json"), TRAJECTORY);
    tree.check(&[
        "other__cD4: trajectory.json",
        "sort__aB3: trajectory.json trajectory.cont-2.json trajectory.cont-10.json + \
         trajectory.summarization-1-summary.json trajectory.summarization-1-questions.json \
         trajectory.summarization-1-answers.json trajectory.summarization-2-summary.json \
         trajectory.summarization-12-summary.json",
    ]);
    let facts = &tree.found().sessions[1].facts;
    assert_eq!((facts.session_id.as_deref(), facts.task_id.as_deref()), (Some("s-1"), Some("sort")));
    assert_eq!(facts.first_text.as_deref(), Some("Sort the list"));
    tree.until("2026-02-01").check(&[]);
}

#[test]
fn a_folder_that_is_given_may_hold_jobs_a_job_or_a_trial() {
    for given in ["runs", "runs/job", "runs/job/sort__a"] {
        let mut tree = Tree::new().file("runs/job/sort__a/agent/trajectory.json", TRAJECTORY);
        tree.check(&[]);
        tree.places.jobs = vec![tree.path(given), tree.path("runs"), tree.path("nowhere")];
        tree.check(&["sort__a: trajectory.json"]);
    }
}
