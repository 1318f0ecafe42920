//! Chooses the title of a session.

use std::collections::VecDeque;

/// The maximum number of summaries kept; old transcripts begin with those of other conversations.
const KEPT_SUMMARIES: usize = 64;

/// The titles read so far: a person's ranks above a model's, and both above a summary.
#[derive(Debug, Default)]
pub(super) struct SessionTitles {
    custom: Option<String>,
    ai: Option<String>,
    /// The summaries, each with the hash of its last line.
    summaries: VecDeque<(Option<u64>, String)>,
}

impl SessionTitles {
    pub(super) fn set_custom_title(&mut self, title: Option<String>) {
        self.custom = title.or(self.custom.take());
    }

    pub(super) fn set_ai_title(&mut self, title: Option<String>) {
        self.ai = title.or(self.ai.take());
    }

    pub(super) fn add_summary(&mut self, leaf: Option<u64>, title: Option<String>) {
        let Some(title) = title else { return };
        if self.summaries.len() >= KEPT_SUMMARIES {
            self.summaries.pop_front();
        }
        self.summaries.push_back((leaf, title));
    }

    /// Returns the best title. A summary counts only if its last line is in this file.
    pub(super) fn best_title(mut self, is_of_this_file: impl Fn(u64) -> bool) -> Option<String> {
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
