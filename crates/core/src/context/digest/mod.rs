//! Renders a session within a token budget, word for word where it matters.
//!
//! A digest begins with the facts of the session, then lists every signal in a line, then the steps in the order of the
//! log. What a signal rests on, what was said, and outputs of commands that report errors or something new are shown as
//! they appear in the log. Other steps get a line each while there is room; for the rest the digest names what they ran
//! and which files they touched.
//!
//! A model quotes from a digest, and its quotes are looked up in the log. So shown text is never indented, escaped or
//! wrapped. Instead, every line of the digest's own among the steps begins with a mark that does not occur in the log,
//! and text is only cut at such a line.

mod excerpt;
mod line_marks;
mod render;
mod step_parts;
mod step_ranking;
mod token_budget;

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;

use super::signal::Signal;
use crate::domain::Trajectory;
use crate::text::Tokenizer;

pub use step_parts::shown_texts;
pub(super) use step_parts::{StepPartKind, split_step_parts};

/// A session rendered for a limited number of tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// The text, for a model or a person to read.
    pub text: String,
    /// The number of tokens that the text costs.
    pub tokens: usize,
    /// The steps it shows, whole or in part: the trajectory's index from 0, and the number of the step.
    pub shown: Vec<(u32, u32)>,
    /// The number of steps it does not show.
    pub elided: usize,
    /// The number of signals it does not list.
    pub signals_left_out: usize,
}

/// The input of a digest, all of it redacted.
#[derive(Debug, Clone, Copy)]
pub struct DigestInput<'a> {
    /// All trajectories of the session.
    pub trajectories: &'a [Trajectory],
    /// The signals found in them.
    pub signals: &'a [Signal],
    /// The notes that the agent left for the next session.
    pub notes: Option<&'a str>,
}

/// Renders a session in at most `budget` tokens.
pub fn render_digest(material: &DigestInput<'_>, budget: usize, tokenizer: &Tokenizer) -> Digest {
    let mut allowed = budget;
    loop {
        let mut digest = token_budget::compose_digest(material, allowed, tokenizer);
        digest.tokens = tokenizer.count_tokens(&digest.text);
        if digest.tokens <= budget || allowed == 0 {
            return digest;
        }
        // The parts are counted one by one. If they cost more together, the next try gets a smaller budget.
        allowed = (allowed / 10 * 9).min(allowed.saturating_sub(digest.tokens - budget));
    }
}
