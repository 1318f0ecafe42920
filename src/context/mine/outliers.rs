//! What cost or took much more than the rest.

use super::super::action::Action;
use super::super::signal::{Signal, SignalKind};
use super::{Place, one_line, signal};
use crate::domain::Usage;

/// Calls shorter than this are not slow.
const SLOW_MS: u64 = 120_000;

/// Steps of fewer new tokens than this are not costly.
const COSTLY_TOKENS: u64 = 20_000;

/// A costly step costs this many times what a middling one does.
const COSTLY_RATIO: u64 = 4;

/// Fewer steps have no middle.
const MIN_STEPS: u64 = 8;

/// How many are told.
const TOLD: usize = 3;

/// Keeps the few that stand out, and of the rest only how many there were of each size.
#[derive(Debug)]
pub(super) struct Outliers {
    slowest: Vec<(u64, Place, String, String)>,
    costliest: Vec<(u64, Place)>,
    last_costed: Option<Place>,
    /// Steps that told their cost, by the number of binary digits of it.
    sizes: [u64; 65],
    steps: u64,
}

impl Default for Outliers {
    fn default() -> Self {
        Self { slowest: Vec::new(), costliest: Vec::new(), last_costed: None, sizes: [0; 65], steps: 0 }
    }
}

impl Outliers {
    /// A call took its time.
    pub(super) fn took(&mut self, at: Place, tool: &str, action: &Action, duration_ms: Option<u64>) {
        let Some(duration) = duration_ms.filter(|duration| *duration >= SLOW_MS) else { return };
        if self.slowest.len() >= TOLD && self.slowest.last().is_some_and(|(least, ..)| *least >= duration) {
            return;
        }
        let what = action.command().map_or_else(|| tool.to_owned(), |command| format!("`{}`", one_line(command)));
        self.slowest.push((duration, at, tool.to_owned(), what));
        self.slowest.sort_by_key(|(duration, at, ..)| (std::cmp::Reverse(*duration), *at));
        self.slowest.truncate(TOLD);
    }

    /// A step told its cost.
    pub(super) fn spent(&mut self, at: Place, usage: Usage) {
        let tokens = fresh_tokens(usage);
        if let Some(known) = self.costliest.iter_mut().find(|(_, known)| *known == at) {
            known.0 = tokens;
        } else {
            self.costliest.push((tokens, at));
        }
        self.costliest.sort_by_key(|(tokens, at)| (std::cmp::Reverse(*tokens), *at));
        self.costliest.truncate(TOLD);
        if self.last_costed != Some(at) {
            self.last_costed = Some(at);
            self.steps += 1;
            let size = usize::try_from(u64::BITS - tokens.leading_zeros()).unwrap_or_default();
            if let Some(count) = self.sizes.get_mut(size) {
                *count += 1;
            }
        }
    }

    /// What a middling step costs at most: the power of two that half of the steps stay under.
    fn middling(&self) -> u64 {
        let mut below = 0;
        for (size, count) in self.sizes.iter().enumerate() {
            below += count;
            if below * 2 >= self.steps {
                return 1_u64.checked_shl(u32::try_from(size).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
            }
        }
        u64::MAX
    }

    /// The slowest calls and the costliest steps.
    pub(super) fn signals(self) -> Vec<Signal> {
        let least = COSTLY_TOKENS.max(self.middling().saturating_mul(COSTLY_RATIO));
        let mut found: Vec<Signal> = Vec::new();
        for (duration, at, tool, what) in self.slowest {
            let mut slow = signal(SignalKind::SlowCall, at, format!("{what} took {} s", duration / 1000));
            slow.tool = Some(tool);
            found.push(slow);
        }
        if self.steps >= MIN_STEPS {
            for (tokens, at) in self.costliest.into_iter().filter(|(tokens, _)| *tokens >= least) {
                found.push(signal(SignalKind::CostlyStep, at, format!("{tokens} new tokens in one step")));
            }
        }
        found
    }
}

/// Tokens that had to be worked on: those from a cache cost next to nothing.
fn fresh_tokens(usage: Usage) -> u64 {
    let read = usage.prompt_tokens.unwrap_or_default().saturating_sub(usage.cached_tokens.unwrap_or_default());
    read.saturating_add(usage.completion_tokens.unwrap_or_default())
}
