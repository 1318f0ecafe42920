//! `archivist serve` and `archivist mcp`: the memory for panels, programs and agents.
//!
//! `access.rs` decides who may ask, `limits.rs` how much; `api/` answers requests, `events/` sends events, `panel.rs`
//! is the web page, `mcp/` serves agents, here and over a pipe. `endpoint.rs` builds the routes and their documentation
//! from one table.

mod access;
mod api;
mod connections;
mod endpoint;
mod events;
mod extractors;
mod limits;
mod mcp;
mod metrics;
mod panel;
mod problem_response;
mod request_guard;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use axum::routing::get;
use axum::{Router, middleware};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::endpoint::ApiEndpoint;
use self::events::EventHub;
use self::limits::RequestLimiter;
use self::metrics::ServerMetrics;
use self::problem_response::HttpProblem;
use archivist_core::domain::Timestamp;
use archivist_core::memory::MemoryError;
use archivist_core::service::{Archivist, RequestError};

pub use self::access::{AccessPolicy, MissingTokenError, WriteAccess};
pub use self::limits::ServerLimits;
pub use self::mcp::serve_mcp;

/// Starts a worker that outlives the request that needs it.
pub type StartWorker = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

/// The shared state that a server answers from.
pub struct ServerState {
    archivist: Archivist,
    access: AccessPolicy,
    limits: RequestLimiter,
    metrics: ServerMetrics,
    hub: EventHub,
    start_worker: StartWorker,
    /// Holds `true` once the server is to stop.
    ending: watch::Sender<bool>,
}

impl std::fmt::Debug for ServerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerState")
            .field("archivist", &self.archivist)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}

impl ServerState {
    /// Creates the state of a server; [`run_server`] runs it.
    pub fn new(
        archivist: Archivist,
        (access, bounds): (AccessPolicy, ServerLimits),
        start_worker: StartWorker,
    ) -> Arc<Self> {
        Arc::new(Self {
            hub: EventHub::new(archivist.event_feed()),
            archivist,
            access,
            limits: RequestLimiter::new(bounds),
            metrics: ServerMetrics::default(),
            start_worker,
            ending: watch::Sender::new(false),
        })
    }

    fn now(&self) -> Timestamp {
        self.archivist.now()
    }

    /// Waits until the server is to stop.
    async fn wait_for_shutdown(&self) {
        // The sender lives as long as this value, so waiting cannot fail early.
        let _ = self.ending.subscribe().wait_for(|is_ending| *is_ending).await;
    }

    /// Runs work that blocks, such as file access, without delaying other requests.
    async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, HttpProblem> {
        let served = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&served)).await;
        done.map_err(|error| RequestError::from(MemoryError::Interrupted(error.to_string())).into())
    }
}

/// Serves clients until `stop` is done, then lets running requests finish.
pub async fn run_server(
    listener: TcpListener,
    served: Arc<ServerState>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let watching = tokio::spawn(events::watch_changes(Arc::clone(&served)));
    let mut stop = pin!(stop);
    // From here on a request to stop is noticed, before any client is answered.
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = served.hub.wait_until_started() => {}
    }
    let routes = build_router(Arc::clone(&served));
    let done = connections::accept_connections(listener, routes, &served, stop).await;
    watching.abort();
    done
}

/// Returns the OpenAPI document of the API.
pub fn openapi_document() -> Value {
    endpoint::build_document(&all_endpoints())
}

fn all_endpoints() -> Vec<ApiEndpoint> {
    api::api_endpoints().into_iter().chain(events::event_endpoints()).collect()
}

fn build_router(served: Arc<ServerState>) -> Router {
    let described = openapi_document();
    let openapi = get(move || async move { extractors::JsonAnswer(described) });
    let routes = endpoint::endpoint_router(all_endpoints())
        .route("/v1/openapi.json", openapi)
        .route("/metrics", get(metrics::show_metrics))
        .merge(mcp::mcp_router(&served))
        .merge(panel::panel_router());
    routes
        .fallback(request_guard::path_not_found)
        .method_not_allowed_fallback(request_guard::method_not_allowed)
        .layer(axum::extract::DefaultBodyLimit::max(served.limits.bounds.body_bytes))
        .layer(middleware::from_fn_with_state(Arc::clone(&served), request_guard::guard_request))
        .with_state(served)
}
