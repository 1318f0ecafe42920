//! Extractors for requests, which are strict: a misspelt name is an error and does not widen a query.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::problem_response::HttpProblem;
use archivist_core::domain::WordEnum;

/// The query parameters of a request.
#[derive(Debug)]
pub(super) struct QueryParams<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpProblem> {
        let query = parts.uri.query().unwrap_or_default();
        serde_urlencoded::from_str(query)
            .map(Self)
            .map_err(|error| HttpProblem::bad_request(format!("the question cannot be understood: {error}")))
    }
}

/// The JSON body of a request. An empty body counts as an empty object.
#[derive(Debug)]
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = HttpProblem;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpProblem> {
        let is_json = is_json(request.headers());
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            HttpProblem::new(rejection.status(), rejection.body_text())
                .with_hint("`serve.maxBodyBytes` says how long a request may be")
        })?;
        if body.is_empty() {
            return parse_body(b"{}");
        }
        // A form on another site cannot send JSON without a preflight request.
        if !is_json {
            return Err(HttpProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json"));
        }
        parse_body(&body)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    given.and_then(|given| given.split(';').next()).is_some_and(|kind| kind.trim() == "application/json")
}

fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<JsonBody<T>, HttpProblem> {
    serde_json::from_slice(body)
        .map(JsonBody)
        .map_err(|error| HttpProblem::bad_request(format!("the body cannot be understood: {error}")))
}

/// A JSON response.
#[derive(Debug)]
pub(super) struct JsonAnswer<T>(pub(super) T);

impl<T: Serialize> IntoResponse for JsonAnswer<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
            Err(error) => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                HttpProblem::new(status, format!("cannot write the answer as JSON: {error}")).into_response()
            }
        }
    }
}

/// A word that this version knows. Files may hold others; requests may not.
#[derive(Debug, Clone)]
pub(super) struct AcceptedWord<W>(pub(super) W);

impl<'de, W: WordEnum> Deserialize<'de> for AcceptedWord<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        W::parse_word(&word).map(Self).map_err(serde::de::Error::custom)
    }
}

impl<W: WordEnum> JsonSchema for AcceptedWord<W> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Known{}", std::any::type_name::<W>().rsplit("::").next().unwrap_or_default()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": W::ALL })
    }
}

/// Refuses a number outside the range.
pub(super) fn check_range(
    name: &str,
    number: Option<u32>,
    range: std::ops::RangeInclusive<u32>,
) -> Result<(), HttpProblem> {
    match number {
        Some(number) if !range.contains(&number) => {
            Err(HttpProblem::bad_request(format!("`{name}` is from {} to {}", range.start(), range.end())))
        }
        _ => Ok(()),
    }
}
