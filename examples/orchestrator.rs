//! An orchestrator's `finally` block: whatever became of the run, Archivist gets to look at it, and the next run's prompt
//! begins with what was learned.
//!
//! `cargo run --example orchestrator -- fixtures/logs/generic/billing.jsonl`

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use archivist_core::config::{ConfigLoadRequest, load_config};
use archivist_core::domain::{MemoryQuery, ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::memory::MemoryService;
use archivist_core::memory::jsonl::JsonlMemory;
use archivist_core::service::{ArchivistService, ProjectContext};

/// The work itself; here it fails.
async fn golden_loop() -> Result<(), Box<dyn Error>> {
    Err("the billing tests do not pass".into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let log = std::env::args().nth(1).ok_or("name the log of the run")?;
    let root = tempfile::tempdir()?;
    let root = root.path().to_path_buf();

    // Once, when the orchestrator starts.
    let config = load_config(&ConfigLoadRequest { project_root: root.clone(), ..ConfigLoadRequest::default() })?.config;
    let memory: Arc<dyn MemoryService> = Arc::new(JsonlMemory::open(config.memory.jsonl_settings(&root, None)));
    let archivist = ArchivistService::new(
        Arc::clone(&memory),
        ProjectContext::from_root(root.clone()),
        config.reflection_settings(),
    );

    // Every run.
    let came = golden_loop().await;

    // The `finally` block. There is nothing to catch: what goes wrong in here is told in the outcome.
    let outcome = archivist.maybe_reflect(&trigger(&root, &log, came.is_ok())?).await;
    println!("{}: {}", outcome.status, outcome.summary);

    // Before the next run: the lessons that bear on it.
    let question = MemoryQuery {
        text: Some("the billing tests fail".to_owned()),
        max_results: Some(10),
        ..MemoryQuery::for_project(root.to_string_lossy())
    };
    for hit in memory.query_lessons(&question, &config.recall.ranking_settings(), chrono::Utc::now()).await?.hits {
        println!("- {}", hit.lesson.memory.summary);
    }
    Ok(())
}

fn trigger(root: &std::path::Path, log: &str, went_well: bool) -> Result<ReflectionTrigger, Box<dyn Error>> {
    let log = PathBuf::from(log).canonicalize()?;
    let scenario = if went_well { ReflectionScenario::SessionComplete } else { ReflectionScenario::SessionFailed };
    Ok(ReflectionTrigger {
        main_task_id: Some("billing-42".to_owned()),
        log_paths: vec![log.display().to_string()],
        ..ReflectionTrigger::new(scenario, root.display().to_string(), SessionId::parse("run-1")?)
    })
}
