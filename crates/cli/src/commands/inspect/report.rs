//! The report about one log.

use serde::Serialize;

use archivist_core::context::{EpisodeOutline, LogStatistics, Signal, outline_episode};
use archivist_core::domain::{EpisodeStatus, SessionOutcome, StatusBasis, Timestamp};
use archivist_core::ingest::UnreadableLog;
use archivist_core::service::InspectedLog;

/// The report about one log. Its JSON is a published contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InspectReport {
    pub(super) path: String,
    pub(super) format: &'static str,
    pub(super) schema_version: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) agent_version: Option<String>,
    pub(super) model: Option<String>,
    pub(super) session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<SessionOutcome>,
    /// The outcome of the session, as far as the log tells.
    pub(super) status: EpisodeStatus,
    /// The basis of the status.
    pub(super) status_basis: StatusBasis,
    /// A summary in one to three sentences.
    pub(super) summary: String,
    #[serde(flatten)]
    pub(super) survey: LogStatistics,
    pub(super) signals: Vec<Signal>,
}

impl InspectReport {
    pub(super) fn from_log(path: &str, log: InspectedLog) -> Self {
        let InspectedLog { format, mut gathered } = log;
        let about = gathered.trajectories.first().map(|main| main.about.clone()).unwrap_or_default();
        let EpisodeOutline { status, basis, summary } = outline_episode(&gathered, None);
        Self {
            path: path.to_owned(),
            format: format.as_str(),
            schema_version: about.schema_version,
            agent: about.agent,
            agent_version: about.agent_version,
            model: about.model,
            session_id: about.session_id,
            task_id: about.task_id,
            title: about.title,
            started_at: gathered.trajectories.iter().filter_map(|one| one.about.started_at).min(),
            finished_at: gathered.trajectories.iter().filter_map(|one| one.about.finished_at).max(),
            outcome: gathered.trajectories.first_mut().and_then(|main| main.outcome.take()),
            status,
            status_basis: basis,
            summary,
            survey: gathered.survey,
            signals: gathered.signals,
        }
    }

    pub(super) fn has_findings(&self) -> bool {
        self.survey.findings_total > 0
    }
}

/// The report about a file that could not be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UnreadFileReport<'a> {
    path: &'a str,
    error: String,
}

impl<'a> UnreadFileReport<'a> {
    pub(super) fn from_error(path: &'a str, unreadable: &UnreadableLog) -> Self {
        Self { path, error: unreadable.to_string() }
    }
}
