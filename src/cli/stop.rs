//! Signals that ask a process to stop.

use tokio::sync::watch;

/// Holds `true` once somebody asked this process to stop.
pub(super) fn stop() -> watch::Receiver<bool> {
    let (send, receive) = watch::channel(false);
    tokio::spawn(async move {
        asked_to_stop().await;
        // Nobody is left to hear it if this fails.
        let _ = send.send(true);
        // A sender that is gone would mean that nobody can say stop any more.
        std::future::pending::<()>().await;
    });
    receive
}

/// Done once somebody asked this process to stop.
#[cfg(unix)]
pub(super) async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminated), Ok(mut hung_up)) = (signal(SignalKind::terminate()), signal(SignalKind::hangup())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
        _ = hung_up.recv() => {}
    }
}

#[cfg(not(unix))]
pub(super) async fn asked_to_stop() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
