//! A Healer that asks what helped before, and reports to Archivist when it is done.
//!
//! `cargo run --example healer -- fixtures/logs/generic/billing.jsonl`

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;
use std::path::PathBuf;

use archivist::{Archivist, ReflectionScenario, ReflectionTrigger, SessionId};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let log = PathBuf::from(std::env::args().nth(1).ok_or("name the log of the rescue")?).canonicalize()?;
    let folder = tempfile::tempdir()?;
    let archivist = Archivist::builder(folder.path()).build()?;

    for (number, failure) in [(1, "ConnectionError: Error 111 connecting to localhost:6379"), (2, "")] {
        let known = archivist.recall(failure).await?;
        // Nothing to heal is `skipped`, and Archivist will not reflect on it.
        let status = match (failure, known.lessons()) {
            ("", _) => "skipped",
            (_, []) => "unresolved",
            _ => "resolved",
        };
        let session = SessionId::parse(&format!("rescue-{number}"))?;
        let root = folder.path().display().to_string();
        let trigger = ReflectionTrigger::new(ReflectionScenario::HealerInvocation, root, session)
            .with_logs([log.display().to_string()])
            .with_healer_status(status);
        let outcome = archivist.reflect(&trigger).await;
        println!("{}: {}", outcome.status, outcome.summary);
    }
    Ok(())
}
