//! Messages for displays on any machine: into the table behind the feed that machines share.
//!
//! The server may be far, slow, restarting or gone: none of it is felt by whoever tells. What gathers while one batch is on
//! its way goes with the next. That is kind to the server too: a notification takes a lock at commit that is there once for
//! a whole database, so one for each message would make all of them queue.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::HudSink;
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
    queue: Arc<Queue>,
    courier: Mutex<Option<JoinHandle<()>>>,
}

impl FleetSink {
    /// Nothing is connected before there is something to say.
    pub fn new(events: Events) -> Self {
        let name = format!("{:016x}{:016x}", chance(), chance()).into();
        Self { events, name, queue: Arc::new(Queue::new(QUEUED)), courier: Mutex::new(None) }
    }

    /// Sees to it that somebody delivers. Outside of a runtime nobody can, and the messages wait for the next occasion.
    fn send_courier(&self) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut courier = self.courier.lock().unwrap_or_else(PoisonError::into_inner);
        // It is also over when the runtime is that it ran on.
        if courier.as_ref().is_none_or(JoinHandle::is_finished) {
            let deliver = deliver(self.events.clone(), Arc::clone(&self.name), Arc::clone(&self.queue));
            *courier = Some(runtime.spawn(deliver));
        }
    }
}

#[async_trait]
impl HudSink for FleetSink {
    fn tell(&self, message: &HudMessage) {
        if let Ok(message) = serde_json::to_string(message) {
            self.queue.push(message);
            self.send_courier();
        }
    }

    async fn finish(&self, patience: Duration) {
        if self.queue.is_empty() || Handle::try_current().is_err() {
            return;
        }
        // Somebody who was in vain before is given one more chance.
        self.queue.set_link(Link::Untried);
        self.queue.set_closing(true);
        self.send_courier();
        // What is not delivered by then is not delivered.
        let _ = timeout(patience, self.queue.settled()).await;
        self.queue.set_closing(false);
    }
}

impl Drop for FleetSink {
    fn drop(&mut self) {
        let courier = self.courier.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(courier) = courier.take() {
            courier.abort();
        }
    }
}

/// Tells what waits, batch after batch, for as long as the sink lives.
async fn deliver(events: Events, name: Arc<str>, queue: Arc<Queue>) {
    let (mut pause, mut has_complained) = (PAUSE.0, false);
    loop {
        let (first, batch) = queue.batch(AT_ONCE);
        if batch.is_empty() {
            if queue.is_closing() {
                queue.set_link(Link::Closed);
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
