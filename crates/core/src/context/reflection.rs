//! Builds the complete context of a reflection.

use serde::Serialize;

use super::clipped_words::ClippedWords;
use super::episode::{SessionDescription, build_episode};
use super::log_statistics::LogStatistics;
use super::redact_gathered;
use super::related_episodes::find_related_episodes;
use super::signal::Signal;
use super::text_clipping;
use super::trajectory_collector::GatheredLogs;
use crate::domain::{AgentMemory, Episode, EpisodeId, Extra, SessionOutcome, Timestamp, TokenUsage, Trajectory};
use crate::redact::Redactor;

#[cfg(test)]
#[path = "reflection_tests.rs"]
mod tests;

/// Everything that a reflection reads: what happened, what is known, and what is missing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReflectionContext {
    /// The root folder of the project.
    pub project_root: String,
    /// The project's own settings from `.openagents/project.json`.
    pub config: Extra,
    /// The episode of the session.
    pub episode: Episode,
    /// Episodes of other sessions with the same task, failures or tags.
    pub related_episodes: Vec<Episode>,
    /// The steps of the session: its own trajectories first, then those of its subagents.
    pub trajectories: Vec<Trajectory>,
    /// The episode of each trajectory, where several sessions are read together; empty if all belong to this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<EpisodeId>,
    /// A summary of each log that was read.
    pub sessions: Vec<SessionSummary>,
    /// The progress notes, word for word except for secrets.
    pub progress_md: Option<String>,
    /// The actions per minute, where they are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apm_snapshot: Option<serde_json::Value>,
    /// The existing lessons that are relevant to this session.
    pub existing_memories: Vec<AgentMemory>,
    /// The blocks of lessons injected into the session, from any source. They are no part of what happened.
    #[serde(skip)]
    pub given: Vec<String>,
    /// The fingerprints of outputs that were kept only in part.
    #[serde(skip)]
    pub clipped: Vec<ClippedWords>,
    /// The signals found in the session.
    pub signals: Vec<Signal>,
    /// Counts of what was read, skipped, cut and dropped.
    pub survey: LogStatistics,
    /// The names of the inputs that were missing.
    pub missing: Vec<String>,
}

/// A summary of one log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The agent's own id of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The format of the log.
    pub format: String,
    /// The path of the log.
    pub path: String,
    /// The name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The time of the first event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The time of the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// The outcome, where something states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SessionOutcome>,
    /// The number of steps.
    pub steps: u64,
    /// The number of tool calls.
    pub tool_calls: u64,
    /// The number of failed calls.
    pub tool_errors: u64,
    /// The tokens and money it cost.
    pub usage: TokenUsage,
}

/// The inputs of a reflection context. All but the description of the session may be missing.
#[derive(Debug)]
pub struct ReflectionInputs {
    /// The description of the session, beyond its logs.
    pub run: SessionDescription,
    /// The contents of the logs.
    pub gathered: GatheredLogs,
    /// A summary of each log.
    pub sessions: Vec<SessionSummary>,
    /// The project's own settings.
    pub config: Option<Extra>,
    /// The progress notes.
    pub progress_md: Option<String>,
    /// The actions per minute.
    pub apm_snapshot: Option<serde_json::Value>,
    /// The episodes already stored.
    pub episodes: Vec<Episode>,
    /// Lessons that may be relevant to the session.
    pub memories: Vec<AgentMemory>,
}

impl ReflectionContext {
    /// Builds the context; missing inputs are listed, never an error.
    pub fn build(inputs: ReflectionInputs, redactor: &Redactor) -> Self {
        let missing = [
            ("config", inputs.config.is_none()),
            ("trajectories", inputs.gathered.trajectories.is_empty()),
            ("sessions", inputs.sessions.is_empty()),
            ("progressMd", inputs.progress_md.is_none()),
            ("apmSnapshot", inputs.apm_snapshot.is_none()),
            ("relatedEpisodes", inputs.episodes.is_empty()),
            ("existingMemories", inputs.memories.is_empty()),
        ];
        let own = build_episode(&inputs.run, &inputs.gathered);
        let related = find_related_episodes(&own, inputs.episodes);
        let mut config = inputs.config.unwrap_or_default();
        redact_gathered::redact_fields(&mut config, redactor);
        let mut apm_snapshot = inputs.apm_snapshot;
        apm_snapshot.iter_mut().for_each(|snapshot| redact_gathered::redact_value(snapshot, redactor));
        let mut sessions = inputs.sessions;
        sessions.iter_mut().for_each(|session| redact_gathered::redact_summary(session, redactor));
        Self {
            project_root: text_clipping::redact_text(inputs.run.project_root, redactor),
            config,
            episode: redact_gathered::redact_record(own.clone(), redactor).unwrap_or(own),
            related_episodes: related
                .into_iter()
                .filter_map(|one| redact_gathered::redact_record(one, redactor))
                .collect(),
            trajectories: inputs.gathered.trajectories,
            owners: Vec::new(),
            sessions,
            progress_md: inputs.progress_md.map(|notes| text_clipping::redact_text(notes, redactor)),
            apm_snapshot,
            existing_memories: inputs
                .memories
                .into_iter()
                .filter_map(|one| redact_gathered::redact_record(one, redactor))
                .collect(),
            given: inputs.gathered.given,
            clipped: inputs.gathered.clipped,
            signals: inputs.gathered.signals,
            survey: inputs.gathered.survey,
            missing: missing.iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}
