//! MCP over HTTP, behind the same guard as all other requests.
//!
//! There are no MCP sessions. The server never speaks first, so a session would only hold memory; each request is
//! independent, and ends when it is answered, when its client is gone, or soon after the server is to stop.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::{McpCaller, McpServer};
use crate::ServerState;
use crate::problem_response::HttpProblem;

type Service = StreamableHttpService<McpServer, NeverSessionManager>;

/// Returns the router of `/mcp`.
pub(crate) fn mcp_router(served: &Arc<ServerState>) -> Router<Arc<ServerState>> {
    let mcp = McpServer { served: Arc::clone(served), caller: McpCaller::Remote };
    // Host names and origins are checked by the guard, which knows all of them.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(served.limits.bounds.body_bytes)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let service = Service::new(move || Ok(mcp.clone()), Arc::new(NeverSessionManager::default()), config);
    Router::new().route("/mcp", any(move |state, request| handle_request(service.clone(), state, request)))
}

/// Handles one request. A call may take as long as a reflection; receiving its body may not.
async fn handle_request(
    service: Service,
    State(served): State<Arc<ServerState>>,
    request: Request,
) -> Result<Response, HttpProblem> {
    let bounds = &served.limits.bounds;
    let (head, body) = request.into_parts();
    let bytes = tokio::time::timeout(bounds.patience, to_bytes(body, bounds.body_bytes)).await.map_err(|_| {
        HttpProblem::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive")
            .with_hint("`serve.timeoutSeconds` says how long it may take")
    })?;
    let bytes = bytes.map_err(|error| {
        HttpProblem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the request cannot be read: {error}"))
            .with_hint("`serve.maxBodyBytes` says how long a request may be")
    })?;
    Ok(service.handle(Request::from_parts(head, Body::from(bytes))).await.into_response())
}
