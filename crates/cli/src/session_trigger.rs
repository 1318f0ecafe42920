//! Triggers for the sessions that a person names, and the runtime that commands wait in.

use std::path::PathBuf;

use anyhow::Result;
use tokio::runtime::{Builder, Runtime};

use super::cli_error::CliError;
use super::command_context::CommandContext;
use archivist_core::domain::{ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::redact::Redactor;
use archivist_core::service::LogSources;

/// Returns the trigger and the sources for log files that a person names.
pub(super) fn trigger_for_files(
    files: Vec<PathBuf>,
    session: &CommandContext,
) -> Result<(ReflectionTrigger, LogSources)> {
    let shown = files.first().map(|path| path.display().to_string()).unwrap_or_default();
    let sources = LogSources::from_files(files).ok_or_else(|| {
        CliError::user_error(format!("{shown} is not there, or is no file")).with_hint("name a session log")
    })?;
    let named = sources.read_session_id(&Redactor::new()).map_err(|unreadable| {
        CliError::user_error(format!("{shown}: {unreadable}"))
            .with_hint("docs/formats.md lists the formats that are read")
    })?;
    let session_id = match named {
        Some(id) => id,
        None => SessionId::parse("unknown").map_err(|invalid| CliError::user_error(invalid.to_string()))?,
    };
    let mut trigger = trigger_for_session(session, session_id, ReflectionScenario::Manual);
    trigger.log_paths = sources.files.iter().map(|path| path.display().to_string()).collect();
    Ok((trigger, sources))
}

/// Returns a trigger for a session of this project.
pub(super) fn trigger_for_session(
    session: &CommandContext,
    session_id: SessionId,
    scenario: ReflectionScenario,
) -> ReflectionTrigger {
    ReflectionTrigger::new(scenario, session.archivist.project().root_text(), session_id)
}

/// Returns the async runtime for commands that wait for models and files.
pub(super) fn build_runtime() -> Result<Runtime, CliError> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(CliError::Start)
}
