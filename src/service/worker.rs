//! Works off a queue, one job after the other.
//!
//! Whether the queue lies in files or on a server makes no difference here: see `queue/source.rs`. What shows that a worker
//! lives is done by a thread of its own: a job that keeps the executor busy must not look dead.

mod pace;

use std::collections::HashMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::queue::{Held, Job, JobName, JobSource, Post, QueueError, Settled, Token, Urgency, later};
use crate::domain::Timestamp;
use crate::model::Clock;
use crate::redact::Redactor;

pub use self::pace::Pace;

#[cfg(test)]
#[path = "worker/worker_tests.rs"]
mod tests;

/// How often a worker looks whether somebody asked for something.
const LOOK: Duration = Duration::from_secs(1);

/// The shortest pause between two looks, and how many of them it takes to see that a job cannot be had.
const BLINK: Duration = Duration::from_millis(20);
const BLINKS: u32 = 5;

/// How often a worker that goes on forgets what has long been done.
const FORGET: Duration = Duration::from_secs(60 * 60);

/// How long a worker that was told to stop lets its job go on.
const GRACE: Duration = Duration::from_secs(10);

/// How long a job of a fleet is left to machines that have what it needs, before it counts as failed that none has it; and
/// the shortest and the longest time until the next one looks.
const ABSENT: Duration = Duration::from_secs(24 * 60 * 60);
const ELSEWHERE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The longest that the log of a session is waited for that is over.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// Does what a job asks for. Any job may come twice.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Does it, and says what came of it.
    async fn handle(&self, job: &Job) -> Handled;

    /// The same for a job of the project that a fleet knows by this key.
    async fn handle_for(&self, bank: Option<&str>, job: &Job) -> Handled {
        let _ = bank;
        self.handle(job).await
    }
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handled {
    /// It is done, with this result.
    Done(String),
    /// It failed for a reason that may pass.
    Again(String),
    /// It failed for a reason that will not pass.
    Hopeless(String),
    /// What it needs is not on this machine, though it may be on another.
    NotHere(String),
}

/// For how long to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Until there is nothing left to do.
    Empty,
    /// Until told to stop.
    Forever,
}

/// Why a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There is nothing left to do.
    Empty,
    /// What is left is not due for longer than the worker waits.
    Waiting,
    /// It was told to.
    Stopped,
    /// There are as many workers as there may be.
    OthersWork,
    /// The queue was deleted.
    Vanished,
}

/// What a worker did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worked {
    /// Why it ended.
    pub ended: Ended,
    /// How many jobs it did.
    pub done: u64,
    /// How many tries failed, to be repeated.
    pub failed: u64,
    /// How many jobs it put aside.
    pub buried: u64,
}

/// Somebody who works off a queue.
pub struct Worker<'a, Q: JobSource + ?Sized, H: Handler> {
    /// What is to be done.
    pub queue: &'a Q,
    /// Who does it.
    pub handler: &'a H,
    /// How fast.
    pub pace: Pace,
    /// What time it is.
    pub clock: Clock,
}

impl<Q: JobSource + ?Sized, H: Handler> std::fmt::Debug for Worker<'_, Q, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").field("queue", &self.queue).field("pace", &self.pace).finish_non_exhaustive()
    }
}

/// What a worker knows while it works.
struct Shift {
    token: Token,
    redactor: Redactor,
    worked: Worked,
    /// Since when the logs of sessions that are over have been waited for.
    resting: HashMap<JobName, Timestamp>,
    /// When finished jobs were last forgotten.
    forgot: Instant,
    stop: watch::Receiver<bool>,
}

/// What a look at the queue came to.
enum Looked {
    /// There was a job, and it was worked on.
    Busy,
    /// There was a job, but it is not its time.
    Early,
    /// There was none.
    Idle,
    /// There was a job, and it was given back.
    Stopped,
}

impl<Q: JobSource + ?Sized, H: Handler> Worker<'_, Q, H> {
    /// Works until there is nothing left, or until `stop` holds `true`. If nobody can say so any more, it goes on.
    pub async fn run(&self, until: Until, stop: watch::Receiver<bool>) -> Result<Worked, QueueError> {
        let mut shift = Shift {
            token: Token::fresh(),
            redactor: Redactor::new(),
            worked: Worked { ended: Ended::OthersWork, done: 0, failed: 0, buried: 0 },
            resting: HashMap::new(),
            forgot: Instant::now(),
            stop,
        };
        while let Some(post) = self.post().await? {
            let (ended, left) = self.work(&*post, until, &mut shift).await?;
            shift.worked.ended = ended;
            if ended == Ended::Vanished {
                break;
            }
            self.forget(&mut shift).await;
            drop(post);
            if ended == Ended::Stopped {
                break;
            }
            // Whoever asked for a job a moment ago saw that somebody works, and went away.
            let now = self.now();
            let is_due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
            let is_new = is_due(self.queue.next_due(self.pace.lease, now).await?) && !is_due(left);
            if !is_new {
                break;
            }
        }
        Ok(shift.worked)
    }

    /// A place to work. Who only looks whether one is taken holds it for a blink.
    async fn post(&self) -> Result<Option<Box<dyn Post>>, QueueError> {
        for _ in 0..BLINKS {
            if let Some(post) = self.queue.post(self.pace.processes).await? {
                return Ok(Some(post));
            }
            sleep(BLINK).await;
        }
        Ok(None)
    }

    /// Works, and says why it ended and when the next job is due.
    async fn work(
        &self,
        post: &dyn Post,
        until: Until,
        shift: &mut Shift,
    ) -> Result<(Ended, Option<Timestamp>), QueueError> {
        let (mut idle_since, mut blinks, mut errors) = (Instant::now(), 0, 0);
        loop {
            if *shift.stop.borrow() {
                return Ok((Ended::Stopped, None));
            }
            if !post.is_valid() {
                return Ok((Ended::Vanished, None));
            }
            if shift.forgot.elapsed() > FORGET {
                self.forget(shift).await;
            }
            let due = match self.look_and_ask(shift).await {
                Ok((Looked::Busy, _)) => {
                    (idle_since, blinks, errors) = (Instant::now(), 0, 0);
                    continue;
                }
                Ok((Looked::Early, _)) => continue,
                Ok((Looked::Stopped, _)) => return Ok((Ended::Stopped, None)),
                Ok((Looked::Idle, due)) => due,
                // It may pass, as when too many files are open. A server that is away is waited for.
                Err(error) if errors < BLINKS || (until == Until::Forever && error.may_pass()) => {
                    tracing::warn!(%error, "the queue cannot be read; trying again");
                    errors += 1;
                    sleep(LOOK).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let now = self.now();
            let wait = due.map(|at| (at - now).to_std().unwrap_or_default());
            if wait == Some(Duration::ZERO) && blinks < BLINKS {
                // Somebody else was faster, or it came this moment.
                blinks += 1;
            } else if until == Until::Empty {
                let patience = self.pace.linger.saturating_sub(idle_since.elapsed());
                match wait {
                    None => return Ok((Ended::Empty, None)),
                    Some(wait) if patience.is_zero() || wait > patience => return Ok((Ended::Waiting, due)),
                    Some(_) => {}
                }
            }
            let pause = wait.unwrap_or(LOOK).clamp(BLINK, LOOK);
            tokio::select! {
                () = sleep(pause) => {}
                () = stopped(shift.stop.clone()) => {}
            }
        }
    }

    /// Forgets what has been done for long enough.
    async fn forget(&self, shift: &mut Shift) {
        shift.forgot = Instant::now();
        if let Err(error) = self.queue.prune(self.pace.keep_done, self.now()).await {
            tracing::warn!(%error, "finished jobs could not be forgotten");
        }
    }

    /// Looks, and where there was nothing to do, says when there will be.
    async fn look_and_ask(&self, shift: &mut Shift) -> Result<(Looked, Option<Timestamp>), QueueError> {
        let looked = self.look(shift).await?;
        let due = match looked {
            Looked::Idle => self.queue.next_due(self.pace.lease, self.now()).await?,
            Looked::Busy | Looked::Early | Looked::Stopped => None,
        };
        Ok((looked, due))
    }

    /// Takes a job, if there is one, and sees it through.
    async fn look(&self, shift: &mut Shift) -> Result<Looked, QueueError> {
        let now = self.now();
        let claimed = self.queue.claim(&shift.token, self.pace.lease, now).await?;
        let Some(claimed) = claimed else { return Ok(Looked::Idle) };
        let (name, job) = (claimed.name().clone(), claimed.job());
        if self.pace.is_enough(job.attempts.len()) {
            let last = job.attempts.last().map_or("nobody knows why", |attempt| attempt.error.as_str());
            let settled = claimed.bury(&given_up(job.attempts.len(), last), now).await;
            shift.settled(&name, settled, |worked| worked.buried += 1);
            return Ok(Looked::Busy);
        }
        if let Some(at) = self.pace.rest(job, now).filter(|_| shift.has_time(job, &name, now)) {
            shift.settled(&name, claimed.put_off(at, now).await, |_| {});
            return Ok(Looked::Early);
        }
        shift.resting.remove(&name);
        let handled = {
            let _pulse = Pulse::of(Arc::clone(&claimed), self.pace.lease, Arc::clone(&self.clock));
            let stop = shift.stop.clone();
            tokio::select! {
                handled = self.handle(&*claimed) => Some(handled),
                () = async { stopped(stop).await; sleep(GRACE).await } => None,
            }
        };
        let Some(handled) = handled else {
            shift.settled(&name, claimed.release().await, |_| {});
            return Ok(Looked::Stopped);
        };
        self.settle(&*claimed, handled, shift).await;
        Ok(Looked::Busy)
    }

    async fn settle(&self, claimed: &dyn Held, handled: Handled, shift: &mut Shift) {
        let (name, now) = (claimed.name(), self.now());
        let age = (now - claimed.job().enqueued_at).to_std().unwrap_or_default();
        match handled {
            // Whoever comes next may be on the right machine. That this one is not says nothing against the job.
            Handled::NotHere(_) if claimed.bank().is_some() && age < ABSENT => {
                let at = later(now, (age / 8).clamp(ELSEWHERE.0, ELSEWHERE.1));
                shift.settled(name, claimed.put_off(at, now).await, |_| {});
            }
            Handled::Done(note) => {
                let settled = claimed.done(&shift.clean(&note), now).await;
                shift.settled(name, settled, |worked| worked.done += 1);
            }
            Handled::Hopeless(reason) => {
                let settled = claimed.bury(&shift.clean(&reason), now).await;
                shift.settled(name, settled, |worked| worked.buried += 1);
            }
            Handled::Again(error) | Handled::NotHere(error) => {
                let (error, failures) = (shift.clean(&error), claimed.job().attempts.len() + 1);
                if self.pace.is_enough(failures) {
                    let settled = claimed.bury(&given_up(failures, &error), now).await;
                    shift.settled(name, settled, |worked| worked.buried += 1);
                } else {
                    let at = later(now, self.pace.backoff(failures, name));
                    let settled = claimed.retry(&error, at, now).await;
                    shift.settled(name, settled, |worked| worked.failed += 1);
                }
            }
        }
    }

    /// Does the job. A panic is a failure like any other.
    async fn handle(&self, claimed: &dyn Held) -> Handled {
        let mut work = self.handler.handle_for(claimed.bank(), claimed.job());
        poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
            polled.unwrap_or_else(|panic| Poll::Ready(Handled::Again(format!("internal error: {}", said(&*panic)))))
        })
        .await
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl Shift {
    /// Whether the log of a job may be waited for any longer.
    fn has_time(&mut self, job: &Job, name: &JobName, now: Timestamp) -> bool {
        if job.urgency != Urgency::Over {
            return true;
        }
        let since = *self.resting.entry(name.clone()).or_insert(now);
        (now - since).to_std().is_ok_and(|waited| waited < LONGEST_REST)
    }

    /// Counts what was settled. What could not be is taken up by somebody else when its lease ends.
    fn settled(&mut self, job: &JobName, settled: Result<Settled, QueueError>, count: impl FnOnce(&mut Worked)) {
        match settled {
            Ok(Settled::Yes) => count(&mut self.worked),
            Ok(Settled::Lost) => tracing::info!(%job, "the job was taken over before it was settled"),
            Err(error) => tracing::warn!(%job, %error, "the job could not be settled"),
        }
    }

    fn clean(&self, text: &str) -> String {
        self.redactor.redact(text).text.into_owned()
    }
}

/// Shows that a job's worker lives, until it is dropped.
struct Pulse {
    _stop: mpsc::Sender<()>,
}

impl Pulse {
    fn of(claimed: Arc<dyn Held>, lease: Duration, clock: Clock) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let name = claimed.name().clone();
        let mut heart = claimed.heart(lease);
        let beat = move || {
            while stopped.recv_timeout((lease / 4).max(BLINK)) == Err(mpsc::RecvTimeoutError::Timeout) {
                match heart.beat(clock()) {
                    Ok(Settled::Yes) => {}
                    Ok(Settled::Lost) => return,
                    Err(error) => tracing::warn!(job = %name, %error, "a sign of life could not be given"),
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name("pulse".to_owned()).spawn(beat) {
            tracing::warn!(%error, "no thread for signs of life; a long job may be done twice");
        }
        Self { _stop: stop }
    }
}

/// Returns once the worker is to stop.
async fn stopped(mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn given_up(failures: usize, last: &str) -> String {
    let tries = if failures == 1 { "1 try".to_owned() } else { format!("{failures} tries") };
    format!("given up after {tries}: {last}")
}

/// The words of a panic.
fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without words")
}
