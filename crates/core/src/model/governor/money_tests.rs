use super::*;

fn cost(input: f64, output: f64, prompt: u64, completion: u64) -> u64 {
    TokenPrices { input_per_million: input, output_per_million: output }
        .price_tokens(CallTokens { prompt, completion })
        .micro_usd
}

#[test]
fn money_is_exact_and_rounded_up() {
    let cases = [
        ((0.0, 0.0), (u64::MAX, u64::MAX), 0),
        ((1.0, 0.0), (1_000_000, 7), 1_000_000),
        ((0.15, 0.6), (1000, 0), 150),
        ((0.15, 0.6), (1001, 0), 151),
        ((0.15, 0.6), (1000, 1000), 750),
        ((0.29, 0.0), (1_000_000, 0), 290_000),
        ((0.1, 0.2), (3, 1), 1),
        ((0.000_000_1, 0.0), (1, 0), 1),
        ((2.5, 10.0), (12_345, 678), 37_643),
    ];
    for ((input, output), (prompt, completion), expected) in cases {
        assert_eq!(cost(input, output, prompt, completion), expected, "{input} {output} {prompt} {completion}");
    }
}

#[test]
fn a_price_that_is_none_is_the_highest() {
    for price in [f64::NAN, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        assert_eq!(cost(price, 0.0, 1_000_000, 0), u64::MAX, "{price}");
        assert_eq!(cost(0.0, price, u64::MAX, u64::MAX), u64::MAX, "{price}");
        assert!(!TokenPrices { input_per_million: price, output_per_million: 0.0 }.are_zero());
    }
    assert!(TokenPrices::default().are_zero());
    assert!(!TokenPrices { input_per_million: 0.0, output_per_million: 1e-12 }.are_zero());
}

#[test]
fn a_cap_is_rounded_down_and_never_vanishes() {
    let cases = [
        (0.0, None),
        (-0.0, None),
        (5.0, Some(5_000_000)),
        (0.29, Some(290_000)),
        (1.1, Some(1_100_000)),
        (0.000_001_9, Some(1)),
        (0.000_000_1, Some(0)),
        (-1.0, Some(0)),
        (f64::NAN, Some(0)),
        (f64::INFINITY, Some(u64::MAX)),
    ];
    for (usd, expected) in cases {
        assert_eq!(cap_in_micro_usd(usd), expected, "{usd}");
    }
}

#[test]
fn sums_of_the_largest_amounts_are_exact() {
    let largest = CallAmount { prompt_tokens: u64::MAX, completion_tokens: u64::MAX, micro_usd: u64::MAX };
    let mut sum = SpendTotal::default();
    for _ in 0..3 {
        sum.add_amount(&largest);
    }
    assert_eq!(sum.total_tokens(), 6 * u128::from(u64::MAX));
    assert_eq!(sum.token_usage().prompt_tokens, Some(u64::MAX));
    for _ in 0..3 {
        sum.remove_amount(&largest);
    }
    assert_eq!(sum, SpendTotal::default());
}

#[test]
fn dollars_have_two_decimals_at_least() {
    let cases = [(0, "$0.00"), (1, "$0.000001"), (4_990_000, "$4.99"), (12_345_600, "$12.3456"), (7_000_000, "$7.00")];
    for (micro, shown) in cases {
        assert_eq!(format_dollars(micro), shown);
    }
}
