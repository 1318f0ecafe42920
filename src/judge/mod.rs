//! Candidates held against what is known: what is new, what is seen again, what refines or contradicts. Pure.
//!
//! `similarity.rs` says how much two lessons are about the same, `relation.rs` what that means, `dedup.rs` what becomes of
//! a candidate, `merge.rs` how two become one. `importance.rs` and `lifecycle.rs` weigh a lesson and let it rise and end.

mod background;
mod chunks;
mod conflict;
mod dedup;
mod features;
mod importance;
mod lexicon;
mod lifecycle;
mod merge;
mod proof;
mod relation;
mod saying;
mod similarity;

pub use background::Background;
pub use dedup::{Known, Opinions, Rules, Verdict, doubts, judge};
pub use features::Features;
pub use importance::{Footing, Ground, Sign, footing, ground_of, held, of_severity, prior};
pub use lifecycle::{Lifecycle, Runs, Standing, state};
pub use merge::{MAX_MERGES, merge, refined, unmerge};
pub use proof::{Citation, level_of};
pub use relation::{Kin, Likeness, Thresholds, relate};
pub use saying::Saying;
pub use similarity::similarity;
