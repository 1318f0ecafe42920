//! The one prompt: what a session would be given at its start, for agents without hooks.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use super::Mcp;
use super::arguments::{Starting, read};
use super::outgoing::{failed, line};
use crate::desk::Asked;
use crate::domain::MemoryQuery;
use crate::recall::{Point, Style};

const SESSION_START: &str = "session-start";
const DESCRIPTION: &str = "What this project's memory gives a session that starts";

const NOTHING: &str = "This project's memory has nothing for the start of this session. Work as usual.";

/// All prompts.
pub(super) fn all() -> Vec<Prompt> {
    let task = PromptArgument::new("task").with_description("What the session is to do").with_required(false);
    vec![Prompt::new(SESSION_START, Some(DESCRIPTION), Some(vec![task])).with_title("Start with what is known")]
}

impl Mcp {
    /// The words of a prompt. Nothing is noted of it: nobody says which run gets to read them.
    pub(super) async fn prompt(&self, name: &str, arguments: JsonObject) -> Result<GetPromptResult, ErrorData> {
        if name != SESSION_START {
            let message = format!("there is no prompt `{}`; prompts/list names them", line(name));
            return Err(ErrorData::invalid_params(message, None));
        }
        let task = read::<Starting>(arguments).and_then(Starting::task).map_err(|problem| failed(&problem))?;
        let desk = &self.served.desk;
        let hooks = &desk.config().hooks;
        let cap = |number: u32| Some(usize::try_from(number).unwrap_or(usize::MAX));
        let asked = Asked {
            point: Some(Point::Orchestrator),
            style: Style::SystemReminder,
            tokens: cap(hooks.max_tokens),
            characters: cap(hooks.max_characters),
            ..Asked::about(MemoryQuery { text: task, ..desk.question() })
        };
        let found = desk.recall(asked, self.served.now()).await.map_err(|refusal| failed(&refusal.into()))?;
        let text = match found.block.text.trim() {
            "" => NOTHING,
            block => block,
        };
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]).with_description(DESCRIPTION))
    }
}
