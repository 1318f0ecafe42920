//! Reflections over past days: planned first, run concurrently, committed in order.
//!
//! Logs are read and models are asked concurrently; what a reflection sees of the memory, and what it adds, depends
//! only on the order of the sessions. So a batch gives the same memory however fast the replies arrive.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::batch_journal::{BatchJournal, EarlierRequest};
use super::log_sources::LogSources;
use super::reflection_outcome::{ReflectionReport, SkipReason};
use super::reflection_service::{ArchivistService, PreparedReflection, RepeatPolicy};
use crate::domain::{
    DistillationResult, EpisodeId, Extra, ReflectionScenario, ReflectionTrigger, SessionId, Timestamp,
};
use crate::ingest::discover::{FoundSession, SessionWindow, discover_sessions};

/// The total size of the logs in progress; a larger one is processed alone.
const ROOM_BYTES: u64 = 96 * 1024 * 1024;

/// The most bytes of one log that are kept in memory.
const KEPT_BYTES: u64 = 24 * 1024 * 1024;

/// The number of logs that are read ahead.
const READ_AHEAD: usize = 4;

/// The sessions to reflect on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BatchPlan {
    /// The sessions, the oldest first.
    pub sessions: Vec<PlannedSession>,
    /// The number of sessions whose logs have not changed.
    pub known: usize,
    /// The paths that could not be searched, with reasons.
    pub problems: Vec<String>,
}

/// One session to reflect on.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSession {
    /// The trigger of the reflection.
    pub trigger: ReflectionTrigger,
    /// The session's logs.
    pub sources: LogSources,
}

/// One finished session, for progress output.
#[derive(Debug)]
pub struct FinishedSession<'b> {
    /// The trigger of the reflection.
    pub trigger: &'b ReflectionTrigger,
    /// The result of the reflection.
    pub result: &'b Result<ReflectionReport, SkipReason>,
}

/// A reflection in progress, with the task that distills it.
struct RunningReflection {
    trigger: ReflectionTrigger,
    room: u64,
    on_its_way: Result<JoinHandle<(PreparedReflection, DistillationResult)>, SkipReason>,
}

impl ArchivistService {
    /// Finds the sessions since this time that were not reflected on, or whose logs have grown.
    pub async fn plan_batch(&self, since: Timestamp) -> Result<BatchPlan, SkipReason> {
        let (places, window) = (self.project.unnamed_places(), SessionWindow { since: Some(since), until: None });
        let found = super::reflection_service::run_blocking(move || discover_sessions(&places, window)).await?;
        let purged = self.memory.list_erasures().await?;
        let mut plan = BatchPlan::default();
        plan.problems.extend(found.problems.iter().map(|one| format!("{}: {}", one.path.display(), one.why)));
        for session in &found.sessions {
            let Some((trigger, sources)) = self.plan_session(session) else { continue };
            if purged.iter().any(|note| note.covers_session(&trigger.session_id)) {
                continue;
            }
            match self.skip_if_unchanged(&trigger, &sources, RepeatPolicy::IfGrown).await {
                Ok(()) => plan.sessions.push(PlannedSession { trigger, sources }),
                Err(SkipReason::Unchanged) => plan.known += 1,
                Err(skip) => return Err(skip),
            }
        }
        Ok(plan)
    }

    fn plan_session(&self, session: &FoundSession) -> Option<(ReflectionTrigger, LogSources)> {
        let stem = || session.files.first().and_then(|path| Path::file_stem(path)).map(|stem| stem.to_string_lossy());
        let session_id = SessionId::parse(&session.id).ok().or_else(|| SessionId::parse(&stem()?).ok())?;
        let sources = LogSources::from_session(session)?;
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

    /// Reflects on all planned sessions, at most `concurrency` at once, and reports each finished one in order.
    pub async fn run_batch(
        self: Arc<Self>,
        plan: BatchPlan,
        concurrency: usize,
        journal: Option<Arc<BatchJournal>>,
        mut watch: impl FnMut(FinishedSession<'_>),
    ) {
        let mut unread = plan.sessions.into_iter();
        let mut read = VecDeque::new();
        let mut asked: VecDeque<RunningReflection> = VecDeque::new();
        let mut learned: Vec<(ReflectionTrigger, EpisodeId)> = Vec::new();
        loop {
            while read.len() < READ_AHEAD
                && let Some(planned) = unread.next()
            {
                let service = Arc::clone(&self);
                let PlannedSession { trigger, sources } = planned;
                let room = sources.total_bytes().min(KEPT_BYTES);
                let reading = tokio::spawn(async move { service.read_session_logs(sources).await });
                read.push_back((trigger, room, reading));
            }
            let used: u64 = asked.iter().map(|one| one.room).sum();
            let fits = |room: u64| asked.is_empty() || (asked.len() < concurrency && used + room <= ROOM_BYTES);
            if read.front().is_some_and(|(_, room, _)| fits(*room)) {
                let Some((trigger, room, reading)) = read.pop_front() else { break };
                let on_its_way = self.start_distillation(&trigger, reading, journal.clone()).await;
                asked.push_back(RunningReflection { trigger, room, on_its_way });
                continue;
            }
            let Some(RunningReflection { trigger, on_its_way, .. }) = asked.pop_front() else { break };
            let result = self.announce_reflection(&trigger, self.commit_distilled(&trigger, on_its_way)).await;
            watch(FinishedSession { trigger: &trigger, result: &result });
            learned.extend(result.ok().map(|result| (trigger, result.episode)));
        }
        self.reflect_on_patterns(&learned).await;
    }

    /// Prepares a session and starts its distillation. The memory is read here, in the order of the sessions.
    async fn start_distillation(
        self: &Arc<Self>,
        trigger: &ReflectionTrigger,
        reading: JoinHandle<Result<super::reflection_service::SessionLogs, SkipReason>>,
        journal: Option<Arc<BatchJournal>>,
    ) -> Result<JoinHandle<(PreparedReflection, DistillationResult)>, SkipReason> {
        super::reflection_policy::check_trigger(&self.settings.archivist, trigger)?;
        let material = reading.await.map_err(|error| SkipReason::Broke(error.to_string()))??;
        let prepared = self.prepare_reflection(trigger, material).await?;
        super::reflection_policy::check_status(&self.settings.archivist, trigger, &prepared.context.episode.status)?;
        let (service, trigger) = (Arc::clone(self), trigger.clone());
        Ok(tokio::spawn(async move {
            let distilled = service.distill_once(&trigger, &prepared, journal.as_deref()).await;
            (prepared, distilled)
        }))
    }

    /// Distills, but does not repeat a model request that an earlier, killed batch has made.
    async fn distill_once(
        &self,
        trigger: &ReflectionTrigger,
        prepared: &PreparedReflection,
        journal: Option<&BatchJournal>,
    ) -> DistillationResult {
        let Some(journal) = journal.filter(|_| self.model_client.is_some()) else {
            return self.distill_candidates(trigger, prepared).await;
        };
        let episode = &prepared.context.episode.id;
        match journal.find_earlier_request(episode, &prepared.stamps) {
            EarlierRequest::Answered(distilled) => return *distilled,
            EarlierRequest::Asked => {
                let why = "the model was asked before the batch was broken off, and its answer is lost".to_owned();
                return DistillationResult { fallback: Some(why), ..self.distill_without_model(prepared).await };
            }
            EarlierRequest::Nothing => {}
        }
        // Without a journal a request may be paid for twice, which is better than not asking at all.
        if let Err(error) = journal.record_request(episode, &prepared.stamps) {
            tracing::warn!(%error, "the batch's journal cannot be written");
        }
        let distilled = self.distill_candidates(trigger, prepared).await;
        let noted = match prepared.ledger_outage() {
            Some(_) => journal.record_cancellation(episode),
            None => journal.record_reply(episode, &distilled),
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "the batch's journal cannot be written");
        }
        distilled
    }

    async fn commit_distilled(
        &self,
        trigger: &ReflectionTrigger,
        on_its_way: Result<JoinHandle<(PreparedReflection, DistillationResult)>, SkipReason>,
    ) -> Result<ReflectionReport, SkipReason> {
        let (prepared, distilled) = on_its_way?.await.map_err(|error| SkipReason::Broke(error.to_string()))?;
        self.judge_and_commit(trigger, &prepared, distilled).await
    }
}
