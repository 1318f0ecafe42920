//! What judges say of what distillers claim.

use std::path::{Path, PathBuf};

use archivist_core::context::{ReflectionContext, ReflectionInputs, SessionDescription};
use archivist_core::distill::SessionDistiller;
use archivist_core::domain::{EpisodeStatus, Importance, SessionId};
use archivist_core::judge::{PlainSignal, clamp_to_prior, find_basis};
use archivist_core::redact::Redactor;
use archivist_core::service::CombinedLogs;

use crate::samples::at;

const LEEWAY: f64 = 0.2;

/// The logs of these folders that can be read as sessions.
fn logs() -> Vec<PathBuf> {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = ["examples/fresh", "examples/hard", "examples/natural", "logs/generic", "logs/claude", "logs/codex"];
    let mut logs: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(fixtures.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    logs.sort();
    logs
}

fn context(log: &Path, redactor: &Redactor) -> ReflectionContext {
    let logs = CombinedLogs::read_session(&[log.to_owned()], &[], redactor).unwrap();
    let run = SessionDescription {
        session_id: SessionId::parse("s-1").unwrap(),
        project_root: "/shop".to_owned(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now: at(),
    };
    let inputs = ReflectionInputs {
        run,
        gathered: logs.gathered,
        sessions: logs.sessions,
        config: None,
        progress_md: None,
        apm_snapshot: None,
        episodes: Vec::new(),
        memories: Vec::new(),
    };
    ReflectionContext::build(inputs, redactor)
}

#[test]
fn what_the_rules_say_of_importance_lies_within_the_leeway() {
    let redactor = Redactor::new();
    let mut lessons = 0;
    for log in logs() {
        let context = context(&log, &redactor);
        let distiller =
            SessionDistiller { redactor: &redactor, documents: &[], max_candidates: 100, min_importance: 0.0 };
        let signs: Vec<PlainSignal<'_>> = context
            .signals
            .iter()
            .map(|signal| PlainSignal {
                kind: signal.kind.as_str(),
                family: signal.error_family.as_ref(),
                times: signal.times,
            })
            .collect();
        let has_failed = context.episode.status == EpisodeStatus::Failed;
        for candidate in distiller.distill_with_heuristics(&context).candidates {
            let footing = find_basis(&candidate, &signs);
            let prior = Importance::from_basis(footing.basis, footing.times, has_failed);
            assert_eq!(
                clamp_to_prior(candidate.importance, prior, LEEWAY),
                candidate.importance,
                "{}: {footing:?} {candidate:?}",
                log.display()
            );
            lessons += 1;
        }
    }
    println!("lessons looked at: {lessons}");
    assert!(lessons >= 100, "only {lessons} lessons were looked at");
}
