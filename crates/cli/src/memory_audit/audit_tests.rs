use proptest::prelude::*;

use super::*;

const RULES: AuditRules =
    AuditRules { thresholds: SimilarityThresholds { same_above: 0.88, different_below: 0.3 }, examples: 3, now: None };

fn entry(name: &str, text: &str) -> AuditEntry {
    AuditEntry { name: name.to_owned(), text: text.to_owned(), at: None, used: None, is_retired: false }
}

fn look(entries: &[AuditEntry], rules: &AuditRules) -> AuditReport {
    let documents = [("README.md".to_owned(), "Run the tests with make test before you push anything.".to_owned())];
    audit_entries(entries, &AuditProjectView { documents: &documents, is_there: &|path| path == "src/lib.rs" }, rules)
}

fn count(report: &AuditReport, sort: JunkKind) -> usize {
    report.sorts.get(&sort).map_or(0, |tally| tally.count)
}

#[test]
fn every_sort_is_found_and_an_entry_counts_once() {
    let entries = [
        entry("a", "Pin ruff in CI, as newer ones know rules that we do not follow."),
        entry("b", "Pin ruff in CI, as newer ones know rules that we do not follow."),
        entry("c", "Pin ruff in the CI: newer ones know rules that we do not follow."),
        entry("d", "### Project Lessons\n1. Pin ruff."),
        entry("e", &["Yesterday pass", "word=hunter22x was put into src/lost.rs"].concat()),
        entry("f", "Run the tests with `make test` before you push anything."),
        entry("g", &"Keep it short. ".repeat(100)),
        AuditEntry { used: Some(0), ..entry("h", "Weights are in grams.") },
        AuditEntry { is_retired: true, ..entry("i", "Weights are in grams.") },
    ];
    let report = look(&entries, &RULES);
    let expected = [1, 1, 1, 1, 1, 1, 1, 1, 1];
    assert_eq!(JunkKind::ALL.map(|sort| count(&report, sort)), expected, "{report:#?}");
    assert_eq!((report.total, report.retired, report.junk, report.junk_share), (8, 1, 7, 0.875));
}

#[test]
fn nothing_is_nothing() {
    let report = look(&[], &RULES);
    assert_eq!((report.total, report.junk, report.junk_share), (0, 0, 0.0));
    assert!(report.sorts.values().all(|tally| tally.share == 0.0));
}

#[test]
fn what_was_never_used_is_told_only_where_the_store_tells() {
    let silent = look(&[entry("a", "Use pnpm.")], &RULES);
    assert_eq!(silent.sorts.get(&JunkKind::NeverUsed), None);
    let used = |used, at: &str| AuditEntry { used, at: at.parse().ok(), ..entry(at, "Use pnpm.") };
    let entries = [
        used(Some(0), "2026-01-01T00:00:00Z"),
        used(Some(3), "2026-01-02T00:00:00Z"),
        used(None, "2026-01-03T00:00:00Z"),
        used(Some(0), "2026-02-27T00:00:00Z"),
    ];
    assert_eq!(count(&look(&entries, &RULES), JunkKind::NeverUsed), 2);
    // What was written two days ago had no time to be used.
    let now = "2026-03-01T00:00:00Z".parse().ok();
    assert_eq!(count(&look(&entries, &AuditRules { now, ..RULES }), JunkKind::NeverUsed), 1);
}

#[test]
fn the_earliest_is_the_original() {
    let at = |name: &str, at: &str| AuditEntry { at: at.parse().ok(), ..entry(name, "Use pnpm in the web folder.") };
    let entries =
        [entry("a", "Use pnpm in the web folder."), at("z", "2026-01-01T00:00:00Z"), at("b", "2026-01-02T00:00:00Z")];
    let report = look(&entries, &RULES);
    let examples = &report.sorts.get(&JunkKind::ExactDuplicates).unwrap().examples;
    let named: Vec<(&str, &str)> = examples.iter().map(|one| (one.name.as_str(), one.why.as_str())).collect();
    assert_eq!(named, [("b", "the same as z"), ("a", "the same as z")]);
}

#[test]
fn examples_are_few_short_and_without_secrets() {
    let secret = ["ghp", "_x7Kq2LmN9vB4cR8tYw3ZpD6sFh1JgA5uE0oX"].concat();
    let text =
        format!("{}\nThe registry wants {secret} and {}", "Words before it. ".repeat(5), "more words ".repeat(30));
    let split = secret.replace("Kq2", "K\u{200b}q2");
    let entries: Vec<AuditEntry> = (0..9).map(|n| entry(&format!("{n} {split}"), &format!("{n} {text}"))).collect();
    let report = look(&entries, &RULES);
    let tally = report.sorts.get(&JunkKind::Secrets).unwrap();
    assert_eq!((tally.count, tally.examples.len()), (9, 3));
    for example in &tally.examples {
        assert!(example.excerpt.chars().count() <= 121 && !example.excerpt.contains('\n'), "{example:?}");
    }
    assert!(!serde_json::to_string(&report).unwrap().contains(&secret));
}

#[test]
fn sorts_have_one_word_everywhere() {
    for sort in JunkKind::ALL {
        assert_eq!(sort.as_str().parse(), Ok(sort));
        assert_eq!(serde_json::to_value(sort).unwrap(), sort.as_str());
    }
    assert!("junk".parse::<JunkKind>().unwrap_err().contains("nearDuplicates"));
}

/// Entries that have something to do with each other.
fn any_entry() -> impl Strategy<Value = AuditEntry> {
    let text = prop_oneof![
        Just("Never edit a migration that has been merged into main.".to_owned()),
        Just("never edit a migration that has been merged into main.".to_owned()),
        Just("Do not edit migrations that have been merged into main.".to_owned()),
        Just("Memory says: never edit a migration that has been merged into main.".to_owned()),
        Just("Yesterday the build failed in src/lost.rs".to_owned()),
        Just("Run the tests with make test before you push anything.".to_owned()),
        Just("User memories:\n- likes tabs".to_owned()),
        "[a-d]{1,3}( [a-d]{1,3}){0,6}",
        "\\PC{0,40}",
    ];
    let at = proptest::option::of(0..4_i64);
    let used = proptest::option::of(0..2_u64);
    ("[a-c]{1,2}", text, at, used, any::<bool>()).prop_map(|(name, text, day, used, is_retired)| {
        let at = day.and_then(|day| Timestamp::from_timestamp(day * 86_400, 0));
        AuditEntry { name, text, at, used, is_retired }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_entry_counts_once_in_the_whole(entries in proptest::collection::vec(any_entry(), 0..12)) {
        let report = look(&entries, &RULES);
        let most = report.sorts.values().map(|tally| tally.count).max().unwrap_or_default();
        let all: usize = report.sorts.values().map(|tally| tally.count).sum();
        prop_assert!(report.junk >= most && report.junk <= all.min(report.total));
        prop_assert_eq!(report.total + report.retired, entries.len());
        prop_assert!((0.0..=1.0).contains(&report.junk_share));
        let documents = [("README.md".to_owned(), "Run the tests with make test before you push anything.".to_owned())];
        let ground = AuditProjectView { documents: &documents, is_there: &|path| path == "src/lib.rs" };
        let flawed = find_flaws(&entries, &ground, &RULES).into_iter().filter(|flaws| !flaws.is_empty()).count();
        prop_assert_eq!(flawed, report.junk);
    }

    #[test]
    fn an_exact_copy_is_one_exact_duplicate_more(
        entries in proptest::collection::vec(any_entry(), 1..12),
        which in any::<prop::sample::Index>(),
    ) {
        let copy = AuditEntry { is_retired: false, ..which.get(&entries).clone() };
        let entries: Vec<AuditEntry> = entries.into_iter().chain([copy.clone()]).collect();
        let before = look(&entries, &RULES);
        let after = look(&entries.iter().cloned().chain([copy]).collect::<Vec<_>>(), &RULES);
        prop_assert_eq!(count(&after, JunkKind::ExactDuplicates), count(&before, JunkKind::ExactDuplicates) + 1);
        prop_assert_eq!(count(&after, JunkKind::NearDuplicates), count(&before, JunkKind::NearDuplicates));
    }

    #[test]
    fn the_order_of_entries_does_not_matter(
        (entries, mixed) in proptest::collection::vec(any_entry(), 0..12)
            .prop_flat_map(|entries| (Just(entries.clone()), Just(entries).prop_shuffle())),
    ) {
        prop_assert_eq!(look(&entries, &RULES), look(&mixed, &RULES));
    }
}
