//! `archivist serve` and `archivist mcp`: the memory for panels, programs and agents.
//!
//! `access.rs` decides who may ask, `limits.rs` how much; `api/` answers, `events/` tells what happens, `panel.rs` is the
//! page that shows it, `mcp/` is what agents ask by, here and over a pipe. `endpoint.rs` makes the routes and their
//! documentation of one table.

mod access;
mod api;
mod connect;
mod endpoint;
mod events;
mod extract;
mod guard;
mod limits;
mod mcp;
mod metrics;
mod panel;
mod problem;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::routing::get;
use axum::{Router, middleware};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::endpoint::Endpoint;
use self::events::Hub;
use self::limits::Limits;
use self::metrics::Metrics;
use self::problem::Problem;
use crate::desk::{Desk, Refusal};
use crate::domain::{IdSource, Timestamp};
use crate::memory::MemoryError;
use crate::service::{ArchivistService, Clock};

pub use self::access::{Access, NoToken, Writes};
pub use self::limits::Bounds;
pub use self::mcp::converse;

/// Starts a worker that outlives the request which needs one.
pub type StartWorker = Box<dyn Fn() -> io::Result<()> + Send + Sync>;

/// What a server answers from.
pub struct Served {
    desk: Desk,
    service: ArchivistService,
    clock: Clock,
    ids: IdSource,
    access: Access,
    limits: Limits,
    metrics: Metrics,
    hub: Hub,
    start_worker: StartWorker,
    /// Holds `true` once the server is to end.
    ending: watch::Sender<bool>,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("desk", &self.desk).field("access", &self.access).finish_non_exhaustive()
    }
}

impl Served {
    /// Puts a server together; [`serve`] runs it.
    pub fn new(
        desk: Desk,
        service: ArchivistService,
        (clock, ids): (Clock, IdSource),
        (access, bounds): (Access, Bounds),
        start_worker: StartWorker,
    ) -> Arc<Self> {
        Arc::new(Self {
            hub: Hub::new(desk.feed()),
            desk,
            service,
            clock,
            ids,
            access,
            limits: Limits::new(bounds),
            metrics: Metrics::default(),
            start_worker,
            ending: watch::Sender::new(false),
        })
    }

    /// Gives displays a moment to take what is still on its way to them.
    pub async fn finish(&self, patience: Duration) {
        self.service.finish(patience).await;
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Done once the server is to end.
    async fn ending(&self) {
        // The sender lives as long as this does, so there is always somebody to wait for.
        let _ = self.ending.subscribe().wait_for(|is_ending| *is_ending).await;
    }

    /// Files block, and requests of others must not wait for them.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let served = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&served)).await;
        done.map_err(|error| Refusal::from(MemoryError::Interrupted(error.to_string())).into())
    }
}

/// Serves whoever comes until `stop` is done; then lets requests under way come to their end.
pub async fn serve(listener: TcpListener, served: Arc<Served>, stop: impl Future<Output = ()>) -> io::Result<()> {
    let watching = tokio::spawn(events::watch(Arc::clone(&served)));
    let mut stop = pin!(stop);
    // Whoever wants it to end is heard from here on, before anybody is answered.
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = served.hub.begun() => {}
    }
    let routes = router(Arc::clone(&served));
    let done = connect::accept(listener, routes, &served, stop).await;
    watching.abort();
    done
}

/// The OpenAPI document of the API.
pub fn document() -> Value {
    endpoint::document(&endpoints())
}

fn endpoints() -> Vec<Endpoint> {
    api::endpoints().into_iter().chain(events::endpoints()).collect()
}

fn router(served: Arc<Served>) -> Router {
    let described = document();
    let openapi = get(move || async move { extract::Answer(described) });
    let routes = endpoint::router(endpoints())
        .route("/v1/openapi.json", openapi)
        .route("/metrics", get(metrics::show))
        .merge(mcp::router(&served))
        .merge(panel::router());
    routes
        .fallback(guard::nowhere)
        .method_not_allowed_fallback(guard::not_so)
        .layer(axum::extract::DefaultBodyLimit::max(served.limits.bounds.body_bytes))
        .layer(middleware::from_fn_with_state(Arc::clone(&served), guard::guard))
        .with_state(served)
}
