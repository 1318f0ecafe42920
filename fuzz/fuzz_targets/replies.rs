#![no_main]

use std::sync::OnceLock;

use archivist_core::context::{LogGatherer, ReflectionContext, ReflectionInputs, SessionDescription};
use archivist_core::distill::SessionDistiller;
use archivist_core::domain::{SessionId, Timestamp};
use archivist_core::ingest::{LogFormat, ReaderSettings, SessionReader};
use archivist_core::redact::Redactor;

static SESSION: OnceLock<(ReflectionContext, Redactor)> = OnceLock::new();

// A model's reply about a session that is always the same.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(reply) = serde_json::from_slice(data) else { return };
    let (context, redactor) = SESSION.get_or_init(read_session);
    let distiller = SessionDistiller { redactor, documents: &[], max_candidates: 20, min_importance: 0.0 };
    if let Ok(distilled) = distiller.distill_from_reply(context, &reply) {
        assert!(distilled.candidates.len() <= 20, "more candidates than are wanted");
    }
});

fn read_session() -> (ReflectionContext, Redactor) {
    let redactor = Redactor::new();
    let log = include_bytes!("../../fixtures/logs/generic/billing.jsonl");
    let mut gathering = LogGatherer::new(&redactor);
    let mut reader = SessionReader::new(ReaderSettings { strict: false });
    let _ = reader.read_log_as(LogFormat::Generic, &mut &log[..], &mut gathering);
    let run = SessionDescription {
        session_id: SessionId::parse("billing").unwrap(),
        project_root: "/shop".to_owned(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        kind: None,
        outcome: None,
        now: Timestamp::UNIX_EPOCH,
    };
    let inputs = ReflectionInputs {
        run,
        gathered: gathering.finish(),
        sessions: Vec::new(),
        config: None,
        progress_md: None,
        apm_snapshot: None,
        episodes: Vec::new(),
        memories: Vec::new(),
    };
    (ReflectionContext::build(inputs, &redactor), redactor)
}
