//! Asks the desk what the display shows. Each question is a task of its own, so that drawing never waits for one.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};

use super::model::{Look, Message, Order, Verb};
use super::rows::{Known, Waiting};
use crate::desk::{Desk, EpisodeQuestion, LessonFilter, Refusal};
use crate::domain::{HudMessage, MemoryId, Timestamp};
use crate::hud::FeedReader;
use crate::memory::{LessonName, Stamp, Which};
use crate::service::{Clock, Decision};

/// More of what was told before is not kept.
const TOLD: usize = 500;

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
    reader: FeedReader,
    stamp: Option<Stamp>,
    looks: u32,
}

impl Watcher {
    /// Begins with what was told before, as far as that is still there.
    fn new(desk: Desk, clock: Clock) -> Self {
        let reader = FeedReader::after(desk.memory_dir(), 0);
        Self { desk, clock, reader, stamp: None, looks: 0 }
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
        let mut reader = self.reader.clone();
        let read = spawn_blocking(move || {
            let mut told = VecDeque::new();
            loop {
                // A feed that cannot be read is worth no word: the memory itself says what is wrong.
                let news = reader.news().unwrap_or_default();
                if news.is_empty() {
                    return (reader, told);
                }
                told.extend(news.into_iter().map(|news| news.message));
                let surplus = told.len().saturating_sub(TOLD);
                told.drain(..surplus);
            }
        });
        match read.await {
            Ok((reader, told)) => {
                self.reader = reader;
                told.into()
            }
            Err(error) => broken(error),
        }
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
    let desk = desk.clone();
    let read = spawn_blocking(move || desk.jobs(now).map(|jobs| Waiting::of(jobs, now)));
    read.await.unwrap_or_else(|error| Ok(broken(error)))
}

/// Nothing, where the process is about to end; a panic goes on.
fn broken<T: Default>(error: JoinError) -> T {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => T::default(),
    }
}

fn in_words(refusal: &Refusal) -> String {
    match refusal.hint() {
        Some(hint) => format!("{refusal} ({hint})"),
        None => refusal.to_string(),
    }
}
