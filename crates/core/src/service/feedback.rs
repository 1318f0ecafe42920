//! Feedback of people and programs on a lesson after a session.

use crate::domain::{
    AgentMemory, Episode, EpisodeId, EvidenceLevel, Exposure, Extra, Fact, FeedbackVerdict, RunId, Timestamp,
};
use crate::memory::{CommitBatch, EpisodeFilter, FactFilter, LessonName, MemoryError, MemoryService};

use super::effect_recorder::episode_run_ids;

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;

/// The key that marks a judgement as a regression: the lesson was validated before.
const REGRESSION: &str = "regression";

/// The role under which a session's outcome judges its lessons.
pub const OUTCOME_ROLE: &str = "outcome";

/// The judgement of a lesson, with its author and proof.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonJudgement {
    /// The verdict on the lesson.
    pub verdict: FeedbackVerdict,
    /// The weight of the judgement.
    pub weight: f64,
    /// The role of the judge.
    pub role: Option<String>,
    /// The level of the proof.
    pub level: EvidenceLevel,
}

impl LessonJudgement {
    /// Makes the judgement that follows from the outcome of a session.
    pub fn from_outcome(verdict: FeedbackVerdict, weight: f64, level: EvidenceLevel) -> Self {
        Self { verdict, weight, role: Some(OUTCOME_ROLE.to_owned()), level }
    }
}

/// A lesson that was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLesson {
    /// The judged lesson.
    pub memory: AgentMemory,
    /// True if the same judgement was recorded before, and nothing was written.
    pub is_known: bool,
    /// True if it was validated before and is called noise now.
    pub is_regression: bool,
}

/// Records a judgement of lessons. Repeating it changes nothing.
pub async fn record_judgement(
    memory: &dyn MemoryService,
    lessons: Vec<AgentMemory>,
    episode: &EpisodeId,
    judgement: &LessonJudgement,
    at: Timestamp,
) -> Result<Vec<JudgedLesson>, MemoryError> {
    let mut batch = CommitBatch::default();
    let mut judged = Vec::new();
    for lesson in lessons {
        let facts = memory.list_facts(&FactFilter { memory: Some(lesson.id.clone()), run: None }).await?;
        let mut fact = Fact::Feedback {
            memory: lesson.id.clone(),
            episode: episode.clone(),
            verdict: judgement.verdict.clone(),
            weight: judgement.weight,
            role: judgement.role.clone(),
            level: judgement.level.clone(),
            at,
            extra: Extra::new(),
        };
        let has_held = facts.iter().any(|known| {
            matches!(known, Fact::Feedback { verdict: FeedbackVerdict::Validated, weight, .. } if *weight > 0.0)
        });
        // A failed session does not show that the lesson was at fault.
        let is_said = judgement.role.as_deref() != Some(OUTCOME_ROLE);
        let is_regression = judgement.verdict == FeedbackVerdict::Ignored && is_said && has_held;
        if let Fact::Feedback { extra, .. } = &mut fact
            && is_regression
        {
            extra.insert(REGRESSION.to_owned(), true.into());
        }
        let is_known = facts.iter().any(|known| known.key() == fact.key());
        if !is_known {
            batch.facts.push(fact);
        }
        judged.push(JudgedLesson { memory: lesson, is_known, is_regression });
    }
    if !batch.facts.is_empty() {
        memory.commit_batch(batch, at).await?;
    }
    Ok(judged)
}

/// The number of episodes, from the last, among which a session is looked for first.
const RECENT_EPISODES: usize = 1_000;

/// Returns the episode that has this run id among its names, if the session was reflected on.
pub async fn find_episode_by_run(memory: &dyn MemoryService, run: &RunId) -> Result<Option<Episode>, MemoryError> {
    // A session is nearly always one of the last.
    for filter in [EpisodeFilter::newest(RECENT_EPISODES), EpisodeFilter::default()] {
        let mut episodes = memory.list_episodes(&filter).await?;
        episodes.retain(|episode| episode_run_ids(episode).contains(run));
        if let Some(episode) = episodes.pop() {
            return Ok(Some(episode));
        }
    }
    Ok(None)
}

/// Lists the lessons that a session really saw.
pub async fn list_shown_lessons(memory: &dyn MemoryService, run: &RunId) -> Result<Vec<AgentMemory>, MemoryError> {
    let episode = find_episode_by_run(memory, run).await?;
    let names = episode.as_ref().map_or_else(|| vec![run.clone()], episode_run_ids);
    let mut shown: Vec<AgentMemory> = Vec::new();
    for run in names {
        for fact in memory.list_facts(&FactFilter { memory: None, run: Some(run) }).await? {
            let Fact::Injection { memory: id, exposure: Exposure::Exposed, .. } = fact else { continue };
            if !shown.iter().any(|known| known.id == id)
                && let Some(lesson) = memory.get_lesson(&LessonName::Id(id)).await?
            {
                shown.push(lesson.memory);
            }
        }
    }
    Ok(shown)
}
