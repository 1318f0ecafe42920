//! A way to an endpoint that embeds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_openai::Client;
use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::EmbedError;
use crate::model::ModelError;
use crate::model::place::place;
use crate::model::wire::{Address, Exchange, Fault, Mask, http_client};

#[cfg(test)]
#[path = "transport_tests.rs"]
mod tests;

/// Sixty-four vectors of four thousand numbers, written out, are a fifth of this.
const MAX_REPLY_BYTES: u64 = 32 * 1024 * 1024;

/// A way to an endpoint.
#[derive(Clone)]
pub struct Transport {
    client: Client<Address>,
    mask: Arc<Mask>,
    shown: String,
}

/// What the address holds besides a place may be secret.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("to", &self.shown).finish_non_exhaustive()
    }
}

impl Transport {
    /// A way to the endpoint below `base`, such as `http://localhost:11434/v1`; `timeout` is for one question.
    pub fn new(base: &str, key: Option<SecretString>, timeout: Duration) -> Result<Self, EmbedError> {
        let shown = place(base);
        let unfit = |error: ModelError| EmbedError::Address { endpoint: shown.clone(), why: error.to_string() };
        let address = Address::new(base, key.as_ref()).map_err(unfit)?;
        let mask = Arc::new(Mask::new(key));
        let http = http_client(&address, &mask).map_err(unfit)?;
        let exchange = Exchange {
            http: http.clone(),
            timeout,
            max_bytes: MAX_REPLY_BYTES,
            mask: Arc::clone(&mask),
            read: as_json,
        };
        let client = Client::build(http, address).with_http_service(exchange);
        Ok(Self { client, mask, shown })
    }

    /// The address, without anything secret.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Asks `/embeddings` once.
    pub(super) async fn post(&self, body: Value) -> Result<Value, ModelError> {
        let answer = self.client.embeddings().create_byot(body).await;
        answer.map_err(|error| Fault::from_client(error, &self.mask).error)
    }

    /// What an endpoint said, fit to be shown.
    pub(super) fn said(&self, text: &str) -> String {
        self.mask.said(text)
    }
}

fn as_json(body: Vec<u8>, _: bool, mask: &Mask) -> Result<Vec<u8>, Fault> {
    let unreadable =
        |error: serde_json::Error| ModelError::Unreadable { why: mask.said(&format!("it is not JSON ({error})")) };
    serde_json::from_slice::<IgnoredAny>(&body).map_err(unreadable)?;
    Ok(body)
}
