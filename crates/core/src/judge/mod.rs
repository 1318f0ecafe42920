//! Candidates held against what is known: what is new, what is seen again, what refines or contradicts. Pure.
//!
//! `similarity.rs` says how much two lessons are about the same, `relation.rs` what that means, `dedup.rs` what becomes of
//! a candidate, `merge.rs` how two become one. `importance.rs` and `lifecycle.rs` weigh a lesson and let it rise and end.

mod conflict;
mod dedup;
mod importance;
mod lesson_features;
mod lexicon;
mod lifecycle;
mod merge;
mod proof_strength;
mod relation;
mod similarity;
mod statement;
mod text_chunks;
mod word_rarity;

pub use dedup::{CandidateVerdict, DedupRules, KnownNeighbour, Opinions, find_doubtful_pairs, judge_candidates};
pub use importance::{CountedBasis, PlainSignal, clamp_to_prior, find_basis, strongest_basis};
pub use lesson_features::LessonFeatures;
pub use lifecycle::{LifecycleRules, SessionEnds, StateWithReason, derive_state};
pub use merge::{MAX_MERGES, merge_lessons, refine_lesson, unmerge_lesson};
pub use proof_strength::{FileCitation, classify_evidence};
pub use relation::{JudgedRelation, LessonLikeness, SimilarityThresholds, relate_lessons};
pub use similarity::measure_similarity;
pub use statement::LessonStatement;
pub use word_rarity::WordFrequencies;
