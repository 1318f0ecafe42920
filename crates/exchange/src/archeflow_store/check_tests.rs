use super::super::test_support::finding;
use super::*;

fn run(findings: &[&str], is_reviewed: bool) -> RunFindings {
    let findings = findings.iter().map(|text| finding("bug", text, "code")).collect();
    RunFindings { findings, is_reviewed, ..RunFindings::default() }
}

#[test]
fn trouble_came_back_or_not_or_nobody_looked() {
    let lesson = "one two three four five six seven eight nine ten";
    for (findings, is_reviewed, expected, percent) in [
        (&[][..], true, LessonEffectiveness::Helpful, 0),
        (&[], false, LessonEffectiveness::Unknown, 0),
        (&["one two six"], true, LessonEffectiveness::Ineffective, 30),
        (&["one two"], true, LessonEffectiveness::Helpful, 20),
        // Words that are scattered over findings are no trouble that came back.
        (&["one two", "three four", "five six"], true, LessonEffectiveness::Helpful, 20),
        (&["one", "seven eight nine ten"], true, LessonEffectiveness::Ineffective, 40),
    ] {
        let found = judge_lesson("m-001", lesson, &run(findings, is_reviewed));
        assert_eq!((found.effectiveness, found.percent), (expected, percent), "{findings:?}");
    }
}

#[test]
fn an_audit_is_read_whatever_stands_between() {
    let audit = br#"{"run_id":"r-1","lessons_injected":["m-002","m-001"]}
broken
{"run_id":"r-1","lesson_id":"m-001","effectiveness":"helpful"}
{"run_id":"r-1","lesson_id":"m-001","effectiveness":"ineffective"}
{"run_id":"r-1","lesson_id":"m-002","effectiveness":"splendid"}
{"run_id":"r-2","lessons_injected":["m-009"]}
{"run_id":"r-1","lessons_injected":["m-001",7,null,""]}"#;
    let records = RunAuditRecords::for_run(audit, "r-1");
    assert_eq!(records.given.into_iter().collect::<Vec<_>>(), ["m-001", "m-002"]);
    assert_eq!(records.availability, HashMap::from([("m-001".to_owned(), LessonEffectiveness::Ineffective)]));
}
