//! What is said about one log.

use serde::Serialize;

use crate::context::{Outline, Signal, Survey, outline};
use crate::domain::{EpisodeStatus, Outcome, StatusBasis, Timestamp};
use crate::ingest::Unreadable;
use crate::service::Log;

/// One log. Its JSON is a published contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
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
    pub(super) outcome: Option<Outcome>,
    /// How it ended, as far as the log tells.
    pub(super) status: EpisodeStatus,
    /// What that rests on.
    pub(super) status_basis: StatusBasis,
    /// In one to three sentences.
    pub(super) summary: String,
    #[serde(flatten)]
    pub(super) survey: Survey,
    pub(super) signals: Vec<Signal>,
}

impl Report {
    pub(super) fn of(path: &str, log: Log) -> Self {
        let Log { format, mut gathered } = log;
        let about = gathered.trajectories.first().map(|main| main.about.clone()).unwrap_or_default();
        let Outline { status, basis, summary } = outline(&gathered, None);
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

/// A file that could not be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Unread<'a> {
    path: &'a str,
    error: String,
}

impl<'a> Unread<'a> {
    pub(super) fn of(path: &'a str, unreadable: &Unreadable) -> Self {
        Self { path, error: unreadable.to_string() }
    }
}
