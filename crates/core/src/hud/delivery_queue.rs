//! The queue of messages to deliver, and the state of the connection that delivers them.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

#[cfg(test)]
#[path = "delivery_queue_tests.rs"]
mod tests;

/// The state of the connection to a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkState {
    /// No connection has been tried yet.
    Untried,
    /// The receiver is connected.
    Up,
    /// The last attempt to connect failed, or the connection was lost.
    Down,
    /// No further attempt is made.
    GivenUp,
    /// Everything was delivered and the connection closed.
    Closed,
}

/// A bounded queue of messages to deliver. When it is full, it drops the oldest.
#[derive(Debug)]
pub(super) struct MessageQueue {
    most: usize,
    held: Mutex<QueuedMessages>,
    /// Wakes the delivery task.
    arrived: Notify,
    /// Wakes those who wait for a change of the link state.
    moved: Notify,
}

#[derive(Debug)]
struct QueuedMessages {
    messages: VecDeque<Arc<str>>,
    /// The count of messages that have left the queue, which is the number of the first one in it.
    gone: u64,
    link: LinkState,
    is_closing: bool,
}

impl MessageQueue {
    pub(super) fn new(most: usize) -> Self {
        let held = QueuedMessages { messages: VecDeque::new(), gone: 0, link: LinkState::Untried, is_closing: false };
        Self { most, held: Mutex::new(held), arrived: Notify::new(), moved: Notify::new() }
    }

    /// Appends a message. It is dropped if delivery was given up.
    pub(super) fn push(&self, message: String) {
        let mut held = self.lock_messages();
        if held.link == LinkState::GivenUp {
            return;
        }
        if held.messages.len() >= self.most {
            held.drop_first();
        }
        held.messages.push_back(message.into());
        drop(held);
        self.arrived.notify_one();
    }

    /// Returns the first message and its number. It stays queued until [`remove_delivered`](Self::remove_delivered).
    pub(super) fn first_message(&self) -> Option<(u64, Arc<str>)> {
        let held = self.lock_messages();
        Some((held.gone, held.messages.front()?.clone()))
    }

    /// Removes the message with this number after its delivery, unless it was dropped in the meantime.
    pub(super) fn remove_delivered(&self, number: u64) {
        let mut held = self.lock_messages();
        if held.gone == number {
            held.drop_first();
        }
    }

    /// Returns the first messages and the number of the first of them. They stay queued until
    /// [`remove_delivered_before`](Self::remove_delivered_before).
    #[cfg(feature = "postgres")]
    pub(super) fn first_messages(&self, most: usize) -> (u64, Vec<Arc<str>>) {
        let held = self.lock_messages();
        (held.gone, held.messages.iter().take(most).cloned().collect())
    }

    /// Removes all messages before this number that were not dropped in the meantime.
    #[cfg(feature = "postgres")]
    pub(super) fn remove_delivered_before(&self, number: u64) {
        let mut held = self.lock_messages();
        while held.gone < number && !held.messages.is_empty() {
            held.drop_first();
        }
    }

    /// Waits for a message or a request to close.
    pub(super) async fn wait_for_work(&self) {
        self.arrived.notified().await;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock_messages().messages.is_empty()
    }

    pub(super) fn link_state(&self) -> LinkState {
        self.lock_messages().link
    }

    /// Sets the state of the connection. Giving up also clears the queue.
    pub(super) fn set_link_state(&self, link: LinkState) {
        let mut held = self.lock_messages();
        held.link = link;
        if link == LinkState::GivenUp {
            held.messages = VecDeque::new();
        }
        drop(held);
        self.moved.notify_waiters();
    }

    /// Requests that the connection is closed once everything is delivered, or withdraws the request.
    pub(super) fn set_closing(&self, is_closing: bool) {
        self.lock_messages().is_closing = is_closing;
        self.arrived.notify_one();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.lock_messages().is_closing
    }

    /// Waits until everything is delivered or the receiver cannot be reached.
    pub(super) async fn wait_until_delivered(&self) {
        loop {
            // Waiting begins before the check, so that no change between the two is missed.
            let mut moved = pin!(self.moved.notified());
            moved.as_mut().enable();
            if !matches!(self.link_state(), LinkState::Untried | LinkState::Up) {
                return;
            }
            moved.await;
        }
    }

    fn lock_messages(&self) -> MutexGuard<'_, QueuedMessages> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedMessages {
    fn drop_first(&mut self) {
        if self.messages.pop_front().is_some() {
            self.gone += 1;
        }
    }
}
