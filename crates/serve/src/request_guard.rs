//! The middleware that every request passes: rate limit, access, time limit and metrics.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::ServerState;
use super::access::{Permission, is_read_method};
use super::panel::POLICY;
use super::problem_response::HttpProblem;

/// The paths of requests that stay open for as long as their client listens.
const LASTING: [&str; 3] = ["/v1/events", "/v1/events/socket", "/mcp"];

/// The paths of requests that only read, although they have a body.
const ASKING: [&str; 2] = ["/v1/recall", "/mcp"];

/// The routes of what only a person decides.
const DECIDING: [&str; 2] = ["/v1/lessons/{id}/approve", "/v1/lessons/{id}/promote"];

/// The security headers of every response.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(super) async fn guard_request(State(served): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
    let passed = pass_request(&served, route.as_deref(), request, next).await;
    let mut response = passed.unwrap_or_else(IntoResponse::into_response);
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if is_chunked {
        // The end of a chunked body is unknown here, so the connection cannot be reused.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    served.metrics.count_request(route.as_deref(), response.status().as_u16(), began.elapsed());
    response
}

async fn pass_request(
    served: &Arc<ServerState>,
    route: Option<&str>,
    request: Request,
    next: Next,
) -> Result<Response, HttpProblem> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    served.limits.admit_request(peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), Instant::now())?;
    let path = request.uri().path().to_owned();
    let (parts, body) = request.into_parts();
    let wanted = match path.as_str() {
        "/" | "/v1/health" => Permission::Public,
        path if path.starts_with("/panel/") => Permission::Public,
        path if is_read_method(&parts.method) || ASKING.contains(&path) => Permission::Read,
        _ if parts.method == Method::POST && route.is_some_and(|route| DECIDING.contains(&route)) => Permission::Decide,
        _ => Permission::Write,
    };
    served.access.check_request(&parts, wanted)?;
    let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let most = u64::try_from(served.limits.bounds.body_bytes).unwrap_or(u64::MAX);
    if length.is_some_and(|length| length > most) {
        return Err(HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long")
            .with_hint("`serve.maxBodyBytes` says how long a request may be"));
    }
    let answer = next.run(Request::from_parts(parts, body));
    if LASTING.contains(&path.as_str()) {
        return Ok(answer.await);
    }
    tokio::time::timeout(served.limits.bounds.patience, answer).await.map_err(|_| {
        HttpProblem::new(StatusCode::REQUEST_TIMEOUT, "the request took too long")
            .with_hint("`serve.timeoutSeconds` says how long it may take")
    })
}

/// Answers requests for a path that does not exist.
pub(super) async fn path_not_found() -> HttpProblem {
    HttpProblem::new(StatusCode::NOT_FOUND, "there is nothing at this path")
        .with_hint("/v1/openapi.json lists what there is")
}

/// Answers requests with a method that the path does not support.
pub(super) async fn method_not_allowed() -> HttpProblem {
    HttpProblem::new(StatusCode::METHOD_NOT_ALLOWED, "this path takes another method")
        .with_hint("/v1/openapi.json lists what there is")
}
