//! Which of its titles a session goes by.

use std::collections::VecDeque;

/// Old transcripts begin with the summaries of other conversations; so many are kept.
const KEPT_SUMMARIES: usize = 64;

/// The titles met so far: a person's stands above a model's, and both above a summary.
#[derive(Debug, Default)]
pub(super) struct Titles {
    custom: Option<String>,
    ai: Option<String>,
    /// The hash of the line that each one ends at.
    summaries: VecDeque<(Option<u64>, String)>,
}

impl Titles {
    pub(super) fn custom(&mut self, title: Option<String>) {
        self.custom = title.or(self.custom.take());
    }

    pub(super) fn ai(&mut self, title: Option<String>) {
        self.ai = title.or(self.ai.take());
    }

    pub(super) fn summary(&mut self, leaf: Option<u64>, title: Option<String>) {
        let Some(title) = title else { return };
        if self.summaries.len() >= KEPT_SUMMARIES {
            self.summaries.pop_front();
        }
        self.summaries.push_back((leaf, title));
    }

    /// The best one. A summary counts if the line that it ends at is of this file.
    pub(super) fn best(mut self, is_of_this_file: impl Fn(u64) -> bool) -> Option<String> {
        if let Some(title) = self.custom.or(self.ai) {
            return Some(title);
        }
        while let Some((leaf, title)) = self.summaries.pop_back() {
            if leaf.is_none_or(&is_of_this_file) {
                return Some(title);
            }
        }
        None
    }
}
