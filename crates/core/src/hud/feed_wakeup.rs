//! Wakes feed readers when new messages may have arrived, where that is possible without polling.

/// Signals that the feed may have new messages. It may signal for nothing or not at all, so readers poll as well.
#[derive(Debug)]
pub struct FeedListener {
    #[cfg(feature = "postgres")]
    fleet: Option<crate::memory::postgres::PostgresListener>,
}

impl FeedListener {
    /// A listener that never signals.
    pub(super) fn without_notifications() -> Self {
        Self {
            #[cfg(feature = "postgres")]
            fleet: None,
        }
    }

    #[cfg(feature = "postgres")]
    pub(super) fn from_postgres(bell: crate::memory::postgres::PostgresListener) -> Self {
        Self { fleet: Some(bell) }
    }

    /// Completes once a notification has arrived since the last call; several notifications count as one.
    pub async fn wait_for_news(&mut self) {
        #[cfg(feature = "postgres")]
        if let Some(bell) = &mut self.fleet {
            return bell.wait_for_notification().await;
        }
        std::future::pending::<()>().await;
    }
}
