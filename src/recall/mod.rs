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

pub use anchor::{Anchor, anchors, anchors_in};
pub use effect::{Arm, Arms, Estimate, Harm, Trial, Verdict, coin, harms};
pub use fit::{Caps, Fit, Fitted, fit};
pub use inert::inert;
pub use meaning::{CHANCE, MOST_UNITS, closest, cosine, units};
pub use outcome::{Check, Course, Deed, Finding, Review, Trouble, outcome};
pub use point::{Budget, Point, PointRule, Points, Reach, Stance};
pub use profile::{
    Fading, Keyword, Pattern, PatternSort, Profile, ProfileRules, Rated, blended, by_rate, decision_recency,
    decision_score, frequency_of,
};
pub use rank::{Ageing, HalfLives, Ranking, Score, Weights, arrange, recency, score};
pub use relevance::{
    Measure, Overlap, Question, Terms, Vocabulary, closeness, meets_topic, nearness, relevance, terms_of,
};
pub use render::{Form, Frame, Given, Style};
pub use stale::{Presence, Staleness, judge as judge_staleness};
