use super::*;
use crate::domain::{
    Engine, EpisodeKind, EpisodeStatus, Extra, Importance, ImportanceScale, ReflectionRecord, ReflectionSummary,
    SessionId, Timestamp,
};

const RULES: PatternRules = PatternRules { episodes: 3, importance_sum: 2.0 };
const FAMILY: &str = "00112233445566aa";

fn episode(number: i64, families: &[&str], importance: f64) -> Episode {
    let at = Timestamp::from_timestamp(number * 86_400, 0).unwrap();
    let name = format!("s-{number}");
    Episode {
        id: EpisodeId::for_session("shop", &name),
        project_root: "/shop".to_owned(),
        repo_id: None,
        task_id: None,
        subtask_id: None,
        session_id: SessionId::parse(&name).unwrap(),
        kind: EpisodeKind::SubagentRun,
        started_at: at,
        finished_at: at,
        status: EpisodeStatus::Failed,
        status_basis: None,
        summary: String::new(),
        tags: Vec::new(),
        error_families: families.iter().map(|family| ErrorFamily::parse(family).unwrap()).collect(),
        trajectories: Vec::new(),
        usage: None,
        failures: Vec::new(),
        request: None,
        reflected: Some(ReflectionRecord {
            logs: Vec::new(),
            engine: Engine::Heuristic,
            importance: Importance::parse(importance, ImportanceScale::Undeclared).unwrap(),
            reflection: ReflectionSummary::default(),
            patterns: Vec::new(),
            pondered_with: None,
            extra: Extra::new(),
        }),
        extra: Extra::new(),
    }
}

fn due_for_last(all: &[Episode]) -> Option<EpisodePattern> {
    find_due_pattern(all.last().unwrap(), all, &RULES)
}

#[test]
fn a_failure_is_a_pattern_from_the_third_run_on_and_only_once() {
    let mut all = vec![episode(1, &[FAMILY], 0.1), episode(2, &[FAMILY], 0.1)];
    assert_eq!(due_for_last(&all), None);
    all.push(episode(3, &[FAMILY], 0.1));
    let pattern = due_for_last(&all).unwrap();
    assert_eq!(pattern.cause, PatternCause::Family(ErrorFamily::parse(FAMILY).unwrap()));
    assert_eq!(pattern.runs, [all[0].id.clone(), all[1].id.clone(), all[2].id.clone()]);
    all[2].reflected.as_mut().unwrap().patterns.push(ErrorFamily::parse(FAMILY).unwrap());
    all.push(episode(4, &[FAMILY], 0.1));
    assert_eq!(due_for_last(&all), None);
    // A run that has nothing to do with it gives no cause to look.
    all.push(episode(5, &["ffffffffffffffff"], 0.1));
    assert_eq!(due_for_last(&all), None);
}

#[test]
fn runs_that_matter_enough_together_are_a_pattern_until_they_were_looked_at() {
    let mut all: Vec<Episode> = (1..=3).map(|number| episode(number, &[], 0.6)).collect();
    assert_eq!(due_for_last(&all), None);
    all.push(episode(4, &[], 0.0));
    all.push(episode(5, &[], 0.6));
    let pattern = due_for_last(&all).unwrap();
    assert_eq!((pattern.cause, pattern.marked.len()), (PatternCause::Weight, 4));
    for one in &mut all {
        one.reflected.as_mut().unwrap().pondered_with = Some(EpisodeId::for_session("shop", "s-5"));
    }
    assert_eq!(due_for_last(&all), None);
    let never = PatternRules { importance_sum: 0.0, ..RULES };
    let all: Vec<Episode> = (1..=9).map(|number| episode(number, &[], 0.9)).collect();
    assert_eq!(find_due_pattern(all.last().unwrap(), &all, &never), None);
}

#[test]
fn of_many_runs_the_newest_are_read_and_all_are_marked() {
    let all: Vec<Episode> = (1..=40).map(|number| episode(number, &[FAMILY], 0.0)).collect();
    let pattern = due_for_last(&all).unwrap();
    assert_eq!((pattern.runs.len(), pattern.marked.len()), (MAX_RUNS, 40));
    assert_eq!(pattern.runs.last(), Some(&all[39].id));
}
