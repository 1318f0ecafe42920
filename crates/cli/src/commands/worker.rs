//! `archivist worker`: processes the job queue.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::arguments::GlobalFlags;
use crate::cli_error::{CliError, CommandExit};
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::session_trigger::build_runtime;
use crate::stop_signal::watch_stop_signal;
use crate::text_format::format_count;
use archivist_core::config::{MemoryBackend, ProcessEnvironment};
use archivist_core::service::{Archivist, RequestError, ServiceClock};
#[cfg(feature = "postgres")]
use archivist_core::service::{FleetJobSource, WorkerReach};
use archivist_core::service::{
    Job, JobAuthor, JobFolder, JobSource, ListedJob, QueueError, QueueWorker, ReflectionJobHandler, WorkerEndReason,
    WorkerLifetime, WorkerPace, WorkerReport,
};

const EXAMPLES: &str = "\
Examples:
  archivist worker --once
  archivist worker
  archivist worker --all-projects

Hooks start one by themselves unless `hooks.startWorker` is off. Stopped by an interrupt or a TERM signal, it lets the
job at hand come to its end for ten seconds, and gives it back otherwise.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorkerCommand {
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

impl WorkerCommand {
    pub(crate) fn run(
        &self,
        session: &CommandContext,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        console: &mut Console,
    ) -> Result<CommandExit> {
        let archivist = &session.archivist;
        let source = self.open_job_source(archivist)?;
        let open = |bank: Option<&str>, root: &Path| open_other_project(session, globals, environment, (bank, root));
        let handler = ReflectionJobHandler::new(
            archivist,
            Box::new(move |bank, root| open(bank, root).map_err(|error| format!("{error:#}"))),
        )?;
        let mut pace = archivist.config().worker.worker_pace();
        if !self.linger {
            pace = WorkerPace { linger: Duration::ZERO, ..pace };
        }
        // Heartbeats are file times, so a worker uses the system clock, whatever time reflections are given.
        let worker = QueueWorker { queue: &*source, handler: &handler, pace, clock: Arc::new(chrono::Utc::now) };
        let until = if self.once { WorkerLifetime::Empty } else { WorkerLifetime::Forever };
        let worked = build_runtime()?.block_on(async {
            if self.retry_dead {
                let strange = requeue_dead_jobs(archivist).await?;
                if strange > 0 {
                    console.print_warning(&format!(
                        "{} not tried again, because this machine did not write {}",
                        format_count(strange, "job", "jobs"),
                        if strange == 1 { "it" } else { "them" }
                    ));
                    console.print_hint("`archivist trust` says that this repository is trusted");
                }
            }
            let worked = worker.run(until, watch_stop_signal()).await;
            handler.finish_all_projects().await;
            worked
        });
        let worked = worked.map_err(RequestError::from)?;
        console.print_note(&describe_work(&worked));
        Ok(CommandExit::Done)
    }

    /// Returns the source of the jobs: the server of a fleet, else files.
    fn open_job_source(&self, archivist: &Archivist) -> Result<Box<dyn JobSource>, CliError> {
        let files = archivist.file_queue();
        #[cfg(feature = "postgres")]
        if let Some(own) = archivist.fleet_queue() {
            let reach = if self.all_projects { WorkerReach::All } else { WorkerReach::Own };
            return Ok(Box::new(FleetJobSource::new(own, files, reach, archivist.config().worker.per_project)));
        }
        if archivist.config().memory.backend == MemoryBackend::Postgres {
            let why = "`memory.backend` is \"postgres\", and nobody said where the server is";
            return Err(CliError::user_error(why).with_hint("set `memory.postgres.url`, or the variable that holds it"));
        }
        if self.all_projects {
            let hint = "a fleet shares a server: see `memory.backend` and docs/operations.md";
            return Err(CliError::user_error("--all-projects is for the workers of a fleet").with_hint(hint));
        }
        Ok(Box::new(files))
    }
}

/// Opens another project at its own path with its own settings. Where the path is missing on this machine, or holds a
/// project with another bank, this worker's settings are used. Projects that share a directory share it here, too.
fn open_other_project(
    session: &CommandContext,
    globals: &GlobalFlags,
    environment: &ProcessEnvironment,
    (bank, root): (Option<&str>, &Path),
) -> Result<Archivist> {
    let CommandContext { now, seed, ref archivist, .. } = *session;
    if root.is_dir() {
        let there = ProcessEnvironment { current_dir: root.to_owned(), ..environment.clone() };
        let shared = bank.is_none().then(|| archivist.memory_dir().to_owned());
        let mut flags = globals.for_project(root);
        flags.memory_dir = shared;
        let opened = CommandContext::open(&flags, &there, now, seed)?;
        let other = opened.archivist.with_shared_server(archivist);
        if bank.is_none_or(|bank| other.bank_key() == bank) {
            return Ok(other);
        }
    }
    let mut config = archivist.config().clone();
    config.project.key = bank.unwrap_or_default().to_owned();
    config.memory.dir = archivist.memory_dir().display().to_string();
    let clock = globals.now.map_or_else(ServiceClock::from_system_time, ServiceClock::fixed_at);
    let builder = Archivist::builder(root).config(config).environment(environment.clone()).clock(clock).seed(seed);
    Ok(builder.build()?.with_shared_server(archivist))
}

/// Submits every dead job again, but those that this machine did not write only if the repository is trusted. Returns
/// the number of those that were left.
async fn requeue_dead_jobs(archivist: &Archivist) -> Result<usize, QueueError> {
    let (intake, now) = (archivist.job_submitter(), chrono::Utc::now());
    let is_trusted = archivist.is_repository_trusted();
    let mut strange = 0;
    for ListedJob { place, job, author, .. } in archivist.list_jobs().await? {
        match (place, job) {
            (JobFolder::Dead, Ok(_)) if author == JobAuthor::Unknown && !is_trusted => strange += 1,
            (JobFolder::Dead, Ok(job)) => {
                intake.submit_job(&Job { attempts: Vec::new(), ..job }, now).await?;
            }
            _ => {}
        }
    }
    Ok(strange)
}

fn describe_work(worked: &WorkerReport) -> String {
    let done = format_count(usize::try_from(worked.done).unwrap_or(usize::MAX), "job", "jobs");
    let failed = match (worked.failed, worked.buried) {
        (0, 0) => String::new(),
        (failed, 0) => format!(", {failed} to be tried again"),
        (failed, buried) => format!(", {failed} to be tried again, {buried} put aside (`archivist status`)"),
    };
    let why = match worked.ended {
        WorkerEndReason::Empty => "nothing is left to do",
        WorkerEndReason::Waiting => "what is left is not due yet",
        WorkerEndReason::Stopped => "stopped",
        WorkerEndReason::OthersWork => "another worker is at it",
        WorkerEndReason::Vanished => "the queue is gone",
    };
    format!("{done} done{failed}; {why}")
}
