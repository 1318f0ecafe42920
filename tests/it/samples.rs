//! Small values that tests agree on.

use archivist_core::config::{self, ConfigLoadRequest};
use archivist_core::domain::{
    AgentMemory, Episode, EpisodeId, EpisodeKind, EpisodeStatus, Extra, MemoryId, MemoryQuery, ReflectionScenario,
    ReflectionTrigger, RunId, SessionId, Timestamp,
};
use archivist_core::recall::RankingSettings;
use archivist_core::service::{Job, JobKind, JobQueue, JobUrgency};
use archivist_core::trust::{MachineKey, SealPurpose};

pub(crate) const PROJECT: &str = "/project";

pub(crate) fn at() -> Timestamp {
    day(0)
}

/// The queue of a memory, with the key of a machine beside it.
pub(crate) fn queue_in(memory: &std::path::Path) -> JobQueue {
    JobQueue::for_memory(memory, MachineKey::in_state_dir(Some(memory)))
}

/// Makes the key beside the queue of a memory, and returns its path.
pub(crate) fn make_key(memory: &std::path::Path) -> std::path::PathBuf {
    MachineKey::in_state_dir(Some(memory)).seal_bytes(SealPurpose::Job, b"").unwrap();
    memory.join("machine.key")
}

/// So many days after the first of January 2026.
pub(crate) fn day(number: i64) -> Timestamp {
    "2026-01-01T00:00:00Z".parse::<Timestamp>().unwrap() + chrono::Duration::days(number)
}

pub(crate) fn id(text: &str) -> MemoryId {
    MemoryId::parse(text).unwrap()
}

pub(crate) fn episode_id(text: &str) -> EpisodeId {
    EpisodeId::parse(text).unwrap()
}

pub(crate) fn session(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(crate) fn run(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

pub(crate) fn lesson(key: &str, summary: &str) -> AgentMemory {
    AgentMemory::new(id(key), at(), summary)
}

pub(crate) fn episode(key: &str) -> Episode {
    Episode {
        id: episode_id(key),
        project_root: PROJECT.into(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        session_id: session(key),
        kind: EpisodeKind::OrchestratorRun,
        started_at: at(),
        finished_at: day(1),
        status: EpisodeStatus::Success,
        status_basis: None,
        summary: "It went well.".into(),
        tags: Vec::new(),
        error_families: Vec::new(),
        trajectories: Vec::new(),
        usage: None,
        failures: Vec::new(),
        request: None,
        reflected: None,
        extra: Extra::new(),
    }
}

pub(crate) fn project_query() -> MemoryQuery {
    MemoryQuery::for_project(PROJECT)
}

/// The built-in one.
pub(crate) fn ranking() -> RankingSettings {
    config::load_config(&ConfigLoadRequest::default()).unwrap().config.recall.ranking_settings()
}

/// A session that ended, with a log of so many bytes.
pub(crate) fn job(name: &str, log_bytes: u64) -> Job {
    let trigger = ReflectionTrigger {
        scenario: ReflectionScenario::SessionComplete,
        project_root: "/shop".to_owned(),
        session_id: session(name),
        main_task_id: None,
        subtask_id: None,
        log_paths: Vec::new(),
        healer_status: None,
        outcome: None,
        extra: Extra::new(),
    };
    Job {
        kind: JobKind::Reflect(trigger),
        agent: "claude-code".to_owned(),
        event: "SessionEnd".to_owned(),
        urgency: JobUrgency::Over,
        log_bytes: Some(log_bytes),
        enqueued_at: at(),
        not_before: None,
        attempts: Vec::new(),
        extra: Extra::new(),
    }
}

/// The session of a job.
#[cfg(all(unix, feature = "postgres"))]
pub(crate) fn name_of(job: &Job) -> String {
    match &job.kind {
        JobKind::Reflect(trigger) => trigger.session_id.to_string(),
        JobKind::Sweep { .. } => "sweep".to_owned(),
    }
}
