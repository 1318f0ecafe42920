//! A prompt builder: the lessons that help with a task stand before it, and who got them is recorded.
//!
//! `cargo run --example prompt_builder -- "the billing tests fail"`

#![allow(clippy::print_stdout, reason = "an example talks to whoever runs it")]

use std::error::Error;

use archivist::{Archivist, Point, RecallRequest, RunId};

/// Returns the prompt of a session: what is known about its task, then the task.
async fn build_prompt(archivist: &Archivist, task: &str, session: RunId) -> Result<String, Box<dyn Error>> {
    let request = RecallRequest::from(task).for_session(session).at_point(Point::Orchestrator);
    let lessons = archivist.recall(request).await?;
    Ok(format!("{}\n{task}", lessons.text()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let task = std::env::args().nth(1).ok_or("name a task")?;
    let folder = tempfile::tempdir()?;
    let archivist = Archivist::builder(folder.path()).build()?;
    println!("{}", build_prompt(&archivist, &task, RunId::parse("run-1")?).await?);
    Ok(())
}
