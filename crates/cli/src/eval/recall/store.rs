//! Measures recall on a real store of 2,000 lessons, with tasks that a lesson helps with and others.

use anyhow::{Context, Result};
use serde::Serialize;

use super::tasks::{RecallTask, generate_trial};
use crate::cli_error::CliError;
use archivist_core::domain::MemoryQuery;
use archivist_core::memory::jsonl::JsonlMemory;
use archivist_core::memory::{LessonStateFilter, MemoryService};
use archivist_core::recall::RankingSettings;

/// The answers of the store to all tasks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoreRecallScore {
    pub(super) lessons: usize,
    pub(super) seed: u64,
    /// The answers to tasks that one lesson helps with.
    pub(super) matched: TaskAnswerCounts,
    /// The answers to tasks that no lesson helps with.
    pub(super) unmatched: TaskAnswerCounts,
    /// The answers to tasks that one lesson helps with, worded with almost none of its words.
    pub(super) apart: TaskAnswerCounts,
}

/// The number of answers to tasks of one sort, by their quality.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskAnswerCounts {
    pub(super) tasks: usize,
    /// The number of tasks whose right lesson came first.
    pub(super) first: usize,
    /// The number of tasks whose right lesson was among the answers.
    pub(super) given: usize,
    /// The number of tasks without any answer.
    pub(super) silent: usize,
    /// The number of lessons in all answers together.
    pub(super) lessons: usize,
}

pub(super) fn score_store_recall(seed: u64, ranking: &RankingSettings) -> Result<StoreRecallScore> {
    let trial = generate_trial(seed)?;
    let directory = tempfile::tempdir().context("no temporary directory")?;
    let mut settings =
        archivist_core::config::load_config(&Default::default())?.config.memory.jsonl_settings(directory.path(), None);
    settings.project = directory.path().join("memory");
    settings.global = None;
    let memory = JsonlMemory::open(settings);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Start)?;
    runtime.block_on(async {
        memory.add_memories(trial.lessons.clone(), trial.asked_at).await?;
        memory.compact_banks().await?;
        let stored = memory.list_lessons(LessonStateFilter::Given).await?.len();
        let ask = async |tasks: &[RecallTask]| -> Result<TaskAnswerCounts> {
            let mut answered = TaskAnswerCounts { tasks: tasks.len(), ..TaskAnswerCounts::default() };
            for task in tasks {
                let query = MemoryQuery { text: Some(task.text.clone()), ..MemoryQuery::default() };
                let answer = memory.query_lessons(&query, ranking, trial.asked_at).await?;
                let right = task.right.and_then(|right| trial.lessons.get(right)).map(|lesson| &lesson.id);
                let place = answer.hits.iter().position(|hit| Some(&hit.lesson.memory.id) == right);
                answered.first += usize::from(place == Some(0));
                answered.given += usize::from(place.is_some());
                answered.silent += usize::from(answer.hits.is_empty());
                answered.lessons += answer.hits.len();
            }
            Ok(answered)
        };
        let (matched, unmatched): (Vec<RecallTask>, Vec<RecallTask>) =
            trial.tasks.iter().cloned().partition(|task| task.right.is_some());
        Ok(StoreRecallScore {
            lessons: stored,
            seed,
            matched: ask(&matched).await?,
            unmatched: ask(&unmatched).await?,
            apart: ask(&trial.apart).await?,
        })
    })
}
