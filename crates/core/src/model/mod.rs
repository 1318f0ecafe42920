//! The only module that talks to a language model.
//!
//! Requests are sent through [`LanguageModel`]. Its implementations are composed from small parts that all implement
//! it: an endpoint (`openai/`, over `endpoint_http/`) or a recording (`cassette.rs`), permitted first (`governor/`), retried
//! when that helps (`retry.rs`), in the best format that the endpoint supports (`answer_format.rs`).

mod answer_format;
mod cassette;
mod circuit_breaker;
pub mod embed;
mod endpoint_http;
mod error;
mod governor;
pub mod lenient_json;
mod openai;
mod public_address;
mod reply;
mod request;
mod retry;

#[cfg(test)]
pub(crate) mod scripted_model;

use std::sync::Arc;

use async_trait::async_trait;

pub use answer_format::{AnswerFormat, EndpointCapabilities, is_format_status, probe_answer_format};
pub use cassette::{Clean, RecordingModel, ReplayModel};
pub use circuit_breaker::{BreakerGuardedModel, CircuitBreaker, CircuitBreakerSettings};
pub use error::ModelError;
pub(crate) use governor::lock_spend_folder;
pub use governor::{
    CallTokens, Clock, Deciding, GovernedModel, LedgerError, LedgerInstruction, LedgerMemo, NumberedLine,
    ReflectionAllowance, ReservedCall, SharedLedger, SpendCaps, SpendGovernor, SpentToday, TokenPrices,
    estimate_prompt_tokens, max_billable_tokens, read_day_spend, read_shared_day_spend,
};
pub use openai::{ChatEndpoint, KeyFileError, OpenAiModel, read_key_file};
pub use reply::{Finish, ModelReply};
pub use request::{AnswerSchema, ModelMessage, ModelRequest, ModelTool, ModelToolCall, RequestedFormat};
pub use retry::{ModelRetryPolicy, RetryingModel};

/// An interface that answers requests. Seam 1: every implementation can be replaced.
#[async_trait]
pub trait LanguageModel: Send + Sync + std::fmt::Debug {
    /// Returns the model's name, as its endpoint knows it.
    fn name(&self) -> &str;

    /// Sends a request once and waits for the complete reply.
    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError>;
}

#[async_trait]
impl<M: LanguageModel + ?Sized> LanguageModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        (**self).send_request(request).await
    }
}
