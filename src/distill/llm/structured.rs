//! One question, one whole answer.

use super::{Effort, Matter, NoAnswer, Told, frame, told, unproved};
use crate::model::{Form, LanguageModel, Message, Request, Rung, loose};

/// An answer that cannot be read is shown to the model again, up to so many characters.
const SHOWN_CHARACTERS: usize = 2000;

/// By what an answer is known.
pub(super) const MEMBERS: &[&str] = &["candidates", "outcome_summary"];

pub(super) async fn ask(
    matter: &Matter<'_>,
    model: &dyn LanguageModel,
    rung: Rung,
    tokens: usize,
    effort: &mut Effort,
) -> Result<Told, NoAnswer> {
    let (form, how) = match rung {
        Rung::Schema => (Form::Schema(matter.asked.prompts.schema()), "by-schema.md"),
        Rung::Json => (Form::Json, "by-json.md"),
        Rung::Tools | Rung::Text => (Form::Text, "by-json.md"),
    };
    let max_output_tokens = matter.asked.asking.max_output_tokens;
    let mut request = Request { messages: frame::messages(matter, how, tokens), form, max_output_tokens };
    let reply = effort.ask(model, &request).await?;
    let first = read(&reply.text);
    let problem = match &first {
        Err(NoAnswer::Unreadable(problem)) => problem.clone(),
        Ok(told) => match unproved(&matter.verifier.verify(told.claims.clone())) {
            Some(problem) => problem,
            None => return first,
        },
        Err(_) => return first,
    };
    remind(matter, &reply.text, &problem, &mut request);
    let second = match effort.ask(model, &request).await {
        Ok(reply) => read(&reply.text),
        Err(error) => Err(error.into()),
    };
    match (first, second) {
        // It told what happened; that nothing of it is proved is seen once more.
        (Ok(told), Err(error)) => {
            tracing::debug!(%error, "the second answer cannot be used; the first one stands");
            Ok(told)
        }
        (_, second) => second,
    }
}

/// Shows a model what it said, and says what is wrong with it.
pub(super) fn remind(matter: &Matter<'_>, said: &str, problem: &str, request: &mut Request) {
    let said: String = said.chars().take(SHOWN_CHARACTERS).collect();
    let text = matter.redactor.redact(&said).text.into_owned();
    request.messages.push(Message::Assistant { text, calls: Vec::new() });
    request.messages.push(Message::User { text: matter.asked.prompts.fill("repair.md", &[("problem", problem)]) });
}

/// An answer out of a text that may hold more than it.
pub(super) fn read(text: &str) -> Result<Told, NoAnswer> {
    let found = loose::json_with(text, MEMBERS);
    let found = found.ok_or_else(|| NoAnswer::Unreadable("there is no JSON object in it".to_owned()))?;
    told(&found.value)
}
