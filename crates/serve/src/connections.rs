//! Connections: their number, the time limits of their clients, and their end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use super::ServerState;

/// The limits for the head of a request: its length and its number of headers.
const MAX_HEAD_BYTES: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// The pause before the next attempt if no connection can be accepted, for lack of file handles or memory.
const BREATHER: Duration = Duration::from_millis(50);

/// Accepts connections until `stop` is done, then waits for those under way.
pub(super) async fn accept_connections(
    listener: TcpListener,
    routes: Router,
    served: &Arc<ServerState>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let bounds = served.limits.bounds;
    let places = Arc::new(Semaphore::new(bounds.connections));
    let mut stop = pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            taken = listener.accept() => match taken {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(BREATHER).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // Closed at once: a client that opens connections and keeps them must not block others for longer than
            // that.
            served.metrics.refused.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (routes, served) = (routes.clone(), Arc::clone(served));
        tokio::spawn(async move {
            serve_connection(stream, peer, routes, &served).await;
            drop(place);
        });
    }
    drop(listener);
    served.ending.send_replace(true);
    // Holding all permits means that no connection is left.
    let all = u32::try_from(bounds.connections).unwrap_or(u32::MAX);
    if tokio::time::timeout(bounds.parting, places.acquire_many(all)).await.is_err() {
        tracing::warn!("requests were cut off");
    }
    Ok(())
}

/// Serves one connection, request by request. Once the server is to stop, the current request is the last.
async fn serve_connection(stream: TcpStream, peer: SocketAddr, routes: Router, served: &ServerState) {
    // Small answers are sent at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection stays slow");
    }
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(served.limits.bounds.head_patience)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let done = tokio::select! {
        done = connection.as_mut() => done,
        () = served.wait_for_shutdown() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = done {
        tracing::debug!(%error, "a connection ended early");
    }
}
