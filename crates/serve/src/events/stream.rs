//! Events as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::time::timeout;

use super::EventsQuery;
use super::hub::{EventListener, render_events};
use crate::ServerState;
use crate::extractors::QueryParams;
use crate::limits::ListenerSlot;
use crate::problem_response::HttpProblem;

/// The interval of keep-alive comments: proxies close silent connections, and a client that is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A listener, and the slot that it occupies.
struct SseStream {
    served: Arc<ServerState>,
    listener: EventListener,
    _seat: ListenerSlot,
    has_begun: bool,
}

pub(super) async fn handle_stream(
    State(served): State<Arc<ServerState>>,
    QueryParams(since): QueryParams<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let seat = served.limits.reserve_listener_slot()?;
    let listener = served.hub.add_listener(since.start_position(&headers));
    let listening = SseStream { served, listener, _seat: seat, has_begun: false };
    let pieces = stream::unfold(listening, |mut listening| async move {
        let piece = listening.next_chunk().await?;
        Some((Ok::<Bytes, Infallible>(piece), listening))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

impl SseStream {
    async fn next_chunk(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.has_begun, true) {
            // The client learns at once that it is connected.
            return Some(Bytes::from_static(b": listening\n\n"));
        }
        tokio::select! {
            heard = timeout(HEARTBEAT, self.listener.next(&self.served.hub)) => match heard {
                Ok(events) => events.map(|events| render_events(&events)),
                Err(_) => Some(Bytes::from_static(b": still here\n\n")),
            },
            () = self.served.wait_for_shutdown() => None,
        }
    }
}
