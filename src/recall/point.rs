//! Where in a run lessons are given, how many, and to whom.

use crate::domain::words::words;
use crate::domain::{AgentMemory, Counters, Facet, FacetSet, Facets, MemoryKind, MemoryScope};

#[cfg(test)]
#[path = "point_tests.rs"]
mod tests;

words! {
    /// Where in a run lessons are given.
    Point, "a point" {
        /// Before tasks are chosen.
        Orchestrator = "orchestrator",
        /// Before a part of the work is handed on.
        Subagent = "subagent",
        /// Where a failed run is rescued.
        Healer = "healer",
        /// Where the work is planned.
        Planner = "planner",
        /// Before something that is done in a few steps.
        SmallTask = "small-task",
    }
}

/// What holds at each point. Every number is a configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// Before tasks are chosen.
    pub orchestrator: PointRule,
    /// Before a part of the work is handed on, and at every point that has no name here.
    pub subagent: PointRule,
    /// Where a failed run is rescued.
    pub healer: PointRule,
    /// Where the work is planned.
    pub planner: PointRule,
    /// Before something that is done in a few steps.
    pub small_task: PointRule,
}

impl Points {
    /// What holds at this one.
    pub fn of(&self, point: &Point) -> &PointRule {
        match point {
            Point::Orchestrator => &self.orchestrator,
            Point::Subagent | Point::Other(_) => &self.subagent,
            Point::Healer => &self.healer,
            Point::Planner => &self.planner,
            Point::SmallTask => &self.small_task,
        }
    }
}

/// What holds at one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointRule {
    /// At most so many lessons.
    pub max_items: usize,
    /// Which of them.
    pub reach: Reach,
}

/// How narrow a lesson may be to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only what holds in the project as a whole: nobody knows yet which tool, task or path comes next.
    Project,
    /// Whatever fits the question.
    Any,
}

impl Reach {
    /// Whether a lesson of this scope is given.
    pub fn takes(self, scope: &MemoryScope) -> bool {
        match self {
            Self::Project => matches!(scope, MemoryScope::Global | MemoryScope::Project | MemoryScope::Repo),
            Self::Any => true,
        }
    }
}

/// What lessons may cost, and which places are kept free. Every number is a configuration key.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Tokens for whoever looks for faults.
    pub adversarial: usize,
    /// Tokens for every other role.
    pub constructive: usize,
    /// Tokens for whoever gives no role.
    pub anybody: usize,
    /// Tokens for decisions, whoever reads them.
    pub decisions: usize,
    /// The roles that look for faults, in lower case.
    pub adversarial_roles: Vec<String>,
    /// Places kept for preferences, so that no number of other lessons starves one.
    pub preference_places: usize,
    /// With fewer tokens left than this nothing more is put in.
    pub min_space: usize,
    /// A lesson that so many runs saw is given whatever the domain or the role.
    pub universal_sightings: u64,
}

impl Budget {
    /// The tokens that a block of lessons may cost; `kind` is what was asked for, where only one kind was.
    pub fn tokens(&self, role: Option<&str>, kind: Option<&MemoryKind>) -> usize {
        match (kind, role.map(|role| self.stance(role))) {
            (Some(MemoryKind::Decision), _) => self.decisions,
            (_, Some(Stance::Adversarial)) => self.adversarial,
            (_, Some(Stance::Constructive)) => self.constructive,
            (_, None) => self.anybody,
        }
    }

    /// What a role does. Its name may have further parts, as in `story-guardian` or `Judge 2`.
    pub fn stance(&self, role: &str) -> Stance {
        let role = role.to_lowercase();
        let mut parts = role.split(|c: char| !c.is_alphanumeric());
        let is_adversarial = parts.any(|part| self.adversarial_roles.iter().any(|known| known == part));
        if is_adversarial { Stance::Adversarial } else { Stance::Constructive }
    }

    /// Whether a lesson was seen so often that it is of use to everybody.
    pub fn is_universal(&self, counters: &Counters) -> bool {
        counters.sightings >= self.universal_sightings
    }

    /// The circumstances for which a lesson is not given: it is about others than those that were asked for. None for a
    /// lesson that fits. A universal lesson is shut out by no domain and no role.
    pub fn shut_out_by(&self, memory: &AgentMemory, counters: &Counters, asked: &Facets) -> FacetSet {
        let (binding, given, met) = (memory.binding_facets(), asked.given(), memory.facets.met_by(asked));
        let is_universal = self.is_universal(counters);
        let shuts_out = |&facet: &Facet| match facet {
            Facet::Domain | Facet::Role if is_universal => false,
            facet => binding.contains(facet) && given.contains(facet) && !met.contains(facet),
        };
        Facet::ALL.into_iter().filter(shuts_out).collect()
    }
}

/// What a role does with work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// It looks for faults.
    Adversarial,
    /// It makes something.
    Constructive,
}
