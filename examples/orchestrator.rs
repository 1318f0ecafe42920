//! An orchestrator's `finally` block: however the session ended, Archivist reflects on it, and the next session's prompt
//! begins with what was learned.
//!
//! `cargo run --example orchestrator -- fixtures/logs/generic/billing.jsonl`

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;
use std::path::{Path, PathBuf};

use archivist::{Archivist, ReflectionScenario, ReflectionTrigger, SessionId};

/// The work of an agent; here it fails.
async fn run_agent() -> Result<(), Box<dyn Error>> {
    Err("the billing tests do not pass".into())
}

/// Reflects on a session that ended. There is nothing to catch: what went wrong in here is in the outcome.
async fn finally(archivist: &Archivist, root: &Path, log: &Path, scenario: ReflectionScenario, id: SessionId) {
    let trigger =
        ReflectionTrigger::new(scenario, root.display().to_string(), id).with_logs([log.display().to_string()]);
    let outcome = archivist.reflect(&trigger).await;
    println!("{}: {}", outcome.status, outcome.summary);
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let log = PathBuf::from(std::env::args().nth(1).ok_or("name the log of the session")?).canonicalize()?;
    let folder = tempfile::tempdir()?;
    let archivist = Archivist::builder(folder.path()).build()?;

    let scenario = match run_agent().await {
        Ok(()) => ReflectionScenario::SessionComplete,
        Err(_) => ReflectionScenario::SessionFailed,
    };
    finally(&archivist, folder.path(), &log, scenario, SessionId::parse("run-1")?).await;

    let lessons = archivist.recall("the billing tests fail").await?;
    println!("{}", lessons.text());
    Ok(())
}
