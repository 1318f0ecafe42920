//! The feed of a memory, for senders and followers: in a file next to the memory, or in an event table on a shared
//! server. Numbers mean the same in both: later messages have greater ones.

use std::io;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::feed_file::{FeedMessage, FileFeedReader, FileFeedSink};
#[cfg(feature = "postgres")]
use super::fleet_sink::FleetFeedSink;
use super::{FeedListener, HudSink};
#[cfg(feature = "postgres")]
use crate::memory::postgres::EventFeed;

/// The location of a memory's feed.
#[derive(Debug, Clone)]
pub struct MemoryFeed(FeedBackend);

#[derive(Debug, Clone)]
enum FeedBackend {
    /// A file in the directory of a memory.
    Files(PathBuf),
    #[cfg(feature = "postgres")]
    Fleet(EventFeed),
}

impl MemoryFeed {
    /// The feed in a file of the memory in this directory.
    pub fn from_directory(memory: &Path) -> Self {
        Self(FeedBackend::Files(memory.to_owned()))
    }

    /// The feed in the event table of a server.
    #[cfg(feature = "postgres")]
    pub fn from_fleet(events: EventFeed) -> Self {
        Self(FeedBackend::Fleet(events))
    }

    /// Opens a sink that writes to this feed.
    pub fn open_sink(&self) -> Box<dyn HudSink> {
        match &self.0 {
            FeedBackend::Files(memory) => Box::new(FileFeedSink::new(memory)),
            #[cfg(feature = "postgres")]
            FeedBackend::Fleet(events) => Box::new(FleetFeedSink::new(events.clone())),
        }
    }

    /// Returns true if reading the feed needs a network.
    pub fn is_remote(&self) -> bool {
        !matches!(self.0, FeedBackend::Files(_))
    }

    /// Starts a listener that signals new messages, where the feed supports it. Must be called within a runtime.
    pub fn start_listener(&self) -> FeedListener {
        match &self.0 {
            FeedBackend::Files(_) => FeedListener::without_notifications(),
            #[cfg(feature = "postgres")]
            FeedBackend::Fleet(events) => FeedListener::from_postgres(events.start_listener()),
        }
    }

    /// Follows the messages sent from now on; `None` if finding the end of the feed needs a network.
    pub fn follow_from_now(&self) -> Option<FeedFollower> {
        match &self.0 {
            FeedBackend::Files(memory) => Some(FeedFollower(FollowerSource::File(FileFeedReader::from_now(memory)))),
            #[cfg(feature = "postgres")]
            FeedBackend::Fleet(_) => None,
        }
    }

    /// Follows the messages sent from now on and up to `most` before them; of a file, all messages unless `most` is 0.
    pub async fn follow_recent(&self, most: u64) -> io::Result<FeedFollower> {
        let number = match &self.0 {
            FeedBackend::Files(memory) if most == 0 => FileFeedReader::from_now(memory).read_position(),
            FeedBackend::Files(_) => 0,
            #[cfg(feature = "postgres")]
            FeedBackend::Fleet(events) => events.last_number().await.map_err(io::Error::other)?.saturating_sub(most),
        };
        Ok(self.follow_after(number))
    }

    /// Follows the messages after the one with this number that are still stored.
    pub fn follow_after(&self, number: u64) -> FeedFollower {
        FeedFollower(match &self.0 {
            FeedBackend::Files(memory) => FollowerSource::File(FileFeedReader::starting_after(memory, number)),
            #[cfg(feature = "postgres")]
            FeedBackend::Fleet(events) => FollowerSource::Fleet { events: events.clone(), at: number },
        })
    }
}

/// Follows a feed in a file or on a server.
#[derive(Debug, Clone)]
pub struct FeedFollower(FollowerSource);

#[derive(Debug, Clone)]
enum FollowerSource {
    File(FileFeedReader),
    #[cfg(feature = "postgres")]
    Fleet {
        events: EventFeed,
        at: u64,
    },
}

impl FeedFollower {
    /// Returns the number of the last message that was read.
    pub fn read_position(&self) -> u64 {
        match &self.0 {
            FollowerSource::File(reader) => reader.read_position(),
            #[cfg(feature = "postgres")]
            FollowerSource::Fleet { at, .. } => *at,
        }
    }

    /// Returns the messages since the last call, up to a bounded amount; an empty list means that there are no more.
    /// Records that cannot be parsed are skipped. A call that fails or is cancelled can be repeated.
    pub async fn read_new_messages(&mut self) -> io::Result<Vec<FeedMessage>> {
        match &mut self.0 {
            FollowerSource::File(reader) => {
                let mut ahead = reader.clone();
                let read = spawn_blocking(move || ahead.read_new_messages().map(|told| (ahead, told)));
                let (ahead, told) = read.await.map_err(io::Error::other)??;
                *reader = ahead;
                Ok(told)
            }
            #[cfg(feature = "postgres")]
            FollowerSource::Fleet { events, at } => loop {
                let page = events.read_after(*at).await.map_err(io::Error::other)?;
                // A number that was never assigned is from a server that lost its last commits.
                *at = page.events.last().map_or(page.last.min(*at), |event| event.number);
                let told = |event: &crate::memory::postgres::StoredEvent| {
                    let message = serde_json::from_str(&event.record).ok()?;
                    Some(FeedMessage { id: event.number, message })
                };
                let told: Vec<FeedMessage> = page.events.iter().filter_map(told).collect();
                if !told.is_empty() || page.events.is_empty() {
                    return Ok(told);
                }
            },
        }
    }
}
