//! Signals that ask the process to stop.

use tokio::sync::watch;

/// Returns a receiver that holds `true` once the process was asked to stop.
pub(super) fn watch_stop_signal() -> watch::Receiver<bool> {
    let (send, receive) = watch::channel(false);
    tokio::spawn(async move {
        wait_for_stop_signal().await;
        // If this fails, there is no receiver left.
        let _ = send.send(true);
        // The sender must live on, because receivers treat a dropped sender as an error.
        std::future::pending::<()>().await;
    });
    receive
}

/// Completes once the process was asked to stop.
#[cfg(unix)]
pub(super) async fn wait_for_stop_signal() {
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
