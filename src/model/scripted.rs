//! A model for tests that says what it is told to.

use std::collections::VecDeque;
use std::sync::Mutex;

use async_trait::async_trait;

use super::{Finish, Form, LanguageModel, Message, ModelError, Reply, Request, ToolCall};
use crate::domain::Usage;

/// Gives its answers in order and remembers what it was asked. To be asked more often than that fails the test.
#[derive(Debug)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Result<Reply, ModelError>>>,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    pub(crate) const NAME: &'static str = "scripted";

    pub(crate) fn new(answers: Vec<Result<Reply, ModelError>>) -> Self {
        Self { answers: Mutex::new(answers.into()), asked: Mutex::new(Vec::new()) }
    }

    /// Everything it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl LanguageModel for Scripted {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        answer.unwrap_or_else(|| panic!("asked {} times, which the script does not foresee", self.asked().len()))
    }
}

/// A complete answer in words.
pub(crate) fn said(text: &str) -> Reply {
    Reply { text: text.to_owned(), calls: Vec::new(), finish: Finish::Stop, usage: Usage::default() }
}

/// An answer that calls one tool.
pub(crate) fn called(name: &str, arguments: &str) -> Reply {
    let call = ToolCall { id: "call-1".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
    Reply { text: String::new(), calls: vec![call], finish: Finish::ToolCalls, usage: Usage::default() }
}

/// A question in words.
pub(crate) fn question(text: &str) -> Request {
    Request { messages: vec![Message::User { text: text.to_owned() }], form: Form::Text, max_output_tokens: 100 }
}

/// One error of every kind.
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
