//! A model for tests that gives scripted answers.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;

use super::{
    Finish, LanguageModel, ModelError, ModelMessage, ModelReply, ModelRequest, ModelToolCall, RequestedFormat,
};
use crate::domain::TokenUsage;

/// A model that gives its answers in order and remembers the requests. A request beyond them fails the test.
#[derive(Debug)]
pub(crate) struct ScriptedModel {
    answers: Mutex<VecDeque<Result<ModelReply, ModelError>>>,
    asked: Mutex<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub(crate) const NAME: &'static str = "scripted";

    pub(crate) fn new(answers: Vec<Result<ModelReply, ModelError>>) -> Self {
        Self { answers: Mutex::new(answers.into()), asked: Mutex::new(Vec::new()) }
    }

    /// Returns all requests received so far.
    pub(crate) fn received_requests(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        answer.unwrap_or_else(|| {
            panic!("asked {} times, which the script does not foresee", self.received_requests().len())
        })
    }
}

/// Returns a complete reply with this text.
pub(crate) fn text_reply(text: &str) -> ModelReply {
    ModelReply { text: text.to_owned(), calls: Vec::new(), finish: Finish::Stop, usage: TokenUsage::default() }
}

/// Returns a reply that calls one tool.
pub(crate) fn tool_call_reply(name: &str, arguments: &str) -> ModelReply {
    let call = ModelToolCall { id: "call-1".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
    ModelReply { text: String::new(), calls: vec![call], finish: Finish::ToolCalls, usage: TokenUsage::default() }
}

/// Returns a request with this text.
pub(crate) fn text_request(text: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ModelMessage::User { text: text.to_owned() }],
        form: RequestedFormat::Text,
        max_output_tokens: 100,
    }
}

/// Returns one error of every kind.
pub(crate) fn every_error() -> Vec<ModelError> {
    let said = || "so it is".to_owned();
    let retry_after = Some(std::time::Duration::from_millis(1500));
    vec![
        ModelError::Refused { why: said() },
        ModelError::Resting { failures: 3, for_: std::time::Duration::from_secs(9) },
        ModelError::Unauthorized { status: 401, said: said() },
        ModelError::NotFound { said: said() },
        ModelError::RateLimited { retry_after, said: said() },
        ModelError::TooLong { said: said() },
        ModelError::BadRequest { status: 422, said: said() },
        ModelError::Server { status: 503, retry_after: None, said: said() },
        ModelError::Unreachable { said: said() },
        ModelError::Connection { said: said() },
        ModelError::TimedOut { after: std::time::Duration::from_secs(120) },
        ModelError::Oversized { max_bytes: 4096 },
        ModelError::Unreadable { why: said() },
        ModelError::Declined { said: said(), written: 0 },
        ModelError::NotRecorded { key: said() },
    ]
}
