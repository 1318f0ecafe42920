//! The HTTP connection to an embeddings endpoint.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_openai::Client;
use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::EmbedError;
use crate::model::ModelError;
use crate::model::endpoint_http::{EndpointAddress, EndpointFailure, HttpExchange, KeyMask, build_http_client};
use crate::model::public_address::public_address;

#[cfg(test)]
#[path = "http_transport_tests.rs"]
mod tests;

/// The largest reply that is read; sixty-four vectors of four thousand numbers, written out, take a fifth of this.
const MAX_REPLY_BYTES: u64 = 32 * 1024 * 1024;

/// A client for one embeddings endpoint.
#[derive(Clone)]
pub struct EmbeddingTransport {
    client: Client<EndpointAddress>,
    mask: Arc<KeyMask>,
    shown: String,
}

/// Shows the public address only, because the full one may contain secrets.
impl fmt::Debug for EmbeddingTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddingTransport").field("to", &self.shown).finish_non_exhaustive()
    }
}

impl EmbeddingTransport {
    /// Creates a client for the endpoint below `base`, such as `http://localhost:11434/v1`; `timeout` is for one
    /// request.
    pub fn new(base: &str, key: Option<SecretString>, timeout: Duration) -> Result<Self, EmbedError> {
        let shown = public_address(base);
        let unfit = |error: ModelError| EmbedError::Address { endpoint: shown.clone(), why: error.to_string() };
        let address = EndpointAddress::new(base, key.as_ref()).map_err(unfit)?;
        let mask = Arc::new(KeyMask::new(key));
        let http = build_http_client(&address, &mask).map_err(unfit)?;
        let exchange = HttpExchange {
            http: http.clone(),
            timeout,
            max_bytes: MAX_REPLY_BYTES,
            mask: Arc::clone(&mask),
            read: check_json_body,
        };
        let client = Client::build(http, address).with_http_service(exchange);
        Ok(Self { client, mask, shown })
    }

    /// Returns the address without anything secret.
    pub fn public_address(&self) -> &str {
        &self.shown
    }

    /// Sends one request to `/embeddings`.
    pub(super) async fn request_embeddings(&self, body: Value) -> Result<Value, ModelError> {
        let answer = self.client.embeddings().create_byot(body).await;
        answer.map_err(|error| EndpointFailure::from_client(error, &self.mask).error)
    }

    /// Returns an endpoint's message, made safe to show.
    pub(super) fn sanitize_message(&self, text: &str) -> String {
        self.mask.sanitize_message(text)
    }
}

fn check_json_body(body: Vec<u8>, _: bool, mask: &KeyMask) -> Result<Vec<u8>, EndpointFailure> {
    let unreadable = |error: serde_json::Error| ModelError::Unreadable {
        why: mask.sanitize_message(&format!("it is not JSON ({error})")),
    };
    serde_json::from_slice::<IgnoredAny>(&body).map_err(unreadable)?;
    Ok(body)
}
