//! A conversation by tools: candidates are handed in, held against what is known, and weighed.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Effort, Matter, NoAnswer, Told, frame, structured, told};
use crate::distill::prompts::{CREATE, NEAR, SCORE};
use crate::model::{Form, LanguageModel, Message, Request, ToolCall, loose};

/// Calls of one answer that are carried out.
const MAX_CALLS: usize = 8;

/// Known lessons told for each candidate, and candidates asked about.
const MAX_NEAR: usize = 3;
const MAX_ASKED: usize = 12;

/// What was handed in so far.
#[derive(Default)]
struct Desk {
    /// The last whole answer.
    answer: Option<Value>,
    is_scored: bool,
}

pub(super) async fn converse(
    matter: &Matter<'_>,
    model: &dyn LanguageModel,
    tokens: usize,
    effort: &mut Effort,
) -> Result<Told, NoAnswer> {
    let mut request = Request {
        messages: frame::messages(matter, "by-tools.md", tokens),
        form: Form::Tools(matter.asked.prompts.tools().to_vec()),
        max_output_tokens: matter.asked.asking.max_output_tokens,
    };
    let mut desk = Desk::default();
    let mut is_reminded = false;
    for _ in 0..matter.asked.asking.max_turns {
        let reply = match effort.ask(model, &request).await {
            // What was handed in stands, whatever happens to the rest of the conversation.
            Err(error) if desk.answer.is_some() => {
                tracing::debug!(%error, "the conversation broke off after candidates were handed in");
                break;
            }
            reply => reply?,
        };
        if reply.calls.is_empty() {
            if desk.answer.is_some() {
                break;
            }
            // Some models answer in the content what they were to hand in, and some must be told once more.
            match structured::read(&reply.text) {
                Err(NoAnswer::Unreadable(problem)) if !is_reminded => {
                    is_reminded = true;
                    structured::remind(matter, &reply.text, &problem, &mut request);
                    continue;
                }
                read => return read,
            }
        }
        let calls: Vec<ToolCall> = reply.calls.into_iter().take(MAX_CALLS).collect();
        let mut results = Vec::with_capacity(calls.len());
        for call in &calls {
            let text = desk.carry_out(call, matter).await;
            results.push(Message::ToolResult { call_id: call.id.clone(), text });
        }
        if desk.is_done() {
            break;
        }
        request.messages.push(Message::Assistant { text: reply.text, calls });
        request.messages.extend(results);
    }
    let answer = desk.answer.ok_or(NoAnswer::Endless(matter.asked.asking.max_turns))?;
    told(&answer)
}

impl Desk {
    /// Whether nothing is left to ask for: nothing was learned, or everything was weighed.
    fn is_done(&self) -> bool {
        self.is_scored || self.answer.as_ref().is_some_and(|answer| candidates(answer).is_empty())
    }

    async fn carry_out(&mut self, call: &ToolCall, matter: &Matter<'_>) -> String {
        let given = match call.name.as_str() {
            CREATE | NEAR | SCORE => loose::json(&call.arguments).map(|found| found.value),
            other => return format!("There is no tool {other}."),
        };
        match (call.name.as_str(), given) {
            (CREATE, Some(answer)) => match told(&answer) {
                Ok(told) => {
                    self.answer = Some(answer);
                    self.is_scored = false;
                    review(told, matter)
                }
                Err(error) => format!("Not noted: {error}. Send it again, whole."),
            },
            (NEAR, Some(given)) => self.near(&given, matter).await,
            (SCORE, Some(given)) => self.score(&given),
            _ => "The arguments could not be read. Send them again as JSON that obeys the schema.".to_owned(),
        }
    }

    /// The known lessons nearest to each candidate.
    async fn near(&self, given: &Value, matter: &Matter<'_>) -> String {
        let named = given.get("summaries").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let mut summaries: Vec<String> = named.map(str::to_owned).take(MAX_ASKED).collect();
        if summaries.is_empty() {
            let handed_in = self.answer.as_ref().map(candidates).unwrap_or_default();
            let summary = |candidate: &Value| candidate.get("summary").and_then(Value::as_str).map(str::to_owned);
            summaries = handed_in.iter().filter_map(summary).take(MAX_ASKED).collect();
        }
        let mut lines = String::new();
        for (number, summary) in (1..).zip(&summaries) {
            let near = matter.asked.known.near(summary, MAX_NEAR).await;
            let _ = writeln!(lines, "{number}. {}", if near.is_empty() { "nothing near" } else { "near:" });
            if !near.is_empty() {
                lines.push_str(&matter.redactor.redact(&frame::known(&near)).text);
            }
        }
        if lines.is_empty() { "Nothing was asked about.".to_owned() } else { lines }
    }

    /// Puts the final importance into what was handed in.
    fn score(&mut self, given: &Value) -> String {
        let Some(handed_in) = self.answer.as_mut().and_then(|answer| answer.get_mut("candidates")?.as_array_mut())
        else {
            return format!("Nothing was handed in yet. Call {CREATE} first.");
        };
        for score in given.get("scores").and_then(Value::as_array).into_iter().flatten() {
            let number = score.get("candidate").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
            let candidate = number.and_then(|number| handed_in.get_mut(number.checked_sub(1)?));
            let Some(candidate) = candidate.and_then(Value::as_object_mut) else { continue };
            if let Some(importance) = score.get("importance").filter(|value| value.is_number()) {
                candidate.insert("importance".to_owned(), importance.clone());
                let reason = score.get("reason").cloned().unwrap_or(json!(""));
                candidate.insert("importance_reason".to_owned(), reason);
            }
        }
        self.is_scored = true;
        "Noted.".to_owned()
    }
}

fn candidates(answer: &Value) -> Vec<Value> {
    answer.get("candidates").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Says which candidates would not stand, so that the model can mend them.
fn review(told: Told, matter: &Matter<'_>) -> String {
    let handed_in = told.claims.len();
    if handed_in == 0 {
        return "Noted: no lessons.".to_owned();
    }
    let verified = matter.verifier.verify(told.claims);
    let mut said = format!("{} of {handed_in} accepted.", verified.candidates.len());
    for dropped in &verified.dropped {
        let _ = write!(said, "\nNot accepted ({}): {}. {}", dropped.why, dropped.summary, dropped.detail);
    }
    said
}
