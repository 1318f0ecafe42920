//! Builds the reflection service that the configuration describes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::runtime::{Builder, Runtime};

use super::cli_error::CliError;
use super::command_context::CommandContext;
use super::model_wiring::open_model_client;
use archivist_core::config::ProcessEnvironment;
use archivist_core::domain::{Extra, ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::hud::{HudBroadcaster, HudSink, JsonlSink, WebSocketSink};
use archivist_core::redact::Redactor;
use archivist_core::service::{ArchivistService, LogSources};

/// Returns the reflection service of the current project.
pub(super) fn build_service(session: &CommandContext, surroundings: &ProcessEnvironment) -> Result<ArchivistService> {
    let config = session.archivist.config();
    let memory = Arc::clone(&session.archivist.memory);
    let mut service = ArchivistService::new(memory, session.archivist.project().clone(), config.reflection_settings())
        .with_clock(session.clock.clone())
        .with_hud(Arc::new(build_hud(session, surroundings)?));
    if let Some(adviser) = open_model_client(session, surroundings)? {
        service = service.with_model_client(Arc::new(adviser));
    }
    if let Some(embedder) = session.archivist.embedder() {
        service = service.with_embedder(Arc::clone(embedder));
    }
    Ok(service)
}

/// Returns how long the end of a process may wait for displays to receive pending messages. A feed on a server needs
/// longer.
pub(super) fn hud_patience(session: &CommandContext) -> Duration {
    Duration::from_millis(if session.archivist.event_feed().is_remote() { 5_000 } else { 500 })
}

/// Returns the displays that reflections report to.
fn build_hud(session: &CommandContext, surroundings: &ProcessEnvironment) -> Result<HudBroadcaster> {
    let settings = &session.archivist.config().hud;
    let mut sinks: Vec<Box<dyn HudSink>> = vec![session.archivist.event_feed().open_sink()];
    if let Some(path) = settings.file_path(surroundings.home.as_deref()) {
        let sink = JsonlSink::to_file(&path)
            .map_err(|error| CliError::user_error(error.to_string()).with_hint("look at `hud.file`"))?;
        sinks.push(Box::new(sink));
    }
    if !settings.web_socket.is_empty() {
        let sink = WebSocketSink::new(&settings.web_socket)
            .map_err(|error| CliError::user_error(error.to_string()).with_hint("look at `hud.webSocket`"))?;
        sinks.push(Box::new(sink));
    }
    Ok(HudBroadcaster::new(sinks))
}

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
    ReflectionTrigger {
        scenario,
        project_root: session.archivist.project().root_text(),
        session_id,
        main_task_id: None,
        subtask_id: None,
        log_paths: Vec::new(),
        healer_status: None,
        outcome: None,
        extra: Extra::new(),
    }
}

/// Returns the async runtime for commands that wait for models and files.
pub(super) fn build_runtime() -> Result<Runtime, CliError> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(CliError::Start)
}
