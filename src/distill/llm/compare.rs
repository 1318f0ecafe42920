//! Asks a model whether two lessons say the same.

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::frame::fence;
use crate::distill::prompts::Prompts;
use crate::domain::Relation;
use crate::model::{Form, LanguageModel, Message, ModelError, Request, loose};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;

/// The most of an answer: a few words for each pair.
const MAX_OUTPUT_TOKENS: u32 = 400;

/// More pairs than this are not asked about at once.
const MAX_PAIRS: usize = 10;

/// So much of each lesson is shown.
const SHOWN_CHARACTERS: usize = 600;

/// A lesson that is known, and one that may be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The known one, in words.
    pub known: String,
    /// The new one.
    pub new: String,
}

/// What a model thinks of each pair, in their order. It is asked in plain words, which every endpoint understands; where
/// its answer cannot be read there is none.
pub async fn compare(
    model: &dyn LanguageModel,
    prompts: &Prompts,
    redactor: &Redactor,
    pairs: &[Pair],
    until: Instant,
) -> Result<Vec<Option<Relation>>, ModelError> {
    let shown = shown(pairs);
    let text = prompts.fill("compare.md", &[("pairs", &shown), ("fence", &fence(&shown, ""))]);
    let text = redactor.redact(&text).text.into_owned();
    let request =
        Request { messages: vec![Message::User { text }], form: Form::Text, max_output_tokens: MAX_OUTPUT_TOKENS };
    let started = Instant::now();
    let late = |_| ModelError::TimedOut { after: until.saturating_duration_since(started) };
    let reply = timeout_at(until, model.ask(&request)).await.map_err(late)??;
    Ok(read(&reply.text, pairs.len()))
}

fn shown(pairs: &[Pair]) -> String {
    let line = |text: &str| -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN_CHARACTERS).collect()
    };
    let shown = (1..).zip(pairs.iter().take(MAX_PAIRS));
    shown
        .map(|(number, pair)| format!("{number}. known: {}\n{number}. new: {}", line(&pair.known), line(&pair.new)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn read(text: &str, count: usize) -> Vec<Option<Relation>> {
    let mut answers = vec![None; count];
    let found = loose::json_with(text, &["pairs"]);
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
        // Said twice, the first word counts.
        place.into_iter().filter(|place| place.is_none()).for_each(|place| *place = Some(relation.clone()));
    }
    answers
}
