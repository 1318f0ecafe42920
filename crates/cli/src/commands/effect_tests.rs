use super::*;

fn estimate(low: f64, difference: f64, high: f64) -> EffectEstimate {
    EffectEstimate { difference, low, high, verdict: EffectVerdict::Unclear }
}

#[test]
fn a_bar_shows_the_interval_and_where_zero_is() {
    let check = |low, difference, high, expected: &str| {
        assert_eq!(draw_interval(&estimate(low, difference, high)), expected);
        assert_eq!(draw_interval(&estimate(low, difference, high)).chars().count(), BAR_COLUMNS);
    };
    check(-0.85, -0.58, -0.04, "·───●─────│··········");
    check(-0.3, 0.1, 0.5, "·······───│●────·····");
    check(0.0, 0.0, 0.0, "··········●··········");
    check(-1.0, -1.0, 1.0, "●─────────│──────────");
    check(-7.0, 0.0, f64::NAN, "──────────●··········");
    assert_eq!(BAR_HEADING.len(), BAR_COLUMNS);
}

#[test]
fn a_difference_is_read_in_percent() {
    let check =
        |low, middle, high, expected: &str| assert_eq!(format_difference(&estimate(low, middle, high)), expected);
    check(-0.853, -0.58, -0.04, "-58 (-85 to -4)");
    check(-0.001, 0.0, 0.104, "0 (0 to +10)");
    check(-1.0, 0.5, 1.0, "+50 (-100 to +100)");
}
