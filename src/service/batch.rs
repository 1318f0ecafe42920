//! Reflections over past days: planned first, then many at once, committed in their order.
//!
//! Logs are read and models are asked side by side; what a reflection gets to see of the memory, and what it adds, goes
//! by the order of the sessions alone. So a batch gives the same memory however fast its answers come.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::archivist::{Anew, ArchivistService, Scene};
use super::journal::{Before, Journal};
use super::outcome::{Learned, Skip};
use super::sources::Sources;
use crate::domain::{Distilled, EpisodeId, Extra, ReflectionScenario, ReflectionTrigger, SessionId, Timestamp};
use crate::ingest::discover::{FoundSession, Window, discover};

/// What the logs that are being worked on may take together; a larger one is worked on alone.
const ROOM_BYTES: u64 = 96 * 1024 * 1024;

/// Of one log no more is kept in memory than this.
const KEPT_BYTES: u64 = 24 * 1024 * 1024;

/// Logs that are read ahead.
const READ_AHEAD: usize = 4;

/// Sessions to reflect on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchPlan {
    /// The oldest first.
    pub sessions: Vec<Planned>,
    /// Sessions of the window that have nothing new to tell.
    pub known: usize,
    /// What could not be looked at.
    pub problems: Vec<String>,
}

/// One session to reflect on.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// What sets the reflection off.
    pub trigger: ReflectionTrigger,
    /// Its logs.
    pub sources: Sources,
}

/// One session that is done, for whoever watches.
#[derive(Debug)]
pub struct Finished<'b> {
    /// What set it off.
    pub trigger: &'b ReflectionTrigger,
    /// What came of it.
    pub came: &'b Result<Learned, Skip>,
}

/// A session on its way: its scene, and what a distiller makes of it.
struct Asked {
    trigger: ReflectionTrigger,
    room: u64,
    on_its_way: Result<JoinHandle<(Scene, Distilled)>, Skip>,
}

impl ArchivistService {
    /// Finds the sessions since then that were not reflected on, or have grown.
    pub async fn plan_batch(&self, since: Timestamp) -> Result<BatchPlan, Skip> {
        let (places, window) = (self.project.places.clone(), Window { since: Some(since), until: None });
        let found = super::archivist::blocking(move || discover(&places, window)).await?;
        let mut plan = BatchPlan::default();
        plan.problems.extend(found.problems.iter().map(|one| format!("{}: {}", one.path.display(), one.why)));
        for session in &found.sessions {
            let Some((trigger, sources)) = self.planned(session) else { continue };
            match self.unless_known(&trigger, &sources, Anew::IfGrown).await {
                Ok(()) => plan.sessions.push(Planned { trigger, sources }),
                Err(Skip::Unchanged) => plan.known += 1,
                Err(skip) => return Err(skip),
            }
        }
        Ok(plan)
    }

    fn planned(&self, session: &FoundSession) -> Option<(ReflectionTrigger, Sources)> {
        let stem = || session.files.first().and_then(|path| Path::file_stem(path)).map(|stem| stem.to_string_lossy());
        let session_id = SessionId::parse(&session.id).ok().or_else(|| SessionId::parse(&stem()?).ok())?;
        let sources = Sources::found(session)?;
        let trigger = ReflectionTrigger {
            scenario: ReflectionScenario::SessionComplete,
            project_root: self.project.root_text(),
            session_id,
            main_task_id: session.facts.task_id.clone(),
            subtask_id: None,
            log_paths: sources.files.iter().map(|path| path.display().to_string()).collect(),
            healer_status: None,
            outcome: None,
            extra: Extra::new(),
        };
        Some((trigger, sources))
    }

    /// Reflects on all of them, at most so many at once, and tells of each that is done, in their order.
    pub async fn run_batch(
        self: Arc<Self>,
        plan: BatchPlan,
        concurrency: usize,
        journal: Option<Arc<Journal>>,
        mut watch: impl FnMut(Finished<'_>),
    ) {
        let mut unread = plan.sessions.into_iter();
        let mut read = VecDeque::new();
        let mut asked: VecDeque<Asked> = VecDeque::new();
        let mut learned: Vec<(ReflectionTrigger, EpisodeId)> = Vec::new();
        loop {
            while read.len() < READ_AHEAD
                && let Some(planned) = unread.next()
            {
                let service = Arc::clone(&self);
                let Planned { trigger, sources } = planned;
                let room = sources.bytes().min(KEPT_BYTES);
                let reading = tokio::spawn(async move { service.read(sources).await });
                read.push_back((trigger, room, reading));
            }
            let used: u64 = asked.iter().map(|one| one.room).sum();
            let fits = |room: u64| asked.is_empty() || (asked.len() < concurrency && used + room <= ROOM_BYTES);
            if read.front().is_some_and(|(_, room, _)| fits(*room)) {
                let Some((trigger, room, reading)) = read.pop_front() else { break };
                let on_its_way = self.set_off(&trigger, reading, journal.clone()).await;
                asked.push_back(Asked { trigger, room, on_its_way });
                continue;
            }
            let Some(Asked { trigger, on_its_way, .. }) = asked.pop_front() else { break };
            let came = self.announced(&trigger, self.bring_in(&trigger, on_its_way)).await;
            watch(Finished { trigger: &trigger, came: &came });
            learned.extend(came.ok().map(|came| (trigger, came.episode)));
        }
        self.look_for_patterns_in(&learned).await;
    }

    /// From a log to a question on its way. The memory is looked at here, in the order of the sessions.
    async fn set_off(
        self: &Arc<Self>,
        trigger: &ReflectionTrigger,
        reading: JoinHandle<Result<super::archivist::Material, Skip>>,
        journal: Option<Arc<Journal>>,
    ) -> Result<JoinHandle<(Scene, Distilled)>, Skip> {
        super::policy::admits(&self.habits.archivist, trigger)?;
        let material = reading.await.map_err(|error| Skip::Broke(error.to_string()))??;
        let scene = self.scene(trigger, material).await?;
        super::policy::admits_status(&self.habits.archivist, trigger, &scene.context.episode.status)?;
        let (service, trigger) = (Arc::clone(self), trigger.clone());
        Ok(tokio::spawn(async move {
            let distilled = service.distil_once(&trigger, &scene, journal.as_deref()).await;
            (scene, distilled)
        }))
    }

    /// Distills, but asks a model for nothing that an earlier, killed batch has asked for.
    async fn distil_once(&self, trigger: &ReflectionTrigger, scene: &Scene, journal: Option<&Journal>) -> Distilled {
        let Some(journal) = journal.filter(|_| self.adviser.is_some()) else {
            return self.distil(trigger, scene).await;
        };
        let episode = &scene.context.episode.id;
        match journal.before(episode, &scene.stamps) {
            Before::Answered(distilled) => return *distilled,
            Before::Asked => {
                let why = "the model was asked before the batch was broken off, and its answer is lost".to_owned();
                return Distilled { fallback: Some(why), ..self.distil_without_model(scene).await };
            }
            Before::Nothing => {}
        }
        // Without a journal a question may be paid for twice, which is better than not asking at all.
        if let Err(error) = journal.asking(episode, &scene.stamps) {
            tracing::warn!(%error, "the batch's journal cannot be written");
        }
        let distilled = self.distil(trigger, scene).await;
        let noted = match scene.ledger_away() {
            Some(_) => journal.not_asked(episode),
            None => journal.answered(episode, &distilled),
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "the batch's journal cannot be written");
        }
        distilled
    }

    async fn bring_in(
        &self,
        trigger: &ReflectionTrigger,
        on_its_way: Result<JoinHandle<(Scene, Distilled)>, Skip>,
    ) -> Result<Learned, Skip> {
        let (scene, distilled) = on_its_way?.await.map_err(|error| Skip::Broke(error.to_string()))?;
        self.settle(trigger, &scene, distilled).await
    }
}
