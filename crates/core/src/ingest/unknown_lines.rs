//! Reports kinds of lines that a reader does not know, each once.

use std::collections::BTreeSet;

use super::json_fields;
use crate::domain::{EventSink, SkippedLogLine, TrajectoryEvent};

/// The maximum number of kinds that are reported.
const MAX_KINDS: usize = 32;

/// The unknown kinds that were reported so far.
#[derive(Debug, Default)]
pub(super) struct UnknownKinds {
    kinds: BTreeSet<String>,
}

impl UnknownKinds {
    /// Reports a line of an unknown kind, unless one of its kind was reported before.
    pub(super) fn report_once(&mut self, kind: &str, line: u64, sink: &mut dyn EventSink) {
        let kind = json_fields::bounded_kind_name(kind).to_owned();
        if self.kinds.len() < MAX_KINDS && !self.kinds.contains(&kind) {
            let why = if kind.is_empty() { "no type".to_owned() } else { format!("unknown type `{kind}`") };
            sink.receive_event(TrajectoryEvent::Skipped(SkippedLogLine { line, why }));
            self.kinds.insert(kind);
        }
    }
}
