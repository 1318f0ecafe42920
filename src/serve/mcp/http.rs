//! Agents over HTTP, behind the same guard as everybody else.
//!
//! There are no sessions. The server never speaks first, so a session would hold memory and nothing else; each request
//! stands for itself, and ends when it is answered, when its client is gone, or soon after the server is to end.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::{Caller, Mcp};
use crate::serve::Served;
use crate::serve::problem::Problem;

type Service = StreamableHttpService<Mcp, NeverSessionManager>;

/// `/mcp`.
pub(in crate::serve) fn router(served: &Arc<Served>) -> Router<Arc<Served>> {
    let mcp = Mcp { served: Arc::clone(served), caller: Caller::Remote };
    // Names and origins are the guard's business, which knows more of them.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(served.limits.bounds.body_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = Service::new(move || Ok(mcp.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new().route("/mcp", any(move |state, request| ask(service.clone(), state, request)))
}

/// A call may take as long as a reflection takes; its words may not.
async fn ask(service: Service, State(served): State<Arc<Served>>, request: Request) -> Result<Response, Problem> {
    let bounds = &served.limits.bounds;
    let (head, body) = request.into_parts();
    let bytes = tokio::time::timeout(bounds.patience, to_bytes(body, bounds.body_bytes)).await.map_err(|_| {
        Problem::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive")
            .with_hint("`serve.timeoutSeconds` says how long it may take")
    })?;
    let bytes = bytes.map_err(|error| {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the request cannot be read: {error}"))
            .with_hint("`serve.maxBodyBytes` says how long a request may be")
    })?;
    Ok(service.handle(Request::from_parts(head, Body::from(bytes))).await.into_response())
}
