//! Loads what the display shows. Each request is a task of its own, so that drawing never waits for one.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::model::{DecisionVerb, HudDecision, HudRefresh, HudUpdate};
use super::rows::{MemoryRows, QueueRows};
use archivist_core::domain::{HudMessage, MemoryId, Timestamp};
use archivist_core::hud::{FeedFollower, MemoryFeed};
use archivist_core::memory::{LessonName, LessonStateFilter, MemoryStamp};
use archivist_core::service::{Archivist, EpisodeListFilter, LessonFilter, RequestError};
use archivist_core::service::{LessonDecision, ServiceClock};

/// The most earlier feed messages that are kept.
const TOLD: usize = 500;

/// The longest wait for a remote feed; after that the display goes on without it.
const FEED_PATIENCE: Duration = Duration::from_secs(2);

/// The number of refreshes after which the queue is read again, because the stamp does not tell whether a worker runs.
const QUEUE_EVERY: u32 = 8;

/// Sends a refresh of the memory at a fixed pace, until the receiver is closed.
pub(super) async fn watch_memory(
    archivist: Archivist,
    clock: ServiceClock,
    pace: Duration,
    tell: mpsc::Sender<HudRefresh>,
) {
    let mut watcher = MemoryWatcher::new(archivist, clock);
    while tell.send(watcher.next_refresh().await).await.is_ok() {
        tokio::time::sleep(pace).await;
    }
}

/// Watches a memory for changes. The memory is read only when something was written.
#[derive(Debug)]
struct MemoryWatcher {
    archivist: Archivist,
    clock: ServiceClock,
    feed: MemoryFeed,
    reader: Option<FeedFollower>,
    stamp: Option<MemoryStamp>,
    looks: u32,
}

impl MemoryWatcher {
    /// Creates a watcher; its first refresh includes earlier feed messages that still exist.
    fn new(archivist: Archivist, clock: ServiceClock) -> Self {
        let feed = archivist.event_feed();
        Self { archivist, clock, feed, reader: None, stamp: None, looks: 0 }
    }

    /// Returns the changes since the last refresh.
    async fn next_refresh(&mut self) -> HudRefresh {
        let at = self.clock.now();
        let mut look = HudRefresh { at, told: self.read_feed().await, known: None, waiting: None, problem: None };
        if let Err(refusal) = self.read_memory(&mut look).await {
            look.problem = Some(describe_error(&refusal));
        }
        look
    }

    async fn read_memory(&mut self, look: &mut HudRefresh) -> Result<(), RequestError> {
        let stamp = self.archivist.change_stamp().await?;
        let is_changed = self.stamp.as_ref() != Some(&stamp);
        if is_changed {
            look.known = Some(Box::new(load_memory_rows(&self.archivist, look.at).await?));
        }
        if is_changed || self.looks.is_multiple_of(QUEUE_EVERY) {
            look.waiting = Some(Box::new(load_queue_rows(&self.archivist, look.at).await?));
        }
        // The stamp advances only after everything was read.
        self.stamp = Some(stamp);
        self.looks = self.looks.wrapping_add(1);
        Ok(())
    }

    /// Returns the feed messages since the last refresh, the oldest first.
    async fn read_feed(&mut self) -> Vec<HudMessage> {
        let mut told = VecDeque::new();
        // A feed that cannot be read is not reported: the memory itself tells what is wrong.
        let Ok(Ok(reader)) = timeout(FEED_PATIENCE, self.open_follower()).await else { return told.into() };
        while let Ok(Ok(news)) = timeout(FEED_PATIENCE, reader.read_new_messages()).await
            && !news.is_empty()
        {
            told.extend(news.into_iter().map(|news| news.message));
            let surplus = told.len().saturating_sub(TOLD);
            told.drain(..surplus);
        }
        told.into()
    }

    /// Returns the follower of the feed, and opens it first if necessary.
    async fn open_follower(&mut self) -> io::Result<&mut FeedFollower> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.feed.follow_recent(u64::try_from(TOLD).unwrap_or(u64::MAX)).await?,
        };
        Ok(self.reader.insert(reader))
    }
}

/// Loads the evidence report of a lesson.
pub(super) async fn load_evidence(archivist: Archivist, id: MemoryId) -> HudUpdate {
    let report = archivist.explain_lesson(&LessonName::Id(id.clone())).await;
    HudUpdate::Answered { id, report: report.map(Box::new).map_err(|refusal| describe_error(&refusal)) }
}

/// Carries out a person's decision.
pub(super) async fn carry_out_decision(archivist: Archivist, order: HudDecision, _now: Timestamp) -> HudUpdate {
    let lesson = LessonName::Id(order.id);
    let (done, refusal) = match order.verb {
        DecisionVerb::Approve => {
            ("is approved", archivist.apply_decision(&lesson, &LessonDecision::Approve).await.err())
        }
        DecisionVerb::Promote => {
            ("is promoted", archivist.apply_decision(&lesson, &LessonDecision::Promote).await.err())
        }
        DecisionVerb::Reject => {
            ("is rejected", archivist.apply_decision(&lesson, &LessonDecision::Reject { reason: None }).await.err())
        }
        DecisionVerb::Forget => ("is forgotten", archivist.forget_lessons(&[lesson], None).await.err()),
    };
    HudUpdate::Done(match refusal {
        None => Ok(format!("{} {done}", order.name)),
        Some(refusal) => Err(describe_error(&refusal)),
    })
}

async fn load_memory_rows(archivist: &Archivist, _now: Timestamp) -> Result<MemoryRows, RequestError> {
    let lessons = archivist.list_lessons(&LessonFilter::from_selection(LessonStateFilter::All)).await?;
    let episodes = archivist.list_episodes(&EpisodeListFilter::default()).await?;
    Ok(MemoryRows::from_memory(lessons, episodes))
}

async fn load_queue_rows(archivist: &Archivist, now: Timestamp) -> Result<QueueRows, RequestError> {
    Ok(QueueRows::from_jobs(archivist.queue_status().await?, now))
}

fn describe_error(refusal: &RequestError) -> String {
    match refusal.hint() {
        Some(hint) => format!("{refusal} ({hint})"),
        None => refusal.to_string(),
    }
}
