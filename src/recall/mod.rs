//! Which lessons to give back, in what order, and whether that helps. Pure: rows in, order out.

mod anchor;
mod effect;
mod fit;
mod inert;
mod meaning;
mod outcome;
mod point;
mod profile;
mod rank;
mod related;
mod relevance;
mod render;
mod stale;

#[cfg(test)]
mod test_support;
#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;

pub use anchor::{LessonAnchor, find_anchors_in_text, find_lesson_anchors};
pub use effect::{
    EffectEstimate, EffectVerdict, LessonTrial, ProvenHarm, TrialArm, TrialArms, draw_exposure, find_harm,
};
pub use fit::{BlockLimits, FitMethod, FittedBlock, fit_lessons};
pub use inert::sanitize_for_prompt;
pub use meaning::{CHANCE, MOST_UNITS, closest_similarity, cosine_similarity, split_into_units};
pub use outcome::{
    FinalCheck, ObservedAction, ObservedFailure, ObservedFinding, ObservedReview, ObservedSession, judge_lesson_effect,
};
pub use point::{InjectionBudget, InjectionPointRule, InjectionPointRules, LessonReach, Point, RoleStance};
pub use profile::{
    FrequencyDecay, KeywordMatch, PatternKind, ProfileRules, RankingProfile, RatedLesson, ScoredPattern, blend_scores,
    decision_recency, decision_score, effective_frequency, sort_by_rate,
};
pub use rank::{
    AgeingClass, HalfLives, RankingSettings, RecallScore, ScoreWeights, arrange_answers, recency_score, weighted_score,
};
pub use relevance::{
    LessonTerms, RelevanceMeasure, RelevanceQuery, TermStatistics, WordOverlap, collect_lesson_terms,
    combined_closeness, combined_relevance, facet_nearness, meets_topic,
};
pub use render::{BlockFrame, LessonBlockStyle, PromptLesson, RenderDetail};
pub use stale::{AnchorPresence, LessonStaleness, judge_staleness};
