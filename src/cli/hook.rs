//! `archivist hook`: what an agent calls. It writes one small file, at most prints lessons, and never gets in the way.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::arguments::Globals;
use super::console::Console;
use super::reflecting::trigger;
use super::session::Session;
use super::start::WorkerStart;
use crate::config::Surroundings;
use crate::desk::{Asked, Desk};
use crate::domain::{EpisodeStatus, Extra, MemoryQuery, ReflectionScenario, RunId, Timestamp};
use crate::hooks::{Agent, Call, GUARD_VARIABLE, Heard, answer, heard};
use crate::recall::{Point, Style};
use crate::service::{Errand, Job, Queue, Urgency, log_bytes};

const EXAMPLES: &str = "\
Examples:
  archivist hook claude-code session-end < payload.json
  archivist hook codex notify '{\"type\": \"agent-turn-complete\", …}'
  echo '{\"sessionId\": \"s-1\", \"outcome\": \"failed\", \"logPaths\": [\"run.jsonl\"]}' | archivist hook generic session-end
  echo '{\"sessionId\": \"s-1\", \"status\": \"resolved\"}' | archivist hook healer complete

`archivist init` writes the hooks into an agent's settings. Whatever happens, this ends with 0; what went wrong is noted
in hooks.log in Archivist's state directory. While ARCHIVIST_IGNORE_HOOKS is set, it does nothing.";

/// A run must not wait for a memory that is busy: what it was given is noted, or it is not.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// The log of what went wrong begins anew at this length.
const MAX_LOG_BYTES: u64 = 256 * 1024;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Hook {
    /// Who calls: claude-code, codex, gemini, generic or healer
    agent: String,
    /// What happened: session-start, prompt-submit, stop, subagent-stop, pre-compact, session-end, notify, complete
    event: String,
    /// The payload, where the agent hands it over as an argument; read from stdin otherwise
    payload: Option<String>,
}

impl Hook {
    /// Never fails: an agent must not notice.
    pub(super) fn run(&self, globals: &Globals, surroundings: &Surroundings, now: Timestamp, console: &mut Console) {
        if surroundings.variable(GUARD_VARIABLE).is_some_and(|value| !value.is_empty()) {
            return;
        }
        if let Err(error) = self.hear(globals, surroundings, now, console) {
            note(surroundings, now, &format!("{} {}: {error:#}", self.agent, self.event));
        }
    }

    fn hear(
        &self,
        globals: &Globals,
        surroundings: &Surroundings,
        now: Timestamp,
        console: &mut Console,
    ) -> Result<()> {
        let agent = Agent::parse(&self.agent)?;
        let payload = match &self.payload {
            Some(payload) => payload.clone(),
            None => console.read_lossily()?,
        };
        match heard(agent, &self.event, &payload) {
            Heard::Ignored(why) => anyhow::bail!("ignored: {why}"),
            Heard::Ended(call) => {
                let scenario = match call.status {
                    Some(EpisodeStatus::Failed | EpisodeStatus::Aborted) => ReflectionScenario::SessionFailed,
                    _ => ReflectionScenario::SessionComplete,
                };
                let at = At::of(&call, globals, surroundings, now)?;
                at.enqueue(at.reflection(&call, scenario), &call, &self.event, Urgency::Over)
            }
            Heard::Rescued(call) => {
                let at = At::of(&call, globals, surroundings, now)?;
                let errand = at.reflection(&call, ReflectionScenario::HealerInvocation);
                at.enqueue(errand, &call, &self.event, Urgency::Over)
            }
            Heard::Paused(call) => {
                let at = At::of(&call, globals, surroundings, now)?;
                let errand = at.reflection(&call, ReflectionScenario::SessionComplete);
                at.enqueue(errand, &call, &self.event, Urgency::Pause)
            }
            Heard::Started(call) => {
                let at = At::of(&call, globals, surroundings, now)?;
                let given = match at.session.desk.config().hooks.recall_at_start {
                    true => at.give(&call, &self.event, at.session.desk.question(), console),
                    false => Ok(()),
                };
                let sweep = Errand::Sweep { project_root: at.session.desk.project().root_text() };
                at.enqueue(sweep, &call, &self.event, Urgency::Sweep).and(given)
            }
            Heard::Prompted(call, prompt) => {
                let at = At::of(&call, globals, surroundings, now)?;
                let question = MemoryQuery { text: Some(prompt), ..at.session.desk.question() };
                match at.session.desk.config().hooks.recall_on_prompt {
                    true => at.give(&call, &self.event, question, console),
                    false => Ok(()),
                }
            }
        }
    }
}

/// Where a hook was called.
struct At<'s> {
    session: Session,
    surroundings: &'s Surroundings,
    globals: &'s Globals,
    now: Timestamp,
}

impl<'s> At<'s> {
    /// The project that the agent works in, whatever directory the hook itself was started in.
    fn of(call: &Call, globals: &'s Globals, surroundings: &'s Surroundings, now: Timestamp) -> Result<Self> {
        let mut there = surroundings.clone();
        let directory = call.directory.as_ref().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_dir());
        there.current_dir = directory.unwrap_or(there.current_dir);
        let session = Session::open_in_haste(globals, &there, now, LOCK_PATIENCE)?;
        Ok(Self { session, surroundings, globals, now })
    }

    fn reflection(&self, call: &Call, scenario: ReflectionScenario) -> Errand {
        let mut trigger = trigger(&self.session, call.session.clone(), scenario);
        trigger.main_task_id.clone_from(&call.task);
        trigger.subtask_id.clone_from(&call.subtask);
        trigger.log_paths.clone_from(&call.transcript);
        trigger.healer_status.clone_from(&call.healer_status);
        trigger.outcome.clone_from(&call.status);
        Errand::Reflect(trigger)
    }

    /// Writes the job down, and sees to it that somebody does it.
    fn enqueue(&self, errand: Errand, call: &Call, event: &str, urgency: Urgency) -> Result<()> {
        let log_bytes = match &errand {
            Errand::Reflect(trigger) => log_bytes(trigger, self.surroundings.home.as_deref()),
            Errand::Sweep { .. } => None,
        };
        let queue = Queue::at(self.session.desk.memory_dir());
        queue.enqueue(&Job {
            errand,
            agent: call.agent.to_string(),
            event: event.to_owned(),
            urgency,
            log_bytes,
            enqueued_at: self.now,
            not_before: None,
            attempts: Vec::new(),
            extra: Extra::new(),
        })?;
        if self.session.desk.config().hooks.start_worker && !queue.is_worked() {
            WorkerStart::new(&self.session, self.globals, self.surroundings).start()?;
        }
        Ok(())
    }

    /// Prints the lessons that meet the question, in the agent's own form, and notes that it was given them.
    fn give(&self, call: &Call, event: &str, query: MemoryQuery, console: &mut Console) -> Result<()> {
        let run = RunId::parse(call.session.as_str())?;
        let desk = &self.session.desk;
        let asked = Asked { run: Some(run.clone()), ..request_session_lessons(desk, query) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let found = desk.recall(asked, self.now).await?;
            console.print(answer(call.agent, event, &found.block.text).as_bytes())?;
            console.flush()?;
            Ok(desk.note(&found, &run, Some(&Point::from(event.to_owned())), self.now).await?)
        })
    }
}

/// Returns the request by which a hook asks for lessons: in an agent's form and within an agent's limits, for no session
/// in particular.
pub(super) fn request_session_lessons(desk: &Desk, query: MemoryQuery) -> Asked {
    let hooks = &desk.config().hooks;
    let cap = |number: u32| Some(usize::try_from(number).unwrap_or(usize::MAX));
    Asked {
        style: Style::SystemReminder,
        items: cap(hooks.max_lessons),
        tokens: cap(hooks.max_tokens),
        characters: cap(hooks.max_characters),
        ..Asked::about(query)
    }
}

/// Writes down what went wrong, where a person can find it. What goes wrong with that is lost.
fn note(surroundings: &Surroundings, now: Timestamp, what: &str) {
    let Some(folder) = surroundings.state_dir() else { return };
    let _ = append(&folder, &format!("{} {}\n", now.to_rfc3339(), super::prose::one_line(what)));
}

fn append(folder: &Path, line: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join("hooks.log");
    let is_long = std::fs::metadata(&path).is_ok_and(|found| found.len() > MAX_LOG_BYTES);
    let mut options = OpenOptions::new();
    options.create(true).append(!is_long).write(true).truncate(is_long);
    options.open(path)?.write_all(line.as_bytes())
}
