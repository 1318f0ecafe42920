//! One request for one whole reply.

use super::{
    DistillEffort, ModelFindings, PromptInputs, UnusableReply, find_proof_problem, parse_findings, prompt_messages,
};
use crate::model::{AnswerFormat, LanguageModel, ModelMessage, ModelRequest, RequestedFormat, lenient_json};

/// The most characters of an unreadable reply that are shown to the model again.
const SHOWN_CHARACTERS: usize = 2000;

/// The members by which a reply is recognized.
pub(super) const MEMBERS: &[&str] = &["candidates", "outcome_summary"];

pub(super) async fn prompt_for_reply(
    matter: &PromptInputs<'_>,
    model: &dyn LanguageModel,
    answer_format: AnswerFormat,
    tokens: usize,
    effort: &mut DistillEffort,
) -> Result<ModelFindings, UnusableReply> {
    let (form, how) = match answer_format {
        AnswerFormat::Schema => (RequestedFormat::Schema(matter.asked.prompts.reply_schema()), "by-schema.md"),
        AnswerFormat::Json => (RequestedFormat::Json, "by-json.md"),
        AnswerFormat::Tools | AnswerFormat::Text => (RequestedFormat::Text, "by-json.md"),
    };
    let max_output_tokens = matter.asked.asking.max_output_tokens;
    let mut request =
        ModelRequest { messages: prompt_messages::build_messages(matter, how, tokens), form, max_output_tokens };
    let reply = effort.send_request(model, &request).await?;
    let first = parse_reply_text(&reply.text);
    let problem = match &first {
        Err(UnusableReply::Unreadable(problem)) => problem.clone(),
        Ok(told) => match find_proof_problem(&matter.verifier.verify_all(told.claims.clone())) {
            Some(problem) => problem,
            None => return first,
        },
        Err(_) => return first,
    };
    add_correction(matter, &reply.text, &problem, &mut request);
    let second = match effort.send_request(model, &request).await {
        Ok(reply) => parse_reply_text(&reply.text),
        Err(error) => Err(error.into()),
    };
    match (first, second) {
        // The first reply has an account of the session; that none of its lessons is proved is noticed later.
        (Ok(told), Err(error)) => {
            tracing::debug!(%error, "the second answer cannot be used; the first one stands");
            Ok(told)
        }
        (_, second) => second,
    }
}

/// Adds the model's reply to the request, and a message that says what is wrong with it.
pub(super) fn add_correction(matter: &PromptInputs<'_>, said: &str, problem: &str, request: &mut ModelRequest) {
    let said: String = said.chars().take(SHOWN_CHARACTERS).collect();
    let text = matter.redactor.redact(&said).text.into_owned();
    request.messages.push(ModelMessage::Assistant { text, calls: Vec::new() });
    request
        .messages
        .push(ModelMessage::User { text: matter.asked.prompts.fill_prompt("repair.md", &[("problem", problem)]) });
}

/// Parses a reply out of a text that may contain more.
pub(super) fn parse_reply_text(text: &str) -> Result<ModelFindings, UnusableReply> {
    let found = lenient_json::find_json_with_keys(text, MEMBERS);
    let found = found.ok_or_else(|| UnusableReply::Unreadable("there is no JSON object in it".to_owned()))?;
    parse_findings(&found.value)
}
