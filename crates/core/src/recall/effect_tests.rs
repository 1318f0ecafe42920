use proptest::prelude::*;

use super::{EffectVerdict, LessonTrial, TrialArm, TrialArms, draw_exposure, find_harm};
use crate::domain::{Effect, Exposure, Extra, Fact, MemoryId, RunId, Timestamp};

fn lesson() -> MemoryId {
    MemoryId::parse("mem-1").unwrap()
}

fn run(number: u64) -> RunId {
    RunId::parse(&format!("run-{number}")).unwrap()
}

fn at(minutes: u64) -> Timestamp {
    Timestamp::from_timestamp(i64::try_from(minutes).unwrap() * 60, 0).unwrap()
}

fn injection(number: u64, point: &str, exposure: Exposure) -> Fact {
    let (run, memory) = (run(number), lesson());
    Fact::Injection { run, memory, point: point.to_owned(), rank: 1, exposure, at: at(number), extra: Extra::new() }
}

fn effect(number: u64, effect: Effect) -> Fact {
    Fact::Effect { run: run(number), memory: lesson(), effect, at: at(number), extra: Extra::new() }
}

/// What is on record of one run.
fn facts_of(number: u64, exposure: Exposure, end: Effect) -> [Fact; 2] {
    [injection(number, "orchestrator", exposure), effect(number, end)]
}

/// Runs by their kind: `+` and `-` had the lesson, `w` and `.` had not; it came back in `+` and `w`.
fn facts(kinds: &str) -> Vec<Fact> {
    let one = |(number, kind)| {
        let exposure = if "+-".contains(kind) { Exposure::Exposed } else { Exposure::Withheld };
        let end = if "+w".contains(kind) { Effect::Recurred } else { Effect::Prevented };
        facts_of(number, exposure, end)
    };
    (0u64..).zip(kinds.chars()).flat_map(one).collect()
}

fn arms(exposed: (u64, u64), withheld: (u64, u64)) -> TrialArms {
    let arm = |(recurred, runs)| TrialArm { runs, recurred };
    TrialArms { exposed: arm(exposed), withheld: arm(withheld) }
}

#[test]
fn a_coin_holds_back_as_many_as_it_should_and_each_by_itself() {
    let other = MemoryId::parse("mem-2").unwrap();
    let is_held =
        |seed, number, memory: &MemoryId| draw_exposure(seed, &run(number), memory, 0.1) == Exposure::Withheld;
    let count = |is_held: &dyn Fn(u64) -> bool| (0..20_000).filter(|number| is_held(*number)).count();
    // 2,000 are to be expected, within 42 two times in three.
    assert!((1_830..=2_170).contains(&count(&|number| is_held(7, number, &lesson()))));
    assert!((1_830..=2_170).contains(&count(&|number| is_held(8, number, &lesson()))));
    // And 200 of two things that have nothing to do with each other.
    let both = count(&|number| is_held(7, number, &lesson()) && is_held(7, number, &other));
    assert!((140..=260).contains(&both), "{both} of two lessons");
    let both = count(&|number| is_held(7, number, &lesson()) && is_held(8, number, &lesson()));
    assert!((140..=260).contains(&both), "{both} under two seeds");
    let both = count(&|number| is_held(7, number, &lesson()) && is_held(7, number + 1, &lesson()));
    assert!((140..=260).contains(&both), "{both} of runs that follow each other");
}

#[test]
fn a_coin_falls_the_same_way_for_ever() {
    let held: Vec<u64> =
        (0..60).filter(|number| draw_exposure(7, &run(*number), &lesson(), 0.1) == Exposure::Withheld).collect();
    // Whoever changes this changes what running experiments hold back.
    assert_eq!(held, [4, 29, 34, 35, 38, 41, 51, 55]);
}

#[test]
fn runs_are_counted_once_and_only_where_their_end_is_known() {
    let check = |facts: &[Fact], expected| assert_eq!(TrialArms::from_facts(&lesson(), facts), expected, "{facts:?}");
    check(&[], TrialArms::default());
    check(&facts("+-w.."), arms((1, 2), (1, 3)));
    check(&facts_of(1, Exposure::Exposed, Effect::Unknown), TrialArms::default());
    check(&facts_of(1, Exposure::Exposed, Effect::Other("halved".to_owned())), TrialArms::default());
    check(&facts_of(1, Exposure::Other("whispered".to_owned()), Effect::Recurred), TrialArms::default());
    check(&[effect(1, Effect::Recurred)], TrialArms::default());
    check(&[injection(1, "orchestrator", Exposure::Exposed)], TrialArms::default());
    let twice = [
        injection(1, "subagent", Exposure::Withheld),
        injection(1, "orchestrator", Exposure::Exposed),
        injection(1, "healer", Exposure::Withheld),
        effect(1, Effect::Recurred),
    ];
    check(&twice, arms((1, 1), (0, 0)));
    let other = MemoryId::parse("mem-2").unwrap();
    assert_eq!(TrialArms::from_facts(&other, &facts("+-w..")), TrialArms::default());
}

#[test]
fn the_interval_is_newcombes() {
    let check = |arms: TrialArms, expected: (f64, f64, f64), verdict| {
        let found = arms.estimate_effect().unwrap();
        assert!((found.difference - expected.0).abs() < 1e-4, "{found:?}");
        assert!((found.low - expected.1).abs() < 1e-4 && (found.high - expected.2).abs() < 1e-4, "{found:?}");
        assert_eq!(found.verdict, verdict);
    };
    // The examples of Newcombe (1998), table II, method 10.
    check(arms((56, 70), (48, 80)), (0.2, 0.0524, 0.3339), EffectVerdict::Harms);
    check(arms((9, 10), (3, 10)), (0.6, 0.1705, 0.8090), EffectVerdict::Harms);
    check(arms((5, 56), (0, 29)), (0.0893, -0.0381, 0.1926), EffectVerdict::Unclear);
    check(arms((0, 10), (10, 10)), (-1.0, -1.0, -0.6075), EffectVerdict::Helps);
    assert_eq!(arms((3, 10), (0, 0)).estimate_effect(), None);
    assert_eq!(arms((0, 0), (3, 10)).estimate_effect(), None);
}

#[test]
fn harm_is_told_in_a_sentence() {
    let harmful = "+.".repeat(40);
    let harm = find_harm(&lesson(), &facts(&harmful)).unwrap();
    assert_eq!(harm.to_string(), "came back in 10 of 10 runs that had it, in 0 of 10 that had not");
    assert_eq!(find_harm(&lesson(), &facts(&"-w".repeat(40))), None);
    assert_eq!(find_harm(&lesson(), &facts(&"+w-.".repeat(500))), None);
    assert_eq!(find_harm(&lesson(), &facts(&"+".repeat(500))), None);
}

#[test]
fn once_certain_the_reason_stays() {
    let harm = find_harm(&lesson(), &facts(&"+.".repeat(40)));
    assert_eq!(find_harm(&lesson(), &facts(&("+.".repeat(40) + &"-w".repeat(200)))), harm);
}

/// Any runs, most of them of the kinds that count.
fn any_facts() -> impl Strategy<Value = Vec<Fact>> {
    prop::collection::vec((0u64..60, 0usize..3, 0usize..4, 0u64..5), 0..120).prop_map(|drawn| {
        let exposures = [Exposure::Exposed, Exposure::Withheld, Exposure::Other("?".to_owned())];
        let effects = [Effect::Recurred, Effect::Prevented, Effect::Unknown];
        let one = |(number, exposure, kind, minute): (u64, usize, usize, u64)| match effects.get(kind) {
            Some(end) => Fact::Effect {
                run: run(number),
                memory: lesson(),
                effect: end.clone(),
                at: at(minute),
                extra: Extra::new(),
            },
            None => injection(
                number,
                if minute % 2 == 0 { "orchestrator" } else { "subagent" },
                exposures[exposure].clone(),
            ),
        };
        drawn.into_iter().map(one).collect()
    })
}

proptest! {
    #[test]
    fn a_higher_holdout_holds_back_more_and_never_less(seed: u64, number in 0u64..1_000_000, low in 0.0..=1.0, high in 0.0..=1.0) {
        let (low, high) = if low < high { (low, high) } else { (high, low) };
        let fell = |holdout| draw_exposure(seed, &run(number), &lesson(), holdout);
        prop_assert_eq!(fell(0.0), Exposure::Exposed);
        prop_assert_eq!(fell(-1.0), Exposure::Exposed);
        prop_assert_eq!(fell(f64::NAN), Exposure::Exposed);
        prop_assert_eq!(fell(1.0), Exposure::Withheld);
        prop_assert_eq!(fell(low), fell(low));
        prop_assert!(fell(low) == Exposure::Exposed || fell(high) == Exposure::Withheld);
    }

    #[test]
    fn the_order_and_repeats_change_nothing(facts in any_facts(), again in any::<prop::sample::Index>(), seed: u64) {
        let told = LessonTrial::from_facts(&lesson(), &facts);
        let mut shuffled = facts.clone();
        if !facts.is_empty() {
            shuffled.push(facts[again.index(facts.len())].clone());
        }
        shuffled.sort_by_key(|fact| *blake3::hash(format!("{seed}{fact:?}").as_bytes()).as_bytes());
        prop_assert_eq!(LessonTrial::from_facts(&lesson(), &shuffled), told);
    }

    #[test]
    fn run_after_run_is_the_same_as_all_at_once(kinds in "[+\\-w.]{0,200}") {
        let facts = facts(&kinds);
        let mut trial = LessonTrial::new(&lesson());
        for run in facts.chunks(2) {
            trial.add_facts(run);
        }
        prop_assert_eq!(trial, LessonTrial::from_facts(&lesson(), &facts));
    }

    #[test]
    fn an_interval_holds_its_difference_and_has_two_sides(one in (0u64..500, 1u64..500), other in (0u64..500, 1u64..500)) {
        let within = |(recurred, runs): (u64, u64)| (recurred.min(runs), runs);
        let (one, other) = (within(one), within(other));
        let estimate = arms(one, other).estimate_effect().unwrap();
        prop_assert!(-1.0 <= estimate.low && estimate.low <= estimate.difference);
        prop_assert!(estimate.difference <= estimate.high && estimate.high <= 1.0);
        let mirrored = arms(other, one).estimate_effect().unwrap();
        prop_assert!((estimate.low + mirrored.high).abs() < 1e-12 && (estimate.high + mirrored.low).abs() < 1e-12);
    }
}

#[test]
fn draws_that_were_made_stay_the_same() {
    let (memory, run) =
        (MemoryId::parse("mem-1").unwrap(), |number: u32| RunId::parse(&format!("run-{number}")).unwrap());
    let withheld: Vec<u32> =
        (0..40).filter(|number| draw_exposure(7, &run(*number), &memory, 0.1) == Exposure::Withheld).collect();
    assert_eq!(withheld, [4, 29, 34, 35, 38]);
}
