//! Where a memory's feed is, for those who tell and those who read along: in a file beside the memory, or in a table on the
//! server that machines share. Numbers mean the same in both: those of later messages are greater.

use std::io;
use std::path::{Path, PathBuf};

use tokio::task::spawn_blocking;

use super::feed::{FeedReader, FeedSink, Told};
#[cfg(feature = "postgres")]
use super::fleet::FleetSink;
use super::{Bell, HudSink};
#[cfg(feature = "postgres")]
use crate::memory::postgres::Events;

/// Where a memory's feed is.
#[derive(Debug, Clone)]
pub struct Feed(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// In the directory of a memory.
    Files(PathBuf),
    #[cfg(feature = "postgres")]
    Fleet(Events),
}

impl Feed {
    /// In a file of the memory in this directory.
    pub fn in_files(memory: &Path) -> Self {
        Self(Kind::Files(memory.to_owned()))
    }

    /// In the table of a server.
    #[cfg(feature = "postgres")]
    pub fn of_fleet(events: Events) -> Self {
        Self(Kind::Fleet(events))
    }

    /// Whoever tells there.
    pub fn sink(&self) -> Box<dyn HudSink> {
        match &self.0 {
            Kind::Files(memory) => Box::new(FeedSink::new(memory)),
            #[cfg(feature = "postgres")]
            Kind::Fleet(events) => Box::new(FleetSink::new(events.clone())),
        }
    }

    /// Whether it must be asked over a network.
    pub fn is_far(&self) -> bool {
        !matches!(self.0, Kind::Files(_))
    }

    /// Rings when there is something new, where it can. Must be called where there is a runtime.
    pub fn listen(&self) -> Bell {
        match &self.0 {
            Kind::Files(_) => Bell::silent(),
            #[cfg(feature = "postgres")]
            Kind::Fleet(events) => Bell::of_fleet(events.listen()),
        }
    }

    /// Everything that is told from now on, where that can be said without waiting.
    pub fn from_here(&self) -> Option<Follower> {
        match &self.0 {
            Kind::Files(memory) => Some(Follower(Reader::File(FeedReader::from_now(memory)))),
            #[cfg(feature = "postgres")]
            Kind::Fleet(_) => None,
        }
    }

    /// Everything that is told from now on, and the last few messages before it; of a file all that is there.
    pub async fn lately(&self, most: u64) -> io::Result<Follower> {
        let number = match &self.0 {
            Kind::Files(memory) if most == 0 => FeedReader::from_now(memory).position(),
            Kind::Files(_) => 0,
            #[cfg(feature = "postgres")]
            Kind::Fleet(events) => events.last().await.map_err(io::Error::other)?.saturating_sub(most),
        };
        Ok(self.after(number))
    }

    /// Everything behind the message of this number that is still there.
    pub fn after(&self, number: u64) -> Follower {
        Follower(match &self.0 {
            Kind::Files(memory) => Reader::File(FeedReader::after(memory, number)),
            #[cfg(feature = "postgres")]
            Kind::Fleet(events) => Reader::Fleet { events: events.clone(), at: number },
        })
    }
}

/// Reads a feed along, wherever it is.
#[derive(Debug, Clone)]
pub struct Follower(Reader);

#[derive(Debug, Clone)]
enum Reader {
    File(FeedReader),
    #[cfg(feature = "postgres")]
    Fleet {
        events: Events,
        at: u64,
    },
}

impl Follower {
    /// The number of the last message that was read.
    pub fn position(&self) -> u64 {
        match &self.0 {
            Reader::File(reader) => reader.position(),
            #[cfg(feature = "postgres")]
            Reader::Fleet { at, .. } => *at,
        }
    }

    /// What was told since the last look, up to a bounded amount; nothing means that there is no more. What cannot be
    /// read as a message is passed over. A look that fails, or is not waited for, can be had again.
    pub async fn news(&mut self) -> io::Result<Vec<Told>> {
        match &mut self.0 {
            Reader::File(reader) => {
                let mut ahead = reader.clone();
                let read = spawn_blocking(move || ahead.news().map(|told| (ahead, told)));
                let (ahead, told) = read.await.map_err(io::Error::other)??;
                *reader = ahead;
                Ok(told)
            }
            #[cfg(feature = "postgres")]
            Reader::Fleet { events, at } => loop {
                let page = events.after(*at).await.map_err(io::Error::other)?;
                // Numbers that were never given out are those of a server whose last moments are lost.
                *at = page.events.last().map_or(page.last.min(*at), |event| event.number);
                let told = |event: &crate::memory::postgres::StoredEvent| {
                    let message = serde_json::from_str(&event.record).ok()?;
                    Some(Told { id: event.number, message })
                };
                let told: Vec<Told> = page.events.iter().filter_map(told).collect();
                if !told.is_empty() || page.events.is_empty() {
                    return Ok(told);
                }
            },
        }
    }
}
