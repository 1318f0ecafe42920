use proptest::prelude::*;

use super::ImportanceBasis::*;
use super::*;

const ALL: [ImportanceBasis; 9] = [
    Routine,
    MildPreference,
    UnresolvedFailure,
    FlakyTest,
    UserPreference,
    FailureWithFix,
    InsistedPreference,
    RepeatedFailure,
    FailureAcrossSessions,
];

#[test]
fn the_table_says_how_much_each_basis_weighs() {
    let weights = ALL.map(|basis| Importance::from_basis(basis, 1, false).value());
    assert_eq!(weights, [0.45, 0.45, 0.51, 0.55, 0.55, 0.6, 0.66, 0.66, 0.75]);
    let table = include_str!("importance_table.rs");
    for weight in weights {
        assert!(table.contains(&format!("| {weight:.2} |")), "{weight} is not in the documented table");
    }
}

#[test]
fn repetition_and_failed_sessions_add_within_bounds() {
    #[track_caller]
    fn check(basis: ImportanceBasis, times: u32, has_failed: bool, expected: f64) {
        assert_eq!(Importance::from_basis(basis, times, has_failed).value(), expected);
    }
    check(Routine, 0, false, 0.45);
    check(RepeatedFailure, 3, false, 0.7);
    check(InsistedPreference, 2, false, 0.7);
    check(RepeatedFailure, 8, true, 0.83);
    check(RepeatedFailure, u32::MAX, true, 0.83);
    check(FailureAcrossSessions, 8, true, 0.92);
    check(UnresolvedFailure, u32::MAX, true, 0.68);
}

#[test]
fn severities_have_an_importance() {
    let severity = |word: &str| Importance::from_severity(&Severity::from(word.to_owned())).value();
    let words = ["bug", "warning", "info", "recommendation", "a word of tomorrow"];
    assert_eq!(words.map(severity), [0.7, 0.5, 0.3, 0.3, 0.3]);
}

proptest! {
    #[test]
    fn more_of_the_same_never_matters_less(times in 0_u32..100, more in 0_u32..100, failed: bool) {
        let rate = |basis, times, failed| Importance::from_basis(basis, times, failed);
        for (index, basis) in ALL.into_iter().enumerate() {
            prop_assert!(rate(basis, times, failed) <= rate(basis, times + more, failed));
            prop_assert!(rate(basis, times, false) <= rate(basis, times, true));
            for weightier in ALL.into_iter().skip(index) {
                prop_assert!(basis <= weightier && rate(basis, times, failed) <= rate(weightier, times, failed));
            }
        }
    }
}
