//! The files of OpenAgents' MechaCoder: sessions, run logs, trajectory records and small documents of state.

mod run_log;
mod session;
mod state;
mod trajectories;

pub(super) use run_log::RunLog;
pub(super) use session::Session;
pub(super) use state::State;
pub(super) use trajectories::Trajectories;

/// What About says of who ran.
const AGENT: &str = "openagents";

/// In a few words, how much of itself a log dropped.
fn trimmed(line: &super::pick::Object) -> String {
    let count = |key: &str| super::pick::count(line, key);
    match (count("dropped"), count("kept")) {
        (Some(dropped), Some(kept)) => format!("dropped {dropped}, kept {kept}"),
        (Some(dropped), None) => format!("dropped {dropped}"),
        _ => "dropped an unknown number".to_owned(),
    }
}

/// The outcome that a word of the log means, if it means one.
fn outcome(word: Option<&str>, error: Option<String>, from: &str) -> Option<crate::domain::Outcome> {
    let status = crate::domain::EpisodeStatus::from_outcome(word?).ok()?;
    Some(crate::domain::Outcome { status, reward: None, error, from: from.to_owned() })
}
