//! Reads the files of OpenAgents' MechaCoder: sessions, run logs, trajectory records and small state documents.

mod run_log;
mod session;
mod state_documents;
mod trajectories;

pub(super) use run_log::RunLogReader;
pub(super) use session::OpenAgentsSessionReader;
pub(super) use state_documents::OpenAgentsStateReader;
pub(super) use trajectories::TrajectoryRecordReader;

/// The name of the agent in the session's properties.
const AGENT: &str = "openagents";

/// Describes how many lines of itself a log dropped.
fn describe_trimming(line: &super::json_fields::Object) -> String {
    let count = |key: &str| super::json_fields::get_count(line, key);
    match (count("dropped"), count("kept")) {
        (Some(dropped), Some(kept)) => format!("dropped {dropped}, kept {kept}"),
        (Some(dropped), None) => format!("dropped {dropped}"),
        _ => "dropped an unknown number".to_owned(),
    }
}

/// Returns the outcome that a status word of the log stands for, if any.
fn parse_outcome(word: Option<&str>, error: Option<String>, from: &str) -> Option<crate::domain::SessionOutcome> {
    let status = crate::domain::EpisodeStatus::from_outcome(word?).ok()?;
    Some(crate::domain::SessionOutcome { status, reward: None, error, from: from.to_owned() })
}
