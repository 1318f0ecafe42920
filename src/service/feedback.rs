//! What people and programs say about a lesson after a run.

use crate::domain::{
    AgentMemory, Episode, EpisodeId, EvidenceLevel, Exposure, Extra, Fact, FeedbackVerdict, RunId, Timestamp,
};
use crate::memory::{Batch, EpisodeFilter, FactFilter, LessonName, MemoryError, MemoryService};

use super::effects::names_of;

#[cfg(test)]
#[path = "feedback_tests.rs"]
mod tests;

/// Under this key a judgement says that the lesson had held before.
const REGRESSION: &str = "regression";

/// Who speaks when the end of a run grades its lessons.
pub const OUTCOME_ROLE: &str = "outcome";

/// How a lesson is judged, by whom and on what grounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// How.
    pub verdict: FeedbackVerdict,
    /// How much that counts.
    pub weight: f64,
    /// By whom.
    pub role: Option<String>,
    /// On what grounds.
    pub level: EvidenceLevel,
}

impl Judgement {
    /// How a run ended, held against a lesson that it was given.
    pub fn of_run(verdict: FeedbackVerdict, weight: f64, level: EvidenceLevel) -> Self {
        Self { verdict, weight, role: Some(OUTCOME_ROLE.to_owned()), level }
    }
}

/// A lesson that was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLesson {
    /// Which.
    pub memory: AgentMemory,
    /// Whether the same had been said before, and nothing was written.
    pub is_known: bool,
    /// Whether it had held before and is called noise now.
    pub is_regression: bool,
}

/// Notes what is said of lessons. Said again, it changes nothing.
pub async fn judge_lessons(
    memory: &dyn MemoryService,
    lessons: Vec<AgentMemory>,
    episode: &EpisodeId,
    judgement: &Judgement,
    at: Timestamp,
) -> Result<Vec<JudgedLesson>, MemoryError> {
    let mut batch = Batch::default();
    let mut judged = Vec::new();
    for lesson in lessons {
        let facts = memory.facts(&FactFilter { memory: Some(lesson.id.clone()), run: None }).await?;
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
        // A run that failed does not say that the lesson was at fault.
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
        memory.commit(batch, at).await?;
    }
    Ok(judged)
}

/// The run of this name, by whichever of its names, if it was reflected on.
pub async fn episode_of(memory: &dyn MemoryService, run: &RunId) -> Result<Option<Episode>, MemoryError> {
    let mut episodes = memory.episodes(&EpisodeFilter::default()).await?;
    episodes.retain(|episode| names_of(episode).contains(run));
    Ok(episodes.pop())
}

/// The lessons that a run really saw.
pub async fn shown_to(memory: &dyn MemoryService, run: &RunId) -> Result<Vec<AgentMemory>, MemoryError> {
    let episode = episode_of(memory, run).await?;
    let names = episode.as_ref().map_or_else(|| vec![run.clone()], names_of);
    let mut shown: Vec<AgentMemory> = Vec::new();
    for run in names {
        for fact in memory.facts(&FactFilter { memory: None, run: Some(run) }).await? {
            let Fact::Injection { memory: id, exposure: Exposure::Exposed, .. } = fact else { continue };
            if !shown.iter().any(|known| known.id == id)
                && let Some(lesson) = memory.get(&LessonName::Id(id)).await?
            {
                shown.push(lesson.memory);
            }
        }
    }
    Ok(shown)
}
