//! One request, one reply: sent, read under a limit of time and of bytes, and understood.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, redirect};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};

use super::address::Address;
use super::fault::{Fault, root_cause};
use super::patience::retry_after;
use super::said::Mask;
use crate::model::ModelError;

/// A refusal has no more words than this.
const MAX_REFUSAL_BYTES: u64 = 64 * 1024;

/// Makes of the body of a success what async-openai is given. Whether it claims to be a stream is said beside it.
pub(in crate::model) type Read = fn(Vec<u8>, bool, &Mask) -> Result<Vec<u8>, Fault>;

/// The part of async-openai that talks to the network, replaced. It gives back a response only when there is an answer,
/// with a body that async-openai can always read. Everything else is a [`Fault`].
#[derive(Debug, Clone)]
pub(in crate::model) struct Exchange {
    pub(in crate::model) http: Client,
    /// From the connection to the last byte.
    pub(in crate::model) timeout: Duration,
    /// The most that is read of an answer.
    pub(in crate::model) max_bytes: u64,
    pub(in crate::model) mask: Arc<Mask>,
    pub(in crate::model) read: Read,
}

impl tower::Service<HttpRequestFactory> for Exchange {
    type Response = Response;
    type Error = Fault;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Fault>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let exchange = self.clone();
        Box::pin(async move {
            let timed_out = || ModelError::TimedOut { after: exchange.timeout };
            let body =
                tokio::time::timeout(exchange.timeout, exchange.reply(request)).await.map_err(|_| timed_out())??;
            Ok(http::Response::new(body).into())
        })
    }
}

impl Exchange {
    async fn reply(&self, request: HttpRequestFactory) -> Result<Vec<u8>, Fault> {
        let request = request.build().await.map_err(|error| Fault::from_client(error, &self.mask))?;
        let mut response = self.http.execute(request).await.map_err(|error| Fault::from_http(error, &self.mask))?;
        let status = response.status();
        if status.is_success() {
            let is_stream = header(&response, CONTENT_TYPE.as_str()).starts_with("text/event-stream");
            let body = self.whole_body(&mut response).await?;
            return (self.read)(body, is_stream, &self.mask);
        }
        if status.is_redirection() {
            // Whoever answers there would get the key and the question.
            let to = header(&response, LOCATION.as_str());
            let said = self.mask.said(&format!("it redirects to {to}; set the base URL to where that leads"));
            return Err(ModelError::NotFound { said }.into());
        }
        let wait = retry_after(response.headers());
        let body = refusal(&mut response).await;
        Err(Fault::from_status(status, wait, &String::from_utf8_lossy(&body), &self.mask))
    }

    async fn whole_body(&self, response: &mut Response) -> Result<Vec<u8>, Fault> {
        let oversized = || Fault::from(ModelError::Oversized { max_bytes: self.max_bytes });
        if response.content_length().is_some_and(|length| length > self.max_bytes) {
            return Err(oversized());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| Fault::from_http(error, &self.mask))? {
            if length(&body).saturating_add(length(&chunk)) > self.max_bytes {
                return Err(oversized());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// The beginning of a refusal, or as much of it as came: the status alone says enough.
async fn refusal(response: &mut Response) -> Vec<u8> {
    let mut body = Vec::new();
    while length(&body) < MAX_REFUSAL_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn header<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A client for one endpoint: no redirects, no retries of its own, no proxy to this very machine.
pub(in crate::model) fn http_client(address: &Address, mask: &Mask) -> Result<Client, ModelError> {
    let unusable = |error: &dyn Error| ModelError::Misconfigured { why: mask.said(&root_cause(error)) };
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("archivist/", env!("CARGO_PKG_VERSION")));
    if address.is_loopback() {
        builder = builder.no_proxy();
    }
    if address.is_loopback() && !address.is_https() {
        // A machine without any certificates can still ask a model of its own.
        let bare = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(bare);
    } else if CryptoProvider::get_default().is_none() {
        // Without one, reqwest panics. If somebody else is just now faster, theirs is as good.
        let _ = ring::default_provider().install_default();
    }
    builder.build().map_err(|error| unusable(&error))
}
