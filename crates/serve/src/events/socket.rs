//! Events over a WebSocket: one message for each event, in the format of the HUD of OpenAgents.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;

use super::EventsQuery;
use crate::ServerState;
use crate::extractors::QueryParams;
use crate::limits::ListenerSlot;
use crate::problem_response::HttpProblem;

/// The limit for messages from a listener, which is not expected to send any.
const MAX_HEARD_BYTES: usize = 4 * 1024;

/// The time after which a listener that does not take a message is dropped.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) async fn handle_socket(
    State(served): State<Arc<ServerState>>,
    QueryParams(since): QueryParams<EventsQuery>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) => {
            return HttpProblem::new(StatusCode::UPGRADE_REQUIRED, "this is for WebSockets")
                .with_hint("/v1/events tells the same as a stream")
                .into_response();
        }
    };
    let seat = match served.limits.reserve_listener_slot() {
        Ok(seat) => seat,
        Err(problem) => return problem.into_response(),
    };
    let after = since.start_position(&headers);
    let upgrade = upgrade.max_message_size(MAX_HEARD_BYTES).max_frame_size(MAX_HEARD_BYTES);
    upgrade.on_upgrade(move |socket| send_events(served, socket, after, seat))
}

async fn send_events(served: Arc<ServerState>, socket: WebSocket, after: Option<u64>, _seat: ListenerSlot) {
    let mut listener = served.hub.add_listener(after);
    let (mut to, mut from) = socket.split();
    loop {
        let events = tokio::select! {
            events = listener.next(&served.hub) => events,
            // Reading answers pings; any other message means that the client is done.
            heard = from.next() => match heard {
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Text(_))) => continue,
                _ => break,
            },
            () = served.wait_for_shutdown() => None,
        };
        let Some(events) = events else { break };
        for event in events {
            let message = Message::Text(event.data.as_ref().into());
            match timeout(PATIENCE, to.feed(message)).await {
                Ok(Ok(())) => {}
                _ => return,
            }
        }
        if !matches!(timeout(PATIENCE, to.flush()).await, Ok(Ok(()))) {
            return;
        }
    }
    // The client is gone, so a failed close does not matter.
    let _ = timeout(PATIENCE, to.close()).await;
}
