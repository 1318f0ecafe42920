//! Everything that a reflection looks at.

use serde::Serialize;

use super::clip;
use super::episode::{Run, episode};
use super::gather::Gathered;
use super::related::related;
use super::settle;
use super::signal::Signal;
use super::survey::Survey;
use crate::domain::{AgentMemory, Episode, EpisodeId, Extra, Outcome, Timestamp, Trajectory, Usage};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "reflection_tests.rs"]
mod tests;

/// What happened, what is known, and what is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReflectionContext {
    /// Where the project stands.
    pub project_root: String,
    /// The project's own settings, as `.openagents/project.json` holds them.
    pub config: Extra,
    /// The run.
    pub episode: Episode,
    /// Other runs that met the same thing.
    pub related_episodes: Vec<Episode>,
    /// What was done, step by step; the run's own first, then its subagents'.
    pub trajectories: Vec<Trajectory>,
    /// Whose each trajectory is, where several runs are looked at together; otherwise all are the run's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<EpisodeId>,
    /// Each log that was read, in brief.
    pub sessions: Vec<SessionSummary>,
    /// The progress notes, word for word but for secrets.
    pub progress_md: Option<String>,
    /// Actions per minute, where somebody measures them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apm_snapshot: Option<serde_json::Value>,
    /// Lessons that bear on this run already.
    pub existing_memories: Vec<AgentMemory>,
    /// Lessons that the session was given, block by block, whoever wrote them. They are no part of what happened.
    #[serde(skip)]
    pub given: Vec<String>,
    /// What stands out.
    pub signals: Vec<Signal>,
    /// How much was read, and what was skipped, cut or shed on the way.
    pub survey: Survey,
    /// Which of the inputs were not there.
    pub missing: Vec<String>,
}

/// One log in brief.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The session as the agent names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The log's format.
    pub format: String,
    /// Where it was read.
    pub path: String,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// First sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Last sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// How it ended, where something says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Steps.
    pub steps: u64,
    /// Calls.
    pub tool_calls: u64,
    /// Calls that failed.
    pub tool_errors: u64,
    /// What it cost.
    pub usage: Usage,
}

/// What a context is built from. Every part but the run may be missing.
#[derive(Debug)]
pub struct Inputs {
    /// What the logs alone do not say.
    pub run: Run,
    /// What the logs say.
    pub gathered: Gathered,
    /// Each of them in brief.
    pub sessions: Vec<SessionSummary>,
    /// The project's own settings.
    pub config: Option<Extra>,
    /// The progress notes.
    pub progress_md: Option<String>,
    /// Actions per minute.
    pub apm_snapshot: Option<serde_json::Value>,
    /// Episodes known already.
    pub episodes: Vec<Episode>,
    /// Lessons that may bear on the run.
    pub memories: Vec<AgentMemory>,
}

impl ReflectionContext {
    /// Puts the inputs together; what is missing is said, never an error.
    pub fn build(inputs: Inputs, redactor: &Redactor) -> Self {
        let missing = [
            ("config", inputs.config.is_none()),
            ("trajectories", inputs.gathered.trajectories.is_empty()),
            ("sessions", inputs.sessions.is_empty()),
            ("progressMd", inputs.progress_md.is_none()),
            ("apmSnapshot", inputs.apm_snapshot.is_none()),
            ("relatedEpisodes", inputs.episodes.is_empty()),
            ("existingMemories", inputs.memories.is_empty()),
        ];
        let own = episode(&inputs.run, &inputs.gathered);
        let related = related(&own, inputs.episodes);
        let mut config = inputs.config.unwrap_or_default();
        settle::fields(&mut config, redactor);
        let mut apm_snapshot = inputs.apm_snapshot;
        apm_snapshot.iter_mut().for_each(|snapshot| settle::value(snapshot, redactor));
        let mut sessions = inputs.sessions;
        sessions.iter_mut().for_each(|session| settle::summary(session, redactor));
        Self {
            project_root: clip::clean(inputs.run.project_root, redactor),
            config,
            episode: settle::record(own.clone(), redactor).unwrap_or(own),
            related_episodes: related.into_iter().filter_map(|one| settle::record(one, redactor)).collect(),
            trajectories: inputs.gathered.trajectories,
            owners: Vec::new(),
            sessions,
            progress_md: inputs.progress_md.map(|notes| clip::clean(notes, redactor)),
            apm_snapshot,
            existing_memories: inputs.memories.into_iter().filter_map(|one| settle::record(one, redactor)).collect(),
            given: inputs.gathered.given,
            signals: inputs.gathered.signals,
            survey: inputs.gathered.survey,
            missing: missing.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}
