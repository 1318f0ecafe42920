use super::*;

/// Three quarters read, a quarter written.
fn amount(tokens: u64, micro_usd: u64) -> CallAmount {
    CallAmount { prompt_tokens: tokens - tokens / 4, completion_tokens: tokens / 4, micro_usd }
}

fn sum(tokens: u64, micro_usd: u64) -> SpendTotal {
    let mut sum = SpendTotal::default();
    sum.add_amount(&amount(tokens, micro_usd));
    sum
}

/// What is spent under one cap, and what is set.
type Case = (&'static str, SpendCaps, fn(SpendTotal) -> CurrentSpend);

fn token_caps() -> [Case; 3] {
    let none = SpendCaps::default();
    [
        ("tokensPerReflection", SpendCaps { tokens_per_reflection: 1000, ..none }, |reflection| CurrentSpend {
            reflection,
            ..CurrentSpend::default()
        }),
        ("tokensPerProjectDay", SpendCaps { tokens_per_project_day: 1000, ..none }, |project| CurrentSpend {
            project,
            ..CurrentSpend::default()
        }),
        ("tokensPerDay", SpendCaps { tokens_per_day: 1000, ..none }, |day| CurrentSpend {
            day,
            ..CurrentSpend::default()
        }),
    ]
}

fn money_caps() -> [Case; 3] {
    let none = SpendCaps::default();
    [
        ("usdPerReflection", SpendCaps { usd_per_reflection: 0.001, ..none }, |reflection| CurrentSpend {
            reflection,
            ..CurrentSpend::default()
        }),
        ("usdPerProjectDay", SpendCaps { usd_per_project_day: 0.001, ..none }, |project| CurrentSpend {
            project,
            ..CurrentSpend::default()
        }),
        ("usdPerDay", SpendCaps { usd_per_day: 0.001, ..none }, |day| CurrentSpend { day, ..CurrentSpend::default() }),
    ]
}

#[test]
fn what_is_equal_to_a_cap_fits_and_one_more_does_not() {
    for (key, caps, availability) in token_caps() {
        assert_eq!(caps.refusal_reason(&amount(400, 9), &availability(sum(600, 9))), None, "{key}");
        let why = caps.refusal_reason(&amount(401, 9), &availability(sum(600, 9))).unwrap();
        for part in [&format!("model.caps.{key} "), "401 tokens", " 600 of the 1000 "] {
            assert!(why.contains(part), "{why}");
        }
    }
    for (key, caps, availability) in money_caps() {
        assert_eq!(caps.refusal_reason(&amount(9, 400), &availability(sum(9, 600))), None, "{key}");
        let why = caps.refusal_reason(&amount(9, 401), &availability(sum(9, 600))).unwrap();
        for part in [&format!("model.caps.{key} "), "$0.000401", "$0.0006 of the $0.001 "] {
            assert!(why.contains(part), "{why}");
        }
    }
}

#[test]
fn a_cap_looks_only_at_its_own_sum() {
    let huge = sum(1_000_000, 1_000_000);
    for (at, (key, caps, _)) in token_caps().into_iter().chain(money_caps()).enumerate() {
        for (other, (_, _, availability)) in token_caps().into_iter().enumerate() {
            let refused = caps.refusal_reason(&amount(100, 100), &availability(huge)).is_some();
            assert_eq!(refused, at % 3 == other, "{key} against the sum number {other}");
        }
    }
}

#[test]
fn calls_are_counted_one_by_one() {
    let caps = SpendCaps { calls_per_reflection: 3, ..SpendCaps::default() };
    let refusal = |calls| caps.refusal_reason(&amount(0, 0), &CurrentSpend { calls, ..CurrentSpend::default() });
    assert_eq!(refusal(2), None);
    let why = refusal(3).unwrap();
    assert!(why.contains("3 of the 3 calls") && why.contains("model.caps.callsPerReflection"), "{why}");
    assert!(refusal(u32::MAX).is_some());
}

#[test]
fn without_caps_everything_fits() {
    let availability = CurrentSpend { calls: u32::MAX, ..CurrentSpend::default() };
    let largest = CallAmount { prompt_tokens: u64::MAX, completion_tokens: u64::MAX, micro_usd: u64::MAX };
    assert!(SpendCaps::default().are_unlimited());
    assert_eq!(SpendCaps::default().refusal_reason(&largest, &availability), None);
}

#[test]
fn the_largest_amounts_do_not_run_over() {
    let largest = CallAmount { prompt_tokens: u64::MAX, completion_tokens: u64::MAX, micro_usd: u64::MAX };
    let caps = SpendCaps { tokens_per_day: u64::MAX, ..SpendCaps::default() };
    assert!(caps.refusal_reason(&largest, &CurrentSpend::default()).is_some());
    let caps = SpendCaps { usd_per_day: 1e300, ..SpendCaps::default() };
    assert_eq!(caps.refusal_reason(&largest, &CurrentSpend::default()), None);
    assert!(caps.refusal_reason(&largest, &CurrentSpend { day: sum(4, 1), ..CurrentSpend::default() }).is_some());
}

#[test]
fn a_cap_that_is_no_number_lets_only_through_what_is_free() {
    for usd_per_day in [f64::NAN, -1.0, 1e-9] {
        let caps = SpendCaps { usd_per_day, ..SpendCaps::default() };
        assert!(!caps.are_unlimited());
        assert_eq!(caps.refusal_reason(&amount(1000, 0), &CurrentSpend::default()), None);
        assert!(caps.refusal_reason(&amount(1000, 1), &CurrentSpend::default()).is_some());
    }
}
