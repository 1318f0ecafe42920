//! `archivist hook`: the command that agents call. It writes one small file, at most prints lessons, and never disturbs
//! the agent.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use crate::arguments::GlobalFlags;
use crate::command_context::CommandContext;
use crate::console::Console;
use crate::hook_input::read_payload;
use crate::hooks::{GUARD_VARIABLE, HookAgent, HookCall, HookEvent, interpret_hook, render_answer};
use crate::session_trigger::trigger_for_session;
use crate::worker_start::WorkerLauncher;
use archivist_core::config::ProcessEnvironment;
use archivist_core::domain::{EpisodeStatus, Extra, MemoryQuery, ReflectionScenario, RunId, Timestamp};
use archivist_core::recall::{LessonBlockStyle, Point};
use archivist_core::service::{Archivist, RecallRequest, RecallResult};
use archivist_core::service::{Job, JobKind, JobQueue, JobUrgency, total_log_bytes};

const EXAMPLES: &str = "\
Examples:
  archivist hook claude-code session-end < payload.json
  archivist hook codex notify '{\"type\": \"agent-turn-complete\", …}'
  echo '{\"sessionId\": \"s-1\", \"outcome\": \"failed\", \"logPaths\": [\"run.jsonl\"]}' | archivist hook generic session-end
  echo '{\"sessionId\": \"s-1\", \"status\": \"resolved\"}' | archivist hook healer complete

`archivist init` writes the hooks into an agent's settings. Whatever happens, this ends with 0; what went wrong is noted
in hooks.log in Archivist's state directory. While ARCHIVIST_IGNORE_HOOKS is set, it does nothing.";

/// The longest wait for a locked memory. If it is exceeded, the injection is not recorded.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// The length at which the log of hook errors is started over.
const MAX_LOG_BYTES: u64 = 256 * 1024;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HookCommand {
    /// Who calls: claude-code, codex, gemini, generic or healer
    agent: String,
    /// What happened: session-start, prompt-submit, stop, subagent-stop, pre-compact, session-end, notify, complete
    event: String,
    /// The payload, where the agent hands it over as an argument; read from stdin otherwise
    payload: Option<String>,
}

impl HookCommand {
    /// Handles the hook call. It never fails, because the agent must not notice errors.
    pub(crate) fn run(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        console: &mut Console,
    ) {
        if environment.environment_variable(GUARD_VARIABLE).is_some_and(|value| !value.is_empty()) {
            return;
        }
        if let Err(error) = self.handle_event(globals, environment, now, console) {
            log_hook_error(environment, now, &format!("{} {}: {error:#}", self.agent, self.event));
        }
    }

    fn handle_event(
        &self,
        globals: &GlobalFlags,
        environment: &ProcessEnvironment,
        now: Timestamp,
        console: &mut Console,
    ) -> Result<()> {
        let agent = HookAgent::parse(&self.agent)?;
        let payload = match &self.payload {
            Some(payload) => payload.clone(),
            None => read_payload(console.take_input())?,
        };
        let began = Instant::now();
        match interpret_hook(agent, &self.event, &payload) {
            HookEvent::Ignored(why) => anyhow::bail!("ignored: {why}"),
            HookEvent::Ended(call) => {
                let scenario = match call.status {
                    Some(EpisodeStatus::Failed | EpisodeStatus::Aborted) => ReflectionScenario::SessionFailed,
                    _ => ReflectionScenario::SessionComplete,
                };
                let at = HookContext::from_call(&call, globals, environment, now)?;
                at.enqueue_job(at.build_reflection_job(&call, scenario), &call, &self.event, JobUrgency::Over)
            }
            HookEvent::Rescued(call) => {
                let at = HookContext::from_call(&call, globals, environment, now)?;
                let kind = at.build_reflection_job(&call, ReflectionScenario::HealerInvocation);
                at.enqueue_job(kind, &call, &self.event, JobUrgency::Over)
            }
            HookEvent::Paused(call) => {
                let at = HookContext::from_call(&call, globals, environment, now)?;
                let kind = at.build_reflection_job(&call, ReflectionScenario::SessionComplete);
                at.enqueue_job(kind, &call, &self.event, JobUrgency::Pause)
            }
            HookEvent::Started(call) => {
                let at = HookContext::from_call(&call, globals, environment, now)?;
                let hooks = &at.session.archivist.config().hooks;
                let sweep = JobKind::Sweep { project_root: at.session.archivist.project().root_text() };
                let spooled = at.spool_job(sweep, &call, &self.event, JobUrgency::Sweep);
                let deadline = began + Duration::from_millis(hooks.start_deadline_millis.into());
                let given = match hooks.recall_at_start {
                    true => at.inject_lessons(&call, &self.event, at.session.archivist.new_query(), deadline, console),
                    false => Ok(()),
                };
                spooled.and(at.ensure_worker()).and(given)
            }
            HookEvent::Prompted(call, prompt) => {
                let at = HookContext::from_call(&call, globals, environment, now)?;
                let question = MemoryQuery { text: Some(prompt), ..at.session.archivist.new_query() };
                let hooks = &at.session.archivist.config().hooks;
                let deadline = began + Duration::from_millis(hooks.deadline_millis.into());
                match hooks.recall_on_prompt {
                    true => at.inject_lessons(&call, &self.event, question, deadline, console),
                    false => Ok(()),
                }
            }
        }
    }
}

/// The project and the time in which a hook was called.
struct HookContext<'s> {
    session: CommandContext,
    environment: &'s ProcessEnvironment,
    globals: &'s GlobalFlags,
    now: Timestamp,
}

impl<'s> HookContext<'s> {
    /// Opens the project that the agent works in, whatever directory the hook itself was started in.
    fn from_call(
        call: &HookCall,
        globals: &'s GlobalFlags,
        environment: &'s ProcessEnvironment,
        now: Timestamp,
    ) -> Result<Self> {
        let mut there = environment.clone();
        let directory = call.directory.as_ref().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_dir());
        there.current_dir = directory.unwrap_or(there.current_dir);
        let session = CommandContext::open_with_patience(globals, &there, now, LOCK_PATIENCE)?;
        if let [first, rest @ ..] = session.ignored_settings.as_slice() {
            log_hook_error(environment, now, &format!("ignored: {} (and {} more)", first.message, rest.len()));
        }
        Ok(Self { session, environment, globals, now })
    }

    fn build_reflection_job(&self, call: &HookCall, scenario: ReflectionScenario) -> JobKind {
        let mut trigger = trigger_for_session(&self.session, call.session.clone(), scenario);
        trigger.main_task_id.clone_from(&call.task);
        trigger.subtask_id.clone_from(&call.subtask);
        trigger.log_paths.clone_from(&call.transcript);
        trigger.healer_status.clone_from(&call.healer_status);
        trigger.outcome.clone_from(&call.status);
        JobKind::Reflect(trigger)
    }

    /// Writes the job into the queue, and starts a worker if none runs.
    fn enqueue_job(&self, kind: JobKind, call: &HookCall, event: &str, urgency: JobUrgency) -> Result<()> {
        self.spool_job(kind, call, event, urgency)?;
        self.ensure_worker()
    }

    fn spool_job(&self, kind: JobKind, call: &HookCall, event: &str, urgency: JobUrgency) -> Result<()> {
        let log_bytes = match &kind {
            JobKind::Reflect(trigger) => total_log_bytes(trigger, self.environment.home.as_deref()),
            JobKind::Sweep { .. } => None,
        };
        self.queue().enqueue(&Job {
            kind,
            agent: call.agent.to_string(),
            event: event.to_owned(),
            urgency,
            log_bytes,
            enqueued_at: self.now,
            not_before: None,
            attempts: Vec::new(),
            extra: Extra::new(),
        })?;
        Ok(())
    }

    fn ensure_worker(&self) -> Result<()> {
        if self.session.archivist.config().hooks.start_worker && !self.queue().has_worker() {
            WorkerLauncher::new(&self.session, self.globals, self.environment).launch_worker()?;
        }
        Ok(())
    }

    fn queue(&self) -> JobQueue {
        self.session.archivist.file_queue()
    }

    /// Prints the lessons that match the query in the agent's own format, and records the injection. If they are not
    /// found in time, nothing is printed, and a worker brings the index up to date for the next hook.
    fn inject_lessons(
        &self,
        call: &HookCall,
        event: &str,
        query: MemoryQuery,
        deadline: Instant,
        console: &mut Console,
    ) -> Result<()> {
        let run = RunId::parse(call.session.as_str())?;
        let archivist = &self.session.archivist;
        if archivist.is_memory_strange() {
            let why = format!("{} was not begun here: see `archivist trust`", archivist.memory_dir().display());
            log_hook_error(self.environment, self.now, &why);
        }
        let request = RecallRequest { run: Some(run.clone()), ..request_session_lessons(archivist, query) };
        let Some(found) = recall_until(deadline, archivist, request)? else {
            self.ensure_worker()?;
            anyhow::bail!("silent: no answer was found in time");
        };
        console.print_bytes(render_answer(call.agent, event, &found.block.text).as_bytes())?;
        console.flush()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(runtime.block_on(archivist.record_injections(&found, &run, Some(&Point::from(event.to_owned()))))?)
    }
}

/// Recalls lessons in a thread of its own, and returns `None` if that takes too long. The thread ends with the process.
fn recall_until(deadline: Instant, archivist: &Archivist, request: RecallRequest) -> Result<Option<RecallResult>> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let archivist = archivist.clone();
    std::thread::Builder::new().name("recall".to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let found = runtime
            .map_err(anyhow::Error::from)
            .and_then(|runtime| Ok(runtime.block_on(archivist.recall_unrecorded(request))?));
        // Nobody receives what arrives too late.
        drop(sender.send(found));
    })?;
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(found) => found.map(Some),
        Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
        Err(mpsc::RecvTimeoutError::Disconnected) => anyhow::bail!("the recall ended early"),
    }
}

/// Returns the request by which a hook recalls lessons: in an agent's format and within an agent's limits, for no
/// session in particular.
pub(crate) fn request_session_lessons(archivist: &Archivist, query: MemoryQuery) -> RecallRequest {
    let hooks = &archivist.config().hooks;
    let cap = |number: u32| Some(usize::try_from(number).unwrap_or(usize::MAX));
    RecallRequest {
        style: LessonBlockStyle::SystemReminder,
        items: cap(hooks.max_lessons),
        tokens: cap(hooks.max_tokens),
        characters: cap(hooks.max_characters),
        ..RecallRequest::for_query(query)
    }
}

/// Appends an error to the hook log. Errors of this function itself are ignored.
fn log_hook_error(environment: &ProcessEnvironment, now: Timestamp, what: &str) {
    let Some(folder) = environment.state_dir() else { return };
    let _ = append_log_line(&folder, &format!("{} {}\n", now.to_rfc3339(), crate::text_format::one_line(what)));
}

fn append_log_line(folder: &Path, line: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join("hooks.log");
    let is_long = std::fs::metadata(&path).is_ok_and(|found| found.len() > MAX_LOG_BYTES);
    let mut options = OpenOptions::new();
    options.create(true).append(!is_long).write(true).truncate(is_long);
    options.open(path)?.write_all(line.as_bytes())
}
