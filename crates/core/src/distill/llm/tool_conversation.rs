//! A conversation by tools: the model submits candidates, compares them with known lessons, and scores them.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{DistillEffort, ModelFindings, PromptInputs, UnusableReply, parse_findings, prompt_messages, single_reply};
use crate::distill::prompts::{CREATE, NEAR, SCORE};
use crate::model::{LanguageModel, ModelMessage, ModelRequest, ModelToolCall, RequestedFormat, lenient_json};

/// The most calls of one reply that are executed.
const MAX_CALLS: usize = 8;

/// The most known lessons listed for each candidate, and the most candidates looked up.
const MAX_NEAR: usize = 3;
const MAX_ASKED: usize = 12;

/// The state of the conversation: what was submitted so far.
#[derive(Default)]
struct ToolConversation {
    /// The last whole reply.
    answer: Option<Value>,
    is_scored: bool,
}

pub(super) async fn run_conversation(
    matter: &PromptInputs<'_>,
    model: &dyn LanguageModel,
    tokens: usize,
    effort: &mut DistillEffort,
) -> Result<ModelFindings, UnusableReply> {
    let mut request = ModelRequest {
        messages: prompt_messages::build_messages(matter, "by-tools.md", tokens),
        form: RequestedFormat::Tools(matter.asked.prompts.tools().to_vec()),
        max_output_tokens: matter.asked.asking.max_output_tokens,
    };
    let mut conversation = ToolConversation::default();
    let mut is_reminded = false;
    for _ in 0..matter.asked.asking.max_turns {
        let reply = match effort.send_request(model, &request).await {
            // What was submitted counts, whatever happens to the rest of the conversation.
            Err(error) if conversation.answer.is_some() => {
                tracing::debug!(%error, "the conversation broke off after candidates were handed in");
                break;
            }
            reply => reply?,
        };
        if reply.calls.is_empty() {
            if conversation.answer.is_some() {
                break;
            }
            // Some models put into the content what they should submit, and some must be reminded once.
            match single_reply::parse_reply_text(&reply.text) {
                Err(UnusableReply::Unreadable(problem)) if !is_reminded => {
                    is_reminded = true;
                    single_reply::add_correction(matter, &reply.text, &problem, &mut request);
                    continue;
                }
                read => return read,
            }
        }
        let calls: Vec<ModelToolCall> = reply.calls.into_iter().take(MAX_CALLS).collect();
        let mut results = Vec::with_capacity(calls.len());
        for call in &calls {
            let text = conversation.execute_call(call, matter).await;
            results.push(ModelMessage::ToolResult { call_id: call.id.clone(), text });
        }
        if conversation.is_done() {
            break;
        }
        request.messages.push(ModelMessage::Assistant { text: reply.text, calls });
        request.messages.extend(results);
    }
    let answer = conversation.answer.ok_or(UnusableReply::Endless(matter.asked.asking.max_turns))?;
    parse_findings(&answer)
}

impl ToolConversation {
    /// Tells whether nothing is left to ask for: no candidates were submitted, or all were scored.
    fn is_done(&self) -> bool {
        self.is_scored || self.answer.as_ref().is_some_and(|answer| submitted_candidates(answer).is_empty())
    }

    async fn execute_call(&mut self, call: &ModelToolCall, matter: &PromptInputs<'_>) -> String {
        let given = match call.name.as_str() {
            CREATE | NEAR | SCORE => lenient_json::find_json(&call.arguments).map(|found| found.value),
            other => return format!("There is no tool {other}."),
        };
        match (call.name.as_str(), given) {
            (CREATE, Some(answer)) => match parse_findings(&answer) {
                Ok(told) => {
                    self.answer = Some(answer);
                    self.is_scored = false;
                    review_candidates(told, matter)
                }
                Err(error) => format!("Not noted: {error}. Send it again, whole."),
            },
            (NEAR, Some(given)) => self.list_near_lessons(&given, matter).await,
            (SCORE, Some(given)) => self.apply_scores(&given),
            _ => "The arguments could not be read. Send them again as JSON that obeys the schema.".to_owned(),
        }
    }

    /// Lists the known lessons nearest to each candidate.
    async fn list_near_lessons(&self, given: &Value, matter: &PromptInputs<'_>) -> String {
        let named = given.get("summaries").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let mut summaries: Vec<String> = named.map(str::to_owned).take(MAX_ASKED).collect();
        if summaries.is_empty() {
            let handed_in = self.answer.as_ref().map(submitted_candidates).unwrap_or_default();
            let summary = |candidate: &Value| candidate.get("summary").and_then(Value::as_str).map(str::to_owned);
            summaries = handed_in.iter().filter_map(summary).take(MAX_ASKED).collect();
        }
        let mut lines = String::new();
        for (number, summary) in (1..).zip(&summaries) {
            let near = matter.asked.known.find_near(summary, MAX_NEAR).await;
            let _ = writeln!(lines, "{number}. {}", if near.is_empty() { "nothing near" } else { "near:" });
            if !near.is_empty() {
                lines.push_str(&matter.redactor.redact(&prompt_messages::render_known_lessons(&near)).text);
            }
        }
        if lines.is_empty() { "Nothing was asked about.".to_owned() } else { lines }
    }

    /// Writes the final importance into the submitted candidates.
    fn apply_scores(&mut self, given: &Value) -> String {
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

fn submitted_candidates(answer: &Value) -> Vec<Value> {
    answer.get("candidates").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Reports which candidates would be dropped, so that the model can correct them.
fn review_candidates(told: ModelFindings, matter: &PromptInputs<'_>) -> String {
    let handed_in = told.claims.len();
    if handed_in == 0 {
        return "Noted: no lessons.".to_owned();
    }
    let verified = matter.verifier.verify_all(told.claims);
    let mut said = format!("{} of {handed_in} accepted.", verified.candidates.len());
    for dropped in &verified.dropped {
        let _ = write!(said, "\nNot accepted ({}): {}. {}", dropped.why, dropped.summary, dropped.detail);
    }
    said
}
