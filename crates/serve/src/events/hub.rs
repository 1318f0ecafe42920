//! The buffer of recent events, and the listeners that read it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde_json::json;
use tokio::sync::watch as channel;

use crate::ServerState;
use archivist_core::domain::HudMessage;
use archivist_core::hud::{FeedFollower, FeedListener, FeedMessage, MemoryFeed};
use archivist_core::memory::MemoryStamp;

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;

/// The interval at which the feed and the memory are polled.
const PACE: Duration = Duration::from_millis(150);

/// The polling interval if both are on a server that sends notifications.
const FAR_PACE: Duration = Duration::from_secs(2);

/// The minimum pause between two queries to such a server, however often it notifies.
const BREATH: Duration = Duration::from_millis(25);

/// The longest wait of a starting server for the first read of a remote feed.
const BEGINNING: Duration = Duration::from_secs(3);

/// The minimum interval of index maintenance after writes: records that the index does not cover are held in memory,
/// and a server runs for long.
const UPKEEP: Duration = Duration::from_secs(5);

/// The number of events kept for slow listeners.
const KEPT: usize = 16_384;

/// The most events that a listener gets at once.
const AT_ONCE: usize = 512;

/// One event, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ServerEvent {
    /// The position in the feed. Changes of the memory are not part of the feed.
    id: Option<u64>,
    pub(super) name: &'static str,
    /// The content as JSON on one line.
    pub(super) data: Arc<str>,
}

impl ServerEvent {
    fn from_feed_message(told: &FeedMessage) -> Option<Self> {
        let name = match told.message {
            HudMessage::ArchivistReflectionStart { .. } => "archivist_reflection_start",
            HudMessage::ArchivistReflectionComplete { .. } => "archivist_reflection_complete",
            HudMessage::ArchivistMemoryHighlight { .. } => "archivist_memory_highlight",
            HudMessage::ArchivistMemoriesAdded { .. } => "archivist_memories_added",
            HudMessage::ArchivistRecordsErased { .. } => "archivist_records_erased",
        };
        let data = serde_json::to_string(&told.message).ok()?;
        Some(Self { id: Some(told.id), name, data: data.into() })
    }

    fn memory_changed(stamp: &MemoryStamp) -> Self {
        let data = json!({ "type": "memory_changed", "stamp": stamp }).to_string();
        Self { id: None, name: "memory_changed", data: data.into() }
    }

    fn events_lost(count: u64) -> Self {
        Self { id: None, name: "lost", data: json!({ "type": "lost", "count": count }).to_string().into() }
    }

    /// Appends the event in the format of server-sent events.
    pub(super) fn write_to_stream(&self, stream: &mut String) {
        use std::fmt::Write;
        if let Some(id) = self.id {
            // Writing to a string does not fail.
            let _ = writeln!(stream, "id: {id}");
        }
        let _ = write!(stream, "event: {}\ndata: {}\n\n", self.name, self.data);
    }
}

/// The recent events, numbered in order of arrival.
#[derive(Debug)]
pub(crate) struct EventHub {
    kept: RwLock<EventBuffer>,
    head: channel::Sender<u64>,
    feed: MemoryFeed,
    /// The feed position from which on events arrive; `None` before the first read.
    begun: channel::Sender<Option<u64>>,
}

#[derive(Debug, Default)]
struct EventBuffer {
    events: VecDeque<ServerEvent>,
    /// The number of events before the first one that is kept.
    gone: u64,
    /// The position up to which the feed was read.
    feed: Option<u64>,
}

impl EventHub {
    pub(crate) fn new(feed: MemoryFeed) -> Self {
        let at = feed.follow_from_now().map(|reader| reader.read_position());
        let kept = EventBuffer { feed: at, ..EventBuffer::default() };
        Self { kept: RwLock::new(kept), head: channel::Sender::new(0), feed, begun: channel::Sender::new(at) }
    }

    /// Opens a reader where the feed was read to, or at its end the first time.
    async fn open_reader(&self) -> io::Result<FeedFollower> {
        let at = self.kept.read().unwrap_or_else(PoisonError::into_inner).feed;
        if let Some(at) = at {
            return Ok(self.feed.follow_after(at));
        }
        let reader = self.feed.follow_recent(0).await?;
        self.push([], Some(reader.read_position()));
        self.begun.send_replace(Some(reader.read_position()));
        Ok(reader)
    }

    /// Waits for the first read of the feed, so that listeners get everything from then on.
    pub(crate) async fn wait_until_started(&self) {
        let mut begun = self.begun.subscribe();
        // A feed that cannot be read now may be readable later.
        let _ = tokio::time::timeout(BEGINNING, begun.wait_for(Option::is_some)).await;
    }

    /// Adds events and wakes the listeners.
    fn push(&self, events: impl IntoIterator<Item = ServerEvent>, feed: Option<u64>) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.events.extend(events);
        kept.feed = feed.or(kept.feed);
        let surplus = kept.events.len().saturating_sub(KEPT);
        kept.events.drain(..surplus);
        kept.gone += surplus as u64;
        let head = kept.gone + kept.events.len() as u64;
        drop(kept);
        self.head.send_replace(head);
    }

    /// Returns a listener that starts now, or after the event of this id.
    pub(super) fn add_listener(&self, after: Option<u64>) -> EventListener {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let (at, feed) = (kept.gone + kept.events.len() as u64, kept.feed);
        drop(kept);
        let replay = after.map(|id| EventReplay { reader: self.feed.follow_after(id), until: feed });
        EventListener { at, replay, head: self.head.subscribe() }
    }
}

/// A reader of the events at its own pace.
#[derive(Debug)]
pub(super) struct EventListener {
    at: u64,
    replay: Option<EventReplay>,
    head: channel::Receiver<u64>,
}

/// The events from before a listener came.
#[derive(Debug)]
struct EventReplay {
    reader: FeedFollower,
    /// The last position to replay; later events are in the hub. `None` stands for the position where the hub started.
    until: Option<u64>,
}

impl EventListener {
    /// Returns the next events, waiting until there are any, or `None` once there will be none.
    pub(super) async fn next(&mut self, hub: &EventHub) -> Option<Vec<ServerEvent>> {
        if let Some(events) = self.next_replayed(hub).await {
            return Some(events);
        }
        loop {
            let events = self.take_buffered(hub);
            if !events.is_empty() {
                return Some(events);
            }
            self.head.changed().await.ok()?;
        }
    }

    /// Returns the next events from before the listener came. The future may be dropped and the call repeated.
    async fn next_replayed(&mut self, hub: &EventHub) -> Option<Vec<ServerEvent>> {
        let replay = self.replay.as_mut()?;
        let until = match replay.until {
            Some(until) => until,
            None => *replay.until.insert(hub.first_position().await),
        };
        let told = loop {
            match replay.reader.read_new_messages().await {
                Ok(told) => break told,
                // A server comes back, and a listener must not miss an event because of the outage.
                Err(_) if hub.feed.is_remote() => tokio::time::sleep(FAR_PACE).await,
                Err(_) => break Vec::new(),
            }
        };
        let before: Vec<ServerEvent> =
            told.iter().filter(|told| told.id <= until).filter_map(ServerEvent::from_feed_message).collect();
        let is_all = before.len() < told.len() || told.is_empty();
        if is_all {
            self.replay = None;
        }
        (!before.is_empty()).then_some(before)
    }

    fn take_buffered(&mut self, hub: &EventHub) -> Vec<ServerEvent> {
        self.head.mark_unchanged();
        let kept = hub.kept.read().unwrap_or_else(PoisonError::into_inner);
        let missed = kept.gone.saturating_sub(self.at);
        self.at += missed;
        let skipped = usize::try_from(self.at - kept.gone).unwrap_or(usize::MAX);
        let mut events: Vec<ServerEvent> = kept.events.iter().skip(skipped).take(AT_ONCE).cloned().collect();
        drop(kept);
        self.at += events.len() as u64;
        if missed > 0 {
            events.insert(0, ServerEvent::events_lost(missed));
        }
        events
    }
}

/// Polls the feed and the memory until the server stops.
pub(crate) async fn watch_changes(served: Arc<ServerState>) {
    let hub = &served.hub;
    let mut reader = None;
    let mut stamp = None;
    let (mut looked_after, mut is_written) = (Instant::now(), false);
    let mut bell = hub.feed.start_listener();
    let mut pace = tokio::time::interval(if hub.feed.is_remote() { FAR_PACE } else { PACE });
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        wait_for_tick(&mut pace, &mut bell).await;
        if let Err(error) = hub.read_new_events(&mut reader).await {
            // Reading continues at the same position once that is possible.
            tracing::debug!(%error, "the feed could not be looked at");
        }
        match served.archivist.change_stamp().await {
            Ok(found) if stamp.as_ref() != Some(&found) => {
                // The first read only records the current state.
                if stamp.replace(found.clone()).is_some() {
                    served.hub.push([ServerEvent::memory_changed(&found)], None);
                }
                is_written = true;
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the memory could not be looked at"),
        }
        if is_written && looked_after.elapsed() >= UPKEEP {
            served.archivist.memory.run_maintenance().await;
            (looked_after, is_written) = (Instant::now(), false);
        }
        if hub.feed.is_remote() {
            tokio::time::sleep(BREATH).await;
        }
    }
}

/// Waits until the next poll is due or the feed has news.
async fn wait_for_tick(pace: &mut tokio::time::Interval, bell: &mut FeedListener) {
    tokio::select! {
        _ = pace.tick() => {}
        () = bell.wait_for_news() => pace.reset(),
    }
}

impl EventHub {
    /// Takes in the messages since the last read.
    async fn read_new_events(&self, reader: &mut Option<FeedFollower>) -> io::Result<()> {
        let reader = match reader {
            Some(reader) => reader,
            None => reader.insert(self.open_reader().await?),
        };
        loop {
            let told = reader.read_new_messages().await?;
            if told.is_empty() {
                return Ok(());
            }
            self.push(told.iter().filter_map(ServerEvent::from_feed_message), Some(reader.read_position()));
        }
    }

    /// Returns the feed position of the first read, waiting for it if necessary.
    async fn first_position(&self) -> u64 {
        let mut begun = self.begun.subscribe();
        let begun = begun.wait_for(Option::is_some).await;
        // The sender lives as long as the hub does.
        begun.ok().and_then(|begun| *begun).unwrap_or_default()
    }
}

/// Renders events as one chunk of a stream.
pub(super) fn render_events(events: &[ServerEvent]) -> Bytes {
    let mut stream = String::new();
    events.iter().for_each(|event| event.write_to_stream(&mut stream));
    stream.into()
}
