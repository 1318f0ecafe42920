//! The only prompt: the lessons that a session gets at its start, for agents without hooks.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::McpServer;
use super::arguments::{SessionStartArguments, parse_arguments};
use super::sanitized_output::{protocol_error, sanitize_line};
use archivist_core::domain::MemoryQuery;
use archivist_core::recall::{LessonBlockStyle, Point};
use archivist_core::service::RecallRequest;

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
        let archivist = &self.served.archivist;
        let hooks = &archivist.config().hooks;
        let cap = |number: u32| Some(usize::try_from(number).unwrap_or(usize::MAX));
        let asked = RecallRequest {
            point: Some(Point::Orchestrator),
            style: LessonBlockStyle::SystemReminder,
            tokens: cap(hooks.max_tokens),
            characters: cap(hooks.max_characters),
            ..RecallRequest::for_query(MemoryQuery { text: task, ..archivist.new_query() })
        };
        let found = archivist.recall_unrecorded(asked).await.map_err(|refusal| protocol_error(&refusal.into()))?;
        let text = match found.block.text.trim() {
            "" => NOTHING,
            block => block,
        };
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(DESCRIPTION))
    }
}
