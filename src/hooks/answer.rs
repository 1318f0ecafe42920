//! What a hook prints, so that an agent gets to read lessons.

use serde_json::json;

use super::Agent;
use super::dialect::Moment;

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;

/// What to print so that the agent gets `context`: nothing else may be printed beside it.
///
/// Only the start of a session and a prompt take a context. For every other event, and for an empty context, there is
/// nothing to print: some agents go on working when a hook says anything at the end of a turn.
pub fn answer(agent: Agent, event: &str, context: &str) -> String {
    let dialect = agent.dialect();
    let takes_context = |moment: &Moment| matches!(moment, Moment::Start | Moment::Prompt);
    let Some(moment) = dialect.moment(event).filter(takes_context).filter(|_| !context.trim().is_empty()) else {
        return String::new();
    };
    match (agent, dialect.name(moment)) {
        (Agent::Generic, _) => context.to_owned(),
        (_, Some(name)) => {
            json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}).to_string()
        }
        (_, None) => String::new(),
    }
}
