//! Asks a model whether two lessons say the same.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::prompt_messages::derive_fence;
use crate::distill::prompts::PromptSet;
use crate::domain::Relation;
use crate::model::{LanguageModel, ModelError, ModelMessage, ModelRequest, RequestedFormat, lenient_json};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "lesson_comparison_tests.rs"]
mod tests;

/// The most output tokens: a few words for each pair.
const MAX_OUTPUT_TOKENS: u32 = 400;

/// The most pairs in one request.
const MAX_PAIRS: usize = 10;

/// The most characters of each lesson in a request.
const SHOWN_CHARACTERS: usize = 600;

/// A known lesson, and a new one that may say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonPair {
    /// The known lesson, in words.
    pub known: String,
    /// The new lesson, in words.
    pub new: String,
}

/// Returns a model's opinion on each pair, in their order. The request is plain text, which every endpoint accepts;
/// where the reply cannot be parsed, the opinion is `None`.
pub async fn compare_lessons(
    model: &dyn LanguageModel,
    prompts: &PromptSet,
    redactor: &Redactor,
    pairs: &[ComparisonPair],
    until: Instant,
) -> Result<Vec<Option<Relation>>, ModelError> {
    let shown = render_pairs(pairs);
    let text = prompts.fill_prompt("compare.md", &[("pairs", &shown), ("fence", &derive_fence(&shown, ""))]);
    let text = redactor.redact(&text).text.into_owned();
    let request = ModelRequest {
        messages: vec![ModelMessage::User { text }],
        form: RequestedFormat::Text,
        max_output_tokens: MAX_OUTPUT_TOKENS,
    };
    let started = Instant::now();
    let late = |_| ModelError::TimedOut { after: until.saturating_duration_since(started) };
    let reply = timeout_at(until, model.send_request(&request)).await.map_err(late)??;
    Ok(parse_relations(&reply.text, pairs.len()))
}

fn render_pairs(pairs: &[ComparisonPair]) -> String {
    let line = |text: &str| -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN_CHARACTERS).collect()
    };
    let shown = (1..).zip(pairs.iter().take(MAX_PAIRS));
    shown
        .map(|(number, pair)| format!("{number}. known: {}\n{number}. new: {}", line(&pair.known), line(&pair.new)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn parse_relations(text: &str, count: usize) -> Vec<Option<Relation>> {
    let mut answers = vec![None; count];
    let found = lenient_json::find_json_with_keys(text, &["pairs"]);
    let entries = found.as_ref().and_then(|found| found.value.get("pairs")).and_then(Value::as_array);
    for entry in entries.into_iter().flatten() {
        let number = entry.get("pair").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let relation = match entry.get("relation").and_then(Value::as_str).map(str::trim) {
            Some("same") => Relation::Same,
            Some("refines") => Relation::Refines,
            Some("contradicts") => Relation::Contradicts,
            Some("different" | "similar") => Relation::Similar,
            _ => continue,
        };
        let place = number.and_then(|number| number.checked_sub(1)).and_then(|at| answers.get_mut(at));
        // If a pair is answered twice, the first answer counts.
        place.into_iter().filter(|place| place.is_none()).for_each(|place| *place = Some(relation.clone()));
    }
    answers
}
