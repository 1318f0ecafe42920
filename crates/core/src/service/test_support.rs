//! A project in a temporary folder, with a memory, a clock that stands still and somebody who listens.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::domain::{
    ArchivistConfig, Extra, HudMessage, ReflectOnSettings, ReflectionScenario, ReflectionTrigger, SessionId, Timestamp,
};
use crate::hud::{HudBroadcaster, HudSink};
use crate::judge::{LifecycleRules, SimilarityThresholds};
use crate::memory::jsonl::{JsonlMemory, JsonlSettings, SyncPolicy};
use crate::memory::{BankTenancy, Lesson, LessonStateFilter, MemoryService};

pub(super) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// Hears everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard(Arc<Mutex<Vec<HudMessage>>>);

impl HudSink for Heard {
    fn send_message(&self, message: &HudMessage) {
        self.0.lock().unwrap().push(message.clone());
    }
}

impl Heard {
    /// The types of what was told, in order.
    pub(super) fn types(&self) -> Vec<String> {
        let told = self.0.lock().unwrap();
        told.iter().map(|one| serde_json::to_value(one).unwrap()["type"].as_str().unwrap().to_owned()).collect()
    }
}

pub(super) struct World {
    pub(super) folder: TempDir,
    pub(super) memory: Arc<JsonlMemory>,
    pub(super) heard: Heard,
    pub(super) settings: ReflectionSettings,
}

impl World {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let memory = Arc::new(JsonlMemory::open(JsonlSettings {
            project: folder.path().join(".openagents/memory"),
            tenancy: BankTenancy::Own,
            global: None,
            sync: SyncPolicy::Lazy,
            lock_timeout: Duration::from_secs(30),
            versions_kept: 10,
            max_line_bytes: 4 * 1024 * 1024,
            fold_in_bytes: 1024 * 1024,
        }));
        Self { folder, memory, heard: Heard::default(), settings: settings() }
    }

    pub(super) fn service(&self) -> ArchivistService {
        self.service_of("project")
    }

    /// The same for a repository that is known by this name.
    pub(super) fn service_of(&self, repo: &str) -> ArchivistService {
        let memory: Arc<dyn MemoryService> = Arc::clone(&self.memory) as Arc<dyn MemoryService>;
        let project =
            ProjectContext { repo_id: Some(repo.to_owned()), ..ProjectContext::from_root(self.folder.path()) };
        ArchivistService::new(memory, project, self.settings.clone())
            .with_clock(ServiceClock::fixed_at(now()))
            .with_hud(Arc::new(HudBroadcaster::new(vec![Box::new(self.heard.clone())])))
    }

    /// Writes a log of a session, and says what asks for a reflection on it.
    pub(super) fn session(&self, name: &str, lines: &[Value]) -> ReflectionTrigger {
        let path: PathBuf = self.folder.path().join(format!("{name}.jsonl"));
        let head = json!({"session": {"id": name, "agent": "helper", "directory": self.folder.path()}});
        let text: Vec<String> = std::iter::once(&head).chain(lines).map(Value::to_string).collect();
        std::fs::write(&path, text.join("\n") + "\n").unwrap();
        ReflectionTrigger {
            scenario: ReflectionScenario::SessionComplete,
            project_root: self.folder.path().display().to_string(),
            session_id: SessionId::parse(name).unwrap(),
            main_task_id: None,
            subtask_id: None,
            log_paths: vec![path.display().to_string()],
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        }
    }

    pub(super) async fn lessons(&self) -> Vec<Lesson> {
        self.memory.list_lessons(LessonStateFilter::All).await.unwrap()
    }
}

/// As the configuration has them, unless a test says otherwise.
fn settings() -> ReflectionSettings {
    let reflect_on = ReflectOnSettings { session_success: true, session_failure: true, healer_invocation: true };
    ReflectionSettings {
        archivist: ArchivistConfig {
            enabled: true,
            max_memories_per_run: 5,
            min_importance_to_persist: 0.3,
            reflect_on,
        },
        leeway: 0.2,
        thresholds: SimilarityThresholds { same_above: 0.88, different_below: 0.4 },
        neighbours: 20,
        lifecycle: LifecycleRules {
            candidate_sightings: 2,
            candidate_importance: 0.7,
            verified_contexts: 2,
            decay_runs: 10,
            grace_days: 0,
            deprecate_below: 0.1,
        },
        audit_threshold: 0.3,
        patterns: PatternRules { episodes: 3, importance_sum: 8.0 },
        highlight_min: 0.5,
        appends_lessons: false,
    }
}

/// A call of the shell and what came back.
pub(super) fn ran(minute: u32, command: &str, exit_code: i32, output: &str) -> Vec<Value> {
    let id = format!("call-{minute}");
    let at = format!("2026-02-12T10:{minute:02}:00Z");
    vec![
        json!({"role": "assistant", "content": "", "timestamp": at,
               "tool_calls": [{"id": id, "name": "shell", "arguments": {"command": command}}]}),
        json!({"role": "tool", "tool_call_id": id, "exit_code": exit_code, "content": output, "timestamp": at}),
    ]
}

pub(super) fn said(minute: u32, text: &str) -> Vec<Value> {
    vec![json!({"role": "user", "content": text, "timestamp": format!("2026-02-12T10:{minute:02}:00Z")})]
}

/// Redis is not up, is brought up, and the tests pass.
pub(super) fn redis() -> Vec<Value> {
    let refused = "E   redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.";
    [
        said(0, "Make the billing tests pass."),
        ran(1, "pytest tests/billing -q", 1, &format!("{refused}\n2 failed, 1 passed in 0.42s")),
        ran(2, "docker compose up -d redis", 0, "Container shop-redis-1  Started"),
        ran(3, "pytest tests/billing -q", 0, "3 passed in 1.97s"),
    ]
    .concat()
}

/// Nothing to learn from.
pub(super) fn routine() -> Vec<Value> {
    [said(0, "Add a heading to the page."), ran(1, "npm test", 0, "12 passing")].concat()
}

/// The same failure, and nobody knows what to do about it.
pub(super) fn stuck() -> Vec<Value> {
    let failed = "Error: Exceeded model context window size";
    [said(0, "Summarise the repository."), ran(1, "summarise --all", 1, failed), ran(2, "summarise --all", 1, failed)]
        .concat()
}
