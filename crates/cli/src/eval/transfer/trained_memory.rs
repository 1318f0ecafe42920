//! A memory that learned from sessions as in real use, without a model, and is queried as hooks query it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::model_sessions::ModelTaskSession;
use crate::cli_error::CliError;
use crate::eval::hook_block::recall_like_hook;
use archivist_core::config::Config;
use archivist_core::domain::{
    AgentMemory, EpisodeId, ErrorFamily, Extra, Fact, LessonAvailability, MemoryId, MemoryQuery, MemoryState,
    ReflectionScenario, ReflectionTrigger, SessionId, Timestamp,
};
use archivist_core::memory::jsonl::{JsonlMemory, SyncPolicy};
use archivist_core::memory::{BankTenancy, FactFilter, LessonStateFilter, MemoryService};
use archivist_core::service::{ArchivistService, InjectionBlock, ProjectContext, RepeatPolicy, ServiceClock};

/// A memory with the origin of each of its lessons.
pub(super) struct TrainedMemory<'c> {
    _folder: TempDir,
    config: &'c Config,
    /// The memory as it learned.
    learned: Arc<dyn MemoryService>,
    /// A copy of the lessons in which none waits for another sighting.
    unlocked: Arc<dyn MemoryService>,
    project: ProjectContext,
    pub(super) lessons: BTreeMap<MemoryId, LearnedLesson>,
    /// The task of each episode.
    tasks: BTreeMap<EpisodeId, String>,
    /// The error families of all failures in the sessions that it learned from.
    pub(super) families: BTreeSet<ErrorFamily>,
    asked_at: Timestamp,
}

/// A lesson with the failures and tasks that it was learned from.
#[derive(Debug, Default)]
pub(super) struct LearnedLesson {
    pub(super) summary: String,
    pub(super) families: BTreeSet<ErrorFamily>,
    pub(super) tasks: BTreeSet<String>,
    pub(super) is_in_use: bool,
}

/// The lessons that answer one query, best first.
#[derive(Debug)]
pub(super) struct AnsweredLessons {
    pub(super) given: Vec<MemoryId>,
    /// The lessons that would be recalled if none waited for another sighting.
    pub(super) unlocked: Vec<MemoryId>,
    /// The first hits of a plain full-text search over the same lessons, as many as a hook may inject.
    pub(super) plain: Vec<MemoryId>,
    /// The record of earlier sessions that stands in for a lesson.
    pub(super) record: Option<AnsweredRecord>,
}

/// The record of earlier sessions in an answer.
#[derive(Debug)]
pub(super) struct AnsweredRecord {
    pub(super) text: String,
    /// The tasks of the sessions that it tells of.
    pub(super) tasks: BTreeSet<String>,
}

impl AnsweredLessons {
    /// Returns true if the answer holds nothing at all.
    pub(super) fn is_silent(&self) -> bool {
        self.given.is_empty() && self.record.is_none()
    }
}

impl<'c> TrainedMemory<'c> {
    /// Learns from these sessions, one after another.
    pub(super) async fn learn_from_sessions(
        runs: &[&ModelTaskSession],
        config: &'c Config,
        now: Timestamp,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary directory")?;
        let open = |name: &str| -> Arc<dyn MemoryService> {
            let mut settings = config.memory.jsonl_settings(folder.path(), None);
            settings.project = folder.path().join(name);
            (settings.global, settings.tenancy, settings.sync) = (None, BankTenancy::Own, SyncPolicy::Lazy);
            Arc::new(JsonlMemory::open(settings))
        };
        let mut memory = Self {
            config,
            learned: open("learned"),
            unlocked: open("unlocked"),
            project: ProjectContext::from_root(folder.path()),
            lessons: BTreeMap::new(),
            tasks: BTreeMap::new(),
            families: runs.iter().flat_map(|run| &run.failures).map(|failure| failure.family.clone()).collect(),
            asked_at: runs.iter().filter_map(|run| run.ended).max().unwrap_or(now),
            _folder: folder,
        };
        memory.reflect_on_sessions(runs).await?;
        Ok(memory)
    }

    async fn reflect_on_sessions(&mut self, runs: &[&ModelTaskSession]) -> Result<()> {
        let mut service =
            ArchivistService::new(Arc::clone(&self.learned), self.project.clone(), self.config.reflection_settings());
        for (number, run) in runs.iter().enumerate() {
            let path = self.project.root.join(format!("{number}.jsonl"));
            std::fs::write(&path, &run.log).with_context(|| format!("cannot write {}", path.display()))?;
            let trigger = ReflectionTrigger {
                scenario: ReflectionScenario::SessionComplete,
                project_root: self.project.root_text(),
                session_id: SessionId::parse(&format!("session-{number}"))?,
                main_task_id: None,
                subtask_id: None,
                log_paths: vec![path.display().to_string()],
                healer_status: None,
                outcome: None,
                extra: Extra::new(),
            };
            service = service.with_clock(ServiceClock::fixed_at(run.ended.unwrap_or(self.asked_at)));
            match service.reflect_on_session(&trigger, RepeatPolicy::IfGrown).await {
                Ok(learned) => drop(self.tasks.insert(learned.episode, run.task.clone())),
                Err(skip) if skip.is_choice() => {}
                Err(skip) => return Err(CliError::user_error(format!("{} of {}: {skip}", run.task, run.model)).into()),
            }
        }
        let mut copies: Vec<AgentMemory> = Vec::new();
        for lesson in self.learned.list_lessons(LessonStateFilter::All).await? {
            let mut memory = lesson.memory;
            let families = memory
                .facets
                .error_family
                .iter()
                .chain(memory.merges.iter().filter_map(|merge| merge.absorbed.facets.error_family.as_ref()));
            let known = LearnedLesson {
                summary: memory.summary.clone(),
                families: families.cloned().collect(),
                tasks: BTreeSet::new(),
                is_in_use: memory.availability() == LessonAvailability::Live,
            };
            self.lessons.insert(memory.id.clone(), known);
            if memory.availability() == LessonAvailability::Waiting {
                memory.state = Some(MemoryState::Candidate);
            }
            memory.alias = None;
            copies.push(memory);
        }
        self.unlocked.add_memories(copies, self.asked_at).await?;
        for fact in self.learned.list_facts(&FactFilter::default()).await? {
            let Fact::Sighting { memory, episode, .. } = &fact else { continue };
            if let (Some(lesson), Some(task)) = (self.lessons.get_mut(memory), self.tasks.get(episode)) {
                lesson.tasks.insert(task.clone());
            }
        }
        Ok(())
    }

    /// Returns a query for the project that has no text yet.
    pub(super) fn base_query(&self) -> MemoryQuery {
        self.project.new_query()
    }

    /// Recalls what a hook would inject.
    pub(super) async fn answer_query(&self, query: MemoryQuery) -> Result<AnsweredLessons> {
        let most = usize::try_from(self.config.hooks.max_lessons).unwrap_or(usize::MAX);
        let ask = async |memory: &Arc<dyn MemoryService>| {
            recall_like_hook(self.config, &**memory, query.clone(), self.asked_at).await
        };
        let lesson_ids =
            |block: &InjectionBlock| block.lessons.iter().map(|chosen| chosen.lesson.memory.id.clone()).collect();
        let words = MemoryQuery { text: query.text.clone(), ..self.base_query() };
        let plain = self.learned.find_neighbours(&words, most).await?;
        let block = ask(&self.learned).await?;
        let record = block.history.as_ref().map(|history| AnsweredRecord {
            text: history.text.clone(),
            tasks: history.episodes.iter().filter_map(|episode| self.tasks.get(episode).cloned()).collect(),
        });
        Ok(AnsweredLessons {
            given: lesson_ids(&block),
            unlocked: lesson_ids(&ask(&self.unlocked).await?),
            record,
            plain: plain.into_iter().map(|near| near.lesson.memory.id).collect(),
        })
    }
}
