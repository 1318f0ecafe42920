//! `ArchivistService`: one trigger in, one outcome out, whatever happens in between.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tracing::{Instrument, info_span};

use super::adviser::{Advice, Adviser};
use super::clock::Clock;
use super::known::KnownLessons;
use super::logs::Logs;
use super::notes;
use super::outcome::{self, Learned, Skip};
use super::patterns::{self, Cause, Pattern, PatternRules};
use super::policy;
use super::project::{Project, documents, progress_notes, settings};
use super::sources::Sources;
use crate::context::{Inputs, ReflectionContext, Run};
use crate::distill::{Distiller, Document};
use crate::domain::{
    ArchivistConfig, ArchivistOutcome, Distilled, Episode, EpisodeId, EpisodeKind, HudMessage, LogStamp, MemoryQuery,
    Reflected, ReflectionScenario, ReflectionTrigger,
};
use crate::hud::Hud;
use crate::judge;
use crate::memory::{EpisodeFilter, MemoryService};
use crate::model::embed::Embedder;
use crate::redact::Redactor;

#[cfg(test)]
#[path = "archivist_tests.rs"]
mod tests;

/// How many lessons a context holds that bear on the run.
const EXISTING_MEMORIES: usize = 20;

/// So many signals say what a run was about.
const TOPICS: usize = 5;

/// The most reflections over several runs that one run may set off.
const MAX_PATTERNS: usize = 3;

/// How a service reflects. Every field is a configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct Habits {
    /// Whether and when, and how much is kept.
    pub archivist: ArchivistConfig,
    /// How far a model's word on importance may lie from what the signals say.
    pub leeway: f64,
    /// When a candidate is a lesson that is known.
    pub thresholds: judge::Thresholds,
    /// How many of the nearest lessons a candidate is held against.
    pub neighbours: usize,
    /// How a lesson rises and ends.
    pub lifecycle: judge::Lifecycle,
    /// What share of the words of a reviewer's finding must be a lesson's for it to be the lesson's matter.
    pub audit_threshold: f64,
    /// When several runs are looked at together.
    pub patterns: PatternRules,
    /// A lesson at least this important is told by itself.
    pub highlight_min: f64,
    /// Whether what was learned is written into the progress notes.
    pub appends_lessons: bool,
}

/// Whether a session is reflected on that has nothing new to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anew {
    /// Only if its logs have grown.
    IfGrown,
    /// In any case.
    Always,
}

/// Reflects on sessions of one project and keeps what they teach.
#[derive(Debug)]
pub struct ArchivistService {
    pub(super) memory: Arc<dyn MemoryService>,
    pub(super) project: Project,
    pub(super) habits: Habits,
    pub(super) adviser: Option<Arc<Adviser>>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    hud: Arc<Hud>,
    pub(super) clock: Clock,
    pub(super) redactor: Arc<Redactor>,
}

/// Logs that were read, and what they were.
#[derive(Debug)]
pub(super) struct Material {
    pub(super) logs: Logs,
    pub(super) stamps: Vec<LogStamp>,
}

/// What a reflection looks at, and what will become of the run's record.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) context: ReflectionContext,
    pub(super) stamps: Vec<LogStamp>,
    /// Why several runs are looked at together, where they are.
    pub(super) pattern: Option<Pattern>,
    /// Whom to ask, and what that may cost.
    pub(super) advice: Option<Advice>,
}

impl Scene {
    /// Why no model was asked that may be asked later.
    pub(super) fn ledger_away(&self) -> Option<String> {
        self.advice.as_ref().and_then(Advice::ledger_away)
    }
}

impl ArchivistService {
    /// A service without a model, that tells nobody.
    pub fn new(memory: Arc<dyn MemoryService>, project: Project, habits: Habits) -> Self {
        Self {
            memory,
            project,
            habits,
            adviser: None,
            embedder: None,
            hud: Arc::new(Hud::silent()),
            clock: Clock::of_the_system(),
            redactor: Arc::new(Redactor::new()),
        }
    }

    /// Asks a model.
    #[must_use]
    pub fn with_adviser(self, adviser: Arc<Adviser>) -> Self {
        Self { adviser: Some(adviser), ..self }
    }

    /// Compares lessons by meaning too.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder: Some(embedder), ..self }
    }

    /// Tells a display.
    #[must_use]
    pub fn with_hud(self, hud: Arc<Hud>) -> Self {
        Self { hud, ..self }
    }

    /// Goes by another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Reflects on a session if that is wanted. Never an error, never a panic: what went wrong stands in the outcome.
    pub async fn maybe_reflect(&self, trigger: &ReflectionTrigger) -> ArchivistOutcome {
        let came = self.reflect(trigger, Anew::IfGrown).await;
        outcome::outcome(trigger, &came)
    }

    /// The same, for those who must know whether to try again.
    pub async fn reflect(&self, trigger: &ReflectionTrigger, anew: Anew) -> Result<Learned, Skip> {
        let learned = self.announced(trigger, self.flow(trigger, anew)).await?;
        self.look_for_patterns_in(&[(trigger.clone(), learned.episode.clone())]).await;
        Ok(learned)
    }

    /// Gives displays a moment to take what is still on its way to them.
    pub async fn finish(&self, patience: Duration) {
        self.hud.finish(patience).await;
    }

    /// The outcome of a reflection as it is published.
    pub fn outcome(trigger: &ReflectionTrigger, came: &Result<Learned, Skip>) -> ArchivistOutcome {
        outcome::outcome(trigger, came)
    }

    /// What a reflection on these logs would look at. Nothing is stored.
    pub async fn look(&self, trigger: &ReflectionTrigger, sources: Sources) -> Result<ReflectionContext, Skip> {
        let material = self.read(sources).await?;
        Ok(self.scene(trigger, material).await?.context)
    }

    /// What these logs would teach, before it is held against what is known. Nothing is stored.
    pub async fn preview(&self, trigger: &ReflectionTrigger, sources: Sources) -> Result<Distilled, Skip> {
        let material = self.read(sources).await?;
        let scene = self.scene(trigger, material).await?;
        Ok(self.distil(trigger, &scene).await)
    }

    /// From a trigger to what was learned.
    async fn flow(&self, trigger: &ReflectionTrigger, anew: Anew) -> Result<Learned, Skip> {
        policy::admits(&self.habits.archivist, trigger)?;
        let sources = self.sources(trigger).await?;
        self.unless_known(trigger, &sources, anew).await?;
        let material = self.read(sources).instrument(info_span!("read")).await?;
        let scene = self.scene(trigger, material).instrument(info_span!("scene")).await?;
        policy::admits_status(&self.habits.archivist, trigger, &scene.context.episode.status)?;
        let distilled = self.distil(trigger, &scene).instrument(info_span!("distil")).await;
        self.settle(trigger, &scene, distilled).instrument(info_span!("settle")).await
    }

    /// Tells of the beginning and of the end, each once, and catches what should never happen.
    pub(super) async fn announced(
        &self,
        trigger: &ReflectionTrigger,
        work: impl Future<Output = Result<Learned, Skip>>,
    ) -> Result<Learned, Skip> {
        let (scenario, session_id) = (trigger.scenario.clone(), trigger.session_id.clone());
        let span = info_span!("reflection", session = %session_id, scenario = %scenario);
        let start =
            HudMessage::ArchivistReflectionStart { scenario: scenario.clone(), session_id, ts: self.clock.now() };
        self.hud.tell(&start);
        let began = Instant::now();
        let came = AssertUnwindSafe(work.instrument(span.clone())).catch_unwind().await;
        let came = came.unwrap_or_else(|panic| Err(Skip::Broke(words_of(panic.as_ref()))));
        span.in_scope(|| match &came {
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
        figures(&scenario, &came, began.elapsed());
        self.tell(&scenario, &came);
        came
    }

    fn tell(&self, scenario: &ReflectionScenario, came: &Result<Learned, Skip>) {
        let ts = self.clock.now();
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let (mut created, mut updated) = (0, 0);
        if let Ok(learned) = came {
            (created, updated) = (count(learned.created.len()), count(learned.updated.len() + learned.seen.len()));
            for memory in learned.created.iter().chain(&learned.updated) {
                if memory.importance.value() >= self.habits.highlight_min {
                    self.hud.tell(&HudMessage::ArchivistMemoryHighlight {
                        memory_id: memory.id.clone(),
                        summary: memory.summary.clone(),
                        importance: memory.importance,
                        ts,
                    });
                }
            }
            if created > 0 {
                let scenario = scenario.clone();
                self.hud.tell(&HudMessage::ArchivistMemoriesAdded { count: created, scenario, ts });
            }
        }
        self.hud.tell(&HudMessage::ArchivistReflectionComplete {
            scenario: scenario.clone(),
            memories_created: created,
            memories_updated: updated,
            ts,
        });
    }

    /// Where the logs of a session lie.
    pub async fn sources(&self, trigger: &ReflectionTrigger) -> Result<Sources, Skip> {
        let (trigger, places, home) = (trigger.clone(), self.project.places.clone(), self.project.home.clone());
        blocking(move || Sources::of(&trigger, &places, home.as_deref())).await?
    }

    /// A session whose logs are as long as they were has nothing new to tell.
    pub(super) async fn unless_known(
        &self,
        trigger: &ReflectionTrigger,
        sources: &Sources,
        anew: Anew,
    ) -> Result<(), Skip> {
        let id = Some(self.episode_id(trigger));
        let known = self.memory.episodes(&EpisodeFilter { id, ..EpisodeFilter::default() }).await?;
        let is_same = |reflected: &Reflected| reflected.logs == sources.stamps;
        let is_known = known.iter().filter_map(|episode| episode.reflected.as_ref()).any(is_same);
        if is_known && anew == Anew::IfGrown { Err(Skip::Unchanged) } else { Ok(()) }
    }

    /// Reads the logs.
    pub(super) async fn read(&self, sources: Sources) -> Result<Material, Skip> {
        let redactor = Arc::clone(&self.redactor);
        let read = blocking(move || {
            let logs = Logs::read(&sources.files, &sources.subagents, &redactor);
            (logs, sources)
        });
        let (logs, sources) = read.await?;
        let path = sources.stamps.first().map(|stamp| stamp.path.clone()).unwrap_or_default();
        let logs = logs.map_err(|why| Skip::Unreadable { path, why })?;
        Ok(Material { logs, stamps: sources.stamps })
    }

    /// Puts what was read beside what is known.
    pub(super) async fn scene(&self, trigger: &ReflectionTrigger, material: Material) -> Result<Scene, Skip> {
        let Material { logs, stamps } = material;
        let episodes = self.memory.episodes(&EpisodeFilter::default()).await?;
        let topics: Vec<&str> = logs.gathered.signals.iter().take(TOPICS).map(|signal| signal.text.as_str()).collect();
        let title = logs.gathered.trajectories.first().and_then(|main| main.about.title.clone());
        let text = if topics.is_empty() { title } else { Some(topics.join("\n")) };
        let near = self.memory.neighbours(&MemoryQuery { text, ..self.project.question() }, EXISTING_MEMORIES).await?;
        let inputs = Inputs {
            run: self.run(trigger),
            gathered: logs.gathered,
            sessions: logs.sessions,
            config: settings(&self.project.root),
            progress_md: progress_notes(&self.project.root),
            apm_snapshot: None,
            episodes,
            memories: near.into_iter().map(|neighbour| neighbour.lesson.memory).collect(),
        };
        let context = ReflectionContext::build(inputs, &self.redactor);
        let advice = self.adviser.as_ref().map(|adviser| adviser.advice(&context.project_root));
        Ok(Scene { context, stamps, pattern: None, advice })
    }

    /// What may have been learned.
    pub(super) async fn distil(&self, trigger: &ReflectionTrigger, scene: &Scene) -> Distilled {
        let Some(advice) = &scene.advice else { return self.distil_without_model(scene).await };
        let documents = self.documents().await;
        let known = KnownLessons::new(&*self.memory, self.project.question());
        let distiller = self.distiller(&documents);
        advice.distil(&distiller, &scene.context, &trigger.scenario, &known, self.clock.now()).await
    }

    pub(super) async fn distil_without_model(&self, scene: &Scene) -> Distilled {
        self.distiller(&self.documents().await).by_heuristics(&scene.context)
    }

    fn distiller<'d>(&'d self, documents: &'d [Document]) -> Distiller<'d> {
        let limits = &self.habits.archivist;
        Distiller {
            redactor: &self.redactor,
            documents,
            max_candidates: usize::try_from(limits.max_memories_per_run).unwrap_or(usize::MAX),
            min_importance: limits.min_importance_to_persist,
        }
    }

    /// What agents of the project are told anyway.
    async fn documents(&self) -> Vec<Document> {
        let root = self.project.root.clone();
        blocking(move || documents(&root)).await.unwrap_or_default()
    }

    /// Keeps what was learned, and notes it where a person looks.
    pub(super) async fn settle(
        &self,
        trigger: &ReflectionTrigger,
        scene: &Scene,
        distilled: Distilled,
    ) -> Result<Learned, Skip> {
        if let Some(why) = scene.ledger_away() {
            return Err(Skip::LedgerAway(why));
        }
        let learned = self.judge(trigger, scene, distilled).await?;
        if self.habits.appends_lessons {
            let (root, session) = (self.project.root.clone(), learned.session.clone());
            let lessons: Vec<_> = learned.created.iter().chain(&learned.updated).cloned().collect();
            let written = blocking(move || notes::write_lessons(&root, &session, &lessons)).await;
            match written {
                Ok(Err(error)) => tracing::warn!(%error, "the progress notes could not be written"),
                Err(skip) => tracing::warn!(why = %skip, "the progress notes could not be written"),
                Ok(Ok(())) => {}
            }
        }
        Ok(learned)
    }

    /// Looks at several runs together where these give cause to. What goes wrong here costs nothing: the next run of the
    /// kind gives cause again.
    pub(super) async fn look_for_patterns_in(&self, runs: &[(ReflectionTrigger, EpisodeId)]) {
        let Ok(mut episodes) = self.memory.episodes(&EpisodeFilter::default()).await else { return };
        for (trigger, id) in runs {
            let trigger = ReflectionTrigger { scenario: ReflectionScenario::PatternDetected, ..trigger.clone() };
            for _ in 0..MAX_PATTERNS {
                let this = episodes.iter().find(|one| one.id == *id);
                let due = this.and_then(|this| patterns::due(this, &episodes, &self.habits.patterns));
                let Some(pattern) = due else { break };
                if self.announced(&trigger, self.ponder(&trigger, &episodes, pattern)).await.is_err() {
                    break;
                }
                let Ok(marked) = self.memory.episodes(&EpisodeFilter::default()).await else { return };
                episodes = marked;
            }
        }
    }

    /// From runs that have something in common to what they teach together.
    async fn ponder(
        &self,
        trigger: &ReflectionTrigger,
        episodes: &[Episode],
        pattern: Pattern,
    ) -> Result<Learned, Skip> {
        let (owners, files): (Vec<EpisodeId>, Vec<Vec<PathBuf>>) =
            pattern.runs.iter().filter_map(|run| Some((run.clone(), logs_of(run, episodes)?))).unzip();
        let redactor = Arc::clone(&self.redactor);
        let logs = blocking(move || Logs::read_together(&files, &redactor)).await?;
        let logs = logs.map_err(|why| Skip::Unreadable { path: trigger.session_id.to_string(), why })?;
        let whose = logs.owners.iter().filter_map(|owner| owners.get(*owner).cloned()).collect();
        let mut scene = self.scene(trigger, Material { logs, stamps: Vec::new() }).await?;
        scene.context.owners = whose;
        if let Cause::Family(family) = &pattern.cause {
            scene.context.signals.retain(|signal| signal.error_family.as_ref() == Some(family));
        }
        scene.pattern = Some(pattern);
        let distilled = self.distil(trigger, &scene).await;
        self.settle(trigger, &scene, distilled).await
    }

    pub(super) fn run(&self, trigger: &ReflectionTrigger) -> Run {
        let is_rescue = trigger.scenario == ReflectionScenario::HealerInvocation;
        Run {
            session_id: trigger.session_id.clone(),
            project_root: self.project.root_text(),
            repo_id: self.project.repo_id.clone(),
            task_id: trigger.main_task_id.clone(),
            subtask_id: trigger.subtask_id.clone(),
            kind: is_rescue.then_some(EpisodeKind::HealerRun),
            outcome: trigger.ended_as(),
            now: self.clock.now(),
        }
    }

    pub(super) fn episode_id(&self, trigger: &ReflectionTrigger) -> EpisodeId {
        let root = self.project.root_text();
        EpisodeId::of_session(self.project.repo_id.as_deref().unwrap_or(&root), trigger.session_id.as_str())
    }
}

/// The logs of a run, those that are still there.
pub(super) fn logs_of(run: &EpisodeId, episodes: &[Episode]) -> Option<Vec<PathBuf>> {
    let episode = episodes.iter().find(|episode| episode.id == *run)?;
    let logs = episode.reflected.as_ref()?.logs.iter().map(|stamp| PathBuf::from(&stamp.path));
    let there: Vec<PathBuf> = logs.filter(|path| path.is_file()).collect();
    (!there.is_empty()).then_some(there)
}

/// Counts a reflection for whoever observes: a layer that understands these names makes metrics of them.
fn figures(scenario: &ReflectionScenario, came: &Result<Learned, Skip>, took: Duration) {
    let (status, created, dropped, calls) = match came {
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

/// Files block, and an executor must not. A panic in there is a fault of ours, not of the run.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Skip> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        let broke =
            if error.is_panic() { words_of(error.into_panic().as_ref()) } else { "the process is ending".into() };
        Skip::Broke(broke)
    })
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason given".to_owned())
}
