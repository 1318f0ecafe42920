use super::*;
use archivist_core::domain::{
    Evidence, EvidenceLevel, FacetValues, Importance, MemoryCategory, MemoryKind, MemoryScope, Quote, TrustClass,
};
use archivist_core::ingest::LogFormat;

fn candidate(summary: &str, step: u32) -> Candidate {
    let (level, trust) = (EvidenceLevel::Execution, TrustClass::BuildOutput);
    let quotes = Quote::verify_passage("t", step, "npm ci failed", "npm ci", level, trust).into_iter().collect();
    Candidate {
        summary: summary.to_owned(),
        rule: None,
        detail: None,
        kind: MemoryKind::Lesson,
        category: MemoryCategory::ToolUsage,
        scope: MemoryScope::Project,
        facets: FacetValues::default(),
        tags: Vec::new(),
        importance: Importance::MANUAL,
        importance_reason: None,
        severity: None,
        evidence: Evidence { quotes, ..Evidence::default() },
        quarantine: None,
        near: Vec::new(),
        mended: Vec::new(),
    }
}

fn session(name: &str, half: ScenarioHalf, expect: Option<ExpectedLesson>) -> PlantedSession {
    let kind = expect.as_ref().map_or(PlantedLessonKind::Routine, |expect| expect.kind);
    PlantedSession { name: name.to_owned(), format: LogFormat::Codex, half, kind, log: Vec::new(), expect }
}

fn expectation() -> ExpectedLesson {
    ExpectedLesson {
        kind: PlantedLessonKind::Alternative,
        mention: vec![vec!["pnpm".to_owned()], vec!["npm ci".to_owned(), "lockfile".to_owned()]],
        steps: vec![4, 9],
        category: vec![MemoryCategory::ToolUsage, MemoryCategory::Workflow],
        rule: true,
    }
}

fn planted() -> PlantedSession {
    session("a", ScenarioHalf::Dev, Some(expectation()))
}

#[test]
fn a_candidate_matches_if_it_says_every_group_and_proves_it() {
    let table = [
        ("Use pnpm, npm  CI fails", 4, true),
        ("Use PNPM: the Lockfile is its own", 9, true),
        ("Use pnpm", 4, false),
        ("npm ci fails", 4, false),
        ("Use pnpm, npm ci fails", 5, false),
    ];
    for (summary, step, is_found) in table {
        let verdict = score_candidates(&planted(), &[candidate(summary, step)]);
        assert_eq!(verdict.found.is_some(), is_found, "{summary} at {step}");
        assert_eq!(verdict.extra.len(), usize::from(!is_found), "{summary} at {step}");
    }
}

#[test]
fn rule_and_detail_count_as_well_but_not_a_copy_of_the_log() {
    let mut spread = candidate("The lockfile", 4);
    spread.rule = Some("IF packages are missing THEN run pnpm install".to_owned());
    assert!(score_candidates(&planted(), &[spread.clone()]).found.is_some());
    spread.rule = None;
    spread.detail = Some("It is pnpm's".to_owned());
    assert!(score_candidates(&planted(), &[spread.clone()]).found.is_some());
    spread.detail = Some(format!("{} pnpm", "x".repeat(READ_CHARACTERS)));
    assert_eq!(score_candidates(&planted(), &[spread]).found, None);
}

#[test]
fn only_one_candidate_is_the_planted_lesson() {
    let right = candidate("pnpm, not npm ci", 4);
    let verdict = score_candidates(&planted(), &[candidate("something else", 4), right.clone(), right]);
    assert_eq!(verdict.found.as_ref().map(|found| found.at), Some(1));
    assert_eq!(verdict.extra, ["something else", "pnpm, not npm ci"]);
}

#[test]
fn a_lesson_without_its_proof_is_told_apart() {
    let verdict = score_candidates(&planted(), &[candidate("pnpm, not npm ci", 1), candidate("else", 1)]);
    assert_eq!((verdict.found, verdict.unproven, verdict.extra.len()), (None, 1, 2));
    let anywhere = ExpectedLesson { steps: Vec::new(), ..expectation() };
    let verdict =
        score_candidates(&session("a", ScenarioHalf::Dev, Some(anywhere)), &[candidate("pnpm, not npm ci", 1)]);
    assert!(verdict.found.is_some());
}

#[test]
fn category_and_rule_are_counted_and_not_asked_for() {
    let mut one = candidate("pnpm, not npm ci", 4);
    let found = |one: &Candidate| score_candidates(&planted(), std::slice::from_ref(one)).found.unwrap();
    assert_eq!((found(&one).filed, found(&one).ruled), (true, false));
    one.category = MemoryCategory::Decision;
    one.rule = Some("IF a THEN b".to_owned());
    assert_eq!((found(&one).filed, found(&one).ruled), (false, true));
}

#[test]
fn a_tally_counts_by_half_kind_and_format() {
    let right = candidate("pnpm, not npm ci", 4);
    let wrong = candidate("water is wet", 4);
    let verdicts = [
        score_candidates(&planted(), &[right.clone(), wrong.clone()]),
        score_candidates(&session("b", ScenarioHalf::Held, Some(expectation())), &[]),
        score_candidates(&session("c", ScenarioHalf::Dev, None), &[]),
        score_candidates(&session("d", ScenarioHalf::Held, None), &[wrong]),
    ];
    let tally = tally_verdicts(&verdicts);
    let all = &tally.all;
    assert_eq!((all.planted, all.found, all.claimed, all.routine, all.silent), (2, 1, 3, 2, 1));
    assert_eq!((all.recall, all.precision, all.silence), (Some(0.5), Some(1.0 / 3.0), Some(0.5)));
    let dev = &tally.halves[&ScenarioHalf::Dev];
    assert_eq!((dev.recall, dev.precision, dev.silence), (Some(1.0), Some(0.5), Some(1.0)));
    let held = &tally.halves[&ScenarioHalf::Held];
    assert_eq!((held.recall, held.precision, held.silence), (Some(0.0), Some(0.0), Some(0.0)));
    let alternative = &tally.kinds[&ScenarioHalf::Dev][&PlantedLessonKind::Alternative];
    assert_eq!((alternative.planted, alternative.found, alternative.silence), (1, 1, None));
    assert_eq!(tally.formats["codex"], tally.all);
    assert_eq!(tally.misses.iter().map(|miss| miss.session.as_str()).collect::<Vec<_>>(), ["b"]);
    let wrong: Vec<_> = tally.false_lessons.iter().map(|one| (one.session.as_str(), one.text.as_str())).collect();
    assert_eq!(wrong, [("a", "water is wet"), ("d", "water is wet")]);
    let json = serde_json::to_value(&tally).unwrap();
    assert_eq!(json["halves"]["held"]["recall"], 0.0);
    assert_eq!(json["kinds"]["dev"]["routine"]["silent"], 1);
    assert_eq!(json["kinds"]["dev"]["alternative"]["silence"], serde_json::Value::Null);
    assert_eq!(json["falseLessons"][0]["half"], "dev");
}

#[test]
fn nothing_measured_is_no_share() {
    let tally = tally_verdicts(&[]);
    assert_eq!((tally.all.recall, tally.all.precision, tally.all.silence), (None, None, None));
}
