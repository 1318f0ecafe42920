//! The only prompt: the lessons that a session gets at its start, for agents without hooks.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::McpServer;
use super::arguments::{SessionStartArguments, parse_arguments};
use super::outgoing::{protocol_error, sanitize_line};
use crate::desk::RecallRequest;
use crate::domain::MemoryQuery;
use crate::recall::{LessonBlockStyle, Point};

const SESSION_START: &str = "session-start";
const DESCRIPTION: &str = "What this project's memory gives a session that starts";

const NOTHING: &str = "This project's memory has nothing for the start of this session. Work as usual.";

/// Returns all prompts.
pub(super) fn all_prompts() -> Vec<Prompt> {
    let task = PromptArgument::new("task").with_description("What the session is to do").with_required(false);
    vec![Prompt::new(SESSION_START, Some(DESCRIPTION), Some(vec![task])).with_title("Start with what is known")]
}

impl McpServer {
    /// Renders a prompt. No injection is recorded, because the request names no session.
    pub(super) async fn render_prompt(&self, name: &str, arguments: JsonObject) -> Result<GetPromptResult, ErrorData> {
        if name != SESSION_START {
            let message = format!("there is no prompt `{}`; prompts/list names them", sanitize_line(name));
            return Err(ErrorData::invalid_params(message, None));
        }
        let task = parse_arguments::<SessionStartArguments>(arguments)
            .and_then(SessionStartArguments::into_task)
            .map_err(|problem| protocol_error(&problem))?;
        let desk = &self.served.desk;
        let hooks = &desk.config().hooks;
        let cap = |number: u32| Some(usize::try_from(number).unwrap_or(usize::MAX));
        let asked = RecallRequest {
            point: Some(Point::Orchestrator),
            style: LessonBlockStyle::SystemReminder,
            tokens: cap(hooks.max_tokens),
            characters: cap(hooks.max_characters),
            ..RecallRequest::for_query(MemoryQuery { text: task, ..desk.new_query() })
        };
        let found =
            desk.recall_lessons(asked, self.served.now()).await.map_err(|refusal| protocol_error(&refusal.into()))?;
        let text = match found.block.text.trim() {
            "" => NOTHING,
            block => block,
        };
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(DESCRIPTION))
    }
}
