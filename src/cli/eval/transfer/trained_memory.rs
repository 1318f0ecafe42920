//! A memory that learned from sessions as in real use, without a model, and is asked as hooks ask it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::runs::ModelRun;
use crate::cli::failure::Failure;
use crate::config::Config;
use crate::domain::{
    AgentMemory, EpisodeId, ErrorFamily, Extra, Fact, MemoryId, MemoryQuery, MemoryState, ReflectionScenario,
    ReflectionTrigger, SessionId, Standing, Timestamp,
};
use crate::memory::jsonl::{JsonlMemory, Sync};
use crate::memory::{FactFilter, MemoryService, Tenancy, Which};
use crate::recall::{Caps, Frame, Presence, Reach, Style};
use crate::service::{Anew, ArchivistService, Clock, Giving, Project};

/// A memory and what is known of each of its lessons.
pub(super) struct TrainedMemory<'c> {
    _folder: TempDir,
    config: &'c Config,
    /// The memory as it learned.
    learned: Arc<dyn MemoryService>,
    /// The same lessons, of which none waits to be seen again.
    unlocked: Arc<dyn MemoryService>,
    project: Project,
    pub(super) lessons: BTreeMap<MemoryId, LearnedLesson>,
    /// The families of all failures in the sessions that it learned from.
    pub(super) families: BTreeSet<ErrorFamily>,
    asked_at: Timestamp,
}

/// A lesson, and the failures and tasks that it was learned from.
#[derive(Debug, Default)]
pub(super) struct LearnedLesson {
    pub(super) summary: String,
    pub(super) families: BTreeSet<ErrorFamily>,
    pub(super) tasks: BTreeSet<String>,
    pub(super) is_in_use: bool,
}

/// The lessons that one question is answered with, best first.
#[derive(Debug)]
pub(super) struct GivenLessons {
    pub(super) given: Vec<MemoryId>,
    /// The lessons that would be given if none waited to be seen again.
    pub(super) unlocked: Vec<MemoryId>,
    /// The first of a plain full-text search over the same lessons, as many as may be given.
    pub(super) plain: Vec<MemoryId>,
}

impl<'c> TrainedMemory<'c> {
    /// Learns from these sessions, one after another.
    pub(super) async fn learn(runs: &[&ModelRun], config: &'c Config, now: Timestamp) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary directory")?;
        let open = |name: &str| -> Arc<dyn MemoryService> {
            let mut settings = config.memory.jsonl(folder.path(), None);
            settings.project = folder.path().join(name);
            (settings.global, settings.tenancy, settings.sync) = (None, Tenancy::Own, Sync::Lazy);
            Arc::new(JsonlMemory::open(settings))
        };
        let mut memory = Self {
            config,
            learned: open("learned"),
            unlocked: open("unlocked"),
            project: Project::at(folder.path()),
            lessons: BTreeMap::new(),
            families: runs.iter().flat_map(|run| &run.failures).map(|failure| failure.family.clone()).collect(),
            asked_at: runs.iter().filter_map(|run| run.ended).max().unwrap_or(now),
            _folder: folder,
        };
        memory.reflect(runs).await?;
        Ok(memory)
    }

    async fn reflect(&mut self, runs: &[&ModelRun]) -> Result<()> {
        let mut tasks: BTreeMap<EpisodeId, &str> = BTreeMap::new();
        let mut service = ArchivistService::new(Arc::clone(&self.learned), self.project.clone(), self.config.habits());
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
            service = service.with_clock(Clock::fixed(run.ended.unwrap_or(self.asked_at)));
            match service.reflect(&trigger, Anew::IfGrown).await {
                Ok(learned) => drop(tasks.insert(learned.episode, &run.task)),
                Err(skip) if skip.is_choice() => {}
                Err(skip) => return Err(Failure::user(format!("{} of {}: {skip}", run.task, run.model)).into()),
            }
        }
        let mut copies: Vec<AgentMemory> = Vec::new();
        for lesson in self.learned.lessons(Which::All).await? {
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
                is_in_use: memory.standing() == Standing::Live,
            };
            self.lessons.insert(memory.id.clone(), known);
            if memory.standing() == Standing::Waiting {
                memory.state = Some(MemoryState::Candidate);
            }
            memory.alias = None;
            copies.push(memory);
        }
        self.unlocked.add_memories(copies, self.asked_at).await?;
        for fact in self.learned.facts(&FactFilter::default()).await? {
            let Fact::Sighting { memory, episode, .. } = &fact else { continue };
            if let (Some(lesson), Some(task)) = (self.lessons.get_mut(memory), tasks.get(episode)) {
                lesson.tasks.insert((*task).to_owned());
            }
        }
        Ok(())
    }

    /// Returns a question of the project that mentions nothing yet.
    pub(super) fn question(&self) -> MemoryQuery {
        self.project.question()
    }

    /// Asks for as many lessons as a hook gives. Files that lessons name are taken to be there.
    pub(super) async fn ask(&self, query: MemoryQuery) -> Result<GivenLessons> {
        let (recall, hooks) = (&self.config.recall, &self.config.hooks);
        let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let budget = recall.token_budget();
        let caps = Caps {
            items: count(hooks.max_lessons),
            tokens: count(hooks.max_tokens),
            characters: count(hooks.max_characters),
            preference_places: budget.preference_places,
            min_space: budget.min_space,
        };
        let selector = Giving {
            ranking: recall.ranking(),
            profile: recall.profile,
            profile_rules: self.config.profile_rules(),
            budget,
            reach: Reach::Any,
            holdout: 0.0,
            seed: 0,
        };
        let query = MemoryQuery { max_results: Some(caps.items), ..query };
        let ask = async |memory: &Arc<dyn MemoryService>| -> Result<Vec<MemoryId>> {
            let look = |_: &_| Presence::Unknown;
            let choice = selector.choose(&**memory, &query, None, &look, self.asked_at).await?;
            let block = selector.fit(choice, &Frame::new(Style::SystemReminder, None), &caps);
            Ok(block.lessons.into_iter().map(|chosen| chosen.lesson.memory.id).collect())
        };
        let words = MemoryQuery { text: query.text.clone(), ..self.question() };
        let plain = self.learned.neighbours(&words, caps.items).await?;
        Ok(GivenLessons {
            given: ask(&self.learned).await?,
            unlocked: ask(&self.unlocked).await?,
            plain: plain.into_iter().map(|near| near.lesson.memory.id).collect(),
        })
    }
}
