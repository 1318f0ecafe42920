//! Settings of the judge, the lifecycle of lessons, feedback, and reflections over several sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a candidate is a new lesson, and when it is one that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeSettings {
    /// How far a model's word on importance may lie from what the signals say.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub leeway: f64,
    /// Lessons at least this similar are the same.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub same_above: f64,
    /// Lessons less similar than this have nothing to do with each other.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub different_below: f64,
    /// How many of the nearest lessons a candidate is held against.
    #[schemars(range(min = 1, max = 200))]
    pub neighbours: u32,
}

/// How a lesson rises and ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LifecycleSettings {
    /// Runs in which a lesson must have been seen to become a candidate.
    #[schemars(range(min = 1, max = 1000))]
    pub candidate_sightings: u32,
    /// A lesson at least this important that is proved by output or a citation is a candidate at once.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub candidate_importance: f64,
    /// Different circumstances in which a candidate must have been seen to count as verified.
    #[schemars(range(min = 1, max = 1000))]
    pub verified_contexts: u32,
    /// So many runs of the project without a sighting take one sighting away.
    #[schemars(range(min = 1, max = 100_000))]
    pub decay_runs: u32,
    /// Silence ends no lesson that was seen within so many days before the last run.
    #[schemars(range(min = 0, max = 100_000))]
    pub grace_days: u32,
    /// A lesson that is trusted less than this is deprecated.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub deprecate_below: f64,
}

/// How much a judgement of a lesson counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackSettings {
    /// What it counts against a lesson that a run which was given it failed.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub failed_run: f64,
    /// What it counts against a lesson that somebody calls it noise, by who says so.
    pub weights: FeedbackWeights,
}

/// What it counts against a lesson that somebody calls it noise, by who says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackWeights {
    /// The sentinel, who validates.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub sentinel: f64,
    /// The inspector, who validates.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub inspector: f64,
    /// The lens, which validates.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub lens: f64,
    /// The weight of any other role.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub other: f64,
}

impl FeedbackWeights {
    /// Returns the weight of a judgement by this role.
    pub fn weight_for_role(&self, role: Option<&str>) -> f64 {
        match role.map(str::to_lowercase).as_deref() {
            Some("sentinel") => self.sentinel,
            Some("inspector") => self.inspector,
            Some("lens") => self.lens,
            _ => self.other,
        }
    }
}

/// When a lesson is said not to have helped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditSettings {
    /// How much of a reviewer's finding must be in a lesson's words for the finding to be about it.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub threshold: f64,
}

/// What sets a reflection over several runs off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggerSettings {
    /// Runs that must share a failure.
    #[schemars(range(min = 2, max = 1000))]
    pub pattern_episodes: u32,
    /// The importance that runs must add up to which were not reflected on together yet; 0: never.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub importance_sum: f64,
}
