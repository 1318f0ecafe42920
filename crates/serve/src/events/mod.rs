//! Events for all listeners, as a stream of server-sent events or over a WebSocket.
//!
//! `hub.rs` polls the feed and the memory several times a second, or when a server notifies it, and keeps the last
//! events; every listener reads them at its own pace. A listener that is too slow misses events and is told how many.
//! No listener waits for another.

mod hub;
mod socket;
mod stream;

use axum::http::{HeaderMap, Method};
use axum::routing::get;
use schemars::JsonSchema;
use serde::Deserialize;

use super::endpoint::ApiEndpoint;

pub(super) use hub::{EventHub, watch_changes};

pub(super) fn event_endpoints() -> Vec<ApiEndpoint> {
    vec![
        ApiEndpoint::new(Method::GET, "/v1/events", "What happens, as server-sent events", get(stream::handle_stream))
            .with_query::<EventsQuery>()
            .with_other_response(
                200,
                "Events, one after the other, for as long as the client listens",
                "text/event-stream",
            ),
        ApiEndpoint::new(
            Method::GET,
            "/v1/events/socket",
            "What happens, over a WebSocket",
            get(socket::handle_socket),
        )
        .with_query::<EventsQuery>()
        .with_protocol_switch("Messages, one after the other"),
    ]
}

/// From where on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Since")]
pub(super) struct EventsQuery {
    /// Everything that is still known behind the event of this id; 0 for all of it. Without it, what happens from now
    /// on.
    after: Option<u64>,
}

impl EventsQuery {
    /// Returns the start position. The header of a browser that reconnects wins, because it is newer than the query.
    fn start_position(&self, headers: &HeaderMap) -> Option<u64> {
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.trim().parse().ok());
        last.or(self.after)
    }
}
