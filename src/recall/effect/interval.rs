//! How large a difference between two shares is, as far as counts can tell.

use super::{Arm, Estimate, Verdict};

/// 95 % of a normal distribution lie within so many standard deviations.
const Z: f64 = 1.959_963_984_540_054;

/// The difference with Newcombe's interval, which joins the Wilson intervals of both sides.
///
/// One side is small for long, and rates may be near 0 there. Simulated at 20 to 800 runs with 5 to 50 % held back, this
/// covers the truth in 93 to 99 % of cases at rates from 0.05 to 0.9, in 95 to 96 % on average. The textbook interval
/// covers it in as few as 33 % on average; Agresti and Caffo's covers more than it says and is up to 15 % wider at 50 runs;
/// Miettinen and Nurminen's is no better and has to be searched for.
pub(super) fn estimate(exposed: &Arm, withheld: &Arm) -> Option<Estimate> {
    let (one, other) = (wilson(exposed)?, wilson(withheld)?);
    let difference = one.rate - other.rate;
    let low = difference - (one.rate - one.low).hypot(other.high - other.rate);
    let high = difference + (one.high - one.rate).hypot(other.rate - other.low);
    let verdict = match () {
        () if high < 0.0 => Verdict::Helps,
        () if low > 0.0 => Verdict::Harms,
        () => Verdict::Unclear,
    };
    Some(Estimate { difference, low: low.max(-1.0), high: high.min(1.0), verdict })
}

/// A share and the interval of its own.
struct Share {
    rate: f64,
    low: f64,
    high: f64,
}

fn wilson(arm: &Arm) -> Option<Share> {
    let rate = arm.rate()?;
    let runs = arm.runs as f64;
    let scale = 1.0 + Z * Z / runs;
    let middle = (rate + Z * Z / (2.0 * runs)) / scale;
    let half = Z / scale * (rate * (1.0 - rate) / runs + Z * Z / (4.0 * runs * runs)).sqrt();
    // At the ends the interval begins at the rate itself, but for rounding.
    Some(Share { rate, low: (middle - half).min(rate), high: (middle + half).max(rate) })
}
