//! A service that reflects, as the configuration wants it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::runtime::{Builder, Runtime};

use super::adviser::adviser;
use super::failure::Failure;
use super::session::Session;
use crate::config::Surroundings;
use crate::domain::{Extra, ReflectionScenario, ReflectionTrigger, SessionId};
use crate::hud::{Hud, HudSink, JsonlSink, WebSocketSink};
use crate::redact::Redactor;
use crate::service::{ArchivistService, Sources};

/// The service of this session's project.
pub(super) fn service(session: &Session, surroundings: &Surroundings) -> Result<ArchivistService> {
    let config = session.desk.config();
    let memory = Arc::clone(&session.desk.memory);
    let mut service = ArchivistService::new(memory, session.desk.project().clone(), config.habits())
        .with_clock(session.clock.clone())
        .with_hud(Arc::new(hud(session, surroundings)?));
    if let Some(adviser) = adviser(session, surroundings)? {
        service = service.with_adviser(Arc::new(adviser));
    }
    if let Some(embedder) = session.desk.embedder() {
        service = service.with_embedder(Arc::clone(embedder));
    }
    Ok(service)
}

/// How long displays may take, at the end of a process, for what is still on its way to them. A feed on a server is on
/// its way for longer.
pub(super) fn hud_patience(session: &Session) -> Duration {
    Duration::from_millis(if session.desk.feed().is_far() { 5_000 } else { 500 })
}

/// Who hears of it.
fn hud(session: &Session, surroundings: &Surroundings) -> Result<Hud> {
    let settings = &session.desk.config().hud;
    let mut sinks: Vec<Box<dyn HudSink>> = vec![session.desk.feed().sink()];
    if let Some(path) = settings.file_path(surroundings.home.as_deref()) {
        let sink = JsonlSink::to_file(&path)
            .map_err(|error| Failure::user(error.to_string()).with_hint("look at `hud.file`"))?;
        sinks.push(Box::new(sink));
    }
    if !settings.web_socket.is_empty() {
        let sink = WebSocketSink::new(&settings.web_socket)
            .map_err(|error| Failure::user(error.to_string()).with_hint("look at `hud.webSocket`"))?;
        sinks.push(Box::new(sink));
    }
    Ok(Hud::new(sinks))
}

/// What a person asks for who names files.
pub(super) fn by_hand(files: Vec<PathBuf>, session: &Session) -> Result<(ReflectionTrigger, Sources)> {
    let shown = files.first().map(|path| path.display().to_string()).unwrap_or_default();
    let sources = Sources::in_files(files)
        .ok_or_else(|| Failure::user(format!("{shown} is not there, or is no file")).with_hint("name a session log"))?;
    let named = sources.session(&Redactor::new()).map_err(|unreadable| {
        Failure::user(format!("{shown}: {unreadable}")).with_hint("docs/formats.md lists the formats that are read")
    })?;
    let session_id = match named {
        Some(id) => id,
        None => SessionId::parse("unknown").map_err(|invalid| Failure::user(invalid.to_string()))?,
    };
    let mut trigger = trigger(session, session_id, ReflectionScenario::Manual);
    trigger.log_paths = sources.files.iter().map(|path| path.display().to_string()).collect();
    Ok((trigger, sources))
}

/// A trigger for a session of this project.
pub(super) fn trigger(session: &Session, session_id: SessionId, scenario: ReflectionScenario) -> ReflectionTrigger {
    ReflectionTrigger {
        scenario,
        project_root: session.desk.project().root_text(),
        session_id,
        main_task_id: None,
        subtask_id: None,
        log_paths: Vec::new(),
        healer_status: None,
        outcome: None,
        extra: Extra::new(),
    }
}

/// What waits for models and files.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(Failure::Start)
}
