//! Whoever tells hands a message over and goes on; somebody else carries it to where it is heard.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::queue::{Link, Queue};
use crate::domain::HudMessage;

/// Messages that wait, and the task that delivers them, if there is one just now. The task ends with it.
#[derive(Debug)]
pub(super) struct Courier {
    pub(super) queue: Arc<Queue>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Courier {
    /// At most so many messages wait.
    pub(super) fn new(most: usize) -> Self {
        Self { queue: Arc::new(Queue::new(most)), task: Mutex::new(None) }
    }

    /// Takes a message, and sees to it that somebody delivers.
    pub(super) fn take<F>(&self, message: &HudMessage, deliver: impl FnOnce(Arc<Queue>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Ok(message) = serde_json::to_string(message) {
            self.queue.push(message);
            self.send(deliver);
        }
    }

    /// Has everything delivered that waits, and the connection closed; gives up when the patience ends.
    pub(super) async fn finish<F>(&self, patience: Duration, deliver: impl FnOnce(Arc<Queue>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if self.queue.is_empty() || Handle::try_current().is_err() {
            return;
        }
        self.queue.set_closing(true);
        self.send(deliver);
        // What is not delivered by then is not delivered.
        let _ = timeout(patience, self.queue.settled()).await;
        self.queue.set_closing(false);
    }

    /// Sees to it that somebody delivers. Outside of a runtime nobody can, and the messages wait for the next occasion.
    fn send<F>(&self, deliver: impl FnOnce(Arc<Queue>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let link = self.queue.link();
        // It is also over when the runtime is that it ran on.
        let is_over = link == Link::Closed || task.as_ref().is_none_or(JoinHandle::is_finished);
        if is_over && link != Link::GivenUp {
            self.queue.set_link(Link::Untried);
            *task = Some(runtime.spawn(deliver(Arc::clone(&self.queue))));
        }
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        if let Some(task) = self.task.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }
}
