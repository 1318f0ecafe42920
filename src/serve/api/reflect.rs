//! A reflection on a session, now or by the next worker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::desk::Refusal;
use crate::domain::{ArchivistOutcome, Extra, ReflectionScenario, ReflectionTrigger, SessionId};
use crate::redact::Redactor;
use crate::serve::Served;
use crate::serve::endpoint::Endpoint;
use crate::serve::extract::{Answer, Known, Said};
use crate::serve::problem::Problem;
use crate::service::{Anew, ArchivistService, Enqueued, Errand, Job, Queue, Sources, Urgency, log_bytes};

/// Who asked, in the queue.
const AGENT: &str = "api";
const EVENT: &str = "reflect";

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::POST, "/v1/reflect", "Reflect on a session, and keep what it teaches", post(reflect))
            .takes::<Wish>()
            .answers::<ArchivistOutcome>(200, "What came of it, where that was waited for")
            .answers::<Waiting>(202, "It will be reflected on"),
    ]
}

/// Which session, and whether to wait for what comes of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::serve) struct Wish {
    /// The session, as its agent names it. Its logs are looked for.
    #[schemars(regex(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"))]
    pub(in crate::serve) session: Option<String>,
    /// Its logs, of the project or in the folders of known agents.
    #[serde(default)]
    pub(in crate::serve) files: Vec<String>,
    /// What happened; `manual` otherwise.
    pub(in crate::serve) scenario: Option<Known<ReflectionScenario>>,
    /// The task worked on.
    pub(in crate::serve) task: Option<String>,
    /// Wait for what comes of it, instead of leaving it to a worker.
    #[serde(default)]
    pub(in crate::serve) wait: bool,
}

/// A job that waits for a worker.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct Waiting {
    /// The name of the job.
    pub(in crate::serve) job: String,
    /// The session to reflect on.
    pub(in crate::serve) session: SessionId,
    /// Whether the same had been asked for before.
    pub(in crate::serve) is_known: bool,
}

/// What became of a wish.
#[derive(Debug)]
pub(in crate::serve) enum Granted {
    /// It was done.
    Done(Box<ArchivistOutcome>),
    /// It waits.
    Waiting(Waiting),
}

async fn reflect(State(served): State<Arc<Served>>, Said(wish): Said<Wish>) -> Result<Response, Problem> {
    Ok(match served.reflect(wish).await? {
        Granted::Done(outcome) => Answer(outcome).into_response(),
        Granted::Waiting(waiting) => (StatusCode::ACCEPTED, Answer(waiting)).into_response(),
    })
}

impl Served {
    /// Reflects on a session, or sees to it that somebody does.
    pub(in crate::serve) async fn reflect(self: &Arc<Self>, wish: Wish) -> Result<Granted, Problem> {
        let wait = wish.wait;
        let trigger = self.blocking(move |served| served.trigger(wish)).await??;
        if wait {
            let came = self.service.reflect(&trigger, Anew::IfGrown).await;
            if let Err(skip) = came.as_ref()
                && !skip.is_choice()
            {
                return Err(came.map_err(Refusal::from).err().map_or_else(
                    || Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the reflection failed"),
                    Problem::from,
                ));
            }
            return Ok(Granted::Done(Box::new(ArchivistService::outcome(&trigger, &came))));
        }
        let waiting = self.blocking(move |served| served.enqueue(trigger)).await??;
        Ok(Granted::Waiting(waiting))
    }

    fn enqueue(&self, trigger: ReflectionTrigger) -> Result<Waiting, Refusal> {
        let session = trigger.session_id.clone();
        let queue = Queue::at(self.desk.memory_dir());
        let job = Job {
            log_bytes: log_bytes(&trigger, self.desk.project().home.as_deref()),
            errand: Errand::Reflect(trigger),
            agent: AGENT.to_owned(),
            event: EVENT.to_owned(),
            urgency: Urgency::Over,
            enqueued_at: self.now(),
            not_before: None,
            attempts: Vec::new(),
            extra: Extra::new(),
        };
        let is_known = queue.enqueue(&job)? == Enqueued::Known;
        if !queue.is_worked()
            && let Err(error) = (self.start_worker)()
        {
            tracing::warn!(%error, "no worker could be started");
        }
        Ok(Waiting { job: job.name().to_string(), session, is_known })
    }

    fn trigger(&self, wish: Wish) -> Result<ReflectionTrigger, Problem> {
        let unclear = |why: String| Problem::question(why);
        let files: Vec<PathBuf> = wish.files.iter().map(|file| self.desk.project().root.join(file)).collect();
        for file in &files {
            self.may_read(file)?;
        }
        let session_id = match (&wish.session, files.is_empty()) {
            (Some(session), _) => SessionId::parse(session).map_err(|invalid| unclear(invalid.to_string()))?,
            (None, true) => return Err(unclear("name a session, or its logs".to_owned())),
            (None, false) => session_in(&files)?,
        };
        Ok(ReflectionTrigger {
            scenario: wish.scenario.map_or(ReflectionScenario::Manual, |Known(scenario)| scenario),
            project_root: self.desk.project().root_text(),
            session_id,
            main_task_id: wish.task,
            subtask_id: None,
            log_paths: files.iter().map(|path| path.display().to_string()).collect(),
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        })
    }

    /// A client gets nothing read that lies outside of the project and the folders that agents keep their sessions in.
    fn may_read(&self, file: &Path) -> Result<(), Problem> {
        let project = self.desk.project();
        let places = &project.places;
        let homes = [&places.claude_home, &places.codex_home, &places.gemini_home];
        let allowed = homes.into_iter().flatten().map(PathBuf::as_path).chain([project.root.as_path()]);
        let is_below = |folder: &Path, file: &Path| folder.canonicalize().is_ok_and(|folder| file.starts_with(folder));
        match file.canonicalize() {
            Ok(found) if found.is_file() && allowed.into_iter().any(|folder| is_below(folder, &found)) => Ok(()),
            _ => Err(Problem::new(StatusCode::NOT_FOUND, format!("there is no log {}", file.display())).with_hint(
                "only logs of the project and of known agents are read; `archivist reflect --file` reads any",
            )),
        }
    }
}

fn session_in(files: &[PathBuf]) -> Result<SessionId, Problem> {
    let sources = Sources::in_files(files.to_vec());
    let named = sources.map(|sources| sources.session(&Redactor::new()));
    match named {
        Some(Ok(Some(session))) => Ok(session),
        Some(Err(unreadable)) => Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, unreadable.to_string())
            .with_hint("docs/formats.md lists the formats that are read")),
        _ => Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the log does not name its session")
            .with_hint("name the session as well")),
    }
}
