use super::super::tests::EVERYTHING;
use super::super::{DistillTally, PlantedLessonKind, ScenarioHalf, score_candidates, tally_verdicts};
use super::*;

fn measured(distill: impl Fn(&ReflectionContext) -> Vec<Candidate>) -> DistillTally {
    let verdicts: Vec<_> =
        EVERYTHING.iter().map(|made| score_candidates(&made.session, &distill(&made.context))).collect();
    tally_verdicts(&verdicts)
}

fn show(name: &str, tally: &DistillTally) {
    let share = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    for (half, scores) in &tally.halves {
        println!(
            "{name:<32} {:<5} planted {:>3} found {:>3} recall {} claimed {:>3} precision {} routine {:>3} silent {:>3} silence {}",
            half.as_str(),
            scores.planted,
            scores.found,
            share(scores.recall),
            scores.claimed,
            share(scores.precision),
            scores.routine,
            scores.silent,
            share(scores.silence),
        );
        for (kind, scores) in &tally.kinds[half] {
            println!("    {:<12} {}/{} claimed {}", kind.as_str(), scores.found, scores.planted, scores.claimed);
        }
    }
}

#[test]
fn who_takes_every_failure_for_a_lesson_is_seldom_silent_and_seldom_right() {
    let tally = measured(distill_every_failure);
    show("every failed call is a lesson", &tally);
    for half in [ScenarioHalf::Dev, ScenarioHalf::Held] {
        let scores = &tally.halves[&half];
        assert!(scores.recall.unwrap() < 0.6, "{scores:?}");
        assert!(scores.precision.unwrap() < 0.5, "{scores:?}");
        assert!(scores.silence.unwrap() < 0.8, "{scores:?}");
        assert_eq!(tally.kinds[&half][&PlantedLessonKind::Correction].found, 0);
    }
    assert!(tally.all.found > 0);
}

#[test]
fn who_waits_for_repetition_misses_most() {
    let tally = measured(distill_repeated_failures);
    show("repeated failures only", &tally);
    assert!(tally.all.recall.unwrap() < 0.4, "{:?}", tally.all);
    assert!(tally.all.found > 0, "{:?}", tally.all);
}

#[test]
fn who_says_nothing_finds_nothing_and_disturbs_nobody() {
    let tally = measured(|_| Vec::new());
    let all = &tally.all;
    assert_eq!((all.recall, all.precision, all.silence, all.claimed), (Some(0.0), None, Some(1.0), 0));
    assert_eq!(tally.misses.len(), all.planted);
}

#[test]
fn a_baseline_quotes_only_what_stands_in_the_log() {
    for made in EVERYTHING.iter() {
        for quote in distill_every_failure(&made.context).iter().flat_map(|candidate| &candidate.evidence.quotes) {
            let step = made.context.trajectories[0].steps.iter().find(|step| step.number == quote.step).unwrap();
            assert!(step_text(step).contains(&quote.text), "{}", made.session.name);
        }
    }
}
