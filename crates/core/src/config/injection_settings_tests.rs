use super::super::{ConfigLoadRequest, load_config};
use super::*;
use crate::recall::{RankingProfile, RoleStance};

fn defaults() -> Config {
    load_config(&ConfigLoadRequest { project_root: "/nowhere".into(), ..ConfigLoadRequest::default() }).unwrap().config
}

#[test]
fn points_give_what_the_seeds_say() {
    let InjectionPointRules { orchestrator, subagent, healer, planner, small_task } = defaults().recall.point_rules();
    assert_eq!(orchestrator, InjectionPointRule { max_items: 10, reach: LessonReach::Project });
    assert_eq!(subagent, InjectionPointRule { max_items: 5, reach: LessonReach::Any });
    assert_eq!((healer.max_items, planner.max_items, small_task.max_items), (5, 10, 3));
}

#[test]
fn lessons_cost_what_the_seeds_allow() {
    let budget = defaults().recall.token_budget();
    assert_eq!((budget.adversarial, budget.constructive, budget.decisions), (800, 500, 3000));
    assert_eq!(budget.anybody, 3000);
    for role in ["Auditor", "Judge", "Sentinel", "guardian", "skeptic", "inspector"] {
        assert_eq!(budget.role_stance(role), RoleStance::Adversarial, "{role}");
    }
    for role in ["builder", "architect", "explorer", "creator", "maker", "doctor"] {
        assert_eq!(budget.role_stance(role), RoleStance::Constructive, "{role}");
    }
    assert_eq!(budget.universal_sightings, 5);
}

#[test]
fn the_profiles_have_their_numbers() {
    let config = defaults();
    let rules = config.profile_rules();
    assert_eq!((rules.half_lives.decision, rules.decay_runs, rules.min_score), (90.0, 10, 0.1));
    assert_eq!(config.recall.profile, RankingProfile::Balanced);
}
