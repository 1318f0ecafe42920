//! The only room that talks to a language model.
//!
//! A question is asked through [`LanguageModel`]. What stands behind it is put together from small parts that all speak
//! it: an endpoint (`openai/`, over `wire/`) or a recording (`cassette.rs`), asked for permission first (`governor/`), tried again
//! when that helps (`retry.rs`), in the best form the endpoint understands (`ladder.rs`).

mod breaker;
mod cassette;
pub mod embed;
mod error;
mod governor;
mod ladder;
pub mod loose;
mod openai;
mod place;
mod replace;
mod reply;
mod request;
mod retry;
mod wire;

#[cfg(test)]
pub(crate) mod scripted;

use std::sync::Arc;

use async_trait::async_trait;

pub use breaker::{Breaker, Caution, Guarded};
pub use cassette::{Clean, Player, Recorder};
pub use error::ModelError;
pub use governor::{
    Allowance, Caps, Clock, Deciding, Governed, Governor, LedgerError, LedgerMemo, NumberedLine, Prices, ReservedCall,
    SharedLedger, Spent, Tokens, Wish, estimate, reservation, spent_on, spent_together,
};
pub use ladder::{Ladders, Rung, is_form_status, probe};
pub use openai::{Endpoint, KeyError, OpenAi, key_from_file};
pub use reply::{Finish, Reply};
pub use request::{Form, Message, Request, Schema, Tool, ToolCall};
pub use retry::{Patience, Retrying};

/// Something that answers. Seam 1: everything behind it can be replaced.
#[async_trait]
pub trait LanguageModel: Send + Sync + std::fmt::Debug {
    /// The model's name, as its endpoint knows it.
    fn name(&self) -> &str;

    /// Asks once and waits for the whole answer.
    async fn ask(&self, request: &Request) -> Result<Reply, ModelError>;
}

#[async_trait]
impl<M: LanguageModel + ?Sized> LanguageModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        (**self).ask(request).await
    }
}
