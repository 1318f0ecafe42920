//! What requests bring, taken apart strictly: a misspelt name is an error, not a wider question.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::problem::Problem;
use crate::domain::Word;

/// Parameters behind the question mark.
#[derive(Debug)]
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        serde_urlencoded::from_str(query)
            .map(Self)
            .map_err(|error| Problem::question(format!("the question cannot be understood: {error}")))
    }
}

/// A body of JSON. An empty one is an empty object.
#[derive(Debug)]
pub(super) struct Said<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Said<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let is_json = is_json(request.headers());
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            Problem::new(rejection.status(), rejection.body_text())
                .with_hint("`serve.maxBodyBytes` says how long a request may be")
        })?;
        if body.is_empty() {
            return read(b"{}");
        }
        // Forms of foreign pages cannot send JSON without asking first.
        if !is_json {
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json"));
        }
        read(&body)
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    given.and_then(|given| given.split(';').next()).is_some_and(|kind| kind.trim() == "application/json")
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<Said<T>, Problem> {
    serde_json::from_slice(body)
        .map(Said)
        .map_err(|error| Problem::question(format!("the body cannot be understood: {error}")))
}

/// An answer as JSON.
#[derive(Debug)]
pub(super) struct Answer<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
            Err(error) => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Problem::new(status, format!("cannot write the answer as JSON: {error}")).into_response()
            }
        }
    }
}

/// A word that this version knows. Files may hold others; whoever asks now may not.
#[derive(Debug, Clone)]
pub(super) struct Known<W>(pub(super) W);

impl<'de, W: Word> Deserialize<'de> for Known<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        W::known(&word).map(Self).map_err(serde::de::Error::custom)
    }
}

impl<W: Word> JsonSchema for Known<W> {
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

/// Turns a number down that is too small or too large.
pub(super) fn within(name: &str, number: Option<u32>, range: std::ops::RangeInclusive<u32>) -> Result<(), Problem> {
    match number {
        Some(number) if !range.contains(&number) => {
            Err(Problem::question(format!("`{name}` is from {} to {}", range.start(), range.end())))
        }
        _ => Ok(()),
    }
}
