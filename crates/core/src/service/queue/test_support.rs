//! Small jobs and small moments.

use std::path::Path;
use std::time::Duration;

use super::{Job, JobKind, JobQueue, JobUrgency, WorkerToken};
use crate::domain::{ReflectionScenario, ReflectionTrigger, SessionId, Timestamp};
use crate::trust::MachineKey;

pub(in crate::service) const LEASE: Duration = Duration::from_secs(60);

/// So many seconds after noon.
pub(in crate::service) fn at(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
    noon + chrono::TimeDelta::seconds(seconds)
}

pub(in crate::service) fn trigger(session: &str) -> ReflectionTrigger {
    ReflectionTrigger {
        scenario: ReflectionScenario::SessionComplete,
        project_root: "/shop".to_owned(),
        session_id: SessionId::parse(session).unwrap(),
        main_task_id: None,
        subtask_id: None,
        log_paths: Vec::new(),
        healer_status: None,
        outcome: None,
        extra: Default::default(),
    }
}

/// The queue of a memory, with the key of a machine beside it.
pub(in crate::service) fn queue_in(memory: &Path) -> JobQueue {
    JobQueue::for_memory(memory, MachineKey::in_state_dir(Some(memory)))
}

/// A session that ended, asked for at noon.
pub(in crate::service) fn job(session: &str, log_bytes: u64) -> Job {
    Job {
        kind: JobKind::Reflect(trigger(session)),
        agent: "claude-code".to_owned(),
        event: "SessionEnd".to_owned(),
        urgency: JobUrgency::Over,
        log_bytes: Some(log_bytes),
        enqueued_at: at(0),
        not_before: None,
        attempts: Vec::new(),
        extra: Default::default(),
    }
}

pub(in crate::service) fn sweep() -> Job {
    let kind = JobKind::Sweep { project_root: "/shop".to_owned() };
    Job { kind, urgency: JobUrgency::Sweep, log_bytes: None, ..job("none", 0) }
}

pub(in crate::service) fn token(name: &str) -> WorkerToken {
    WorkerToken::parse(name).unwrap()
}

/// The session of a job.
pub(in crate::service) fn session(job: &Job) -> String {
    match &job.kind {
        JobKind::Reflect(trigger) => trigger.session_id.to_string(),
        JobKind::Sweep { .. } => "sweep".to_owned(),
    }
}

/// What lies where: a line for each job, its folder first.
pub(in crate::service) fn shown(queue: &JobQueue, now: Timestamp) -> Vec<String> {
    let line = |listed: super::ListedJob| {
        let job = listed.job.as_ref().map_or_else(Clone::clone, session);
        let note = listed.note.map(|note| format!(": {note}")).unwrap_or_default();
        format!("{} {job}{note}", listed.place.as_str())
    };
    queue.list_jobs(LEASE, now).unwrap().into_iter().map(line).collect()
}

/// The names in a folder.
pub(in crate::service) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
