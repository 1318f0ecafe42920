//! What happened in a session, word for word where it matters, in as many tokens as there are to spend.
//!
//! First comes what is known of the session, then every signal in a line, then the steps in the order of the log. What
//! a signal rests on, what everybody said, and the outputs of commands that complain or tell something new are shown as
//! they stand in the log; other steps get a line each as long as there is room, and of the rest it is named what they
//! ran and which files they touched.
//!
//! A model quotes from a digest, and its quotations are looked up in the log. So shown text is never indented, escaped
//! or wrapped. Instead, among the steps, every line of ours begins with a sign that occurs nowhere in the log, and text
//! is only ever cut at such a line.

mod excerpt;
mod fit;
mod marks;
mod order;
mod parts;
mod render;

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;

use super::signal::Signal;
use crate::domain::Trajectory;
use crate::text::Tokenizer;

pub use parts::texts;
pub(super) use parts::{What, parts};

/// A session in few words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    /// For a model or a person to read.
    pub text: String,
    /// What it costs.
    pub tokens: usize,
    /// Which steps it shows, whole or in part: the trajectory, counted from 0, and the number of the step.
    pub shown: Vec<(u32, u32)>,
    /// How many steps it does not show.
    pub elided: usize,
    /// How many signals it does not tell.
    pub signals_left_out: usize,
}

/// What a digest is made of. All of it has been through the redactor.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Everything that was read together.
    pub trajectories: &'a [Trajectory],
    /// What was found in it.
    pub signals: &'a [Signal],
    /// What the agent noted for the next session.
    pub notes: Option<&'a str>,
}

/// Renders a session in at most `budget` tokens.
pub fn digest(material: &Material<'_>, budget: usize, tokenizer: &Tokenizer) -> Digest {
    let mut allowed = budget;
    loop {
        let mut digest = fit::compose(material, allowed, tokenizer);
        digest.tokens = tokenizer.count(&digest.text);
        if digest.tokens <= budget || allowed == 0 {
            return digest;
        }
        // The parts are counted one by one. Should they ever cost more together, there is less to spend.
        allowed = (allowed / 10 * 9).min(allowed.saturating_sub(digest.tokens - budget));
    }
}
