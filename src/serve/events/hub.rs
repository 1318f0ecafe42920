//! The last events, and whoever goes through them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde_json::json;
use tokio::sync::watch as channel;

use crate::domain::HudMessage;
use crate::hud::{FeedReader, Told};
use crate::memory::Stamp;
use crate::serve::Served;

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;

/// How often the feed and the memory are looked at.
const PACE: Duration = Duration::from_millis(150);

/// After something was written, the memory gets to look after its index no more often than this: what the index does not
/// cover is held in memory, and a server stays.
const UPKEEP: Duration = Duration::from_secs(5);

/// So many events are kept for those who are behind.
const KEPT: usize = 16_384;

/// So many are handed over at once.
const AT_ONCE: usize = 512;

/// One thing that happened, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    /// Where it stands in the feed. News of the memory stand in no feed.
    id: Option<u64>,
    pub(super) name: &'static str,
    /// JSON on one line.
    pub(super) data: Arc<str>,
}

impl Event {
    fn told(told: &Told) -> Option<Self> {
        let name = match told.message {
            HudMessage::ArchivistReflectionStart { .. } => "archivist_reflection_start",
            HudMessage::ArchivistReflectionComplete { .. } => "archivist_reflection_complete",
            HudMessage::ArchivistMemoryHighlight { .. } => "archivist_memory_highlight",
            HudMessage::ArchivistMemoriesAdded { .. } => "archivist_memories_added",
        };
        let data = serde_json::to_string(&told.message).ok()?;
        Some(Self { id: Some(told.id), name, data: data.into() })
    }

    fn changed(stamp: &Stamp) -> Self {
        let data = json!({ "type": "memory_changed", "stamp": stamp }).to_string();
        Self { id: None, name: "memory_changed", data: data.into() }
    }

    fn lost(count: u64) -> Self {
        Self { id: None, name: "lost", data: json!({ "type": "lost", "count": count }).to_string().into() }
    }

    /// As it stands in a stream of events.
    pub(super) fn write(&self, stream: &mut String) {
        use std::fmt::Write;
        if let Some(id) = self.id {
            // Writing to a string does not fail.
            let _ = writeln!(stream, "id: {id}");
        }
        let _ = write!(stream, "event: {}\ndata: {}\n\n", self.name, self.data);
    }
}

/// The last events, numbered as they came.
#[derive(Debug)]
pub(crate) struct Hub {
    kept: RwLock<Kept>,
    head: channel::Sender<u64>,
    memory: PathBuf,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<Event>,
    /// How many came before the first one that is kept.
    gone: u64,
    /// How far the feed was read.
    feed: u64,
}

impl Hub {
    pub(crate) fn new(memory: PathBuf) -> Self {
        let reader = FeedReader::from_now(&memory);
        let kept = Kept { feed: reader.position(), ..Kept::default() };
        Self { kept: RwLock::new(kept), head: channel::Sender::new(0), memory }
    }

    /// Takes events in, and wakes whoever waits for them.
    fn push(&self, events: impl IntoIterator<Item = Event>, feed: Option<u64>) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.events.extend(events);
        kept.feed = feed.unwrap_or(kept.feed);
        let surplus = kept.events.len().saturating_sub(KEPT);
        kept.events.drain(..surplus);
        kept.gone += surplus as u64;
        let head = kept.gone + kept.events.len() as u64;
        drop(kept);
        self.head.send_replace(head);
    }

    /// Somebody who listens from now on, or from behind the event of this id.
    pub(super) fn listen(&self, after: Option<u64>) -> Listener {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let (at, feed) = (kept.gone + kept.events.len() as u64, kept.feed);
        drop(kept);
        let replay = after.map(|id| Replay { reader: FeedReader::after(&self.memory, id), until: feed });
        Listener { at, replay, head: self.head.subscribe() }
    }
}

/// Somebody who goes through the events at a pace of their own.
#[derive(Debug)]
pub(super) struct Listener {
    at: u64,
    replay: Option<Replay>,
    head: channel::Receiver<u64>,
}

/// What was told before somebody came to listen.
#[derive(Debug)]
struct Replay {
    reader: FeedReader,
    /// What comes behind this one is in the hub.
    until: u64,
}

impl Listener {
    /// The next events; waits until there are any. `None` once there will be none.
    pub(super) async fn next(&mut self, hub: &Hub) -> Option<Vec<Event>> {
        if let Some(events) = self.replayed().await {
            return Some(events);
        }
        loop {
            let events = self.take(hub);
            if !events.is_empty() {
                return Some(events);
            }
            self.head.changed().await.ok()?;
        }
    }

    async fn replayed(&mut self) -> Option<Vec<Event>> {
        let mut replay = self.replay.take()?;
        let read = tokio::task::spawn_blocking(move || {
            let told = replay.reader.news().unwrap_or_default();
            (replay, told)
        });
        let (replay, told) = read.await.ok()?;
        let before: Vec<Event> = told.iter().filter(|told| told.id <= replay.until).filter_map(Event::told).collect();
        let is_all = before.len() < told.len() || told.is_empty();
        if !is_all {
            self.replay = Some(replay);
        }
        (!before.is_empty()).then_some(before)
    }

    fn take(&mut self, hub: &Hub) -> Vec<Event> {
        self.head.mark_unchanged();
        let kept = hub.kept.read().unwrap_or_else(PoisonError::into_inner);
        let missed = kept.gone.saturating_sub(self.at);
        self.at += missed;
        let skipped = usize::try_from(self.at - kept.gone).unwrap_or(usize::MAX);
        let mut events: Vec<Event> = kept.events.iter().skip(skipped).take(AT_ONCE).cloned().collect();
        drop(kept);
        self.at += events.len() as u64;
        if missed > 0 {
            events.insert(0, Event::lost(missed));
        }
        events
    }
}

/// Looks at the feed and at the memory until the server ends.
pub(crate) async fn watch(served: Arc<Served>) {
    let mut reader = FeedReader::after(served.desk.memory_dir(), served.hub.kept_feed());
    let mut stamp = None;
    let (mut looked_after, mut is_written) = (Instant::now(), false);
    let mut pace = tokio::time::interval(PACE);
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        pace.tick().await;
        loop {
            let read = tokio::task::spawn_blocking(move || {
                let told = reader.news().unwrap_or_default();
                (reader, told)
            });
            let Ok((again, told)) = read.await else { return };
            reader = again;
            if told.is_empty() {
                break;
            }
            served.hub.push(told.iter().filter_map(Event::told), Some(reader.position()));
        }
        match served.desk.stamp().await {
            Ok(found) if stamp.as_ref() != Some(&found) => {
                // The first look only learns how things are.
                if stamp.replace(found.clone()).is_some() {
                    served.hub.push([Event::changed(&found)], None);
                }
                is_written = true;
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the memory could not be looked at"),
        }
        if is_written && looked_after.elapsed() >= UPKEEP {
            served.desk.memory.maintain().await;
            (looked_after, is_written) = (Instant::now(), false);
        }
    }
}

impl Hub {
    fn kept_feed(&self) -> u64 {
        self.kept.read().unwrap_or_else(PoisonError::into_inner).feed
    }
}

/// Events as one piece of a stream.
pub(super) fn written(events: &[Event]) -> Bytes {
    let mut stream = String::new();
    events.iter().for_each(|event| event.write(&mut stream));
    stream.into()
}
