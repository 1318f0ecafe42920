//! Which lessons to give back, in what order, and whether that helps. Pure: rows in, order out.

mod block_budget;
mod block_render;
mod effect;
mod injection_point;
mod lesson_anchors;
mod ranking;
mod ranking_profiles;
mod related_lessons;
mod relevance;
mod sanitize;
mod semantic_units;
mod session_effect;
mod session_history;
mod staleness;

#[cfg(test)]
mod test_support;
#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;

pub use block_budget::{BlockLimits, FitMethod, FittedBlock, fit_lessons};
pub use block_render::{BlockFrame, LessonBlockStyle, PromptLesson, RenderDetail};
pub use effect::{
    EffectEstimate, EffectVerdict, LessonTrial, ProvenHarm, TrialArm, TrialArms, draw_exposure, find_harm,
};
pub use injection_point::{InjectionBudget, InjectionPointRule, InjectionPointRules, LessonReach, Point, RoleStance};
pub use lesson_anchors::{LessonAnchor, find_anchors_in_text, find_lesson_anchors};
pub use ranking::{
    AgeingClass, HalfLives, RankingSettings, RecallScore, ScoreWeights, arrange_answers, recency_score, weighted_score,
};
pub use ranking_profiles::{
    FrequencyDecay, KeywordMatch, PatternKind, ProfileRules, RankingProfile, RatedLesson, ScoredPattern, blend_scores,
    decision_recency, decision_score, effective_frequency, sort_by_rate,
};
pub use relevance::{
    LessonTerms, RelevanceMeasure, RelevanceQuery, TermStatistics, WordOverlap, collect_lesson_terms,
    combined_closeness, combined_relevance, facet_nearness, meets_topic,
};
pub use sanitize::sanitize_for_prompt;
pub use semantic_units::{CHANCE, MOST_UNITS, closest_similarity, cosine_similarity, split_into_units};
pub use session_effect::{
    FinalCheck, ObservedAction, ObservedFailure, ObservedFinding, ObservedReview, ObservedSession, judge_lesson_effect,
};
pub use session_history::{SessionHistory, find_failure_history, find_request_history, is_recognizable_request};
pub use staleness::{AnchorPresence, LessonStaleness, judge_staleness};
