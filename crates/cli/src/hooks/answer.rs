//! The output of a hook, which passes lessons to the agent.

use serde_json::json;

use super::HookAgent;
use super::dialect::SessionPhase;

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;

/// Renders the output that passes `context` to the agent; nothing else may be printed with it.
///
/// Only session starts and prompts accept a context. For every other event, and for an empty context, the output is
/// empty: some agents continue working if a hook prints anything at the end of a turn.
pub(crate) fn render_answer(agent: HookAgent, event: &str, context: &str) -> String {
    let dialect = agent.dialect();
    let takes_context = |moment: &SessionPhase| matches!(moment, SessionPhase::Start | SessionPhase::Prompt);
    let Some(moment) = dialect.parse_phase(event).filter(takes_context).filter(|_| !context.trim().is_empty()) else {
        return String::new();
    };
    match (agent, dialect.event_name(moment)) {
        (HookAgent::Generic, _) => context.to_owned(),
        (_, Some(name)) => {
            json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}).to_string()
        }
        (_, None) => String::new(),
    }
}
