//! What happens, told to everybody who listens: as a stream of events, or over a WebSocket.
//!
//! `hub.rs` looks at the feed and at the memory several times a second, or when a server says that there is something new,
//! and keeps the last events; every listener goes through them at its own pace. One that is too slow misses some and is told how many. Nobody waits for anybody.

mod hub;
mod socket;
mod stream;

use axum::http::{HeaderMap, Method};
use axum::routing::get;
use schemars::JsonSchema;
use serde::Deserialize;

use super::endpoint::Endpoint;

pub(super) use hub::{Hub, watch};

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/v1/events", "What happens, as server-sent events", get(stream::listen))
            .asks::<Since>()
            .answers_as(200, "Events, one after the other, for as long as the client listens", "text/event-stream"),
        Endpoint::new(Method::GET, "/v1/events/socket", "What happens, over a WebSocket", get(socket::listen))
            .asks::<Since>()
            .switches("Messages, one after the other"),
    ]
}

/// From where on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Since {
    /// Everything that is still known behind the event of this id; 0 for all of it. Without it, what happens from now
    /// on.
    after: Option<u64>,
}

impl Since {
    /// What a browser that comes back says in a header wins: it has seen more since it first asked.
    fn position(&self, headers: &HeaderMap) -> Option<u64> {
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.trim().parse().ok());
        last.or(self.after)
    }
}
