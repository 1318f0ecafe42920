//! A model behind an endpoint that speaks OpenAI's chat completions: OpenAI itself, vLLM, llama.cpp, Ollama, LM Studio, a
//! gateway.
//!
//! `question.rs` writes what is asked, `answer.rs` and `stream.rs` read an answer of any dialect; what goes over the wire
//! and what a refusal means is `wire/`'s.

mod answer;
mod key;
mod ordered;
mod question;
mod stream;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_trait::async_trait;
use secrecy::SecretString;

pub use self::key::{KeyError, key_from_file};
use self::ordered::Ordered;
use self::question::Dialect;
use super::wire::{Address, Exchange, Fault, Mask, http_client};
use super::{Finish, Form, LanguageModel, ModelError, Reply, Request, loose};

#[cfg(test)]
#[path = "failure_tests.rs"]
mod failure_tests;

#[cfg(test)]
#[path = "wire_tests.rs"]
mod wire_tests;

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;

/// Where a model is and how it is asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// What stands before `/chat/completions`, such as `https://api.openai.com/v1`. No user and password in it.
    pub base_url: String,
    /// The model's name, as the endpoint knows it.
    pub model: String,
    /// Sent as a bearer token; without one, no such header goes out.
    pub key: Option<SecretString>,
    /// The time for one exchange, from the connection to the last byte.
    pub attempt_timeout: Duration,
    /// The most that is read of an answer.
    pub max_reply_bytes: u64,
    /// How much chance there is in an answer; the endpoint's own default if there is none.
    pub temperature: Option<f64>,
}

/// A model behind an endpoint. One question is one HTTP request; only where the endpoint names a parameter that it does
/// not take is the same asked again without it, once for each such parameter and client. What was turned away so was not
/// answered and is not billed, so one permission to ask covers both.
pub struct OpenAi {
    client: Client<Address>,
    model: String,
    temperature: Option<f64>,
    mask: Arc<Mask>,
    /// What the endpoint has said it does not take.
    refuses_max_tokens: AtomicBool,
    refuses_temperature: AtomicBool,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("model", &self.model)
            .field("base_url", &self.client.config().api_base())
            .finish_non_exhaustive()
    }
}

impl OpenAi {
    /// Checks the endpoint's settings; nothing is sent yet.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let Endpoint { base_url, model, key, attempt_timeout, max_reply_bytes, temperature } = endpoint;
        if temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            return Err(ModelError::Misconfigured { why: "the temperature is no number from 0 on".to_owned() });
        }
        let address = Address::new(&base_url, key.as_ref())?;
        let mask = Arc::new(Mask::new(key));
        let http = http_client(&address, &mask)?;
        let exchange = Exchange {
            http: http.clone(),
            timeout: attempt_timeout,
            max_bytes: max_reply_bytes,
            mask: Arc::clone(&mask),
            read: as_reply,
        };
        Ok(Self {
            client: Client::build(http, address).with_http_service(exchange),
            model,
            temperature,
            mask,
            refuses_max_tokens: AtomicBool::new(false),
            refuses_temperature: AtomicBool::new(false),
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect {
            max_tokens: !self.refuses_max_tokens.load(Ordering::Relaxed),
            temperature: self.temperature.filter(|_| !self.refuses_temperature.load(Ordering::Relaxed)),
        }
    }

    /// Remembers what had to be left out. Only an answer proves that this was it.
    fn remember(&self, answered: Dialect) {
        if !answered.max_tokens {
            self.refuses_max_tokens.store(true, Ordering::Relaxed);
        }
        if answered.temperature.is_none() {
            self.refuses_temperature.store(true, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl LanguageModel for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut dialect = self.dialect();
        loop {
            let body = question::body(&self.model, request, dialect);
            match self.client.chat().create_byot::<Ordered<'_>, Reply>(Ordered(&body)).await {
                Ok(reply) => {
                    self.remember(dialect);
                    return Ok(with_printed_calls(reply, &request.form));
                }
                Err(error) => {
                    let fault = Fault::from_client(error, &self.mask);
                    let other = fault.refused.and_then(|refused| dialect.without(refused));
                    dialect = other.ok_or(fault.error)?;
                    tracing::debug!(model = %self.model, refused = ?fault.refused, "asked again in another form");
                }
            }
        }
    }
}

/// The answer as async-openai is to find it: our own [`Reply`].
fn as_reply(body: Vec<u8>, is_stream: bool, mask: &Mask) -> Result<Vec<u8>, Fault> {
    let reply = answer::read(&body, is_stream, mask)?;
    let unreadable = |error: serde_json::Error| ModelError::Unreadable { why: mask.said(&error.to_string()) };
    Ok(serde_json::to_vec(&reply).map_err(unreadable)?)
}

/// Some endpoints hand a call on as the words that the model wrote.
fn with_printed_calls(mut reply: Reply, form: &Form) -> Reply {
    if let Form::Tools(tools) = form
        && reply.calls.is_empty()
    {
        reply.calls = loose::calls(&reply.text, tools);
        if !reply.calls.is_empty() && reply.finish != Finish::Length {
            reply.finish = Finish::ToolCalls;
        }
    }
    reply
}
