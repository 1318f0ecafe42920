//! Removes duplicates from a rollout, which records most things twice, with a bounded memory.

use std::collections::HashMap;
use std::collections::VecDeque;

use crate::domain::ToolOutput;
use crate::ingest::chat_messages::fingerprint_trimmed;

#[cfg(test)]
#[path = "event_dedup_tests.rs"]
mod tests;

/// The number of lines after which the same text counts as new.
const NEAR_LINES: u64 = 64;

/// The maximum number of recent contents that are remembered.
const MAX_TWINS: usize = 128;

/// The maximum number of calls that are remembered.
const MAX_CALLS: usize = 8192;

/// The kind of record that reports a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodexRecordKind {
    /// An item that was sent to the model or came from it.
    Item,
    /// An event that was shown on the screen.
    Event,
    /// A typed item, which replaces the event in paginated files.
    Typed,
}

impl CodexRecordKind {
    fn as_bit(self) -> u8 {
        match self {
            Self::Item => 1,
            Self::Event => 2,
            Self::Typed => 4,
        }
    }
}

/// The kind of content that a record reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodexContentKind {
    Prompt,
    Words,
    Thought,
    Search,
    Compaction,
    Message,
}

#[derive(Debug)]
struct SeenContent {
    said: CodexContentKind,
    print: u64,
    sources: u8,
    line: u64,
}

/// Detects contents that several kinds of records report.
#[derive(Debug, Default)]
pub(super) struct CodexDeduplicator {
    recent: VecDeque<SeenContent>,
}

impl CodexDeduplicator {
    /// Returns true if another kind of record reported this recently; otherwise remembers it as new.
    pub(super) fn check_and_remember(
        &mut self,
        said: CodexContentKind,
        print: u64,
        source: CodexRecordKind,
        line: u64,
    ) -> bool {
        if self.check_duplicate(said, print, source, line) {
            return true;
        }
        if self.recent.len() >= MAX_TWINS {
            self.recent.pop_front();
        }
        self.recent.push_back(SeenContent { said, print, sources: source.as_bit(), line });
        false
    }

    /// Returns true if another kind of record reported this recently, without remembering it otherwise.
    pub(super) fn check_duplicate(
        &mut self,
        said: CodexContentKind,
        print: u64,
        source: CodexRecordKind,
        line: u64,
    ) -> bool {
        let twin = self.recent.iter_mut().find(|twin| {
            twin.said == said
                && twin.print == print
                && twin.sources & source.as_bit() == 0
                && line.saturating_sub(twin.line) <= NEAR_LINES
        });
        twin.is_some_and(|twin| {
            twin.sources |= source.as_bit();
            true
        })
    }
}

/// The kind of record that reported a call's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallOutputOrigin {
    Nobody,
    /// The output item that was sent to the model.
    Item,
    /// An event or a typed item that reported call and output together.
    Together,
}

/// The state of a call that was reported.
#[derive(Debug)]
struct CodexCallState {
    by: CodexRecordKind,
    answered: CallOutputOrigin,
    /// The end of the call, as reported by a record other than its output.
    end: Option<Box<(String, ToolOutput)>>,
}

/// Tracks the calls that were reported, so that each call and each output is reported once.
#[derive(Debug, Default)]
pub(super) struct CodexCallTracker {
    known: HashMap<u64, CodexCallState>,
    order: VecDeque<u64>,
    given_up: Option<Box<(String, ToolOutput)>>,
}

impl CodexCallTracker {
    /// Registers an item's call and returns true if it is new. Ids need not be unique: two items are two calls.
    pub(super) fn register_item_call(&mut self, id: &str) -> bool {
        let known = self.known.get_mut(&fingerprint_trimmed(id));
        match known.filter(|known| known.by != CodexRecordKind::Item) {
            Some(known) => {
                known.by = CodexRecordKind::Item;
                false
            }
            None => {
                self.remember_call(id, CodexRecordKind::Item);
                true
            }
        }
    }

    /// Returns true if any record reported this call.
    pub(super) fn is_tracked(&self, id: &str) -> bool {
        self.known.contains_key(&fingerprint_trimmed(id))
    }

    /// Registers a call and returns true if no record reported it before.
    pub(super) fn register_if_unknown(&mut self, id: &str, source: CodexRecordKind) -> bool {
        if self.known.contains_key(&fingerprint_trimmed(id)) {
            return false;
        }
        self.remember_call(id, source);
        true
    }

    fn remember_call(&mut self, id: &str, by: CodexRecordKind) {
        let print = fingerprint_trimmed(id);
        let mut forgotten =
            self.known.insert(print, CodexCallState { by, answered: CallOutputOrigin::Nobody, end: None });
        if forgotten.is_none() {
            self.order.push_back(print);
        }
        if self.order.len() > MAX_CALLS
            && let Some(oldest) = self.order.pop_front()
        {
            forgotten = self.known.remove(&oldest);
        }
        self.given_up = forgotten.and_then(|known| known.end);
    }

    /// Takes the end of the call that was forgotten for the last registered one; its output can no longer be matched.
    pub(super) fn take_forgotten_end(&mut self) -> Option<(String, ToolOutput)> {
        self.given_up.take().map(|end| *end)
    }

    /// Marks a call whose output was reported together with it.
    pub(super) fn mark_completed(&mut self, id: &str) {
        if let Some(known) = self.known.get_mut(&fingerprint_trimmed(id)) {
            known.answered = CallOutputOrigin::Together;
        }
    }

    /// Stores how a call ended until its output arrives.
    pub(super) fn store_end(&mut self, id: String, end: ToolOutput) {
        let known = self.known.get_mut(&fingerprint_trimmed(&id));
        if let Some(known) = known.filter(|known| known.answered == CallOutputOrigin::Nobody) {
            known.end = Some(Box::new((id, end)));
        }
    }

    /// Adds the stored end of the call to its output; returns `None` if the output was reported already.
    pub(super) fn merge_output(&mut self, id: &str, mut output: ToolOutput) -> Option<ToolOutput> {
        let Some(known) = self.known.get_mut(&fingerprint_trimmed(id)) else { return Some(output) };
        if known.answered == CallOutputOrigin::Together {
            return None;
        }
        known.answered = CallOutputOrigin::Item;
        if let Some((_, end)) = known.end.take().map(|end| *end) {
            output.exit_code = output.exit_code.or(end.exit_code);
            output.failed = output.failed.or(end.failed);
            output.duration_ms = output.duration_ms.or(end.duration_ms);
        }
        Some(output)
    }

    /// Takes the stored ends of the calls that never received their output.
    pub(super) fn take_unanswered_ends(&mut self) -> Vec<(String, ToolOutput)> {
        let known = &mut self.known;
        let ends = self.order.iter().filter_map(|print| known.get_mut(print)?.end.take());
        ends.map(|end| *end).collect()
    }
}
