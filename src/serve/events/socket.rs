//! The same over a WebSocket: one message for each event, as the HUD of OpenAgents takes them.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;

use super::Since;
use crate::serve::Served;
use crate::serve::extract::Asked;
use crate::serve::limits::Seat;
use crate::serve::problem::Problem;

/// A listener has nothing to say.
const MAX_HEARD_BYTES: usize = 4 * 1024;

/// A listener that takes longer for a message is gone.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) async fn listen(
    State(served): State<Arc<Served>>,
    Asked(since): Asked<Since>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) => {
            return Problem::new(StatusCode::UPGRADE_REQUIRED, "this is for WebSockets")
                .with_hint("/v1/events tells the same as a stream")
                .into_response();
        }
    };
    let seat = match served.limits.seat() {
        Ok(seat) => seat,
        Err(problem) => return problem.into_response(),
    };
    let after = since.position(&headers);
    let upgrade = upgrade.max_message_size(MAX_HEARD_BYTES).max_frame_size(MAX_HEARD_BYTES);
    upgrade.on_upgrade(move |socket| tell(served, socket, after, seat))
}

async fn tell(served: Arc<Served>, socket: WebSocket, after: Option<u64>, _seat: Seat) {
    let mut listener = served.hub.listen(after);
    let (mut to, mut from) = socket.split();
    loop {
        let events = tokio::select! {
            events = listener.next(&served.hub) => events,
            // Pings are answered by reading; anything else means that the other side is done.
            heard = from.next() => match heard {
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Text(_))) => continue,
                _ => break,
            },
            () = served.ending() => None,
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
    // Nobody is left to hear that the goodbye failed.
    let _ = timeout(PATIENCE, to.close()).await;
}
