//! What a rollout says twice, told once, with a short memory.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::hash::DefaultHasher;
use std::hash::Hasher;

use crate::domain::Output;

#[cfg(test)]
#[path = "twins_tests.rs"]
mod tests;

/// The same words this many lines later are said anew.
const NEAR_LINES: u64 = 64;

/// So many words are remembered.
const MAX_TWINS: usize = 128;

/// So many calls are remembered.
const MAX_CALLS: usize = 8192;

/// A fingerprint of words, in which blanks at both ends do not count.
pub(super) fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.trim().as_bytes());
    hasher.finish()
}

/// Which kind of line speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// What went to the model and came from it.
    Item,
    /// What the screen was told.
    Event,
    /// What the screen is told in paginated files.
    Typed,
}

impl Source {
    fn bit(self) -> u8 {
        match self {
            Self::Item => 1,
            Self::Event => 2,
            Self::Typed => 4,
        }
    }
}

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Prompt,
    Words,
    Thought,
    Search,
    Compaction,
    Message,
}

#[derive(Debug)]
struct Twin {
    said: Said,
    print: u64,
    sources: u8,
    line: u64,
}

/// Words that several kinds of lines say.
#[derive(Debug, Default)]
pub(super) struct Twins {
    recent: VecDeque<Twin>,
}

impl Twins {
    /// Whether another kind of line said this a short while ago. What one kind says twice was said twice.
    pub(super) fn heard(&mut self, said: Said, print: u64, source: Source, line: u64) -> bool {
        if self.answers(said, print, source, line) {
            return true;
        }
        if self.recent.len() >= MAX_TWINS {
            self.recent.pop_front();
        }
        self.recent.push_back(Twin { said, print, sources: source.bit(), line });
        false
    }

    /// The same, of words that are not to be remembered.
    pub(super) fn answers(&mut self, said: Said, print: u64, source: Source, line: u64) -> bool {
        let twin = self.recent.iter_mut().find(|twin| {
            twin.said == said
                && twin.print == print
                && twin.sources & source.bit() == 0
                && line.saturating_sub(twin.line) <= NEAR_LINES
        });
        twin.is_some_and(|twin| {
            twin.sources |= source.bit();
            true
        })
    }
}

/// Who told a call's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answered {
    Nobody,
    /// The output that went to the model.
    Item,
    /// An event or a typed item that told call and output at once.
    Together,
}

/// What is known of a call.
#[derive(Debug)]
struct Known {
    by: Source,
    answered: Answered,
    /// What another line than its output said of its end.
    end: Option<Box<(String, Output)>>,
}

/// Calls that were told.
#[derive(Debug, Default)]
pub(super) struct Calls {
    known: HashMap<u64, Known>,
    order: VecDeque<u64>,
    given_up: Option<Box<(String, Output)>>,
}

impl Calls {
    /// Whether an item's call is still to be told. Ids need not be unique: what two items say are two calls.
    pub(super) fn is_news(&mut self, id: &str) -> bool {
        let known = self.known.get_mut(&fingerprint(id));
        match known.filter(|known| known.by != Source::Item) {
            Some(known) => {
                known.by = Source::Item;
                false
            }
            None => {
                self.remember(id, Source::Item);
                true
            }
        }
    }

    /// Tells whether somebody told this call.
    pub(super) fn is_known(&self, id: &str) -> bool {
        self.known.contains_key(&fingerprint(id))
    }

    /// Whether nobody told this call; it counts as told from now on.
    pub(super) fn is_unheard_of(&mut self, id: &str, source: Source) -> bool {
        if self.known.contains_key(&fingerprint(id)) {
            return false;
        }
        self.remember(id, source);
        true
    }

    fn remember(&mut self, id: &str, by: Source) {
        let print = fingerprint(id);
        let mut forgotten = self.known.insert(print, Known { by, answered: Answered::Nobody, end: None });
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

    /// The end of the call that was forgotten for the last one: its output will not be noticed any more.
    pub(super) fn given_up(&mut self) -> Option<(String, Output)> {
        self.given_up.take().map(|end| *end)
    }

    /// The output of a call was told together with it.
    pub(super) fn completed(&mut self, id: &str) {
        if let Some(known) = self.known.get_mut(&fingerprint(id)) {
            known.answered = Answered::Together;
        }
    }

    /// Keeps how a call ended until its output comes.
    pub(super) fn ended(&mut self, id: String, end: Output) {
        let known = self.known.get_mut(&fingerprint(&id));
        if let Some(known) = known.filter(|known| known.answered == Answered::Nobody) {
            known.end = Some(Box::new((id, end)));
        }
    }

    /// An output with what else is known of the call's end; none if it was told already.
    pub(super) fn answer(&mut self, id: &str, mut output: Output) -> Option<Output> {
        let Some(known) = self.known.get_mut(&fingerprint(id)) else { return Some(output) };
        if known.answered == Answered::Together {
            return None;
        }
        known.answered = Answered::Item;
        if let Some((_, end)) = known.end.take().map(|end| *end) {
            output.exit_code = output.exit_code.or(end.exit_code);
            output.failed = output.failed.or(end.failed);
            output.duration_ms = output.duration_ms.or(end.duration_ms);
        }
        Some(output)
    }

    /// Ends of calls that never got their output.
    pub(super) fn unanswered(&mut self) -> Vec<(String, Output)> {
        let known = &mut self.known;
        let ends = self.order.iter().filter_map(|print| known.get_mut(print)?.end.take());
        ends.map(|end| *end).collect()
    }
}
