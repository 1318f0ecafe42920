//! Kinds of lines that a reader does not know, each reported once.

use std::collections::BTreeSet;

use super::pick;
use crate::domain::{Event, Sink, Skipped};

/// So many kinds are reported.
const MAX_KINDS: usize = 32;

/// What was reported so far.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    kinds: BTreeSet<String>,
}

impl Unknown {
    /// Reports a line of an unknown kind, if none of its kind was.
    pub(super) fn report(&mut self, kind: &str, line: u64, sink: &mut dyn Sink) {
        let kind = pick::name(kind).to_owned();
        if self.kinds.len() < MAX_KINDS && !self.kinds.contains(&kind) {
            let why = if kind.is_empty() { "no type".to_owned() } else { format!("unknown type `{kind}`") };
            sink.hear(Event::Skipped(Skipped { line, why }));
            self.kinds.insert(kind);
        }
    }
}
