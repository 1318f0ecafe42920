//! Sinks that report the progress of reflections to displays and files. Sending never waits and never fails.

#[cfg(any(feature = "postgres", feature = "web-socket"))]
mod background_delivery;
#[cfg(any(feature = "postgres", feature = "web-socket"))]
mod delivery_queue;
mod error;
mod event_feed;
mod feed_file;
mod feed_wakeup;
#[cfg(feature = "postgres")]
mod fleet_sink;
mod jsonl_sink;
#[cfg(feature = "web-socket")]
mod web_socket_sink;

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;

use crate::domain::HudMessage;

pub use error::HudError;
pub use event_feed::{FeedFollower, MemoryFeed};
pub(crate) use feed_file::rewrite_feed;
pub use feed_file::{FeedMessage, FileFeedReader, FileFeedSink};
pub use feed_wakeup::FeedListener;
#[cfg(feature = "postgres")]
pub use fleet_sink::FleetFeedSink;
pub use jsonl_sink::JsonlSink;
#[cfg(feature = "web-socket")]
pub use web_socket_sink::WebSocketSink;

#[cfg(test)]
#[path = "hud_tests.rs"]
mod tests;

/// A receiver of messages about reflections.
#[async_trait]
pub trait HudSink: Send + Sync + Debug {
    /// Accepts a message and returns at once, whatever becomes of it.
    fn send_message(&self, message: &HudMessage);

    /// Delivers queued messages for at most the given time; returns at once if there is nothing to deliver or nothing
    /// to deliver to.
    async fn flush_messages(&self, _patience: Duration) {}
}

/// All sinks that receive messages about reflections.
#[derive(Debug, Default)]
pub struct HudBroadcaster {
    sinks: Vec<Box<dyn HudSink>>,
}

impl HudBroadcaster {
    /// Creates a broadcaster that sends every message to these sinks.
    pub fn new(sinks: Vec<Box<dyn HudSink>>) -> Self {
        Self { sinks }
    }

    /// Creates a broadcaster without any sink.
    pub fn without_sinks() -> Self {
        Self::default()
    }

    /// Sends a message to every sink.
    pub fn send_message(&self, message: &HudMessage) {
        for sink in &self.sinks {
            sink.send_message(message);
        }
    }

    /// Gives every sink some time to deliver its queued messages before the process ends.
    pub async fn flush_messages(&self, patience: Duration) {
        join_all(self.sinks.iter().map(|sink| sink.flush_messages(patience))).await;
    }
}
