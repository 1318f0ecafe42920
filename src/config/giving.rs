//! Where in a run memories are given, how many, and what they may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Config;
use super::settings::RecallSettings;
use crate::recall::{Budget, PointRule, Points, ProfileRules, Reach};

#[cfg(test)]
#[path = "giving_tests.rs"]
mod tests;

/// Where in a run memories are given, and how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PointsSettings {
    /// Before tasks are chosen.
    pub orchestrator: PointSettings,
    /// Before a part of the work is handed on, and at points that have no section here.
    pub subagent: PointSettings,
    /// Where a failed run is rescued.
    pub healer: PointSettings,
    /// Where the work is planned.
    pub planner: PointSettings,
    /// Before something that is done in a few steps.
    pub small_task: PointSettings,
}

/// How many memories are given at one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PointSettings {
    /// The most memories that are given.
    #[schemars(range(min = 0, max = 1000))]
    pub max_items: u32,
    /// Which memories are given. "project": only what holds in the project as a whole; "any": whatever fits the question.
    pub reach: ReachChoice,
}

/// Which memories are given at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReachChoice {
    /// Only what holds in the project as a whole.
    Project,
    /// Whatever fits the question.
    Any,
}

/// What the memories in a prompt may cost together, heading and frame included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetSettings {
    /// The most tokens for roles that look for faults.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub adversarial: u32,
    /// The most tokens for every other role.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub constructive: u32,
    /// The most tokens where no role is given.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub anybody: u32,
    /// The most tokens for decisions, whoever reads them.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub decisions: u32,
    /// The roles that look for faults, with commas between them; a role of several words counts if one of them is here.
    pub adversarial_roles: String,
    /// Places that are kept for preferences, before all others.
    #[schemars(range(min = 0, max = 1000))]
    pub preference_places: u32,
    /// With fewer tokens left than this nothing more is put in.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub min_space: u32,
    /// A memory that so many runs saw is given whatever the domain or the role.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub universal_sightings: u32,
}

impl PointSettings {
    fn rule(&self) -> PointRule {
        let reach = match self.reach {
            ReachChoice::Project => Reach::Project,
            ReachChoice::Any => Reach::Any,
        };
        PointRule { max_items: count(self.max_items), reach }
    }
}

impl RecallSettings {
    /// What holds at each point, in the words of recall.
    pub fn point_rules(&self) -> Points {
        let PointsSettings { orchestrator, subagent, healer, planner, small_task } = &self.points;
        Points {
            orchestrator: orchestrator.rule(),
            subagent: subagent.rule(),
            healer: healer.rule(),
            planner: planner.rule(),
            small_task: small_task.rule(),
        }
    }

    /// What memories may cost, in the words of recall.
    pub fn token_budget(&self) -> Budget {
        let budget = &self.budget;
        let roles = budget.adversarial_roles.split(',').map(|role| role.trim().to_lowercase());
        Budget {
            adversarial: count(budget.adversarial),
            constructive: count(budget.constructive),
            anybody: count(budget.anybody),
            decisions: count(budget.decisions),
            adversarial_roles: roles.filter(|role| !role.is_empty()).collect(),
            preference_places: count(budget.preference_places),
            min_space: count(budget.min_space),
            universal_sightings: u64::from(budget.universal_sightings),
        }
    }
}

impl Config {
    /// The numbers behind the profiles, in the words of recall.
    pub fn profile_rules(&self) -> ProfileRules {
        ProfileRules {
            half_lives: self.recall.ranking().half_lives,
            decay_runs: self.lifecycle.decay_runs,
            min_score: self.recall.min_score,
        }
    }
}

fn count(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
