//! One HTTP request and its reply, read under a limit of time and of bytes.

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

use super::address::EndpointAddress;
use super::refusal_kind::{EndpointFailure, root_cause};
use super::retry_after::read_retry_after;
use super::safe_text::KeyMask;
use crate::model::ModelError;

/// The most bytes that are read of a refusal.
const MAX_REFUSAL_BYTES: u64 = 64 * 1024;

/// A function that turns the body of a success into what async-openai reads. The flag says whether the body claims to
/// be a stream.
pub(in crate::model) type Read = fn(Vec<u8>, bool, &KeyMask) -> Result<Vec<u8>, EndpointFailure>;

/// A replacement for the network layer of async-openai. It returns a response only if there is an answer, with a body
/// that async-openai can always read. Everything else is an [`EndpointFailure`].
#[derive(Debug, Clone)]
pub(in crate::model) struct HttpExchange {
    pub(in crate::model) http: Client,
    /// The time limit, from the connection to the last byte.
    pub(in crate::model) timeout: Duration,
    /// The most bytes that are read of an answer.
    pub(in crate::model) max_bytes: u64,
    pub(in crate::model) mask: Arc<KeyMask>,
    pub(in crate::model) read: Read,
}

impl tower::Service<HttpRequestFactory> for HttpExchange {
    type Response = Response;
    type Error = EndpointFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Response, EndpointFailure>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), EndpointFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        let exchange = self.clone();
        Box::pin(async move {
            let timed_out = || ModelError::TimedOut { after: exchange.timeout };
            let body = tokio::time::timeout(exchange.timeout, exchange.fetch_reply(request))
                .await
                .map_err(|_| timed_out())??;
            Ok(http::Response::new(body).into())
        })
    }
}

impl HttpExchange {
    async fn fetch_reply(&self, request: HttpRequestFactory) -> Result<Vec<u8>, EndpointFailure> {
        let request = request.build().await.map_err(|error| EndpointFailure::from_client(error, &self.mask))?;
        let mut response =
            self.http.execute(request).await.map_err(|error| EndpointFailure::from_http(error, &self.mask))?;
        let status = response.status();
        if status.is_success() {
            let is_stream = header_text(&response, CONTENT_TYPE.as_str()).starts_with("text/event-stream");
            let body = self.read_whole_body(&mut response).await?;
            return (self.read)(body, is_stream, &self.mask);
        }
        if status.is_redirection() {
            // The other server would receive the key and the request.
            let to = header_text(&response, LOCATION.as_str());
            let said =
                self.mask.sanitize_message(&format!("it redirects to {to}; set the base URL to where that leads"));
            return Err(ModelError::NotFound { said }.into());
        }
        let wait = read_retry_after(response.headers());
        let body = read_refusal(&mut response).await;
        Err(EndpointFailure::from_status(status, wait, &String::from_utf8_lossy(&body), &self.mask))
    }

    async fn read_whole_body(&self, response: &mut Response) -> Result<Vec<u8>, EndpointFailure> {
        let oversized = || EndpointFailure::from(ModelError::Oversized { max_bytes: self.max_bytes });
        if response.content_length().is_some_and(|length| length > self.max_bytes) {
            return Err(oversized());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| EndpointFailure::from_http(error, &self.mask))? {
            if byte_length(&body).saturating_add(byte_length(&chunk)) > self.max_bytes {
                return Err(oversized());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

/// Reads the beginning of a refusal, or as much of it as arrives: the status alone says enough.
async fn read_refusal(response: &mut Response) -> Vec<u8> {
    let mut body = Vec::new();
    while byte_length(&body) < MAX_REFUSAL_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body
}

fn byte_length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn header_text<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Builds a client for one endpoint: no redirects, no retries of its own, no proxy for this machine.
pub(in crate::model) fn build_http_client(address: &EndpointAddress, mask: &KeyMask) -> Result<Client, ModelError> {
    let unusable = |error: &dyn Error| ModelError::Misconfigured { why: mask.sanitize_message(&root_cause(error)) };
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("archivist/", env!("CARGO_PKG_VERSION")));
    if address.is_loopback() {
        builder = builder.no_proxy();
    }
    if address.is_loopback() && !address.is_https() {
        // A machine without any certificates can still use a local model.
        let bare = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        builder = builder.tls_backend_preconfigured(bare);
    } else if CryptoProvider::get_default().is_none() {
        // Without a provider, reqwest panics. If another thread installs one first, that is as good.
        let _ = ring::default_provider().install_default();
    }
    builder.build().map_err(|error| unusable(&error))
}
