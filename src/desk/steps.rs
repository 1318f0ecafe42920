//! The log of a run around one of its steps, for whoever wants to see a quotation where it stands.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Desk, Refusal};
use crate::context::{Passage, passages};
use crate::domain::{EpisodeId, Step, TrustClass};
use crate::memory::MemoryError;
use crate::redact::Redactor;
use crate::service::{Logs, Sources};

/// A passage is shown up to here: whoever wants a whole build log has it on the disk.
const MAX_PASSAGE_CHARACTERS: usize = 4_000;

/// The steps of a run around one of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Steps {
    /// The steps, in the order of the log.
    pub steps: Vec<StepView>,
    /// Whether the log is no longer where it lay.
    pub gone: bool,
}

/// One step as it can be quoted, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    /// The trajectory, as its producer names it.
    pub trajectory_id: Option<String>,
    /// Its number there, from 1.
    pub step: u32,
    /// What it holds.
    pub passages: Vec<PassageView>,
}

/// One stretch of a step, from one mouth.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PassageView {
    /// Whose words these are.
    pub trust: TrustClass,
    /// The words.
    pub text: String,
    /// Whether more of them were left out.
    pub is_cut: bool,
}

impl Desk {
    /// The steps around one, up to so many before and behind it. Only logs are read that the run was reflected on.
    pub async fn steps(
        &self,
        id: &EpisodeId,
        trajectory: Option<&str>,
        step: u32,
        around: u32,
    ) -> Result<Steps, Refusal> {
        let reflected = self.episode(id).await?.reflected;
        let logs = reflected.map(|reflected| reflected.logs).unwrap_or_default();
        let paths: Vec<PathBuf> = logs.into_iter().map(|log| PathBuf::from(log.path)).collect();
        let wanted = step.saturating_sub(around)..=step.saturating_add(around);
        let trajectory = trajectory.map(str::to_owned);
        let read = move || {
            let logs = Sources::in_files(paths)
                .and_then(|sources| Logs::read(&sources.files, &sources.subagents, &Redactor::new()).ok());
            let Some(logs) = logs else { return Steps { steps: Vec::new(), gone: true } };
            let steps = logs.gathered.trajectories.iter().flat_map(|read| {
                let id = read.about.trajectory_id.as_ref().or(read.about.session_id.as_ref());
                // A log without names of its own is quoted by that of its run.
                let is_meant = trajectory.is_none() || id.is_none() || id == trajectory.as_ref();
                let near = read.steps.iter().filter(|step| is_meant && wanted.contains(&step.number));
                near.map(|step| StepView::of(id, step)).collect::<Vec<_>>()
            });
            Steps { steps: steps.collect(), gone: false }
        };
        tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| Refusal::Memory(MemoryError::Interrupted(error.to_string())))
    }
}

impl StepView {
    fn of(trajectory_id: Option<&String>, step: &Step) -> Self {
        let view = |passage: Passage<'_>| PassageView {
            trust: passage.trust,
            is_cut: passage.text.chars().nth(MAX_PASSAGE_CHARACTERS).is_some(),
            text: passage.text.chars().take(MAX_PASSAGE_CHARACTERS).collect(),
        };
        Self {
            trajectory_id: trajectory_id.cloned(),
            step: step.number,
            passages: passages(step).into_iter().map(view).collect(),
        }
    }
}
