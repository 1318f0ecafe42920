//! The error response of the API: `application/problem+json`, with the next step in it.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use archivist_core::service::{RequestError, RequestFault};

/// A problem with a request, and the response that reports it.
#[derive(Debug)]
pub(crate) struct HttpProblem {
    status: StatusCode,
    detail: String,
    hint: Option<String>,
    /// The number of seconds after which the client may try again.
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
    /// The HTTP status code.
    status: u16,
    /// What is wrong with which thing.
    detail: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl HttpProblem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), hint: None, retry_after: None }
    }

    /// Returns the problem of an invalid request.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns status, detail and hint, for protocols other than HTTP.
    pub(super) fn as_parts(&self) -> (StatusCode, &str, Option<&str>) {
        (self.status, &self.detail, self.hint.as_deref())
    }

    pub(crate) fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }
}

impl From<RequestError> for HttpProblem {
    fn from(refusal: RequestError) -> Self {
        let status = match refusal.fault() {
            RequestFault::Question => StatusCode::UNPROCESSABLE_ENTITY,
            RequestFault::Missing => StatusCode::NOT_FOUND,
            RequestFault::State => StatusCode::CONFLICT,
            RequestFault::Busy | RequestFault::Machine => StatusCode::SERVICE_UNAVAILABLE,
            RequestFault::Ours => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(error = %refusal, "a request could not be served");
        }
        Self { status, detail: refusal.to_string(), hint: refusal.hint(), retry_after: None }
    }
}

impl IntoResponse for HttpProblem {
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
