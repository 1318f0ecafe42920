//! What every request passes: is it taken in, may it be made, how long may it take, what became of it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Served;
use super::access::{Wish, is_reading};
use super::panel::POLICY;
use super::problem::Problem;

/// Requests that stay open for as long as their client listens.
const LASTING: [&str; 3] = ["/v1/events", "/v1/events/socket", "/mcp"];

/// Requests that read, although they come with a body.
const ASKING: [&str; 2] = ["/v1/recall", "/mcp"];

/// What browsers are to know of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn guard(State(served): State<Arc<Served>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
    let mut response = passed(&served, request, next).await.unwrap_or_else(IntoResponse::into_response);
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if is_chunked {
        // Where its body ends is not for us to guess.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    served.metrics.count(route.as_deref(), response.status().as_u16(), began.elapsed());
    response
}

async fn passed(served: &Arc<Served>, request: Request, next: Next) -> Result<Response, Problem> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    served.limits.admit(peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), Instant::now())?;
    let path = request.uri().path().to_owned();
    let (parts, body) = request.into_parts();
    let wish = match path.as_str() {
        "/" | "/v1/health" => Wish::Public,
        path if path.starts_with("/panel/") => Wish::Public,
        path if is_reading(&parts.method) || ASKING.contains(&path) => Wish::Read,
        _ => Wish::Write,
    };
    served.access.check(&parts, wish)?;
    let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let most = u64::try_from(served.limits.bounds.body_bytes).unwrap_or(u64::MAX);
    if length.is_some_and(|length| length > most) {
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long")
            .with_hint("`serve.maxBodyBytes` says how long a request may be"));
    }
    let answer = next.run(Request::from_parts(parts, body));
    if LASTING.contains(&path.as_str()) {
        return Ok(answer.await);
    }
    tokio::time::timeout(served.limits.bounds.patience, answer).await.map_err(|_| {
        Problem::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")
            .with_hint("`serve.timeoutSeconds` says how long it may take")
    })
}

/// There is nothing at this path.
pub(super) async fn nowhere() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is nothing at this path")
        .with_hint("/v1/openapi.json lists what there is")
}

/// There is something at this path, for another method.
pub(super) async fn not_so() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes another method")
        .with_hint("/v1/openapi.json lists what there is")
}
