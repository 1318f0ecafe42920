//! A Healer that asks what helped before, and tells Archivist when it is done.
//!
//! `cargo run --example healer -- fixtures/logs/generic/billing.jsonl`

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use archivist_core::config::{ConfigLoadRequest, load_config};
use archivist_core::domain::{MemoryQuery, ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::memory::MemoryService;
use archivist_core::memory::jsonl::JsonlMemory;
use archivist_core::service::{ArchivistService, ProjectContext};

/// What a rescue came to.
enum Rescue {
    Resolved,
    Unresolved,
    /// There was nothing to heal: Archivist will not reflect on it.
    Skipped,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let log = std::env::args().nth(1).ok_or("name the log of the rescue")?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().to_path_buf();
    let config = load_config(&ConfigLoadRequest { project_root: root.clone(), ..ConfigLoadRequest::default() })?.config;
    let memory: Arc<dyn MemoryService> = Arc::new(JsonlMemory::open(config.memory.jsonl_settings(&root, None)));
    let archivist = ArchivistService::new(
        Arc::clone(&memory),
        ProjectContext::from_root(root.clone()),
        config.reflection_settings(),
    );

    for (number, failure) in [(1, "ConnectionError: Error 111 connecting to localhost:6379"), (2, "")] {
        // Which spell? What helped last time comes first.
        let question =
            MemoryQuery { text: Some(failure.to_owned()), ..MemoryQuery::for_project(root.to_string_lossy()) };
        let known = memory.query_lessons(&question, &config.recall.ranking_settings(), chrono::Utc::now()).await?.hits;
        let rescue = match (failure, known.first()) {
            ("", _) => Rescue::Skipped,
            (_, Some(_)) => Rescue::Resolved,
            (_, None) => Rescue::Unresolved,
        };
        let status = match rescue {
            Rescue::Resolved => "resolved",
            Rescue::Unresolved => "unresolved",
            Rescue::Skipped => "skipped",
        };
        let session = SessionId::parse(&format!("rescue-{number}"))?;
        let scenario = ReflectionScenario::HealerInvocation;
        let trigger = ReflectionTrigger {
            log_paths: vec![PathBuf::from(&log).canonicalize()?.display().to_string()],
            healer_status: Some(status.to_owned()),
            ..ReflectionTrigger::new(scenario, root.display().to_string(), session)
        };
        let outcome = archivist.maybe_reflect(&trigger).await;
        println!("{}: {}", outcome.status, outcome.summary);
    }
    Ok(())
}
