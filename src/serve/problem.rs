//! What a client is told when something is not done: `application/problem+json`, with the next step in it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::desk::{Fault, Refusal};

/// What is wrong, and whose turn it is.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    hint: Option<String>,
    /// After so many seconds the same may do.
    retry_after: Option<u64>,
}

/// The same as it is written.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProblemBody {
    /// Always `about:blank`: the status says it all.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: String,
    /// The status.
    status: u16,
    /// What is wrong with which thing.
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), hint: None, retry_after: None }
    }

    /// The question makes no sense.
    pub(crate) fn question(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Which status, what is wrong with which thing, and what to do next: for whoever does not speak HTTP.
    pub(super) fn told(&self) -> (StatusCode, &str, Option<&str>) {
        (self.status, &self.detail, self.hint.as_deref())
    }

    pub(crate) fn after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.fault() {
            Fault::Question => StatusCode::UNPROCESSABLE_ENTITY,
            Fault::Missing => StatusCode::NOT_FOUND,
            Fault::State => StatusCode::CONFLICT,
            Fault::Busy | Fault::Machine => StatusCode::SERVICE_UNAVAILABLE,
            Fault::Ours => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(error = %refusal, "a request could not be served");
        }
        Self { status, detail: refusal.to_string(), hint: refusal.hint(), retry_after: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemBody {
            kind: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Refused").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
            hint: self.hint,
        };
        let bytes = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = (self.status, bytes).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
