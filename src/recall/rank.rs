//! The order in which lessons are given back.

use crate::domain::{AgentMemory, MemoryKind};

const MILLISECONDS_A_DAY: f64 = 86_400_000.0;

/// How lessons are ranked. Every number is a configuration key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// What counts how much.
    pub weights: Weights,
    /// How fast lessons grow old.
    pub half_lives: HalfLives,
    /// How many of the most relevant the score gets to order. Over a whole store it would drown relevance.
    pub gate: usize,
    /// Below this relevance a lesson is no answer to a question that has a topic.
    pub floor: f64,
    /// The score orders what is at least this share as close to the question as the closest; the rest comes behind, the
    /// closer first.
    pub near: f64,
    /// What is less close than this share of the closest is no answer beside it.
    pub far: f64,
    /// How many answers, unless the question says.
    pub max_results: usize,
}

impl Ranking {
    /// By relevance alone, with nothing shut out: how neighbours are ordered.
    pub const BY_RELEVANCE: Self = Self {
        weights: Weights { importance: 0.0, recency: 0.0, relevance: 1.0 },
        half_lives: HalfLives { lesson: 1.0, decision: 1.0 },
        gate: 0,
        floor: 0.0,
        near: 0.0,
        far: 0.0,
        max_results: 0,
    };
}

/// What counts how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// How much the lesson matters.
    pub importance: f64,
    /// How lately it was known to hold.
    pub recency: f64,
    /// How well it meets the question.
    pub relevance: f64,
}

/// Days after which a lesson counts half as recent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfLives {
    /// For lessons, facts and notes.
    pub lesson: f64,
    /// For decisions.
    pub decision: f64,
}

impl HalfLives {
    /// The half-life of lessons that age like this, `None` if they do not.
    pub fn of(&self, ageing: Ageing) -> Option<f64> {
        match ageing {
            Ageing::Lesson => Some(self.lesson),
            Ageing::Decision => Some(self.decision),
            Ageing::Never => None,
        }
    }
}

/// How a lesson grows old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ageing {
    /// As lessons, facts and notes do.
    Lesson,
    /// As decisions do.
    Decision,
    /// Not at all: preferences and whatever is evergreen.
    Never,
}

impl Ageing {
    /// How this lesson grows old.
    pub fn of(memory: &AgentMemory) -> Self {
        match memory.kind {
            _ if memory.evergreen => Self::Never,
            MemoryKind::Preference => Self::Never,
            MemoryKind::Decision => Self::Decision,
            _ => Self::Lesson,
        }
    }
}

/// A lesson's score and what it is made of, each from 0 to 1 but for the closeness.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Score {
    /// The weighted sum.
    pub score: f64,
    /// Importance, lowered by distrust.
    pub importance: f64,
    /// See [`recency`].
    pub recency: f64,
    /// See [`super::relevance`].
    pub relevance: f64,
    /// See [`super::closeness`]; it is compared, and never shown.
    #[serde(skip)]
    pub closeness: f64,
}

/// Brings answers to a question with a topic into their order, and leaves out what is far behind the closest.
///
/// Over everything that was let in, importance and age would drown what the question is about: they decide among those
/// that meet it about as well. Equals stay in the order they came in.
pub fn arrange<T>(answers: &mut Vec<T>, ranking: &Ranking, score: impl Fn(&T) -> Score) {
    let closest = answers.iter().map(|answer| score(answer).closeness).fold(0.0, f64::max);
    answers.retain(|answer| score(answer).closeness >= ranking.far * closest);
    let is_near = |answer: &Score| answer.closeness >= ranking.near * closest;
    answers.sort_by(|a, b| {
        let (a, b) = (score(a), score(b));
        let near = is_near(&b).cmp(&is_near(&a));
        near.then_with(|| match is_near(&a) {
            true => b.score.total_cmp(&a.score),
            false => b.closeness.total_cmp(&a.closeness),
        })
    });
}

/// `w₁·importance + w₂·recency + w₃·relevance`, with 0.4, 0.3 and 0.3 by default.
pub fn score(weights: &Weights, importance: f64, recency: f64, relevance: f64) -> Score {
    let score = weights.importance * importance + weights.recency * recency + weights.relevance * relevance;
    Score { score, importance, recency, relevance, closeness: relevance }
}

/// Halves with every half-life that has passed. What lies in the future is as recent as now.
pub fn recency(age_milliseconds: i64, half_life_days: Option<f64>) -> f64 {
    let Some(half_life) = half_life_days else { return 1.0 };
    let days = age_milliseconds.max(0) as f64 / MILLISECONDS_A_DAY;
    (-days / half_life).exp2()
}
