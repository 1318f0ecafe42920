use proptest::prelude::*;

use super::super::{TrialArm, TrialOutcome, TrialSide};
use super::{BLOCK, HARMS, HarmEvidence, log_gain};

/// In how many ways `taken` of `all` can be chosen.
fn choose(all: u64, taken: u64) -> f64 {
    (0..taken).fold(1.0, |ways, at| ways * (all - at) as f64 / (at + 1) as f64)
}

/// What a wager on this harm is multiplied by on average, if the odds of trouble really are `truth` times greater.
fn average(harm: f64, exposed: u64, withheld: u64, recurrences: u64, truth: f64) -> f64 {
    let (mut all, mut sum) = (0.0, 0.0);
    for on_exposed in recurrences.saturating_sub(withheld)..=recurrences.min(exposed) {
        let chance =
            choose(exposed, on_exposed) * choose(withheld, recurrences - on_exposed) * truth.powf(on_exposed as f64);
        let one = TrialArm { runs: exposed, recurred: on_exposed };
        let other = TrialArm { runs: withheld, recurred: recurrences - on_exposed };
        all += chance;
        sum += chance * log_gain(harm, &one, &other).exp();
    }
    sum / all
}

proptest! {
    #[test]
    fn the_wager_is_fair_where_a_lesson_does_nothing(exposed in 1u64..30, withheld in 1u64..30, recurrences in 0u64..60) {
        let recurrences = recurrences % (exposed + withheld + 1);
        for harm in HARMS {
            prop_assert!((average(harm, exposed, withheld, recurrences, 1.0) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_wager_loses_where_a_lesson_helps(
        exposed in 1u64..30, withheld in 1u64..30, recurrences in 0u64..60, truth in 0.01..1.0,
    ) {
        let recurrences = recurrences % (exposed + withheld + 1);
        for harm in HARMS {
            prop_assert!(average(harm, exposed, withheld, recurrences, truth) <= 1.0 + 1e-9);
        }
    }

    #[test]
    fn the_capital_is_a_number_whatever_comes(runs in prop::collection::vec((0u8..4, 1usize..400), 1..40)) {
        let mut evidence = HarmEvidence::default();
        for (kind, times) in runs {
            let side = if kind & 1 == 0 { TrialSide::Exposed } else { TrialSide::Withheld };
            let ending = if kind & 2 == 0 { TrialOutcome::Recurred } else { TrialOutcome::Prevented };
            for _ in 0..times {
                evidence.add_outcome(side, ending);
                prop_assert!(evidence.log_capital().is_finite());
            }
        }
    }
}

#[test]
fn blocks_without_a_difference_to_see_change_nothing() {
    let mut evidence = HarmEvidence::default();
    for _ in 0..1_000 {
        evidence.add_outcome(TrialSide::Exposed, TrialOutcome::Recurred);
    }
    assert!(evidence.log_capital().abs() < 1e-12, "nothing to compare with");
    evidence.add_outcome(TrialSide::Withheld, TrialOutcome::Recurred);
    assert!(evidence.log_capital().abs() < 1e-12, "it came back everywhere");
    for _ in 0..BLOCK {
        evidence.add_outcome(TrialSide::Exposed, TrialOutcome::Prevented);
        evidence.add_outcome(TrialSide::Withheld, TrialOutcome::Prevented);
    }
    assert!(evidence.log_capital().abs() < 1e-12, "it came back nowhere");
}
