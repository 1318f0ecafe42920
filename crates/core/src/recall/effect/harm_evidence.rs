//! Evidence of harm that may be checked after every session.
//!
//! It is a wager against "the lesson does no harm". Sessions are taken in blocks. For each block it is known how many
//! sessions had the lesson, how many had not, and in how many the failure recurred. If the lesson has no effect, the
//! recurrences are spread over the sessions at random, whatever their rate is: the wager is on more of them among the
//! sessions with the lesson, at the odds of a random spread (Fisher's hypergeometric odds). Such a wager wins nothing
//! in the long run and loses if the lesson helps, so the chance that its capital is ever multiplied by forty is at most
//! one in forty (Ville's inequality), however long it runs and whenever it is checked.
//!
//! Three other rules were compared with this one by simulation, with one session in ten withheld and a rate of 0.3:
//!
//! - Odds that follow from the holdout itself need as many sessions. But if the outcome of three in ten exposed
//!   sessions is unknown, they retire every lesson without effect: the odds no longer are what was assumed.
//! - A likelihood ratio against the best rate without harm keeps its bound and needs nearly twice the sessions.
//! - A boundary for the score statistic by a normal mixture needs as many sessions as this, but only holds as long as
//!   sums are normal: where recurrences are frequent (rates of 0.8 and 0.95) it erred in up to 5.8 % of cases with 5 %
//!   allowed, this one in 3.3 %.

use super::{TrialArm, TrialArms, TrialOutcome, TrialSide};

#[cfg(test)]
#[path = "harm_evidence_tests.rs"]
mod tests;

/// The harms that are wagered on, as logarithms of the factor by which the odds of a recurrence grow. The capital is
/// spread evenly over them, so that small harm is found as well as great harm. 0.44 is a rate of 0.4 instead of 0.3.
const HARMS: [f64; 5] = [0.25, 0.5, 0.75, 1.0, 1.5];

/// The number of sessions that ends a block, once both sides are in it. Within a block the rate of recurrences is taken
/// to be constant; from block to block it may change. Longer blocks decide later, shorter ones compare fewer sessions.
const BLOCK: u64 = 20;

/// The capital of the wager, and the current block.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HarmEvidence {
    block: TrialArms,
    /// The factor by which each part of the capital was multiplied, as a logarithm.
    gains: [f64; HARMS.len()],
}

impl HarmEvidence {
    /// Adds the outcome of one session.
    pub(super) fn add_outcome(&mut self, side: TrialSide, ending: TrialOutcome) {
        self.block.add_outcome(side, ending);
        let TrialArms { exposed, withheld } = self.block;
        if exposed.runs == 0 || withheld.runs == 0 || exposed.runs.saturating_add(withheld.runs) < BLOCK {
            return;
        }
        for (gain, harm) in self.gains.iter_mut().zip(HARMS) {
            *gain += log_gain(harm, &exposed, &withheld);
        }
        self.block = TrialArms::default();
    }

    /// Returns true if the capital has grown by at least this factor.
    pub(super) fn is_multiplied_by(&self, times: f64) -> bool {
        self.log_capital() >= times.ln()
    }

    fn log_capital(&self) -> f64 {
        let most = self.gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.gains.iter().map(|gain| (gain - most).exp()).sum();
        most + (sum / HARMS.len() as f64).ln()
    }
}

/// Returns the factor by which a block multiplies a wager on this harm, as a logarithm: how much likelier the block is
/// with this harm than without, given the number of sessions on each side and of recurrences.
fn log_gain(harm: f64, exposed: &TrialArm, withheld: &TrialArm) -> f64 {
    let recurrences = exposed.recurred.saturating_add(withheld.recurred);
    let least = recurrences.saturating_sub(withheld.runs);
    let most = recurrences.min(exposed.runs);
    // The ways to spread the recurrences with `least` on the exposed side count as one; the number for one more
    // follows.
    let (mut ways, mut even, mut uneven) = (1.0, 0.0, 0.0);
    for on_exposed in least..=most {
        let more = (on_exposed - least) as f64;
        even += ways;
        uneven += ways * (harm * more).exp();
        let movable = (exposed.runs - on_exposed) as f64 * (recurrences - on_exposed) as f64;
        // Never below 0, because `least` leaves no more recurrences than the other side has sessions.
        let room = (withheld.runs + on_exposed).saturating_sub(recurrences) as f64;
        ways *= movable / ((on_exposed + 1) as f64 * (room + 1.0));
    }
    harm * exposed.recurred.saturating_sub(least) as f64 - (uneven / even).ln()
}
