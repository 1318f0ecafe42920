//! Server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::time::timeout;

use super::Since;
use super::hub::{Listener, written};
use crate::serve::Served;
use crate::serve::extract::Asked;
use crate::serve::limits::Seat;
use crate::serve::problem::Problem;

/// When nothing happens, something is said so often all the same: proxies close what is silent, and a client that is
/// gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Somebody who listens, and the place they take up.
struct Listening {
    served: Arc<Served>,
    listener: Listener,
    _seat: Seat,
    has_begun: bool,
}

pub(super) async fn listen(
    State(served): State<Arc<Served>>,
    Asked(since): Asked<Since>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let seat = served.limits.seat()?;
    let listener = served.hub.listen(since.position(&headers));
    let listening = Listening { served, listener, _seat: seat, has_begun: false };
    let pieces = stream::unfold(listening, |mut listening| async move {
        let piece = listening.next().await?;
        Some((Ok::<Bytes, Infallible>(piece), listening))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

impl Listening {
    async fn next(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.has_begun, true) {
            // The client knows at once that it is heard.
            return Some(Bytes::from_static(b": listening\n\n"));
        }
        tokio::select! {
            heard = timeout(HEARTBEAT, self.listener.next(&self.served.hub)) => match heard {
                Ok(events) => events.map(|events| written(&events)),
                Err(_) => Some(Bytes::from_static(b": still here\n\n")),
            },
            () = self.served.ending() => None,
        }
    }
}
