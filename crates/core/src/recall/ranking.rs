//! The order in which lessons are returned.

use crate::domain::{AgentMemory, MemoryKind};

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// The settings of the ranking. Every number is a configuration key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingSettings {
    /// The weights of the parts of a score.
    pub weights: ScoreWeights,
    /// The half-lives by which lessons age.
    pub half_lives: HalfLives,
    /// The number of the most relevant lessons that the score may reorder. Over a whole store it would drown relevance.
    pub gate: usize,
    /// The lowest relevance of an answer to a question that has a topic.
    pub floor: f64,
    /// The score orders lessons that are at least this share as close to the question as the closest; the rest follows,
    /// the closer first.
    pub near: f64,
    /// The share of the highest closeness below which a lesson is no answer.
    pub far: f64,
    /// The number of answers, unless the question sets it.
    pub max_results: usize,
}

impl RankingSettings {
    /// The settings for neighbours: by relevance alone, with nothing excluded.
    pub const BY_RELEVANCE: Self = Self {
        weights: ScoreWeights { importance: 0.0, recency: 0.0, relevance: 1.0 },
        half_lives: HalfLives { lesson: 1.0, decision: 1.0 },
        gate: 0,
        floor: 0.0,
        near: 0.0,
        far: 0.0,
        max_results: 0,
    };
}

/// The weights of the parts of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreWeights {
    /// The weight of the lesson's importance.
    pub importance: f64,
    /// The weight of its recency.
    pub recency: f64,
    /// The weight of its relevance to the question.
    pub relevance: f64,
}

/// The days after which a lesson counts half as recent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfLives {
    /// The half-life of lessons, facts and notes.
    pub lesson: f64,
    /// The half-life of decisions.
    pub decision: f64,
}

impl HalfLives {
    /// Returns the half-life in days of this ageing class; `None` if it does not age.
    pub fn days_for(&self, ageing: AgeingClass) -> Option<f64> {
        match ageing {
            AgeingClass::Lesson => Some(self.lesson),
            AgeingClass::Decision => Some(self.decision),
            AgeingClass::Never => None,
        }
    }
}

/// The way in which a lesson ages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgeingClass {
    /// The lesson ages like lessons, facts and notes.
    Lesson,
    /// The lesson ages like decisions.
    Decision,
    /// The lesson never ages, as preferences and evergreen lessons.
    Never,
}

impl AgeingClass {
    /// Returns the ageing class of a lesson.
    pub fn from_lesson(memory: &AgentMemory) -> Self {
        match memory.kind {
            _ if memory.evergreen => Self::Never,
            MemoryKind::Preference => Self::Never,
            MemoryKind::Decision => Self::Decision,
            _ => Self::Lesson,
        }
    }
}

/// A lesson's score and its parts, each from 0 to 1 except the closeness.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct RecallScore {
    /// The weighted sum of the parts.
    pub score: f64,
    /// The importance, lowered by distrust.
    pub importance: f64,
    /// The recency; see [`recency_score`].
    pub recency: f64,
    /// The relevance; see [`super::combined_relevance`].
    pub relevance: f64,
    /// The closeness, which is compared and never shown; see [`super::combined_closeness`].
    #[serde(skip)]
    pub closeness: f64,
}

/// Sorts the answers to a question with a topic, and drops those far behind the closest.
///
/// Over all answers, importance and age would drown the topic of the question: they decide only among answers of about
/// the same closeness. Equal answers keep their order.
pub fn arrange_answers<T>(answers: &mut Vec<T>, ranking: &RankingSettings, score: impl Fn(&T) -> RecallScore) {
    let closest = answers.iter().map(|answer| score(answer).closeness).fold(0.0, f64::max);
    answers.retain(|answer| score(answer).closeness >= ranking.far * closest);
    let is_near = |answer: &RecallScore| answer.closeness >= ranking.near * closest;
    answers.sort_by(|a, b| {
        let (a, b) = (score(a), score(b));
        let near = is_near(&b).cmp(&is_near(&a));
        near.then_with(|| match is_near(&a) {
            true => b.score.total_cmp(&a.score),
            false => b.closeness.total_cmp(&a.closeness),
        })
    });
}

/// Returns `w₁·importance + w₂·recency + w₃·relevance`, with weights of 0.4, 0.3 and 0.3 by default.
pub fn weighted_score(weights: &ScoreWeights, importance: f64, recency: f64, relevance: f64) -> RecallScore {
    let score = weights.importance * importance + weights.recency * recency + weights.relevance * relevance;
    RecallScore { score, importance, recency, relevance, closeness: relevance }
}

/// Returns a value that halves with every half-life passed. A time in the future counts as now.
pub fn recency_score(age_milliseconds: i64, half_life_days: Option<f64>) -> f64 {
    let Some(half_life) = half_life_days else { return 1.0 };
    let days = age_milliseconds.max(0) as f64 / MILLISECONDS_A_DAY;
    (-days / half_life).exp2()
}
