//! A sink for displays on any machine: it writes to the event table behind the feed that machines share.
//!
//! The server may be far, slow, restarting or gone; senders never notice. Messages that arrive while one batch is being
//! written go with the next. Batching also spares the server: a notification takes a database-wide lock at commit, so
//! one for each message would make all commits queue.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;

use super::HudSink;
use super::background_delivery::BackgroundDelivery;
use super::delivery_queue::{LinkState, MessageQueue};
use crate::domain::HudMessage;
use crate::memory::postgres::{EventFeed, NewEvent};

/// The most messages that wait for the server. When the queue is full, the oldest are dropped.
const QUEUED: usize = 10_000;

/// The most messages that are written in one batch.
const AT_ONCE: usize = 500;

/// The time to wait after a message for others that belong with it.
const GATHERING: Duration = Duration::from_millis(5);

/// The time after which a server that does not respond counts as down, so that an ending process does not wait for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The first and the longest pause after a failure.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// The age at which messages are pruned.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Old messages are pruned after one batch in this many, chosen at random, so that no state has to be kept.
const PRUNED_EVERY: u64 = 64;

/// The most bounded deletes of one pruning.
const PRUNED_PIECES: u32 = 64;

/// Sends every message to those who follow the feed of a bank.
#[derive(Debug)]
pub struct FleetFeedSink {
    events: EventFeed,
    /// The random prefix of this sink's event keys, which no other sink uses.
    name: Arc<str>,
    courier: BackgroundDelivery,
}

impl FleetFeedSink {
    /// Creates a sink. It connects when the first message is sent.
    pub fn new(events: EventFeed) -> Self {
        let name = format!("{:016x}{:016x}", random_number(), random_number()).into();
        Self { events, name, courier: BackgroundDelivery::new(QUEUED) }
    }

    fn deliver_queue(&self, queue: Arc<MessageQueue>) -> impl Future<Output = ()> + Send + use<> {
        deliver_batches(self.events.clone(), Arc::clone(&self.name), queue)
    }
}

#[async_trait]
impl HudSink for FleetFeedSink {
    fn send_message(&self, message: &HudMessage) {
        self.courier.enqueue_message(message, |queue| self.deliver_queue(queue));
    }

    async fn flush_messages(&self, patience: Duration) {
        if self.courier.queue.link_state() == LinkState::Down {
            // One more attempt is made, even if the last one failed.
            self.courier.queue.set_link_state(LinkState::Untried);
        }
        self.courier.flush_queue(patience, |queue| self.deliver_queue(queue)).await;
    }
}

/// Writes the queued messages batch by batch, until the queue is empty and closing is requested.
async fn deliver_batches(events: EventFeed, name: Arc<str>, queue: Arc<MessageQueue>) {
    let (mut pause, mut has_complained) = (PAUSE.0, false);
    loop {
        let (first, batch) = queue.first_messages(AT_ONCE);
        if batch.is_empty() {
            if queue.is_closing() {
                return queue.set_link_state(LinkState::Closed);
            }
            queue.wait_for_work().await;
            if !queue.is_closing() {
                sleep(GATHERING).await;
            }
            continue;
        }
        // A message keeps its number over all tries, and so its key.
        let count = batch.len() as u64;
        let told: Vec<NewEvent> = (first..)
            .zip(batch)
            .map(|(number, record)| NewEvent { key: format!("{name}-{number}"), record: (*record).to_owned() })
            .collect();
        match events.append_within(PATIENCE, &told).await {
            Ok(()) => {
                queue.remove_delivered_before(first + count);
                queue.set_link_state(LinkState::Up);
                (pause, has_complained) = (PAUSE.0, false);
                if random_number().is_multiple_of(PRUNED_EVERY) && !queue.is_closing() {
                    prune_old_messages(&events).await;
                }
            }
            Err(error) => {
                queue.set_link_state(LinkState::Down);
                if !std::mem::replace(&mut has_complained, true) {
                    tracing::warn!(%error, "what happens cannot be told to other machines just now");
                }
                pause_unless_closing(&queue, pause).await;
                pause = (pause * 2).min(PAUSE.1);
            }
        }
    }
}

/// Waits for the pause to pass, or returns early if closing is requested.
async fn pause_unless_closing(queue: &MessageQueue, pause: Duration) {
    let mut over = pin!(sleep(pause));
    loop {
        tokio::select! {
            () = &mut over => return,
            () = queue.wait_for_work() => if queue.is_closing() { return },
        }
    }
}

/// Deletes old messages in bounded pieces.
async fn prune_old_messages(events: &EventFeed) {
    for _ in 0..PRUNED_PIECES {
        match events.prune_events(KEPT).await {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => return tracing::debug!(%error, "old messages could not be taken out"),
        }
    }
}

fn random_number() -> u64 {
    RandomState::new().build_hasher().finish()
}
