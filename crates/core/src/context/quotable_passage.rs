//! Splits a step into texts that can be quoted, each with its trust class and its level of evidence.

use std::borrow::Cow;

use super::digest::{StepPartKind, split_step_parts};
use super::tool_action::ToolAction;
use super::trust_class;
use crate::domain::{EvidenceLevel, Step, TrustClass};

#[cfg(test)]
#[path = "quotable_passage_tests.rs"]
mod tests;

/// The separator between two quotable texts in the text of a step.
const BETWEEN: &str = "\n";

/// One part of a step, with words from a single source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotableText<'s> {
    /// The words, as a digest shows them before anything is cut.
    pub text: Cow<'s, str>,
    /// The start of the part in the text of the step, in bytes.
    pub start: usize,
    /// The trust class of its source.
    pub trust: TrustClass,
    /// The level of evidence that it provides.
    pub level: EvidenceLevel,
}

/// Returns the quotable texts of a step, in the order of the log. A quote occurs in one of them, letter for letter.
pub fn quotable_texts(step: &Step) -> Vec<QuotableText<'_>> {
    let said = step.trust.clone().unwrap_or_else(|| trust_class::trust_of_words(&step.speaker));
    let mut calls = step.calls.iter();
    let mut last_call = None;
    let mut start = 0;
    let mut passages = Vec::new();
    for part in split_step_parts(step) {
        let (trust, level) = match part.what {
            StepPartKind::Said | StepPartKind::Thought => (said.clone(), EvidenceLevel::Reasoning),
            StepPartKind::Call(_) => {
                last_call = calls.next().map(|call| ToolAction::from_call(&call.tool, &call.arguments));
                (said.clone(), level_of_call(last_call.as_ref()))
            }
            StepPartKind::Argument(_) => (said.clone(), level_of_call(last_call.as_ref())),
            StepPartKind::Output(output) => {
                let trust = output.trust.clone().unwrap_or(TrustClass::ToolOutput);
                let level = level_of_output(last_call.as_ref(), &trust);
                (trust, level)
            }
        };
        if part.text.is_empty() {
            continue;
        }
        let end = start + part.text.len();
        passages.push(QuotableText { text: part.text, start, trust, level });
        start = end + BETWEEN.len();
    }
    passages
}

/// Returns the whole text of a step, to which the positions of quotes refer.
pub fn step_text(step: &Step) -> String {
    quotable_texts(step).iter().map(|passage| passage.text.as_ref()).collect::<Vec<_>>().join(BETWEEN)
}

/// Returns the level of a call: a command that was run and a file that was written are facts, the rest is opinion.
fn level_of_call(action: Option<&ToolAction>) -> EvidenceLevel {
    match action {
        Some(ToolAction::Run { .. }) => EvidenceLevel::Execution,
        Some(ToolAction::Edit(_)) => EvidenceLevel::Citation,
        _ => EvidenceLevel::Reasoning,
    }
}

fn level_of_output(action: Option<&ToolAction>, trust: &TrustClass) -> EvidenceLevel {
    match (action, trust) {
        // What others wrote only proves that they wrote it.
        (_, TrustClass::Web | TrustClass::OtherAgent | TrustClass::InjectedMemory) => EvidenceLevel::Reasoning,
        (Some(ToolAction::Read { .. } | ToolAction::Edit(_)), _) | (_, TrustClass::RepoFile) => EvidenceLevel::Citation,
        _ => EvidenceLevel::Execution,
    }
}
