//! Detects candidates that only say what a document of the project says. Agents are given those documents anyway.

use super::rule_form::LessonRule;
use crate::distill::unchecked_candidate::UncheckedCandidate;
use crate::text::DocumentIndex;

#[cfg(test)]
#[path = "restated_documents_tests.rs"]
mod tests;

/// Returns the document and line that say all of a candidate: its summary and, if it has one, its rule.
pub(super) fn find_restatement(documents: &DocumentIndex, claim: &UncheckedCandidate) -> Option<String> {
    let place = documents.find_restated_place(&claim.summary)?;
    if let Some(rule) = claim.rule.as_deref() {
        let parsed = LessonRule::parse(rule).map(|rule| format!("{} {}", rule.condition, rule.recommendation));
        documents.find_restated_place(parsed.as_deref().unwrap_or(rule))?;
    }
    Some(format!("{}: {}", place.path, place.line))
}
