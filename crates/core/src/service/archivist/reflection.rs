//! Reflection on sessions, at once or through the job queue.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::{Archivist, RequestError};
use crate::domain::{ArchivistOutcome, Extra, ReflectionTrigger};
#[cfg(feature = "web-socket")]
use crate::hud::WebSocketSink;
use crate::hud::{HudBroadcaster, HudSink, JsonlSink};
use crate::service::{
    ArchivistService, EnqueueResult, Job, JobKind, JobName, JobSubmitter, JobUrgency, SkipReason, total_log_bytes,
};

/// The agent and the event that a job names if the caller is a program.
const PROGRAM: (&str, &str) = ("program", "enqueue");

/// A job in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedJob {
    /// The name of the job.
    pub name: JobName,
    /// True if the same job was waiting already.
    pub is_known: bool,
}

impl Archivist {
    /// Reflects on a session and stores what it taught, if that is wanted. It never fails and never panics: what went
    /// wrong, or why there was nothing to do, is in the outcome.
    pub async fn reflect(&self, trigger: &ReflectionTrigger) -> ArchivistOutcome {
        match self.reflection_service() {
            Ok(service) => service.maybe_reflect(trigger).await,
            Err(error) => ArchivistService::build_outcome(trigger, &Err(SkipReason::Broke(error.to_string()))),
        }
    }

    /// Puts a session into the job queue, for a worker to reflect on. It writes one small file.
    pub async fn enqueue(&self, trigger: ReflectionTrigger) -> Result<QueuedJob, RequestError> {
        let (agent, event) = PROGRAM;
        let job = self.build_job(trigger, agent, event);
        let is_known = self.job_submitter().submit_job(&job, self.now()).await? == EnqueueResult::Known;
        Ok(QueuedJob { name: job.name(), is_known })
    }

    /// Builds the job for a session, as an agent's event reports it.
    pub fn build_job(&self, trigger: ReflectionTrigger, agent: &str, event: &str) -> Job {
        Job {
            log_bytes: total_log_bytes(&trigger, self.project.home.as_deref()),
            kind: JobKind::Reflect(trigger),
            agent: agent.to_owned(),
            event: event.to_owned(),
            urgency: JobUrgency::Over,
            enqueued_at: self.now(),
            not_before: None,
            attempts: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// Returns the queue to which jobs of this project are submitted.
    pub fn job_submitter(&self) -> Arc<dyn JobSubmitter> {
        #[cfg(feature = "postgres")]
        if let Some(fleet) = self.fleet_queue() {
            return Arc::new(fleet);
        }
        Arc::new(self.file_queue())
    }

    /// Returns the service that reflects, with its model and its displays; it is made once and kept.
    pub fn reflection_service(&self) -> Result<Arc<ArchivistService>, RequestError> {
        let mut kept = self.reflection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(service) = kept.as_ref() {
            return Ok(Arc::clone(service));
        }
        let hud = match &self.hud {
            Some(hud) => Arc::clone(hud),
            None => Arc::new(self.build_hud()?),
        };
        let mut service = self.offline_service().with_hud(hud);
        if let Some(client) = self.open_model_client()? {
            service = service.with_model_client(Arc::new(client));
        }
        let service = Arc::new(service);
        *kept = Some(Arc::clone(&service));
        Ok(service)
    }

    /// Returns a service that asks no model and tells nobody.
    pub fn offline_service(&self) -> ArchivistService {
        let settings = self.config.reflection_settings();
        let service = ArchivistService::new(Arc::clone(&self.memory), self.project.as_ref().clone(), settings)
            .with_shown_memory(self.given_memory())
            .with_clock(self.clock.clone());
        match &self.embedder {
            Some(embedder) => service.with_embedder(Arc::clone(embedder)),
            None => service,
        }
    }

    /// Delivers pending messages to displays, and brings the states of lessons up to date. It is called at the end of a
    /// process that reflected.
    pub async fn finish_reflections(&self) {
        if let Ok(service) = self.reflection_service()
            && let Err(skip) = service.refresh_lesson_states(&self.memory_dir).await
        {
            tracing::warn!(why = %skip, "older lessons were not looked after");
        }
        self.flush_displays().await;
    }

    /// Waits until displays have received pending messages, but not long. A feed on a server takes longer.
    pub async fn flush_displays(&self) {
        let patience = Duration::from_millis(if self.event_feed().is_remote() { 5_000 } else { 500 });
        let service = self.reflection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(service) = service {
            service.flush_hud(patience).await;
        }
    }

    /// Returns the configured displays.
    pub(super) fn build_hud(&self) -> Result<HudBroadcaster, RequestError> {
        let settings = &self.config.hud;
        let mut sinks: Vec<Box<dyn HudSink>> = vec![self.event_feed().open_sink()];
        if let Some(path) = settings.file_path(self.environment.home.as_deref()) {
            let sink = JsonlSink::to_file(&path)
                .map_err(|error| RequestError::impossible_request(error.to_string(), "look at `hud.file`"))?;
            sinks.push(Box::new(sink));
        }
        if !settings.web_socket.is_empty() {
            sinks.push(open_web_socket(&settings.web_socket)?);
        }
        Ok(HudBroadcaster::new(sinks))
    }
}

#[cfg(feature = "web-socket")]
fn open_web_socket(address: &str) -> Result<Box<dyn HudSink>, RequestError> {
    let sink = WebSocketSink::new(address)
        .map_err(|error| RequestError::impossible_request(error.to_string(), "look at `hud.webSocket`"))?;
    Ok(Box::new(sink))
}

#[cfg(not(feature = "web-socket"))]
fn open_web_socket(_address: &str) -> Result<Box<dyn HudSink>, RequestError> {
    let message = "`hud.webSocket` is set, and this program was built without displays behind a WebSocket";
    Err(RequestError::impossible_request(message, "build it with the feature `web-socket`, or leave the setting empty"))
}
