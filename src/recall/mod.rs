//! Which lessons to give back, and in what order. Pure: rows in, order out.

mod rank;
mod relevance;

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;

pub use rank::{Ageing, HalfLives, Ranking, Score, Weights, recency, score};
pub use relevance::{Measure, Terms, Vocabulary, meets_topic, relevance, terms_of};
