//! The points of a session at which lessons are injected, with their limits and audiences.

use crate::domain::word_enum::words;
use crate::domain::{AgentMemory, Facet, FacetSet, FacetValues, LessonCounters, MemoryKind, MemoryScope};

#[cfg(test)]
#[path = "injection_point_tests.rs"]
mod tests;

words! {
    /// A point of a session at which lessons are injected.
    Point, "a point" {
        /// Before tasks are chosen.
        Orchestrator = "orchestrator",
        /// Before a part of the work is delegated.
        Subagent = "subagent",
        /// While a failed session is rescued.
        Healer = "healer",
        /// While the work is planned.
        Planner = "planner",
        /// Before a task of a few steps.
        SmallTask = "small-task",
    }
}

/// The rules of all injection points. Every number is a configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectionPointRules {
    /// The rule before tasks are chosen.
    pub orchestrator: InjectionPointRule,
    /// The rule before a part of the work is delegated, and at every point that has no name here.
    pub subagent: InjectionPointRule,
    /// The rule while a failed session is rescued.
    pub healer: InjectionPointRule,
    /// The rule while the work is planned.
    pub planner: InjectionPointRule,
    /// The rule before a task of a few steps.
    pub small_task: InjectionPointRule,
}

impl InjectionPointRules {
    /// Returns the rule of this point.
    pub fn rule_for(&self, point: &Point) -> &InjectionPointRule {
        match point {
            Point::Orchestrator => &self.orchestrator,
            Point::Subagent | Point::Other(_) => &self.subagent,
            Point::Healer => &self.healer,
            Point::Planner => &self.planner,
            Point::SmallTask => &self.small_task,
        }
    }
}

/// The rule of one injection point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InjectionPointRule {
    /// The most lessons that are injected.
    pub max_items: usize,
    /// The scopes of lessons that are injected.
    pub reach: LessonReach,
}

/// The scopes of lessons that may be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonReach {
    /// Only lessons about the project as a whole: it is not yet known which tool, task or path comes next.
    Project,
    /// Every lesson that fits the question.
    Any,
}

impl LessonReach {
    /// Returns true if a lesson of this scope may be injected.
    pub fn includes_scope(self, scope: &MemoryScope) -> bool {
        match self {
            Self::Project => matches!(scope, MemoryScope::Global | MemoryScope::Project | MemoryScope::Repo),
            Self::Any => true,
        }
    }
}

/// The token budgets of lessons and the reserved places. Every number is a configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct InjectionBudget {
    /// The tokens for roles that look for faults.
    pub adversarial: usize,
    /// The tokens for every other role.
    pub constructive: usize,
    /// The tokens for requests without a role.
    pub anybody: usize,
    /// The tokens for decisions, for any role.
    pub decisions: usize,
    /// The roles that look for faults, in lower case.
    pub adversarial_roles: Vec<String>,
    /// The places reserved for preferences, so that other lessons cannot crowd them out.
    pub preference_places: usize,
    /// The smallest number of remaining tokens with which another lesson is tried.
    pub min_space: usize,
    /// The number of sightings from which a lesson is injected for any domain or role.
    pub universal_sightings: u64,
}

impl InjectionBudget {
    /// Returns the tokens that a block of lessons may take; `kind` is the requested kind, if only one was requested.
    pub fn token_budget(&self, role: Option<&str>, kind: Option<&MemoryKind>) -> usize {
        match (kind, role.map(|role| self.role_stance(role))) {
            (Some(MemoryKind::Decision), _) => self.decisions,
            (_, Some(RoleStance::Adversarial)) => self.adversarial,
            (_, Some(RoleStance::Constructive)) => self.constructive,
            (_, None) => self.anybody,
        }
    }

    /// Returns the stance of a role. Its name may have further parts, as in `story-guardian` or `Judge 2`.
    pub fn role_stance(&self, role: &str) -> RoleStance {
        let role = role.to_lowercase();
        let mut parts = role.split(|c: char| !c.is_alphanumeric());
        let is_adversarial = parts.any(|part| self.adversarial_roles.iter().any(|known| known == part));
        if is_adversarial { RoleStance::Adversarial } else { RoleStance::Constructive }
    }

    /// Returns true if a lesson was seen so often that it is useful to every role.
    pub fn is_universal(&self, counters: &LessonCounters) -> bool {
        counters.sightings >= self.universal_sightings
    }

    /// Returns the facets that exclude a lesson: it is about other circumstances than the requested ones. The set is
    /// empty for a lesson that fits. A universal lesson is excluded by no domain and no role.
    pub fn excluding_facets(&self, memory: &AgentMemory, counters: &LessonCounters, asked: &FacetValues) -> FacetSet {
        let (binding, given, met) =
            (memory.binding_facets(), asked.present_facets(), memory.facets.facets_met_by(asked));
        let is_universal = self.is_universal(counters);
        let shuts_out = |&facet: &Facet| match facet {
            Facet::Domain | Facet::Role if is_universal => false,
            facet => binding.contains(facet) && given.contains(facet) && !met.contains(facet),
        };
        Facet::ALL.into_iter().filter(shuts_out).collect()
    }
}

/// The stance of a role towards the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleStance {
    /// The role looks for faults.
    Adversarial,
    /// The role makes something.
    Constructive,
}
