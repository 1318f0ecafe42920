//! The endpoint that reflects on a session, at once or through the queue.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ServerState;
use crate::endpoint::ApiEndpoint;
use crate::extractors::{AcceptedWord, JsonAnswer, JsonBody};
use crate::problem_response::HttpProblem;
use archivist_core::domain::{ArchivistOutcome, Extra, ReflectionScenario, ReflectionTrigger, SessionId};
use archivist_core::redact::Redactor;
use archivist_core::service::RequestError;
use archivist_core::service::{ArchivistService, EnqueueResult, LogSources, RepeatPolicy};

/// The sender that jobs of this endpoint name in the queue.
const AGENT: &str = "api";
const EVENT: &str = "reflect";

pub(super) fn reflect_endpoints() -> Vec<ApiEndpoint> {
    vec![
        ApiEndpoint::new(
            Method::POST,
            "/v1/reflect",
            "Reflect on a session, and keep what it teaches",
            post(handle_reflect),
        )
        .with_body::<ReflectionBody>()
        .with_json_response::<ArchivistOutcome>(200, "What came of it, where that was waited for")
        .with_json_response::<QueuedReflection>(202, "It will be reflected on"),
    ]
}

/// Which session, and whether to wait for what comes of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(rename = "Wish")]
pub(crate) struct ReflectionBody {
    /// The session, as its agent names it. Its logs are looked for.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    pub(crate) session: Option<String>,
    /// Its logs, of the project or in the folders of known agents.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// What happened; `manual` otherwise.
    pub(crate) scenario: Option<AcceptedWord<ReflectionScenario>>,
    /// The task worked on.
    pub(crate) task: Option<String>,
    /// Wait for what comes of it, instead of leaving it to a worker.
    #[serde(default)]
    pub(crate) wait: bool,
}

/// A job that waits for a worker.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Waiting")]
pub(crate) struct QueuedReflection {
    /// The name of the job.
    pub(crate) job: String,
    /// The session to reflect on.
    pub(crate) session: SessionId,
    /// Whether the same had been asked for before.
    pub(crate) is_known: bool,
}

/// The answer to a reflection request.
#[derive(Debug)]
pub(crate) enum ReflectionAnswer {
    /// The reflection was done.
    Done(Box<ArchivistOutcome>),
    /// The reflection waits in the queue.
    Waiting(QueuedReflection),
}

async fn handle_reflect(
    State(served): State<Arc<ServerState>>,
    JsonBody(request): JsonBody<ReflectionBody>,
) -> Result<Response, HttpProblem> {
    Ok(match served.reflect_on_session(request).await? {
        ReflectionAnswer::Done(outcome) => JsonAnswer(outcome).into_response(),
        ReflectionAnswer::Waiting(waiting) => (StatusCode::ACCEPTED, JsonAnswer(waiting)).into_response(),
    })
}

impl ServerState {
    /// Reflects on a session, or enqueues a job for it.
    pub(crate) async fn reflect_on_session(
        self: &Arc<Self>,
        request: ReflectionBody,
    ) -> Result<ReflectionAnswer, HttpProblem> {
        let wait = request.wait;
        let trigger = self.run_blocking(move |served| served.build_trigger(request)).await??;
        if wait {
            let result = self.archivist.reflection_service()?.reflect_on_session(&trigger, RepeatPolicy::IfGrown).await;
            if let Err(skip) = result.as_ref()
                && !skip.is_choice()
            {
                return Err(result.map_err(RequestError::from).err().map_or_else(
                    || HttpProblem::new(StatusCode::INTERNAL_SERVER_ERROR, "the reflection failed"),
                    HttpProblem::from,
                ));
            }
            return Ok(ReflectionAnswer::Done(Box::new(ArchivistService::build_outcome(&trigger, &result))));
        }
        let waiting = self.run_blocking(move |served| served.enqueue_reflection(trigger)).await??;
        Ok(ReflectionAnswer::Waiting(waiting))
    }

    fn enqueue_reflection(&self, trigger: ReflectionTrigger) -> Result<QueuedReflection, RequestError> {
        let session = trigger.session_id.clone();
        let queue = self.archivist.file_queue();
        let job = self.archivist.build_job(trigger, AGENT, EVENT);
        let is_known = queue.enqueue(&job)? == EnqueueResult::Known;
        if !queue.has_worker()
            && let Err(error) = (self.start_worker)()
        {
            tracing::warn!(%error, "no worker could be started");
        }
        Ok(QueuedReflection { job: job.name().to_string(), session, is_known })
    }

    fn build_trigger(&self, request: ReflectionBody) -> Result<ReflectionTrigger, HttpProblem> {
        let unclear = |why: String| HttpProblem::bad_request(why);
        let files: Vec<PathBuf> = request.files.iter().map(|file| self.archivist.project().root.join(file)).collect();
        for file in &files {
            self.check_log_path(file)?;
        }
        let session_id = match (&request.session, files.is_empty()) {
            (Some(session), _) => SessionId::parse(session).map_err(|invalid| unclear(invalid.to_string()))?,
            (None, true) => return Err(unclear("name a session, or its logs".to_owned())),
            (None, false) => find_session_id(&files)?,
        };
        Ok(ReflectionTrigger {
            scenario: request.scenario.map_or(ReflectionScenario::Manual, |AcceptedWord(scenario)| scenario),
            project_root: self.archivist.project().root_text(),
            session_id,
            main_task_id: request.task,
            subtask_id: None,
            log_paths: files.iter().map(|path| path.display().to_string()).collect(),
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        })
    }

    /// Refuses a file outside the project and the folders in which agents keep their sessions.
    fn check_log_path(&self, file: &Path) -> Result<(), HttpProblem> {
        let project = self.archivist.project();
        let places = &project.places;
        let homes = [&places.claude_home, &places.codex_home, &places.gemini_home];
        let allowed = homes.into_iter().flatten().map(PathBuf::as_path).chain([project.root.as_path()]);
        let is_below = |folder: &Path, file: &Path| folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
        match file.canonicalize() {
            Ok(found) if found.is_file() && allowed.into_iter().any(|folder| is_below(folder, &found)) => Ok(()),
            _ => Err(HttpProblem::new(StatusCode::NOT_FOUND, format!("there is no log {}", file.display())).with_hint(
                "only logs of the project and of known agents are read; `archivist reflect --file` reads any",
            )),
        }
    }
}

fn find_session_id(files: &[PathBuf]) -> Result<SessionId, HttpProblem> {
    let sources = LogSources::from_files(files.to_vec());
    let named = sources.map(|sources| sources.read_session_id(&Redactor::new()));
    match named {
        Some(Ok(Some(session))) => Ok(session),
        Some(Err(unreadable)) => Err(HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, unreadable.to_string())
            .with_hint("docs/formats.md lists the formats that are read")),
        _ => Err(HttpProblem::new(StatusCode::UNPROCESSABLE_ENTITY, "the log does not name its session")
            .with_hint("name the session as well")),
    }
}
