use super::super::test_support::claim;
use super::*;

fn index() -> DocumentIndex {
    let text = "# Shop\n\n- Run `make lint` before every commit of the workspace.\n- Use pnpm, not npm.\n\nThe payment service owns the ledger table. Other\nservices read the ledger through its API only.\n";
    DocumentIndex::new([("AGENTS.md", text)])
}

#[test]
fn what_a_document_says_is_no_news() {
    let restated = index();
    for (summary, rule, place) in [
        ("Run `make lint` before every commit", None, Some("AGENTS.md: 3")),
        ("Lint with `make lint` before each workspace commit", None, Some("AGENTS.md: 3")),
        ("Other services read the ledger through its API", None, Some("AGENTS.md: 7")),
        (
            "Run `make lint` before every commit",
            Some("IF committing in the workspace THEN run make lint"),
            Some("AGENTS.md: 3"),
        ),
        ("Run `make lint` before every commit", Some("IF make lint reports E501 THEN run ruff format first"), None),
        ("`make lint` needs Node 22 on the build machines", None, None),
        ("Use pnpm", None, None),
        ("The ledger table is locked by migrations", None, None),
    ] {
        assert_eq!(find_restatement(&restated, &claim(summary, rule, &[])).as_deref(), place, "{summary}");
    }
    let nothing = DocumentIndex::default();
    assert_eq!(find_restatement(&nothing, &claim("Run make lint before every commit", None, &[])), None);
}

#[test]
fn a_long_lesson_that_is_mostly_a_line_is_no_news() {
    let restated = index();
    let long = "Always run `make lint` before every commit of the workspace, so that reviewers are happy";
    assert!(find_restatement(&restated, &claim(long, None, &[])).is_some());
}
