//! Who hears of reflections. Telling never waits and never fails.

mod bell;
mod courier;
mod error;
mod feed;
#[cfg(feature = "postgres")]
mod fleet;
mod jsonl;
mod place;
mod queue;
mod web_socket;

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;

use crate::domain::HudMessage;

pub use bell::Bell;
pub use error::HudError;
pub use feed::{FeedReader, FeedSink, Told};
#[cfg(feature = "postgres")]
pub use fleet::FleetSink;
pub use jsonl::JsonlSink;
pub use place::{Feed, Follower};
pub use web_socket::WebSocketSink;

#[cfg(test)]
#[path = "hud_tests.rs"]
mod tests;

/// Somebody who hears of reflections.
#[async_trait]
pub trait HudSink: Send + Sync + Debug {
    /// Takes a message. Whatever becomes of it, whoever tells it goes on at once.
    fn tell(&self, message: &HudMessage);

    /// Delivers what it holds, for as long as the patience lasts; returns at once where there is nothing to deliver or
    /// nobody to deliver it to.
    async fn finish(&self, _patience: Duration) {}
}

/// All who hear of reflections.
#[derive(Debug, Default)]
pub struct Hud {
    sinks: Vec<Box<dyn HudSink>>,
}

impl Hud {
    /// These hear of everything.
    pub fn new(sinks: Vec<Box<dyn HudSink>>) -> Self {
        Self { sinks }
    }

    /// Nobody hears of anything.
    pub fn silent() -> Self {
        Self::default()
    }

    /// Tells everybody.
    pub fn tell(&self, message: &HudMessage) {
        for sink in &self.sinks {
            sink.tell(message);
        }
    }

    /// Gives everybody a moment to deliver what they hold, before a process ends.
    pub async fn finish(&self, patience: Duration) {
        join_all(self.sinks.iter().map(|sink| sink.finish(patience))).await;
    }
}
