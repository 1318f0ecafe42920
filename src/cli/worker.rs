//! `archivist worker`: works off the queue.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::console::Console;
use super::failure::Exit;
use super::prose::count;
use super::reflect::HUD_PATIENCE;
use super::reflecting::{runtime, service};
use super::session::Session;
use super::stop::stop;
use crate::config::Surroundings;
use crate::desk::Refusal;
use crate::service::{Ended, Labour, Pace, Queue, Until, Worked, Worker};

const EXAMPLES: &str = "\
Examples:
  archivist worker --once
  archivist worker

Hooks start one by themselves unless `hooks.startWorker` is off. Stopped by an interrupt or a TERM signal, it lets the
job at hand come to its end for ten seconds, and gives it back otherwise.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Work {
    /// End when nothing is left to do, instead of waiting for more
    #[arg(long)]
    once: bool,
    /// With --once: wait for jobs that are not due yet, as `worker.lingerSeconds` says
    #[arg(long, requires = "once")]
    linger: bool,
}

impl Work {
    pub(super) fn run(&self, session: &Session, surroundings: &Surroundings, console: &mut Console) -> Result<Exit> {
        let queue = Queue::at(session.desk.memory_dir());
        let labour = Labour { service: service(session, surroundings)?, queue: queue.clone() };
        let mut pace = session.desk.config().worker.pace();
        if !self.linger {
            pace = Pace { linger: Duration::ZERO, ..pace };
        }
        // Signs of life are times of files, so a worker goes by the clock on the wall, whatever time a reflection is told.
        let worker = Worker { queue: &queue, handler: &labour, pace, clock: Arc::new(chrono::Utc::now) };
        let until = if self.once { Until::Empty } else { Until::Forever };
        let worked = runtime()?.block_on(async {
            let worked = worker.run(until, stop()).await;
            if let Err(skip) = labour.service.tend().await {
                tracing::warn!(why = %skip, "older lessons were not looked after");
            }
            labour.service.finish(HUD_PATIENCE).await;
            session.desk.memory.maintain().await;
            worked
        });
        let worked = worked.map_err(Refusal::from)?;
        console.note(&told(&worked));
        Ok(Exit::Done)
    }
}

fn told(worked: &Worked) -> String {
    let done = count(usize::try_from(worked.done).unwrap_or(usize::MAX), "job", "jobs");
    let failed = match (worked.failed, worked.buried) {
        (0, 0) => String::new(),
        (failed, 0) => format!(", {failed} to be tried again"),
        (failed, buried) => format!(", {failed} to be tried again, {buried} put aside (`archivist status`)"),
    };
    let why = match worked.ended {
        Ended::Empty => "nothing is left to do",
        Ended::Waiting => "what is left is not due yet",
        Ended::Stopped => "stopped",
        Ended::OthersWork => "another worker is at it",
        Ended::Vanished => "the queue is gone",
    };
    format!("{done} done{failed}; {why}")
}
