//! `archivist worker`: works off the queue.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::arguments::Globals;
use super::console::Console;
use super::crew::{Crew, intake};
use super::failure::{Exit, Failure};
use super::prose::count;
use super::reflecting::runtime;
use super::session::Session;
use super::stop::stop;
use crate::config::{Backend, Surroundings};
use crate::desk::{Desk, Refusal};
use crate::service::{Ended, Job, JobSource, Listed, Pace, Place, Queue, QueueError, Until, Worked, Worker};
#[cfg(feature = "postgres")]
use crate::service::{FleetSource, Reach};

const EXAMPLES: &str = "\
Examples:
  archivist worker --once
  archivist worker
  archivist worker --all-projects

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
    /// Work for every project of the fleet, not only for this one
    #[arg(long)]
    all_projects: bool,
    /// Give this project's jobs that were put aside another chance first
    #[arg(long)]
    retry_dead: bool,
}

impl Work {
    pub(super) fn run(
        &self,
        session: &Session,
        globals: &Globals,
        surroundings: &Surroundings,
        console: &mut Console,
    ) -> Result<Exit> {
        let desk = &session.desk;
        let source = self.source(desk)?;
        let crew = Crew::new(session, globals, surroundings)?;
        let mut pace = desk.config().worker.pace();
        if !self.linger {
            pace = Pace { linger: Duration::ZERO, ..pace };
        }
        // Signs of life are times of files, so a worker goes by the clock on the wall, whatever time a reflection is told.
        let worker = Worker { queue: &*source, handler: &crew, pace, clock: Arc::new(chrono::Utc::now) };
        let until = if self.once { Until::Empty } else { Until::Forever };
        let worked = runtime()?.block_on(async {
            if self.retry_dead {
                bring_back(desk).await?;
            }
            let worked = worker.run(until, stop()).await;
            crew.finish().await;
            worked
        });
        let worked = worked.map_err(Refusal::from)?;
        console.note(&told(&worked));
        Ok(Exit::Done)
    }

    /// Where the jobs are: on the server of a fleet, else in files.
    fn source(&self, desk: &Desk) -> Result<Box<dyn JobSource>, Failure> {
        let files = Queue::at(desk.memory_dir());
        #[cfg(feature = "postgres")]
        if let Some(own) = desk.fleet() {
            let reach = if self.all_projects { Reach::All } else { Reach::Own };
            return Ok(Box::new(FleetSource::new(own, files, reach, desk.config().worker.per_project)));
        }
        if desk.config().memory.backend == Backend::Postgres {
            let why = "`memory.backend` is \"postgres\", and nobody said where the server is";
            return Err(Failure::user(why).with_hint("set `memory.postgres.url`, or the variable that holds it"));
        }
        if self.all_projects {
            let hint = "a fleet shares a server: see `memory.backend` and docs/operations.md";
            return Err(Failure::user("--all-projects is for the workers of a fleet").with_hint(hint));
        }
        Ok(Box::new(files))
    }
}

/// Asks again for every job that was put aside.
async fn bring_back(desk: &Desk) -> Result<(), QueueError> {
    let (intake, now) = (intake(desk), chrono::Utc::now());
    for Listed { place, job, .. } in desk.listed_jobs(now).await? {
        if let (Place::Dead, Ok(job)) = (place, job) {
            intake.ask(&Job { attempts: Vec::new(), ..job }, now).await?;
        }
    }
    Ok(())
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
