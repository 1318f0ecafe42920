//! Evidence that may be looked at after every run.
//!
//! It is a wager against "the lesson does no harm". Runs are taken in blocks. Of a block it is known how many runs had
//! the lesson, how many had not, and in how many the trouble came back. If the lesson does nothing, the trouble is
//! spread over the runs as by drawing lots, whatever its rate is: the wager is on more of it among those that had the
//! lesson, at the odds that drawing lots gives (Fisher's hypergeometric ones). Such a wager wins nothing in the
//! long run and loses if the lesson helps, so the chance that its capital is ever multiplied by forty is one in forty at
//! most (Ville's inequality), however long one plays and whenever one looks.
//!
//! Three other rules were held against this one by simulation, with one run in ten held back and a rate of 0.3:
//!
//! - Odds that follow from the holdout itself need as many runs. But if the end of three in ten exposed runs is not known,
//!   they retire every lesson that does nothing: the odds no longer are what was said.
//! - A likelihood ratio against the best rate without harm holds what it promises and needs nearly twice the runs.
//! - A boundary for the score statistic by a normal mixture needs as many runs as this, but only holds as long as sums are
//!   normal: where trouble is the rule (rates of 0.8 and 0.95) it erred in up to 5.8 % of cases with 5 % allowed, this
//!   one in 3.3 %.

use super::{Arm, Arms, Ending, Side};

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;

/// The harms that are wagered on, as logarithms of how many times greater the odds of trouble are. The capital is spread
/// evenly over them, so that a little harm is found as well as much. 0.44 is a rate of 0.4 instead of 0.3.
const HARMS: [f64; 5] = [0.25, 0.5, 0.75, 1.0, 1.5];

/// A block ends with so many runs, once both sides are in it. Within a block the rate of trouble is taken to be the same;
/// from block to block it may change. Longer ones decide later, shorter ones compare fewer runs.
const BLOCK: u64 = 20;

/// The capital of the wager, and the block at hand.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Evidence {
    block: Arms,
    /// By what each part of the capital was multiplied, as logarithms.
    gains: [f64; HARMS.len()],
}

impl Evidence {
    /// Takes in one run.
    pub(super) fn add(&mut self, side: Side, ending: Ending) {
        self.block.add(side, ending);
        let Arms { exposed, withheld } = self.block;
        if exposed.runs == 0 || withheld.runs == 0 || exposed.runs.saturating_add(withheld.runs) < BLOCK {
            return;
        }
        for (gain, harm) in self.gains.iter_mut().zip(HARMS) {
            *gain += log_gain(harm, &exposed, &withheld);
        }
        self.block = Arms::default();
    }

    /// Whether the capital is now so many times what it was.
    pub(super) fn is_beyond(&self, times: f64) -> bool {
        self.log_capital() >= times.ln()
    }

    fn log_capital(&self) -> f64 {
        let most = self.gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.gains.iter().map(|gain| (gain - most).exp()).sum();
        most + (sum / HARMS.len() as f64).ln()
    }
}

/// By what a wager on this harm is multiplied in a block, as a logarithm: how much likelier the block is if there is
/// this harm than if there is none, given how many runs of each side and how much trouble it has.
fn log_gain(harm: f64, exposed: &Arm, withheld: &Arm) -> f64 {
    let trouble = exposed.recurred.saturating_add(withheld.recurred);
    let least = trouble.saturating_sub(withheld.runs);
    let most = trouble.min(exposed.runs);
    // Ways to spread the trouble with `least` on the exposed side, as one; the number of ways for one more follows.
    let (mut ways, mut even, mut uneven) = (1.0, 0.0, 0.0);
    for on_exposed in least..=most {
        let more = (on_exposed - least) as f64;
        even += ways;
        uneven += ways * (harm * more).exp();
        let movable = (exposed.runs - on_exposed) as f64 * (trouble - on_exposed) as f64;
        // Never less than 0, as `least` leaves no more trouble than the other side has runs.
        let room = (withheld.runs + on_exposed).saturating_sub(trouble) as f64;
        ways *= movable / ((on_exposed + 1) as f64 * (room + 1.0));
    }
    harm * exposed.recurred.saturating_sub(least) as f64 - (uneven / even).ln()
}
