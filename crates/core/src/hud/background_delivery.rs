//! Background delivery: a sender enqueues a message and returns at once, and a task carries it to its destination.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::delivery_queue::{LinkState, MessageQueue};
use crate::domain::HudMessage;

/// A queue of messages and the task that delivers them, if one is running. Dropping it aborts the task.
#[derive(Debug)]
pub(super) struct BackgroundDelivery {
    pub(super) queue: Arc<MessageQueue>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl BackgroundDelivery {
    /// Creates a delivery whose queue holds at most `most` messages.
    pub(super) fn new(most: usize) -> Self {
        Self { queue: Arc::new(MessageQueue::new(most)), task: Mutex::new(None) }
    }

    /// Enqueues a message and makes sure that a delivery task runs.
    pub(super) fn enqueue_message<F>(&self, message: &HudMessage, deliver: impl FnOnce(Arc<MessageQueue>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Ok(message) = serde_json::to_string(message) {
            self.queue.push(message);
            self.ensure_task_running(deliver);
        }
    }

    /// Waits until all queued messages are delivered and the connection is closed; gives up when `patience` has passed.
    pub(super) async fn flush_queue<F>(&self, patience: Duration, deliver: impl FnOnce(Arc<MessageQueue>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if self.queue.is_empty() || Handle::try_current().is_err() {
            return;
        }
        self.queue.set_closing(true);
        self.ensure_task_running(deliver);
        // Messages that are not delivered by then are lost.
        let _ = timeout(patience, self.queue.wait_until_delivered()).await;
        self.queue.set_closing(false);
    }

    /// Spawns the task unless it runs or delivery was given up. Without a runtime the messages stay queued.
    fn ensure_task_running<F>(&self, deliver: impl FnOnce(Arc<MessageQueue>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let link = self.queue.link_state();
        // A task also ends with the runtime that it ran on.
        let is_over = link == LinkState::Closed || task.as_ref().is_none_or(JoinHandle::is_finished);
        if is_over && link != LinkState::GivenUp {
            self.queue.set_link_state(LinkState::Untried);
            *task = Some(runtime.spawn(deliver(Arc::clone(&self.queue))));
        }
    }
}

impl Drop for BackgroundDelivery {
    fn drop(&mut self) {
        if let Some(task) = self.task.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}
