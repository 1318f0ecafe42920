//! Messages for displays on any machine: into the table behind the feed that machines share.
//!
//! The server may be far, slow, restarting or gone: none of it is felt by whoever tells. What gathers while one batch is on
//! its way goes with the next. That is kind to the server too: a notification takes a lock at commit that is there once for
//! a whole database, so one for each message would make all of them queue.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;

use super::HudSink;
use super::courier::Courier;
use super::queue::{Link, Queue};
use crate::domain::HudMessage;
use crate::memory::postgres::{Events, NewEvent};

/// The most messages that wait for the server. Full, the oldest are forgotten.
const QUEUED: usize = 10_000;

/// The most that are told at once.
const AT_ONCE: usize = 500;

/// After a message came it is waited this long for others that belong with it.
const GATHERING: Duration = Duration::from_millis(5);

/// A server that is away for longer counts as away: whoever ends does not wait for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// First and longest pause after a failure.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// What was told longer ago is nobody's news any more.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// After one batch in so many, old messages are taken out: nobody has to remember when that was last done.
const PRUNED_EVERY: u64 = 64;

/// In so many bounded pieces at most.
const PRUNED_PIECES: u32 = 64;

/// Tells everybody who reads the feed of a bank along.
#[derive(Debug)]
pub struct FleetSink {
    events: Events,
    /// Of all that is told, only what this one tells begins with it.
    name: Arc<str>,
    courier: Courier,
}

impl FleetSink {
    /// Nothing is connected before there is something to say.
    pub fn new(events: Events) -> Self {
        let name = format!("{:016x}{:016x}", chance(), chance()).into();
        Self { events, name, courier: Courier::new(QUEUED) }
    }

    fn deliver(&self, queue: Arc<Queue>) -> impl Future<Output = ()> + Send + use<> {
        deliver(self.events.clone(), Arc::clone(&self.name), queue)
    }
}

#[async_trait]
impl HudSink for FleetSink {
    fn tell(&self, message: &HudMessage) {
        self.courier.take(message, |queue| self.deliver(queue));
    }

    async fn finish(&self, patience: Duration) {
        if self.courier.queue.link() == Link::Down {
            // Somebody who was in vain before is given one more chance.
            self.courier.queue.set_link(Link::Untried);
        }
        self.courier.finish(patience, |queue| self.deliver(queue)).await;
    }
}

/// Tells what waits, batch after batch, until all is told and somebody wants to end.
async fn deliver(events: Events, name: Arc<str>, queue: Arc<Queue>) {
    let (mut pause, mut has_complained) = (PAUSE.0, false);
    loop {
        let (first, batch) = queue.batch(AT_ONCE);
        if batch.is_empty() {
            if queue.is_closing() {
                return queue.set_link(Link::Closed);
            }
            queue.arrived().await;
            if !queue.is_closing() {
                sleep(GATHERING).await;
            }
            continue;
        }
        // A message has the same number however often it is tried, and so the same key.
        let count = batch.len() as u64;
        let told: Vec<NewEvent> = (first..)
            .zip(batch)
            .map(|(number, record)| NewEvent { key: format!("{name}-{number}"), record: record.as_str().to_owned() })
            .collect();
        match events.append_within(PATIENCE, &told).await {
            Ok(()) => {
                queue.done_before(first + count);
                queue.set_link(Link::Up);
                (pause, has_complained) = (PAUSE.0, false);
                if chance().is_multiple_of(PRUNED_EVERY) && !queue.is_closing() {
                    prune(&events).await;
                }
            }
            Err(error) => {
                queue.set_link(Link::Down);
                if !std::mem::replace(&mut has_complained, true) {
                    tracing::warn!(%error, "what happens cannot be told to other machines just now");
                }
                rest(&queue, pause).await;
                pause = (pause * 2).min(PAUSE.1);
            }
        }
    }
}

/// Waits, unless somebody wants to end.
async fn rest(queue: &Queue, pause: Duration) {
    let mut over = pin!(sleep(pause));
    loop {
        tokio::select! {
            () = &mut over => return,
            () = queue.arrived() => if queue.is_closing() { return },
        }
    }
}

/// Takes out what is old, in pieces.
async fn prune(events: &Events) {
    for _ in 0..PRUNED_PIECES {
        match events.prune(KEPT).await {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => return tracing::debug!(%error, "old messages could not be taken out"),
        }
    }
}

fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}
