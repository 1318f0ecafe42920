use super::*;

fn path(path: &str) -> LessonAnchor {
    LessonAnchor::Path(path.to_owned())
}

#[test]
fn a_verdict_for_every_finding() {
    use AnchorPresence::{Gone, Here, Moved, Unknown};
    let symbol = LessonAnchor::Symbol("fit_lines".to_owned());
    let (a, b) = (path("src/a.rs"), path("src/b.rs"));
    let check = |found: &[(&LessonAnchor, AnchorPresence)], expected: Option<&str>, orphaned: bool| {
        let anchors: Vec<LessonAnchor> = found.iter().map(|(anchor, _)| (*anchor).clone()).collect();
        let look = |anchor: &LessonAnchor| found.iter().find(|(known, _)| *known == anchor).unwrap().1.clone();
        let staleness = judge_staleness(&anchors, look);
        assert_eq!((staleness.warning_text().as_deref(), staleness.is_orphaned()), (expected, orphaned), "{found:?}");
    };
    check(&[], None, false);
    check(&[(&a, Unknown)], None, false);
    check(&[(&a, Here), (&b, Unknown)], None, false);
    check(&[(&a, Here), (&b, Gone)], Some("unverified: src/b.rs is gone"), false);
    check(&[(&a, Gone), (&b, Unknown)], Some("unverified: src/a.rs is gone"), false);
    check(&[(&a, Gone)], Some("unverified: src/a.rs is gone"), true);
    check(
        &[(&a, Gone), (&b, Gone), (&symbol, Gone)],
        Some("unverified: src/a.rs is gone, src/b.rs is gone and 1 more"),
        true,
    );
    check(&[(&a, Moved("lib/a.rs".to_owned()))], Some("unverified: src/a.rs is now lib/a.rs"), false);
    check(&[(&symbol, Gone)], Some("unverified: `fit_lines` is gone"), false);
    assert_eq!(judge_staleness(&[a], |_| Here), LessonStaleness::Fresh);
}
