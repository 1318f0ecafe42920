//! The last events, and whoever goes through them.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde_json::json;
use tokio::sync::watch as channel;

use crate::domain::HudMessage;
use crate::hud::{Bell, Feed, Follower, Told};
use crate::memory::Stamp;
use crate::serve::Served;

#[cfg(test)]
#[path = "hub_tests.rs"]
mod tests;

/// How often the feed and the memory are looked at.
const PACE: Duration = Duration::from_millis(150);

/// The same where both are on a server that says when there is something new.
const FAR_PACE: Duration = Duration::from_secs(2);

/// However often it says so, it is not asked more often than this.
const BREATH: Duration = Duration::from_millis(25);

/// Whoever comes to listen waits no longer than this for the first look at a feed that is far.
const BEGINNING: Duration = Duration::from_secs(3);

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
    feed: Feed,
    /// Where in the feed the first event stands that can come in; nobody knows before the first look.
    begun: channel::Sender<Option<u64>>,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<Event>,
    /// How many came before the first one that is kept.
    gone: u64,
    /// How far the feed was read.
    feed: Option<u64>,
}

impl Hub {
    pub(crate) fn new(feed: Feed) -> Self {
        let at = feed.from_here().map(|reader| reader.position());
        let kept = Kept { feed: at, ..Kept::default() };
        Self { kept: RwLock::new(kept), head: channel::Sender::new(0), feed, begun: channel::Sender::new(at) }
    }

    /// Goes on where the feed was read to, or begins.
    async fn reader(&self) -> io::Result<Follower> {
        let at = self.kept.read().unwrap_or_else(PoisonError::into_inner).feed;
        if let Some(at) = at {
            return Ok(self.feed.after(at));
        }
        let reader = self.feed.lately(0).await?;
        self.push([], Some(reader.position()));
        self.begun.send_replace(Some(reader.position()));
        Ok(reader)
    }

    /// Waits for the first look at the feed, so that whoever comes hears everything from then on.
    pub(crate) async fn begun(&self) {
        let mut begun = self.begun.subscribe();
        // One that cannot be read now may be read later.
        let _ = tokio::time::timeout(BEGINNING, begun.wait_for(Option::is_some)).await;
    }

    /// Takes events in, and wakes whoever waits for them.
    fn push(&self, events: impl IntoIterator<Item = Event>, feed: Option<u64>) {
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

    /// Somebody who listens from now on, or from behind the event of this id.
    pub(super) fn listen(&self, after: Option<u64>) -> Listener {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let (at, feed) = (kept.gone + kept.events.len() as u64, kept.feed);
        drop(kept);
        let replay = after.map(|id| Replay { reader: self.feed.after(id), until: feed });
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
    reader: Follower,
    /// What comes behind this one is in the hub. None: all that comes into the hub.
    until: Option<u64>,
}

impl Listener {
    /// The next events; waits until there are any. `None` once there will be none.
    pub(super) async fn next(&mut self, hub: &Hub) -> Option<Vec<Event>> {
        if let Some(events) = self.replayed(hub).await {
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

    /// What comes next of what was told before. Whoever asks may lose patience and ask again.
    async fn replayed(&mut self, hub: &Hub) -> Option<Vec<Event>> {
        let replay = self.replay.as_mut()?;
        let until = match replay.until {
            Some(until) => until,
            None => *replay.until.insert(hub.beginning().await),
        };
        let told = loop {
            match replay.reader.news().await {
                Ok(told) => break told,
                // A server comes back, and whoever listens must not miss anything for it.
                Err(_) if hub.feed.is_far() => tokio::time::sleep(FAR_PACE).await,
                Err(_) => break Vec::new(),
            }
        };
        let before: Vec<Event> = told.iter().filter(|told| told.id <= until).filter_map(Event::told).collect();
        let is_all = before.len() < told.len() || told.is_empty();
        if is_all {
            self.replay = None;
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
    let hub = &served.hub;
    let mut reader = None;
    let mut stamp = None;
    let (mut looked_after, mut is_written) = (Instant::now(), false);
    let mut bell = hub.feed.listen();
    let mut pace = tokio::time::interval(if hub.feed.is_far() { FAR_PACE } else { PACE });
    pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick(&mut pace, &mut bell).await;
        if let Err(error) = hub.read_on(&mut reader).await {
            // It goes on where it was once that is possible.
            tracing::debug!(%error, "the feed could not be looked at");
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
        if hub.feed.is_far() {
            tokio::time::sleep(BREATH).await;
        }
    }
}

/// Done when it is time for a look, or there is something to see.
async fn tick(pace: &mut tokio::time::Interval, bell: &mut Bell) {
    tokio::select! {
        _ = pace.tick() => {}
        () = bell.rung() => pace.reset(),
    }
}

impl Hub {
    /// Takes in what was told since the last look.
    async fn read_on(&self, reader: &mut Option<Follower>) -> io::Result<()> {
        let reader = match reader {
            Some(reader) => reader,
            None => reader.insert(self.reader().await?),
        };
        loop {
            let told = reader.news().await?;
            if told.is_empty() {
                return Ok(());
            }
            self.push(told.iter().filter_map(Event::told), Some(reader.position()));
        }
    }

    /// Where the feed was first looked at; waits until it was.
    async fn beginning(&self) -> u64 {
        let mut begun = self.begun.subscribe();
        let begun = begun.wait_for(Option::is_some).await;
        // The sender lives as long as the hub does.
        begun.ok().and_then(|begun| *begun).unwrap_or_default()
    }
}

/// Events as one piece of a stream.
pub(super) fn written(events: &[Event]) -> Bytes {
    let mut stream = String::new();
    events.iter().for_each(|event| event.write(&mut stream));
    stream.into()
}
