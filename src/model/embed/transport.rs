//! The one place here that speaks HTTP: JSON out, JSON back, within a time and a size.

use std::fmt;
use std::time::Duration;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;
use serde_json::Value;
use tower::BoxError;

use super::EmbedError;
use crate::model::ModelError;
use crate::model::place::place;

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;

/// Sixty-four vectors of four thousand numbers, written out, are a fifth of this.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;

/// As much of an endpoint's complaint as is passed on.
const SAID_CHARACTERS: usize = 200;

/// A way to an endpoint.
#[derive(Clone)]
pub struct Transport {
    client: Client<Address>,
    shown: String,
    timeout: Duration,
}

/// The address itself may hold a password.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("to", &self.shown).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Where the endpoint is and how to be let in. Nothing is read from the environment.
#[derive(Clone)]
struct Address {
    base: String,
    key: SecretString,
    headers: HeaderMap,
}

impl Config for Address {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

impl Transport {
    /// A way to the endpoint below `base`, such as `http://localhost:11434/v1`. An empty key is not sent.
    pub fn new(base: &str, key: SecretString, timeout: Duration) -> Result<Self, EmbedError> {
        let shown = place(base);
        let unfit = |why: &str| EmbedError::Address { endpoint: shown.clone(), why: why.to_owned() };
        let url = Url::parse(base).map_err(|error| unfit(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unfit("it is not http or https"));
        }
        let mut headers = HeaderMap::new();
        if !key.expose_secret().is_empty() {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
                .map_err(|_| unfit("the key has characters that no key has"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        if CryptoProvider::get_default().is_none() {
            // Somebody else may have been quicker; then it is theirs.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        // A redirected question would take the texts to a place that nobody configured.
        let http = reqwest::Client::builder().redirect(Policy::none()).retry(reqwest::retry::never()).build();
        let http = http.map_err(|error| unfit(&error.to_string()))?;
        let (unused, hidden) = (http.clone(), key.clone());
        let service = tower::service_fn(move |factory: HttpRequestFactory| {
            let (http, hidden) = (http.clone(), hidden.clone());
            async move { send(&http, factory, &hidden).await.map_err(BoxError::from) }
        });
        let address = Address { base: base.trim_end_matches('/').to_owned(), key, headers };
        let client = Client::build(unused, address).with_http_service(service);
        Ok(Self { client, shown, timeout })
    }

    /// The address, without anything secret.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Asks `/embeddings` once.
    pub(super) async fn post(&self, body: Value) -> Result<Value, ModelError> {
        let embeddings = self.client.embeddings();
        let answer = tokio::time::timeout(self.timeout, embeddings.create_byot(body)).await;
        answer.map_err(|_| ModelError::TimedOut { after: self.timeout })?.map_err(unwrapped)
    }
}

/// Our own errors come back in the client's box.
fn unwrapped(error: OpenAIError) -> ModelError {
    match error {
        OpenAIError::Boxed(error) => match error.downcast::<ModelError>() {
            Ok(error) => *error,
            Err(error) => ModelError::Connection { said: one_line(&error.to_string()) },
        },
        OpenAIError::JSONDeserialize(error, _) => ModelError::Unreadable { why: error.to_string() },
        other => ModelError::Connection { said: one_line(&other.to_string()) },
    }
}

/// Sends a question and reads the whole answer, so that what the client gets is short, JSON and a success.
async fn send(http: &reqwest::Client, factory: HttpRequestFactory, key: &SecretString) -> Result<Response, ModelError> {
    let request =
        factory.build().await.map_err(|error| ModelError::Unreadable { why: one_line(&error.to_string()) })?;
    let mut response = http.execute(request).await.map_err(|error| connection(&error))?;
    let (status, retry_after) = (response.status(), retry_after(response.headers()));
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| connection(&error))? {
        if body.len() + chunk.len() > MAX_REPLY_BYTES {
            return Err(ModelError::Oversized { max_bytes: u64::try_from(MAX_REPLY_BYTES).unwrap_or(u64::MAX) });
        }
        body.extend_from_slice(&chunk);
    }
    if !status.is_success() {
        return Err(refused(status, retry_after, said(&body, key)));
    }
    serde_json::from_slice::<IgnoredAny>(&body)
        .map_err(|error| ModelError::Unreadable { why: format!("it is not JSON ({error})") })?;
    Ok(Response::from(http::Response::new(body)))
}

/// Without the address, which may hold a password.
fn connection(error: &reqwest::Error) -> ModelError {
    let mut source = std::error::Error::source(error);
    let mut said = if error.is_connect() { "no connection".to_owned() } else { "the connection broke off".to_owned() };
    while let Some(cause) = source {
        if cause.source().is_none() {
            said = format!("{said} ({cause})");
        }
        source = cause.source();
    }
    ModelError::Connection { said: one_line(&said) }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// What a status that is no success means.
fn refused(status: StatusCode, retry_after: Option<Duration>, said: String) -> ModelError {
    match status.as_u16() {
        status @ (401 | 403) => ModelError::Unauthorized { status, said },
        404 => ModelError::NotFound { said },
        429 => ModelError::RateLimited { retry_after, said },
        status @ (408 | 409 | 500..) => ModelError::Server { status, retry_after, said },
        status => ModelError::BadRequest { status, said },
    }
}

/// What the endpoint says went wrong: the message in its JSON, or the beginning of whatever it sent.
fn said(body: &[u8], key: &SecretString) -> String {
    let message = serde_json::from_slice::<Value>(body).ok().and_then(|body| {
        let places = ["/error/message", "/error", "/message", "/detail"];
        places.into_iter().find_map(|place| body.pointer(place).and_then(Value::as_str).map(str::to_owned))
    });
    let (start, _) = body.split_at_checked(4 * SAID_CHARACTERS).unwrap_or((body, &[]));
    let said = message.unwrap_or_else(|| String::from_utf8_lossy(start).into_owned());
    let key = key.expose_secret();
    one_line(&if key.is_empty() { said } else { said.replace(key, "[key]") })
}

/// A short text without line ends and other controls.
pub(super) fn one_line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain
        .take(4 * SAID_CHARACTERS)
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(SAID_CHARACTERS)
        .collect()
}
