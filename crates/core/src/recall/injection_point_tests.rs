use super::*;
use crate::domain::MemoryId;

fn budget() -> InjectionBudget {
    InjectionBudget {
        adversarial: 800,
        constructive: 500,
        anybody: 3_000,
        decisions: 3000,
        adversarial_roles: ["auditor", "judge", "sentinel", "guardian"].map(str::to_owned).to_vec(),
        preference_places: 2,
        min_space: 20,
        universal_sightings: 5,
    }
}

fn lesson(change: impl FnOnce(&mut AgentMemory)) -> AgentMemory {
    let at = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut memory = AgentMemory::new(MemoryId::parse("a").unwrap(), at, "Run the tests first");
    change(&mut memory);
    memory
}

#[test]
fn every_point_has_its_rule() {
    let rule = |max_items| InjectionPointRule { max_items, reach: LessonReach::Any };
    let points = InjectionPointRules {
        orchestrator: InjectionPointRule { max_items: 10, reach: LessonReach::Project },
        subagent: rule(5),
        healer: rule(6),
        planner: rule(7),
        small_task: rule(3),
    };
    let check = |word: &str, expected| assert_eq!(points.rule_for(&Point::from(word.to_owned())).max_items, expected);
    check("orchestrator", 10);
    check("subagent", 5);
    check("healer", 6);
    check("planner", 7);
    check("small-task", 3);
    check("a point of somebody's own", 5);
}

#[test]
fn the_start_of_a_run_gets_what_holds_in_the_whole_project() {
    for word in MemoryScope::WORDS {
        let scope = MemoryScope::parse(word).unwrap();
        assert_eq!(LessonReach::Project.includes_scope(&scope), ["global", "project", "repo"].contains(word), "{word}");
        assert!(LessonReach::Any.includes_scope(&scope));
    }
}

#[test]
fn who_looks_for_faults_may_read_more() {
    let check = |role: Option<&str>, expected| assert_eq!(budget().token_budget(role, None), expected, "{role:?}");
    check(None, 3_000);
    check(Some("builder"), 500);
    check(Some("prejudge"), 500);
    check(Some("judge"), 800);
    check(Some("Judge 2"), 800);
    check(Some("story-GUARDIAN"), 800);
    check(Some(""), 500);
    assert_eq!(budget().token_budget(Some("judge"), Some(&MemoryKind::Decision)), 3000);
    assert_eq!(budget().token_budget(Some("judge"), Some(&MemoryKind::Lesson)), 800);
}

#[test]
fn a_universal_lesson_is_shut_out_by_no_domain_and_no_role() {
    let memory = lesson(|memory| {
        memory.facets.domain = Some("writing".to_owned());
        memory.facets.role = Some("sage".to_owned());
        memory.facets.tool = Some("bash".to_owned());
    });
    let asked = |domain: &str, role: &str, tool: &str| FacetValues {
        domain: Some(domain.to_owned()),
        role: Some(role.to_owned()),
        tool: Some(tool.to_owned()),
        ..FacetValues::default()
    };
    let check = |sightings, asked: &FacetValues, expected: &[Facet]| {
        let counters = LessonCounters { sightings, ..LessonCounters::default() };
        let shut_out: Vec<Facet> = budget().excluding_facets(&memory, &counters, asked).iter().collect();
        assert_eq!(shut_out, expected, "{sightings} {asked:?}");
    };
    check(4, &FacetValues::default(), &[]);
    check(4, &asked("writing", "sage", "bash"), &[]);
    check(4, &asked("code", "guardian", "bash"), &[Facet::Role, Facet::Domain]);
    check(5, &asked("code", "guardian", "bash"), &[]);
    check(5, &asked("code", "guardian", "grep"), &[Facet::Tool]);
}
