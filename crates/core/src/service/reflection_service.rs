//! The `ArchivistService`: it turns one trigger into one outcome and never fails.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tracing::{Instrument, info_span};

use super::episode_patterns::{self, EpisodePattern, PatternCause, PatternRules};
use super::known_lessons::KnownLessons;
use super::log_sources::LogSources;
use super::model_client::{ModelClient, ModelSession};
use super::progress_writer;
use super::project_context::{ProjectContext, read_documents, read_progress_notes, read_settings};
use super::reflection_outcome::{self, ReflectionReport, SkipReason};
use super::reflection_policy;
use super::service_clock::ServiceClock;
use super::session_logs::CombinedLogs;
use crate::context::{ReflectionContext, ReflectionInputs, SessionDescription};
use crate::distill::{ProjectDocument, SessionDistiller};
use crate::domain::{
    ArchivistConfig, ArchivistOutcome, DistillationResult, Episode, EpisodeId, EpisodeKind, HudMessage, LogStamp,
    MemoryQuery, ReflectionRecord, ReflectionScenario, ReflectionTrigger,
};
use crate::hud::HudBroadcaster;
use crate::judge;
use crate::memory::{EpisodeFilter, MemoryService};
use crate::model::embed::Embedder;
use crate::redact::Redactor;

#[cfg(test)]
#[path = "reflection_service_tests.rs"]
mod tests;

/// The number of related lessons in a reflection's context.
const EXISTING_MEMORIES: usize = 20;

/// The number of signals that describe the topic of a session.
const TOPICS: usize = 5;

/// The number of episodes, from the last, that a session is compared with.
pub(super) const COMPARED_EPISODES: usize = 1_000;

/// The most pattern reflections that one session may cause.
const MAX_PATTERNS: usize = 3;

/// The settings of reflections. Every field is a configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct ReflectionSettings {
    /// The occasions for a reflection, and the limits of what is kept.
    pub archivist: ArchivistConfig,
    /// The largest deviation of a model's importance from what the signals suggest.
    pub leeway: f64,
    /// The thresholds at which a candidate counts as a known lesson.
    pub thresholds: judge::SimilarityThresholds,
    /// The number of nearest lessons that a candidate is compared with.
    pub neighbours: usize,
    /// The rules of a lesson's lifecycle.
    pub lifecycle: judge::LifecycleRules,
    /// The share of a reviewer's finding's words that a lesson must contain for the finding to be about it.
    pub audit_threshold: f64,
    /// The rules for reflecting on several sessions together.
    pub patterns: PatternRules,
    /// The importance from which a lesson is announced by itself.
    pub highlight_min: f64,
    /// True if new lessons are written into the progress notes.
    pub appends_lessons: bool,
}

/// The policy for sessions that were reflected on before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepeatPolicy {
    /// Reflects again only if the logs have grown.
    IfGrown,
    /// Reflects again in any case.
    Always,
}

/// Reflects on the sessions of one project and stores the lessons.
#[derive(Debug)]
pub struct ArchivistService {
    pub(super) memory: Arc<dyn MemoryService>,
    /// What a model is shown of the memory.
    shown_memory: Arc<dyn MemoryService>,
    pub(super) project: ProjectContext,
    pub(super) settings: ReflectionSettings,
    pub(super) model_client: Option<Arc<ModelClient>>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    hud: Arc<HudBroadcaster>,
    pub(super) clock: ServiceClock,
    pub(super) redactor: Arc<Redactor>,
}

/// Logs that were read, and their stamps.
#[derive(Debug)]
pub(super) struct SessionLogs {
    pub(super) logs: CombinedLogs,
    pub(super) stamps: Vec<LogStamp>,
}

/// A reflection whose context is prepared, with everything needed to store its result.
#[derive(Debug)]
pub(super) struct PreparedReflection {
    pub(super) context: ReflectionContext,
    pub(super) stamps: Vec<LogStamp>,
    /// The pattern of several episodes, if this is a pattern reflection.
    pub(super) pattern: Option<EpisodePattern>,
    /// The model session, if there is a model.
    pub(super) model_session: Option<ModelSession>,
}

impl PreparedReflection {
    /// Returns why the model was not asked, if asking later may succeed.
    pub(super) fn ledger_outage(&self) -> Option<String> {
        self.model_session.as_ref().and_then(ModelSession::ledger_outage)
    }
}

impl ArchivistService {
    /// Makes a service without a model and without a display.
    pub fn new(memory: Arc<dyn MemoryService>, project: ProjectContext, settings: ReflectionSettings) -> Self {
        Self {
            shown_memory: Arc::clone(&memory),
            memory,
            project,
            settings,
            model_client: None,
            embedder: None,
            hud: Arc::new(HudBroadcaster::without_sinks()),
            clock: ServiceClock::from_system_time(),
            redactor: Arc::new(Redactor::new()),
        }
    }

    /// Adds a model client.
    #[must_use]
    pub fn with_model_client(self, model_client: Arc<ModelClient>) -> Self {
        Self { model_client: Some(model_client), ..self }
    }

    /// Adds an embedder, to compare lessons by meaning too.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// Shows a model only what is in this memory, which may be less than what is compared and kept.
    #[must_use]
    pub fn with_shown_memory(self, shown_memory: Arc<dyn MemoryService>) -> Self {
        Self { shown_memory, ..self }
    }

    /// Adds a display for progress messages.
    #[must_use]
    pub fn with_hud(self, hud: Arc<HudBroadcaster>) -> Self {
        Self { hud, ..self }
    }

    /// Replaces the clock.
    #[must_use]
    pub fn with_clock(self, clock: ServiceClock) -> Self {
        Self { clock, ..self }
    }

    /// Reflects on a session if that is wanted. It never fails or panics: errors are reported in the outcome.
    pub async fn maybe_reflect(&self, trigger: &ReflectionTrigger) -> ArchivistOutcome {
        let result = self.reflect_on_session(trigger, RepeatPolicy::IfGrown).await;
        reflection_outcome::build_outcome(trigger, &result)
    }

    /// Reflects on a session, and returns the reason if it is skipped.
    pub async fn reflect_on_session(
        &self,
        trigger: &ReflectionTrigger,
        policy: RepeatPolicy,
    ) -> Result<ReflectionReport, SkipReason> {
        // Displays hear nothing of a purged session. A memory that cannot be read is reported as such below.
        if let Err(SkipReason::Purged) = self.refuse_purged_session(trigger).await {
            return Err(SkipReason::Purged);
        }
        let learned = self.announce_reflection(trigger, self.run_reflection(trigger, policy)).await?;
        self.reflect_on_patterns(&[(trigger.clone(), learned.episode.clone())]).await;
        Ok(learned)
    }

    /// Waits up to `patience` for displays to receive pending messages.
    pub async fn flush_hud(&self, patience: Duration) {
        self.hud.flush_messages(patience).await;
    }

    /// Builds the published outcome of a reflection.
    pub fn build_outcome(
        trigger: &ReflectionTrigger,
        result: &Result<ReflectionReport, SkipReason>,
    ) -> ArchivistOutcome {
        reflection_outcome::build_outcome(trigger, result)
    }

    /// Builds the context that a reflection on these logs would use. Nothing is stored.
    pub async fn preview_context(
        &self,
        trigger: &ReflectionTrigger,
        sources: LogSources,
    ) -> Result<ReflectionContext, SkipReason> {
        let material = self.read_session_logs(sources).await?;
        Ok(self.prepare_reflection(trigger, material).await?.context)
    }

    /// Distills candidates from these logs, before they are compared with known lessons. Nothing is stored.
    pub async fn preview_candidates(
        &self,
        trigger: &ReflectionTrigger,
        sources: LogSources,
    ) -> Result<DistillationResult, SkipReason> {
        let material = self.read_session_logs(sources).await?;
        let prepared = self.prepare_reflection(trigger, material).await?;
        Ok(self.distill_candidates(trigger, &prepared).await)
    }

    /// Runs a reflection from the trigger to the commit.
    async fn run_reflection(
        &self,
        trigger: &ReflectionTrigger,
        policy: RepeatPolicy,
    ) -> Result<ReflectionReport, SkipReason> {
        reflection_policy::check_trigger(&self.settings.archivist, trigger)?;
        let sources = self.find_log_sources(trigger).await?;
        self.skip_if_unchanged(trigger, &sources, policy).await?;
        let material = self.read_session_logs(sources).instrument(info_span!("read")).await?;
        let prepared = self.prepare_reflection(trigger, material).instrument(info_span!("scene")).await?;
        reflection_policy::check_status(&self.settings.archivist, trigger, &prepared.context.episode.status)?;
        let distilled = self.distill_candidates(trigger, &prepared).instrument(info_span!("distil")).await;
        self.judge_and_commit(trigger, &prepared, distilled).instrument(info_span!("settle")).await
    }

    /// Returns `SkipReason::Purged` if the session was erased for good.
    pub(super) async fn refuse_purged_session(&self, trigger: &ReflectionTrigger) -> Result<(), SkipReason> {
        let notes = self.memory.list_erasures().await?;
        let is_purged = notes.iter().any(|note| note.covers_session(&trigger.session_id));
        if is_purged { Err(SkipReason::Purged) } else { Ok(()) }
    }

    /// Announces the start and the end of a reflection, each once, and catches panics.
    pub(super) async fn announce_reflection(
        &self,
        trigger: &ReflectionTrigger,
        work: impl Future<Output = Result<ReflectionReport, SkipReason>>,
    ) -> Result<ReflectionReport, SkipReason> {
        let (scenario, session_id) = (trigger.scenario.clone(), trigger.session_id.clone());
        let span = info_span!("reflection", session = %session_id, scenario = %scenario);
        let start =
            HudMessage::ArchivistReflectionStart { scenario: scenario.clone(), session_id, ts: self.clock.now() };
        self.hud.send_message(&start);
        let began = Instant::now();
        let result = AssertUnwindSafe(work.instrument(span.clone())).catch_unwind().await;
        let result = result.unwrap_or_else(|panic| Err(SkipReason::Broke(panic_message(panic.as_ref()))));
        span.in_scope(|| match &result {
            Ok(learned) => tracing::info!(
                created = learned.created.len(),
                updated = learned.updated.len(),
                seen = learned.seen.len(),
                dropped = learned.dropped.len(),
                engine = %learned.effort.engine,
                calls = learned.effort.calls,
                took = ?began.elapsed(),
                "reflected"
            ),
            Err(skip) if skip.is_choice() => tracing::info!(why = %skip, "skipped"),
            Err(skip) => tracing::warn!(why = %skip, "skipped"),
        });
        record_metrics(&scenario, &result, began.elapsed());
        self.send_hud_messages(&scenario, &result);
        result
    }

    fn send_hud_messages(&self, scenario: &ReflectionScenario, result: &Result<ReflectionReport, SkipReason>) {
        let ts = self.clock.now();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let (mut created, mut updated) = (0, 0);
        if let Ok(learned) = result {
            (created, updated) = (count(learned.created.len()), count(learned.updated.len() + learned.seen.len()));
            for memory in learned.created.iter().chain(&learned.updated) {
                if memory.importance.value() >= self.settings.highlight_min {
                    self.hud.send_message(&HudMessage::ArchivistMemoryHighlight {
                        memory_id: memory.id.clone(),
                        summary: memory.summary.clone(),
                        importance: memory.importance,
                        ts,
                    });
                }
            }
            if created > 0 {
                let scenario = scenario.clone();
                self.hud.send_message(&HudMessage::ArchivistMemoriesAdded { count: created, scenario, ts });
            }
        }
        self.hud.send_message(&HudMessage::ArchivistReflectionComplete {
            scenario: scenario.clone(),
            memories_created: created,
            memories_updated: updated,
            ts,
        });
    }

    /// Finds the logs of a session.
    pub async fn find_log_sources(&self, trigger: &ReflectionTrigger) -> Result<LogSources, SkipReason> {
        let (trigger, places, home) = (trigger.clone(), self.project.places.clone(), self.project.home.clone());
        run_blocking(move || LogSources::for_trigger(&trigger, &places, home.as_deref())).await?
    }

    /// Returns `SkipReason::Unchanged` if the logs have not grown, unless the policy is to reflect again in any case.
    pub(super) async fn skip_if_unchanged(
        &self,
        trigger: &ReflectionTrigger,
        sources: &LogSources,
        policy: RepeatPolicy,
    ) -> Result<(), SkipReason> {
        let id = Some(self.episode_id(trigger));
        let known = self.memory.list_episodes(&EpisodeFilter { id, ..EpisodeFilter::default() }).await?;
        let is_same = |reflected: &ReflectionRecord| reflected.logs == sources.stamps;
        let is_known = known.iter().filter_map(|episode| episode.reflected.as_ref()).any(is_same);
        if is_known && policy == RepeatPolicy::IfGrown { Err(SkipReason::Unchanged) } else { Ok(()) }
    }

    /// Reads the logs of a session.
    pub(super) async fn read_session_logs(&self, sources: LogSources) -> Result<SessionLogs, SkipReason> {
        let redactor = Arc::clone(&self.redactor);
        let read = run_blocking(move || {
            let logs = CombinedLogs::read_session(&sources.files, &sources.subagents, &redactor);
            (logs, sources)
        });
        let (logs, sources) = read.await?;
        let path = sources.stamps.first().map(|stamp| stamp.path.clone()).unwrap_or_default();
        let logs = logs.map_err(|why| SkipReason::Unreadable { path, why })?;
        Ok(SessionLogs { logs, stamps: sources.stamps })
    }

    /// Builds the context of a reflection from the logs and the memory.
    pub(super) async fn prepare_reflection(
        &self,
        trigger: &ReflectionTrigger,
        material: SessionLogs,
    ) -> Result<PreparedReflection, SkipReason> {
        let SessionLogs { logs, stamps } = material;
        let episodes = self.shown_memory.list_episodes(&EpisodeFilter::newest(COMPARED_EPISODES)).await?;
        let topics: Vec<&str> = logs.gathered.signals.iter().take(TOPICS).map(|signal| signal.text.as_str()).collect();
        let title = logs.gathered.trajectories.first().and_then(|main| main.about.title.clone());
        let text = if topics.is_empty() { title } else { Some(topics.join("\n")) };
        let about = MemoryQuery { text, ..self.project.new_query() };
        let near = self.shown_memory.find_neighbours(&about, EXISTING_MEMORIES).await?;
        let inputs = ReflectionInputs {
            run: self.describe_session(trigger),
            gathered: logs.gathered,
            sessions: logs.sessions,
            config: read_settings(&self.project.root),
            progress_md: read_progress_notes(&self.project.root),
            apm_snapshot: None,
            episodes,
            memories: near.into_iter().map(|neighbour| neighbour.lesson.memory).collect(),
        };
        let context = ReflectionContext::build(inputs, &self.redactor);
        let model_session =
            self.model_client.as_ref().map(|model_client| model_client.open_session(&context.project_root));
        Ok(PreparedReflection { context, stamps, pattern: None, model_session })
    }

    /// Distills candidates from a prepared reflection.
    pub(super) async fn distill_candidates(
        &self,
        trigger: &ReflectionTrigger,
        prepared: &PreparedReflection,
    ) -> DistillationResult {
        let Some(model_session) = &prepared.model_session else { return self.distill_without_model(prepared).await };
        let documents = self.load_documents().await;
        let known = KnownLessons::new(&*self.shown_memory, self.project.new_query());
        let distiller = self.build_distiller(&documents);
        model_session.distill_context(&distiller, &prepared.context, &trigger.scenario, &known, self.clock.now()).await
    }

    pub(super) async fn distill_without_model(&self, prepared: &PreparedReflection) -> DistillationResult {
        self.build_distiller(&self.load_documents().await).distill_with_heuristics(&prepared.context)
    }

    fn build_distiller<'d>(&'d self, documents: &'d [ProjectDocument]) -> SessionDistiller<'d> {
        let limits = &self.settings.archivist;
        SessionDistiller {
            redactor: &self.redactor,
            documents,
            max_candidates: usize::try_from(limits.max_memories_per_run).unwrap_or(usize::MAX),
            min_importance: limits.min_importance_to_persist,
        }
    }

    /// Reads the documents that the project's agents are given anyway.
    async fn load_documents(&self) -> Vec<ProjectDocument> {
        let root = self.project.root.clone();
        run_blocking(move || read_documents(&root)).await.unwrap_or_default()
    }

    /// Judges the candidates, commits the result, and writes new lessons into the progress notes if configured.
    pub(super) async fn judge_and_commit(
        &self,
        trigger: &ReflectionTrigger,
        prepared: &PreparedReflection,
        distilled: DistillationResult,
    ) -> Result<ReflectionReport, SkipReason> {
        if let Some(why) = prepared.ledger_outage() {
            return Err(SkipReason::LedgerAway(why));
        }
        // It may have been purged while a model thought about it.
        self.refuse_purged_session(trigger).await?;
        let learned = self.judge_candidates(trigger, prepared, distilled).await?;
        if self.settings.appends_lessons {
            let (root, session) = (self.project.root.clone(), learned.session.clone());
            let lessons: Vec<_> = learned.created.iter().chain(&learned.updated).cloned().collect();
            let written = run_blocking(move || progress_writer::write_lessons(&root, &session, &lessons)).await;
            match written {
                Ok(Err(error)) => tracing::warn!(%error, "the progress notes could not be written"),
                Err(skip) => tracing::warn!(why = %skip, "the progress notes could not be written"),
                Ok(Ok(())) => {}
            }
        }
        Ok(learned)
    }

    /// Reflects on several episodes together if these sessions complete a pattern. Errors are dropped: the next session
    /// of the kind triggers it again.
    pub(super) async fn reflect_on_patterns(&self, runs: &[(ReflectionTrigger, EpisodeId)]) {
        let recent = EpisodeFilter::newest(COMPARED_EPISODES);
        let Ok(mut episodes) = self.memory.list_episodes(&recent).await else { return };
        for (trigger, id) in runs {
            let trigger = ReflectionTrigger { scenario: ReflectionScenario::PatternDetected, ..trigger.clone() };
            for _ in 0..MAX_PATTERNS {
                let this = episodes.iter().find(|one| one.id == *id);
                let due =
                    this.and_then(|this| episode_patterns::find_due_pattern(this, &episodes, &self.settings.patterns));
                let Some(pattern) = due else { break };
                if self
                    .announce_reflection(&trigger, self.reflect_on_pattern(&trigger, &episodes, pattern))
                    .await
                    .is_err()
                {
                    break;
                }
                let Ok(marked) = self.memory.list_episodes(&recent).await else { return };
                episodes = marked;
            }
        }
    }

    /// Reflects on the episodes of one pattern together.
    async fn reflect_on_pattern(
        &self,
        trigger: &ReflectionTrigger,
        episodes: &[Episode],
        pattern: EpisodePattern,
    ) -> Result<ReflectionReport, SkipReason> {
        let (owners, files): (Vec<EpisodeId>, Vec<Vec<PathBuf>>) =
            pattern.runs.iter().filter_map(|run| Some((run.clone(), existing_log_paths(run, episodes)?))).unzip();
        let redactor = Arc::clone(&self.redactor);
        let logs = run_blocking(move || CombinedLogs::read_sessions(&files, &redactor)).await?;
        let logs = logs.map_err(|why| SkipReason::Unreadable { path: trigger.session_id.to_string(), why })?;
        let whose = logs.owners.iter().filter_map(|owner| owners.get(*owner).cloned()).collect();
        let mut prepared = self.prepare_reflection(trigger, SessionLogs { logs, stamps: Vec::new() }).await?;
        prepared.context.owners = whose;
        if let PatternCause::Family(family) = &pattern.cause {
            prepared.context.signals.retain(|signal| signal.error_family.as_ref() == Some(family));
        }
        prepared.pattern = Some(pattern);
        let distilled = self.distill_candidates(trigger, &prepared).await;
        self.judge_and_commit(trigger, &prepared, distilled).await
    }

    pub(super) fn describe_session(&self, trigger: &ReflectionTrigger) -> SessionDescription {
        let is_rescue = trigger.scenario == ReflectionScenario::HealerInvocation;
        SessionDescription {
            session_id: trigger.session_id.clone(),
            project_root: self.project.root_text(),
            repo_id: self.project.repo_id.clone(),
            task_id: trigger.main_task_id.clone(),
            subtask_id: trigger.subtask_id.clone(),
            kind: is_rescue.then_some(EpisodeKind::HealerRun),
            outcome: trigger.reported_status(),
            now: self.clock.now(),
        }
    }

    pub(super) fn episode_id(&self, trigger: &ReflectionTrigger) -> EpisodeId {
        let root = self.project.root_text();
        EpisodeId::for_session(self.project.repo_id.as_deref().unwrap_or(&root), trigger.session_id.as_str())
    }
}

/// Returns the paths of an episode's logs that still exist.
pub(super) fn existing_log_paths(run: &EpisodeId, episodes: &[Episode]) -> Option<Vec<PathBuf>> {
    let episode = episodes.iter().find(|episode| episode.id == *run)?;
    let logs = episode.reflected.as_ref()?.logs.iter().map(|stamp| PathBuf::from(&stamp.path));
    let there: Vec<PathBuf> = logs.filter(|path| path.is_file()).collect();
    (!there.is_empty()).then_some(there)
}

/// Records metrics of a reflection: a tracing layer that knows these names exports them.
fn record_metrics(scenario: &ReflectionScenario, result: &Result<ReflectionReport, SkipReason>, took: Duration) {
    let (status, created, dropped, calls) = match result {
        Ok(learned) => ("reflected", learned.created.len(), learned.dropped.len(), learned.effort.calls),
        Err(skip) if skip.is_choice() => ("skipped", 0, 0, 0),
        Err(_) => ("failed", 0, 0, 0),
    };
    let (scenario, seconds) = (scenario.as_str(), took.as_secs_f64());
    tracing::trace!(monotonic_counter.archivist_reflections = 1_u64, scenario, status);
    tracing::trace!(monotonic_counter.archivist_lessons_created = created, scenario);
    tracing::trace!(monotonic_counter.archivist_candidates_dropped = dropped, scenario);
    tracing::trace!(monotonic_counter.archivist_model_calls = u64::from(calls), scenario);
    tracing::trace!(histogram.archivist_reflection_seconds = seconds, scenario, status);
}

/// Runs blocking work off the async executor. A panic in it becomes an internal error.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SkipReason> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        let broke =
            if error.is_panic() { panic_message(error.into_panic().as_ref()) } else { "the process is ending".into() };
        SkipReason::Broke(broke)
    })
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}
