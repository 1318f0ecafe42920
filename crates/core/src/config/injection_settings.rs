//! Settings of injections: at which injection points lessons are injected, how many, and how many tokens they may cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Config;
use super::settings::RecallSettings;
use crate::recall::{InjectionBudget, InjectionPointRule, InjectionPointRules, LessonReach, ProfileRules};

#[cfg(test)]
#[path = "injection_settings_tests.rs"]
mod tests;

/// Where in a run memories are given, and how many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PointsSettings")]
pub struct InjectionPointsSettings {
    /// Before tasks are chosen.
    pub orchestrator: InjectionPointSettings,
    /// Before a part of the work is handed on, and at points that have no section here.
    pub subagent: InjectionPointSettings,
    /// Where a failed run is rescued.
    pub healer: InjectionPointSettings,
    /// Where the work is planned.
    pub planner: InjectionPointSettings,
    /// Before something that is done in a few steps.
    pub small_task: InjectionPointSettings,
}

/// How many memories are given at one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PointSettings")]
pub struct InjectionPointSettings {
    /// The most memories that are given.
    #[schemars(range(min = 0, max = 1000))]
    pub max_items: u32,
    /// Which memories are given. "project": only what holds in the project as a whole; "any": whatever fits the question.
    pub reach: LessonReachChoice,
}

/// Which memories are given at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReachChoice")]
pub enum LessonReachChoice {
    /// Only what holds in the project as a whole.
    Project,
    /// Whatever fits the question.
    Any,
}

/// What the memories in a prompt may cost together, heading and frame included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "BudgetSettings")]
pub struct InjectionBudgetSettings {
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

impl InjectionPointSettings {
    fn to_point_rule(&self) -> InjectionPointRule {
        let reach = match self.reach {
            LessonReachChoice::Project => LessonReach::Project,
            LessonReachChoice::Any => LessonReach::Any,
        };
        InjectionPointRule { max_items: to_usize(self.max_items), reach }
    }
}

impl RecallSettings {
    /// Returns the rule of each injection point, in the types of recall.
    pub fn point_rules(&self) -> InjectionPointRules {
        let InjectionPointsSettings { orchestrator, subagent, healer, planner, small_task } = &self.points;
        InjectionPointRules {
            orchestrator: orchestrator.to_point_rule(),
            subagent: subagent.to_point_rule(),
            healer: healer.to_point_rule(),
            planner: planner.to_point_rule(),
            small_task: small_task.to_point_rule(),
        }
    }

    /// Returns the token budget of injections, in the types of recall.
    pub fn token_budget(&self) -> InjectionBudget {
        let budget = &self.budget;
        let roles = budget.adversarial_roles.split(',').map(|role| role.trim().to_lowercase());
        InjectionBudget {
            adversarial: to_usize(budget.adversarial),
            constructive: to_usize(budget.constructive),
            anybody: to_usize(budget.anybody),
            decisions: to_usize(budget.decisions),
            adversarial_roles: roles.filter(|role| !role.is_empty()).collect(),
            preference_places: to_usize(budget.preference_places),
            min_space: to_usize(budget.min_space),
            universal_sightings: u64::from(budget.universal_sightings),
        }
    }
}

impl Config {
    /// Returns the parameters of the ranking profiles, in the types of recall.
    pub fn profile_rules(&self) -> ProfileRules {
        ProfileRules {
            half_lives: self.recall.ranking_settings().half_lives,
            decay_runs: self.lifecycle.decay_runs,
            min_score: self.recall.min_score,
        }
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
