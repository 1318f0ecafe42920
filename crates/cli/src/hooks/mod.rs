//! Reads what agents' hooks report and renders what they print. It is pure: JSON in, values out.
//!
//! One file per agent holds its dialect: the session phase of each of its events, and the keys of its payloads.
//! [`interpret_hook`] turns all of them into one kind of [`HookCall`]. It trusts little and never fails: unusable input
//! becomes [`HookEvent::Ignored`], and the reason quotes nothing of the payload.

mod agent;
mod answer;
mod dialect;
mod payload;

mod claude;
mod codex;
mod gemini;
mod generic;
mod healer;

mod install;

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;

use self::dialect::{HookDialect, SessionPhase};
use self::payload::HookPayload;
use archivist_core::domain::{EpisodeStatus, ReflectionScenario, SessionId};

pub(crate) use self::agent::HookAgent;
pub(crate) use self::answer::render_answer;
pub(crate) use self::install::{
    HookPlan, RecallTiming, SettingsEditError, TextSplice, apply_splices, install_hooks, remove_hooks,
};

/// While this environment variable is set, hooks do nothing. A worker that starts an agent sets it, so that the agent's
/// hooks do not start another worker.
pub(crate) const GUARD_VARIABLE: &str = "ARCHIVIST_IGNORE_HOOKS";

/// The most characters of a prompt that are used for a query.
const MAX_PROMPT_CHARACTERS: usize = 16_384;

/// An event that a hook reports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HookEvent {
    /// The session is over. If it continues under another id, it is over under this one.
    Ended(HookCall),
    /// A turn is over, the context is about to be compacted, or a subagent is done; the session may go on.
    Paused(HookCall),
    /// The session starts or resumes.
    Started(HookCall),
    /// The user sent this prompt to the agent.
    Prompted(HookCall, String),
    /// The Healer is done.
    Rescued(HookCall),
    /// Nothing is to be done, for this reason.
    Ignored(String),
}

/// The session that a hook was called in, as its payload describes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HookCall {
    /// The agent that called.
    pub agent: HookAgent,
    /// The session; a subagent has the session of its parent.
    pub session: SessionId,
    /// The session's logs, its own first, subagents' after it. They need not exist yet, and a path that begins with
    /// `~/` is relative to a home directory that only the caller knows.
    pub transcript: Vec<String>,
    /// The agent's working directory.
    pub directory: Option<String>,
    /// The task worked on.
    pub task: Option<String>,
    /// The part of the task.
    pub subtask: Option<String>,
    /// The agent's own word for why the session ended, what started it, what caused a compaction, or what was healed.
    pub reason: Option<String>,
    /// The status of the session at its end, if the payload reports it.
    pub status: Option<EpisodeStatus>,
    /// The outcome of a rescue: `resolved`, `contained`, `unresolved` or `skipped`.
    pub healer_status: Option<String>,
    /// The model that the agent uses.
    pub model: Option<String>,
}

/// Interprets the call of a hook. `event` is the event name on the command line, in our spelling or the agent's.
///
/// An event named in the payload takes precedence: a hook may be configured under another event.
pub(crate) fn interpret_hook(agent: HookAgent, event: &str, payload: &str) -> HookEvent {
    let dialect = agent.dialect();
    let Some(asked) = dialect.parse_phase(event) else {
        return HookEvent::Ignored(format!("{agent} has no event of that name that matters"));
    };
    let payload = match HookPayload::parse(payload, dialect) {
        Ok(payload) => payload,
        Err(why) => return HookEvent::Ignored(why.to_owned()),
    };
    let moment = match payload.find_text(dialect.event) {
        Some(named) => dialect.parse_phase(named),
        None => Some(asked),
    };
    let Some(moment) = moment else {
        return HookEvent::Ignored("the payload is that of another event".to_owned());
    };
    match parse_call(agent, dialect, &payload) {
        Ok(call) => classify_event(moment, call, &payload),
        Err(why) => HookEvent::Ignored(why.to_owned()),
    }
}

fn parse_call(agent: HookAgent, dialect: &HookDialect, payload: &HookPayload) -> Result<HookCall, &'static str> {
    let named = payload.find_id(dialect.session).ok_or("the payload names no session")?;
    let session = SessionId::parse(&named).map_err(|_| "the payload's session id is not safe to use")?;
    let outcome = payload.find_word(dialect.outcome);
    let healer_status = read_healer_status(agent, payload, outcome.as_deref());
    let told = [outcome.as_deref(), healer_status.as_deref()];
    let status = told.into_iter().flatten().find_map(|word| EpisodeStatus::from_outcome(word).ok());
    Ok(HookCall {
        agent,
        session,
        transcript: payload.find_paths(dialect.logs),
        directory: payload.find_path(dialect.directory),
        task: payload.find_label(dialect.task),
        subtask: payload.find_label(dialect.subtask),
        reason: payload.find_word(dialect.reason),
        status: status.or_else(|| {
            let has_failed = read_scenario(agent, payload) == Some(ReflectionScenario::SessionFailed);
            has_failed.then_some(EpisodeStatus::Failed)
        }),
        healer_status,
        model: payload.find_label(&["model"]),
    })
}

fn classify_event(moment: SessionPhase, call: HookCall, payload: &HookPayload) -> HookEvent {
    match moment {
        SessionPhase::End if is_rescue(call.agent, payload) || call.healer_status.is_some() => HookEvent::Rescued(call),
        SessionPhase::End => HookEvent::Ended(call),
        SessionPhase::Pause => HookEvent::Paused(call),
        SessionPhase::Start => HookEvent::Started(call),
        SessionPhase::Prompt => match payload.find_text(call.agent.dialect().prompt) {
            Some(prompt) => HookEvent::Prompted(call, prompt.chars().take(MAX_PROMPT_CHARACTERS).collect()),
            None => HookEvent::Ignored("the payload holds no prompt".to_owned()),
        },
    }
}

/// Returns the scenario that a trigger names.
fn read_scenario(agent: HookAgent, payload: &HookPayload) -> Option<ReflectionScenario> {
    payload.find_word(agent.dialect().scenario).and_then(|word| ReflectionScenario::parse(&word).ok())
}

fn is_rescue(agent: HookAgent, payload: &HookPayload) -> bool {
    agent == HookAgent::Healer || read_scenario(agent, payload) == Some(ReflectionScenario::HealerInvocation)
}

/// Returns the outcome of a rescue. The general outcome counts only if the call is about a rescue.
fn read_healer_status(agent: HookAgent, payload: &HookPayload, outcome: Option<&str>) -> Option<String> {
    let told = payload.find_word(&["healerStatus", "healer_status"]).filter(|_| agent.reports_rescues());
    let told = told.or_else(|| outcome.filter(|_| is_rescue(agent, payload)).map(str::to_owned))?;
    Some(told.to_lowercase()).filter(|word| healer::STATUSES.contains(&word.as_str()))
}
