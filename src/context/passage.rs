//! What of a step can be quoted: whose words they are, and how strong they are as proof.

use std::borrow::Cow;

use super::action::Action;
use super::digest::{What, parts};
use super::trust;
use crate::domain::{EvidenceLevel, Step, TrustClass};

#[cfg(test)]
#[path = "passage_tests.rs"]
mod tests;

/// What stands between two passages in the text of a step.
const BETWEEN: &str = "\n";

/// One stretch of a step, from one mouth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage<'s> {
    /// The words, as a digest shows them before anything is cut.
    pub text: Cow<'s, str>,
    /// Where it begins in the text of the step, in bytes.
    pub start: usize,
    /// Whose words these are.
    pub trust: TrustClass,
    /// How strong they are as proof.
    pub level: EvidenceLevel,
}

/// The passages of a step, in the order of the log. A quotation stands in one of them, letter for letter.
pub fn passages(step: &Step) -> Vec<Passage<'_>> {
    let said = step.trust.clone().unwrap_or_else(|| trust::of_words(&step.speaker));
    let mut calls = step.calls.iter();
    let mut last_call = None;
    let mut start = 0;
    let mut passages = Vec::new();
    for part in parts(step) {
        let (trust, level) = match part.what {
            What::Said | What::Thought => (said.clone(), EvidenceLevel::Reasoning),
            What::Call(_) => {
                last_call = calls.next().map(|call| Action::of(&call.tool, &call.arguments));
                (said.clone(), level_of_call(last_call.as_ref()))
            }
            What::Argument(_) => (said.clone(), level_of_call(last_call.as_ref())),
            What::Output(output) => {
                let trust = output.trust.clone().unwrap_or(TrustClass::ToolOutput);
                let level = level_of_output(last_call.as_ref(), &trust);
                (trust, level)
            }
        };
        if part.text.is_empty() {
            continue;
        }
        let end = start + part.text.len();
        passages.push(Passage { text: part.text, start, trust, level });
        start = end + BETWEEN.len();
    }
    passages
}

/// The whole text of a step, in which quotations give their place.
pub fn step_text(step: &Step) -> String {
    passages(step).iter().map(|passage| passage.text.as_ref()).collect::<Vec<_>>().join(BETWEEN)
}

/// A command that was run and a file that was written are facts; the rest is somebody's say.
fn level_of_call(action: Option<&Action>) -> EvidenceLevel {
    match action {
        Some(Action::Run { .. }) => EvidenceLevel::Execution,
        Some(Action::Edit(_)) => EvidenceLevel::Citation,
        _ => EvidenceLevel::Reasoning,
    }
}

fn level_of_output(action: Option<&Action>, trust: &TrustClass) -> EvidenceLevel {
    match (action, trust) {
        // What others wrote proves that they wrote it.
        (_, TrustClass::Web | TrustClass::OtherAgent | TrustClass::InjectedMemory) => EvidenceLevel::Reasoning,
        (Some(Action::Read { .. } | Action::Edit(_)), _) | (_, TrustClass::RepoFile) => EvidenceLevel::Citation,
        _ => EvidenceLevel::Execution,
    }
}
