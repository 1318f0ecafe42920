//! The endpoint's address, and the headers of every request to it.

use std::net::IpAddr;

use async_openai::config::Config;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::model::ModelError;

/// A checked base URL with its key. async-openai's own configuration reads the environment and panics at a key with a
/// line break; this one does neither.
#[derive(Clone)]
pub(in crate::model) struct EndpointAddress {
    /// The URL without a slash at the end and without a query.
    base: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    key: SecretString,
    is_https: bool,
    is_loopback: bool,
}

impl EndpointAddress {
    pub(in crate::model) fn new(base_url: &str, key: Option<&SecretString>) -> Result<Self, ModelError> {
        // The messages never contain the URL: it may hold a password.
        let wrong = |why: &str| ModelError::Misconfigured { why: why.to_owned() };
        let mut url = Url::parse(base_url.trim()).map_err(|error| ModelError::Misconfigured {
            why: format!("the base URL is no URL ({error}); it looks like https://host/v1"),
        })?;
        let is_https = url.scheme() == "https";
        if !is_https && url.scheme() != "http" {
            return Err(wrong("the base URL begins with neither http:// nor https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("the base URL holds a user or a password; give the key on its own"));
        }
        if url.fragment().is_some() {
            return Err(wrong("the base URL has a `#` in it"));
        }
        let query = url.query_pairs().into_owned().collect();
        url.set_query(None);
        let is_loopback = url.host_str().is_some_and(is_loopback_host);
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let unfit = || wrong("the key is empty or has characters that no key has, such as a line break");
            if key.expose_secret().trim().is_empty() || !key.expose_secret().is_ascii() {
                return Err(unfit());
            }
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret())).map_err(|_| unfit())?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
            if !is_https && !is_loopback {
                tracing::warn!("the key goes to the endpoint unencrypted; use https");
            }
        }
        Ok(Self {
            base: url.as_str().trim_end_matches('/').to_owned(),
            query,
            headers,
            key: key.cloned().unwrap_or_else(|| SecretString::from(String::new())),
            is_https,
            is_loopback,
        })
    }

    pub(in crate::model) fn is_https(&self) -> bool {
        self.is_https
    }

    /// Returns true if the endpoint is on this machine.
    pub(in crate::model) fn is_loopback(&self) -> bool {
        self.is_loopback
    }
}

impl Config for EndpointAddress {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// Returns true if a host is this machine; `0.0.0.0` is often meant so.
fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().map(|it| it.to_canonical());
    address.is_ok_and(|address| address.is_loopback() || address.is_unspecified())
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
