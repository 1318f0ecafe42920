//! A model behind an endpoint with OpenAI's chat completions: OpenAI itself, vLLM, llama.cpp, Ollama, LM Studio, a
//! gateway.
//!
//! `chat_request.rs` writes requests, `chat_reply.rs` and `event_stream.rs` read replies of any dialect; the HTTP exchange
//! and the meaning of refusals are in `wire/`.

mod chat_reply;
mod chat_request;
mod event_stream;
mod key_file;
mod ordered_schema;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_trait::async_trait;
use secrecy::SecretString;

use self::chat_request::RequestDialect;
pub use self::key_file::{KeyFileError, read_key_file};
use self::ordered_schema::SchemaOrderedJson;
use super::endpoint_http::{EndpointAddress, EndpointFailure, HttpExchange, KeyMask, build_http_client};
use super::{Finish, LanguageModel, ModelError, ModelReply, ModelRequest, RequestedFormat, lenient_json};

#[cfg(test)]
#[path = "failure_tests.rs"]
mod failure_tests;

#[cfg(test)]
#[path = "wire_tests.rs"]
mod wire_tests;

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;

/// The address of a model and the settings of its requests.
#[derive(Debug, Clone)]
pub struct ChatEndpoint {
    /// The URL before `/chat/completions`, such as `https://api.openai.com/v1`, without user and password.
    pub base_url: String,
    /// The model's name, as the endpoint knows it.
    pub model: String,
    /// The key, sent as a bearer token; without one, no such header is sent.
    pub key: Option<SecretString>,
    /// The time limit for one exchange, from the connection to the last byte.
    pub attempt_timeout: Duration,
    /// The most bytes that are read of an answer.
    pub max_reply_bytes: u64,
    /// The sampling temperature; the endpoint's own default if `None`.
    pub temperature: Option<f64>,
}

/// A model behind an endpoint. One model request is one HTTP request; only if the endpoint names a parameter that it
/// does not accept is the request sent again without it, once for each such parameter and client. A rejected request
/// was not answered and is not billed, so one permission covers both.
pub struct OpenAiModel {
    client: Client<EndpointAddress>,
    model: String,
    temperature: Option<f64>,
    mask: Arc<KeyMask>,
    /// The parameters that the endpoint has said it does not accept.
    refuses_max_tokens: AtomicBool,
    refuses_temperature: AtomicBool,
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("model", &self.model)
            .field("base_url", &self.client.config().api_base())
            .finish_non_exhaustive()
    }
}

impl OpenAiModel {
    /// Checks the endpoint's settings; sends nothing yet.
    pub fn new(endpoint: ChatEndpoint) -> Result<Self, ModelError> {
        let ChatEndpoint { base_url, model, key, attempt_timeout, max_reply_bytes, temperature } = endpoint;
        if temperature.is_some_and(|temperature| !temperature.is_finite() || temperature < 0.0) {
            return Err(ModelError::Misconfigured { why: "the temperature is no number from 0 on".to_owned() });
        }
        let address = EndpointAddress::new(&base_url, key.as_ref())?;
        let mask = Arc::new(KeyMask::new(key));
        let http = build_http_client(&address, &mask)?;
        let exchange = HttpExchange {
            http: http.clone(),
            timeout: attempt_timeout,
            max_bytes: max_reply_bytes,
            mask: Arc::clone(&mask),
            read: normalize_reply_body,
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

    fn current_dialect(&self) -> RequestDialect {
        RequestDialect {
            max_tokens: !self.refuses_max_tokens.load(Ordering::Relaxed),
            temperature: self.temperature.filter(|_| !self.refuses_temperature.load(Ordering::Relaxed)),
        }
    }

    /// Remembers the parameters that had to be left out. Only an answer proves that they were the cause.
    fn remember_dialect(&self, answered: RequestDialect) {
        if !answered.max_tokens {
            self.refuses_max_tokens.store(true, Ordering::Relaxed);
        }
        if answered.temperature.is_none() {
            self.refuses_temperature.store(true, Ordering::Relaxed);
        }
    }
}

#[async_trait]
impl LanguageModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.model
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut dialect = self.current_dialect();
        loop {
            let body = chat_request::build_request_body(&self.model, request, dialect);
            match self.client.chat().create_byot::<SchemaOrderedJson<'_>, ModelReply>(SchemaOrderedJson(&body)).await {
                Ok(reply) => {
                    self.remember_dialect(dialect);
                    return Ok(with_printed_calls(reply, &request.form));
                }
                Err(error) => {
                    let fault = EndpointFailure::from_client(error, &self.mask);
                    let other = fault.refused.and_then(|refused| dialect.without_parameter(refused));
                    dialect = other.ok_or(fault.error)?;
                    tracing::debug!(model = %self.model, refused = ?fault.refused, "asked again in another form");
                }
            }
        }
    }
}

/// Converts the body into JSON of our own [`ModelReply`], which async-openai then reads.
fn normalize_reply_body(body: Vec<u8>, is_stream: bool, mask: &KeyMask) -> Result<Vec<u8>, EndpointFailure> {
    let reply = chat_reply::read_reply(&body, is_stream, mask)?;
    let unreadable =
        |error: serde_json::Error| ModelError::Unreadable { why: mask.sanitize_message(&error.to_string()) };
    Ok(serde_json::to_vec(&reply).map_err(unreadable)?)
}

/// Adds calls from the text, because some endpoints return a call as the words that the model wrote.
fn with_printed_calls(mut reply: ModelReply, form: &RequestedFormat) -> ModelReply {
    if let RequestedFormat::Tools(tools) = form
        && reply.calls.is_empty()
    {
        reply.calls = lenient_json::find_printed_calls(&reply.text, tools);
        if !reply.calls.is_empty() && reply.finish != Finish::Length {
            reply.finish = Finish::ToolCalls;
        }
    }
    reply
}
