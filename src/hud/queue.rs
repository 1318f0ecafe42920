//! What waits to be delivered, and how the one who delivers it gets on.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Utf8Bytes;

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;

/// How the connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Nobody has been looked for yet.
    Untried,
    /// Somebody listens.
    Up,
    /// Nobody listened when they were last looked for.
    Down,
    /// Nobody is looked for any more.
    GivenUp,
    /// Everything was delivered and the connection closed.
    Closed,
}

/// Messages on their way. Full, it forgets the oldest.
#[derive(Debug)]
pub(super) struct Queue {
    most: usize,
    held: Mutex<Held>,
    /// Wakes the one who delivers.
    arrived: Notify,
    /// Wakes those who wait for it to get on.
    moved: Notify,
}

#[derive(Debug)]
struct Held {
    messages: VecDeque<Utf8Bytes>,
    /// How many have left it so far: the number of the first one in it.
    gone: u64,
    link: Link,
    is_closing: bool,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        let held = Held { messages: VecDeque::new(), gone: 0, link: Link::Untried, is_closing: false };
        Self { most, held: Mutex::new(held), arrived: Notify::new(), moved: Notify::new() }
    }

    /// Puts a message last. Once nobody is looked for any more, it is dropped.
    pub(super) fn push(&self, message: String) {
        let mut held = self.held();
        if held.link == Link::GivenUp {
            return;
        }
        if held.messages.len() >= self.most {
            held.forget_first();
        }
        held.messages.push_back(message.into());
        drop(held);
        self.arrived.notify_one();
    }

    /// The first message and its number. It stays until it is [`done`](Self::done).
    pub(super) fn first(&self) -> Option<(u64, Utf8Bytes)> {
        let held = self.held();
        Some((held.gone, held.messages.front()?.clone()))
    }

    /// Takes the message out that was delivered, if it was not forgotten meanwhile.
    pub(super) fn done(&self, number: u64) {
        let mut held = self.held();
        if held.gone == number {
            held.forget_first();
        }
    }

    /// The first messages, and the number of the first of them. They stay until they are
    /// [`done`](Self::done_before).
    #[cfg(feature = "postgres")]
    pub(super) fn batch(&self, most: usize) -> (u64, Vec<Utf8Bytes>) {
        let held = self.held();
        (held.gone, held.messages.iter().take(most).cloned().collect())
    }

    /// Takes the messages out that come before this number, as far as they were not forgotten meanwhile.
    #[cfg(feature = "postgres")]
    pub(super) fn done_before(&self, number: u64) {
        let mut held = self.held();
        while held.gone < number && !held.messages.is_empty() {
            held.forget_first();
        }
    }

    /// Waits for a message, or for something else to do.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held().messages.is_empty()
    }

    pub(super) fn link(&self) -> Link {
        self.held().link
    }

    /// Notes how the connection stands. Whoever gives up needs no messages.
    pub(super) fn set_link(&self, link: Link) {
        let mut held = self.held();
        held.link = link;
        if link == Link::GivenUp {
            held.messages = VecDeque::new();
        }
        drop(held);
        self.moved.notify_waiters();
    }

    /// Asks for the connection to be closed once everything is delivered, or no longer asks for it.
    pub(super) fn set_closing(&self, is_closing: bool) {
        self.held().is_closing = is_closing;
        self.arrived.notify_one();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.held().is_closing
    }

    /// Waits until everything is delivered, or nobody listens.
    pub(super) async fn settled(&self) {
        loop {
            // Listening begins before looking, so that nothing is missed between the two.
            let mut moved = pin!(self.moved.notified());
            moved.as_mut().enable();
            if !matches!(self.link(), Link::Untried | Link::Up) {
                return;
            }
            moved.await;
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn forget_first(&mut self) {
        if self.messages.pop_front().is_some() {
            self.gone += 1;
        }
    }
}
