//! Asks the desk what the display shows. Each question is a task of its own, so that drawing never waits for one.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use super::model::{Look, Message, Order, Verb};
use super::rows::{Known, Waiting};
use crate::desk::{Desk, EpisodeQuestion, LessonFilter, Refusal};
use crate::domain::{HudMessage, MemoryId, Timestamp};
use crate::hud::{Feed, Follower};
use crate::memory::{LessonName, Stamp, Which};
use crate::service::{Clock, Decision};

/// More of what was told before is not kept.
const TOLD: usize = 500;

/// A feed that is far is not waited for any longer: the rest is shown without it.
const FEED_PATIENCE: Duration = Duration::from_secs(2);

/// Whether a worker runs is not in the stamp: the queue is read anew after so many looks.
const QUEUE_EVERY: u32 = 8;

/// Looks at the memory again and again, for as long as somebody wants to hear of it.
pub(super) async fn look_on(desk: Desk, clock: Clock, pace: Duration, tell: mpsc::Sender<Look>) {
    let mut watcher = Watcher::new(desk, clock);
    while tell.send(watcher.look().await).await.is_ok() {
        tokio::time::sleep(pace).await;
    }
}

/// What was seen so far. The memory is read only when something was written.
#[derive(Debug)]
struct Watcher {
    desk: Desk,
    clock: Clock,
    feed: Feed,
    reader: Option<Follower>,
    stamp: Option<Stamp>,
    looks: u32,
}

impl Watcher {
    /// Begins with what was told before, as far as that is still there.
    fn new(desk: Desk, clock: Clock) -> Self {
        let feed = desk.feed();
        Self { desk, clock, feed, reader: None, stamp: None, looks: 0 }
    }

    /// One look.
    async fn look(&mut self) -> Look {
        let at = self.clock.now();
        let mut look = Look { at, told: self.told().await, known: None, waiting: None, trouble: None };
        if let Err(refusal) = self.read(&mut look).await {
            look.trouble = Some(in_words(&refusal));
        }
        look
    }

    async fn read(&mut self, look: &mut Look) -> Result<(), Refusal> {
        let stamp = self.desk.stamp().await?;
        let is_changed = self.stamp.as_ref() != Some(&stamp);
        if is_changed {
            look.known = Some(Box::new(known(&self.desk, look.at).await?));
        }
        if is_changed || self.looks.is_multiple_of(QUEUE_EVERY) {
            look.waiting = Some(Box::new(waiting(&self.desk, look.at).await?));
        }
        // Only what was read to its end was seen.
        self.stamp = Some(stamp);
        self.looks = self.looks.wrapping_add(1);
        Ok(())
    }

    /// What was told since the last look, the oldest first.
    async fn told(&mut self) -> Vec<HudMessage> {
        let mut told = VecDeque::new();
        // A feed that cannot be read is worth no word: the memory itself says what is wrong.
        let Ok(Ok(reader)) = timeout(FEED_PATIENCE, self.reader()).await else { return told.into() };
        while let Ok(Ok(news)) = timeout(FEED_PATIENCE, reader.news()).await
            && !news.is_empty()
        {
            told.extend(news.into_iter().map(|news| news.message));
            let surplus = told.len().saturating_sub(TOLD);
            told.drain(..surplus);
        }
        told.into()
    }

    /// Whoever reads along, from the first time that can be done.
    async fn reader(&mut self) -> io::Result<&mut Follower> {
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => self.feed.lately(u64::try_from(TOLD).unwrap_or(u64::MAX)).await?,
        };
        Ok(self.reader.insert(reader))
    }
}

/// Finds out what a lesson rests on.
pub(super) async fn ask(desk: Desk, id: MemoryId) -> Message {
    let grounds = desk.why(&LessonName::Id(id.clone())).await;
    Message::Answered { id, grounds: grounds.map(Box::new).map_err(|refusal| in_words(&refusal)) }
}

/// Carries out what a person decided.
pub(super) async fn carry_out(desk: Desk, order: Order, now: Timestamp) -> Message {
    let lesson = LessonName::Id(order.id);
    let (done, refusal) = match order.verb {
        Verb::Approve => ("is approved", desk.decide(&lesson, &Decision::Approve, now).await.err()),
        Verb::Promote => ("is promoted", desk.decide(&lesson, &Decision::Promote, now).await.err()),
        Verb::Reject => ("is rejected", desk.decide(&lesson, &Decision::Reject { reason: None }, now).await.err()),
        Verb::Forget => ("is forgotten", desk.forget(&[lesson], None, now).await.err()),
    };
    Message::Done(match refusal {
        None => Ok(format!("{} {done}", order.name)),
        Some(refusal) => Err(in_words(&refusal)),
    })
}

async fn known(desk: &Desk, now: Timestamp) -> Result<Known, Refusal> {
    let lessons = desk.lessons(&LessonFilter::of(Which::All)).await?;
    let episodes = desk.episodes(&EpisodeQuestion::default(), now).await?;
    Ok(Known::of(lessons, episodes))
}

async fn waiting(desk: &Desk, now: Timestamp) -> Result<Waiting, Refusal> {
    Ok(Waiting::of(desk.jobs(now).await?, now))
}

fn in_words(refusal: &Refusal) -> String {
    match refusal.hint() {
        Some(hint) => format!("{refusal} ({hint})"),
        None => refusal.to_string(),
    }
}
