//! What agents' hooks say, and what they may be answered. Pure: JSON in, values out.
//!
//! One file for each agent holds its dialect: which of its events is which moment of a session, and under which
//! names its payloads tell what. [`heard`] makes one sort of [`Call`] of all of them. It believes little and fails
//! never: what cannot be used is [`Heard::Ignored`], and the reason quotes nothing of the payload.

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

use self::dialect::{Dialect, Moment};
use self::payload::Payload;
use crate::domain::{EpisodeStatus, ReflectionScenario, SessionId};

pub use self::agent::Agent;
pub use self::answer::answer;
pub use self::install::{Installed, NotEditable, Plan, Recall, Removed, Splice, install, remove, spliced};

/// While this variable of the environment is set, hooks do nothing. Whoever starts an agent from within a worker sets
/// it, lest the agent's hooks call for a worker again.
pub const GUARD_VARIABLE: &str = "ARCHIVIST_IGNORE_HOOKS";

/// A longer prompt is asked about by its beginning.
const MAX_PROMPT_CHARACTERS: usize = 16_384;

/// What a hook has to say.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// The session is over. Where it goes on under another id, it is over for this one.
    Ended(Call),
    /// A turn is over, the context is about to be compacted or a subagent is done; the session may go on.
    Paused(Call),
    /// The session starts, or starts again.
    Started(Call),
    /// A person said this to the agent.
    Prompted(Call, String),
    /// The Healer is done.
    Rescued(Call),
    /// Nothing is to be done, and why.
    Ignored(String),
}

/// What a hook tells about the session that it was called in.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Who called.
    pub agent: Agent,
    /// The session; a subagent's is that of its parent.
    pub session: SessionId,
    /// The session's logs, its own first, a subagent's after it. They need not exist yet, and one that begins with `~/`
    /// starts at a home directory that only the caller knows.
    pub transcript: Vec<String>,
    /// Where the agent works.
    pub directory: Option<String>,
    /// The task worked on.
    pub task: Option<String>,
    /// The part of it.
    pub subtask: Option<String>,
    /// In the agent's own word: why the session ended, what started it, what asked for a compaction, what was healed.
    pub reason: Option<String>,
    /// How it ended, where somebody says so.
    pub status: Option<EpisodeStatus>,
    /// How a rescue ended: `resolved`, `contained`, `unresolved` or `skipped`.
    pub healer_status: Option<String>,
    /// The model that the agent asks.
    pub model: Option<String>,
}

/// Understands what a hook was called with. `event` is the word of the command line, in our spelling or the agent's.
///
/// Where the payload names its event too, that counts: a hook may have been put under another event than its own.
pub fn heard(agent: Agent, event: &str, payload: &str) -> Heard {
    let dialect = agent.dialect();
    let Some(asked) = dialect.moment(event) else {
        return Heard::Ignored(format!("{agent} has no event of that name that matters"));
    };
    let payload = match Payload::read(payload, dialect) {
        Ok(payload) => payload,
        Err(why) => return Heard::Ignored(why.to_owned()),
    };
    let moment = match payload.text(dialect.event) {
        Some(named) => dialect.moment(named),
        None => Some(asked),
    };
    let Some(moment) = moment else {
        return Heard::Ignored("the payload is that of another event".to_owned());
    };
    match call(agent, dialect, &payload) {
        Ok(call) => sorted(moment, call, &payload),
        Err(why) => Heard::Ignored(why.to_owned()),
    }
}

fn call(agent: Agent, dialect: &Dialect, payload: &Payload) -> Result<Call, &'static str> {
    let named = payload.id(dialect.session).ok_or("the payload names no session")?;
    let session = SessionId::parse(&named).map_err(|_| "the payload's session id is not safe to use")?;
    let outcome = payload.word(dialect.outcome);
    let healer_status = healer_status(agent, payload, outcome.as_deref());
    let told = [outcome.as_deref(), healer_status.as_deref()];
    let status = told.into_iter().flatten().find_map(|word| EpisodeStatus::from_outcome(word).ok());
    Ok(Call {
        agent,
        session,
        transcript: payload.paths(dialect.logs),
        directory: payload.path(dialect.directory),
        task: payload.label(dialect.task),
        subtask: payload.label(dialect.subtask),
        reason: payload.word(dialect.reason),
        status: status.or_else(|| {
            let has_failed = scenario(agent, payload) == Some(ReflectionScenario::SessionFailed);
            has_failed.then_some(EpisodeStatus::Failed)
        }),
        healer_status,
        model: payload.label(&["model"]),
    })
}

fn sorted(moment: Moment, call: Call, payload: &Payload) -> Heard {
    match moment {
        Moment::End if is_rescue(call.agent, payload) || call.healer_status.is_some() => Heard::Rescued(call),
        Moment::End => Heard::Ended(call),
        Moment::Pause => Heard::Paused(call),
        Moment::Start => Heard::Started(call),
        Moment::Prompt => match payload.text(call.agent.dialect().prompt) {
            Some(prompt) => Heard::Prompted(call, prompt.chars().take(MAX_PROMPT_CHARACTERS).collect()),
            None => Heard::Ignored("the payload holds no prompt".to_owned()),
        },
    }
}

/// What a trigger says that happened.
fn scenario(agent: Agent, payload: &Payload) -> Option<ReflectionScenario> {
    payload.word(agent.dialect().scenario).and_then(|word| ReflectionScenario::parse(&word).ok())
}

fn is_rescue(agent: Agent, payload: &Payload) -> bool {
    agent == Agent::Healer || scenario(agent, payload) == Some(ReflectionScenario::HealerInvocation)
}

/// How a rescue ended. An outcome says it only where the talk is of a rescue.
fn healer_status(agent: Agent, payload: &Payload, outcome: Option<&str>) -> Option<String> {
    let told = payload.word(&["healerStatus", "healer_status"]).filter(|_| agent.speaks_of_rescues());
    let told = told.or_else(|| outcome.filter(|_| is_rescue(agent, payload)).map(str::to_owned))?;
    Some(told.to_lowercase()).filter(|word| healer::STATUSES.contains(&word.as_str()))
}
