//! A real memory of 2,000 lessons, asked what it is about and what it is not about.

use anyhow::{Context, Result};
use serde::Serialize;

use super::tasks::{Task, trial};
use crate::cli::failure::Failure;
use crate::domain::MemoryQuery;
use crate::memory::jsonl::JsonlMemory;
use crate::memory::{MemoryService, Which};
use crate::recall::Ranking;

/// How a memory answered.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoreScore {
    pub(super) lessons: usize,
    pub(super) seed: u64,
    /// Tasks that one lesson helps with.
    pub(super) matched: Answered,
    /// Tasks that none helps with.
    pub(super) unmatched: Answered,
    /// Tasks that one helps with, told in words that it does not hold.
    pub(super) apart: Answered,
}

/// What was answered to tasks of one sort.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answered {
    pub(super) tasks: usize,
    /// The right lesson came first.
    pub(super) first: usize,
    /// It was among those given.
    pub(super) given: usize,
    /// Nothing was given.
    pub(super) silent: usize,
    /// Lessons that were given, all in all.
    pub(super) lessons: usize,
}

pub(super) fn score(seed: u64, ranking: &Ranking) -> Result<StoreScore> {
    let trial = trial(seed)?;
    let directory = tempfile::tempdir().context("no temporary directory")?;
    let mut settings = crate::config::load(&Default::default())?.config.memory.jsonl(directory.path(), None);
    settings.project = directory.path().join("memory");
    settings.global = None;
    let memory = JsonlMemory::open(settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::Start)?;
    runtime.block_on(async {
        memory.add_memories(trial.lessons.clone(), trial.asked_at).await?;
        memory.compact().await?;
        let stored = memory.lessons(Which::Given).await?.len();
        let ask = async |tasks: &[Task]| -> Result<Answered> {
            let mut answered = Answered { tasks: tasks.len(), ..Answered::default() };
            for task in tasks {
                let query = MemoryQuery { text: Some(task.text.clone()), ..MemoryQuery::default() };
                let answer = memory.query(&query, ranking, trial.asked_at).await?;
                let right = task.right.and_then(|right| trial.lessons.get(right)).map(|lesson| &lesson.id);
                let place = answer.hits.iter().position(|hit| Some(&hit.lesson.memory.id) == right);
                answered.first += usize::from(place == Some(0));
                answered.given += usize::from(place.is_some());
                answered.silent += usize::from(answer.hits.is_empty());
                answered.lessons += answer.hits.len();
            }
            Ok(answered)
        };
        let (matched, unmatched): (Vec<Task>, Vec<Task>) =
            trial.tasks.iter().cloned().partition(|task| task.right.is_some());
        Ok(StoreScore {
            lessons: stored,
            seed,
            matched: ask(&matched).await?,
            unmatched: ask(&unmatched).await?,
            apart: ask(&trial.apart).await?,
        })
    })
}
