//! The steps of a session's log around one step, to show a quote in its context.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Archivist, RequestError};
use crate::context::{QuotableText, quotable_texts};
use crate::domain::{EpisodeId, Step, TrustClass};
use crate::memory::MemoryError;
use crate::redact::Redactor;
use crate::service::{CombinedLogs, LogSources};

/// The most characters shown of one text; the whole log is on disk.
const MAX_PASSAGE_CHARACTERS: usize = 4_000;

/// The steps of a run around one of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Steps")]
pub struct EpisodeSteps {
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
    pub passages: Vec<StepTextView>,
}

/// One stretch of a step, from one mouth.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PassageView")]
pub struct StepTextView {
    /// Whose words these are.
    pub trust: TrustClass,
    /// The words of the step.
    pub text: String,
    /// Whether more of them were left out.
    pub is_cut: bool,
}

impl Archivist {
    /// Reads the steps around one, up to `around` before and after it. Only logs that were reflected on are read.
    pub async fn read_steps_around(
        &self,
        id: &EpisodeId,
        trajectory: Option<&str>,
        step: u32,
        around: u32,
    ) -> Result<EpisodeSteps, RequestError> {
        let reflected = self.get_episode(id).await?.reflected;
        let logs = reflected.map(|reflected| reflected.logs).unwrap_or_default();
        let paths: Vec<PathBuf> = logs.into_iter().map(|log| PathBuf::from(log.path)).collect();
        let wanted = step.saturating_sub(around)..=step.saturating_add(around);
        let trajectory = trajectory.map(str::to_owned);
        let read = move || {
            let logs = LogSources::from_files(paths).and_then(|sources| {
                CombinedLogs::read_session(&sources.files, &sources.subagents, &Redactor::new()).ok()
            });
            let Some(logs) = logs else { return EpisodeSteps { steps: Vec::new(), gone: true } };
            let steps = logs.gathered.trajectories.iter().flat_map(|read| {
                let id = read.about.trajectory_id.as_ref().or(read.about.session_id.as_ref());
                // A log without its own ids is quoted by the session's id.
                let is_meant = trajectory.is_none() || id.is_none() || id == trajectory.as_ref();
                let near = read.steps.iter().filter(|step| is_meant && wanted.contains(&step.number));
                near.map(|step| StepView::from_step(id, step)).collect::<Vec<_>>()
            });
            EpisodeSteps { steps: steps.collect(), gone: false }
        };
        tokio::task::spawn_blocking(read)
            .await
            .map_err(|error| RequestError::Memory(MemoryError::Interrupted(error.to_string())))
    }
}

impl StepView {
    fn from_step(trajectory_id: Option<&String>, step: &Step) -> Self {
        let view = |passage: QuotableText<'_>| StepTextView {
            trust: passage.trust,
            is_cut: passage.text.chars().nth(MAX_PASSAGE_CHARACTERS).is_some(),
            text: passage.text.chars().take(MAX_PASSAGE_CHARACTERS).collect(),
        };
        Self {
            trajectory_id: trajectory_id.cloned(),
            step: step.number,
            passages: quotable_texts(step).into_iter().map(view).collect(),
        }
    }
}
