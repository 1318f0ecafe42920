//! Finds calls and steps that took or cost much more than the rest.

use super::super::signal::{Signal, SignalKind};
use super::super::tool_action::ToolAction;
use super::{StepPlace, new_signal, shorten_command};
use crate::domain::TokenUsage;

/// The shortest duration of a slow call, in milliseconds.
const SLOW_MS: u64 = 120_000;

/// The fewest new tokens of a costly step.
const COSTLY_TOKENS: u64 = 20_000;

/// The ratio between the tokens of a costly step and those of a median one.
const COSTLY_RATIO: u64 = 4;

/// The fewest steps for which a median is meaningful.
const MIN_STEPS: u64 = 8;

/// The number of slow calls and of costly steps that are reported.
const TOLD: usize = 3;

/// Keeps the few outliers, and counts all steps by size.
#[derive(Debug)]
pub(super) struct OutlierTracker {
    slowest: Vec<(u64, StepPlace, String, String)>,
    costliest: Vec<(u64, StepPlace)>,
    last_costed: Option<StepPlace>,
    /// The number of steps with a known cost, by the number of binary digits of it.
    sizes: [u64; 65],
    steps: u64,
}

impl Default for OutlierTracker {
    fn default() -> Self {
        Self { slowest: Vec::new(), costliest: Vec::new(), last_costed: None, sizes: [0; 65], steps: 0 }
    }
}

impl OutlierTracker {
    /// Records the duration of a call, if it is slow.
    pub(super) fn record_duration(&mut self, at: StepPlace, tool: &str, action: &ToolAction, duration_ms: Option<u64>) {
        let Some(duration) = duration_ms.filter(|duration| *duration >= SLOW_MS) else { return };
        if self.slowest.len() >= TOLD && self.slowest.last().is_some_and(|(least, ..)| *least >= duration) {
            return;
        }
        let what =
            action.command().map_or_else(|| tool.to_owned(), |command| format!("`{}`", shorten_command(command)));
        self.slowest.push((duration, at, tool.to_owned(), what));
        self.slowest.sort_by_key(|(duration, at, ..)| (std::cmp::Reverse(*duration), *at));
        self.slowest.truncate(TOLD);
    }

    /// Records the usage of a step.
    pub(super) fn record_usage(&mut self, at: StepPlace, usage: TokenUsage) {
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

    /// Returns an upper bound of the median cost: the power of two that half of the steps stay below.
    fn median_bound(&self) -> u64 {
        let mut below = 0;
        for (size, count) in self.sizes.iter().enumerate() {
            below += count;
            if below * 2 >= self.steps {
                return 1_u64.checked_shl(u32::try_from(size).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
            }
        }
        u64::MAX
    }

    /// Returns the signals of the slowest calls and the costliest steps.
    pub(super) fn into_signals(self) -> Vec<Signal> {
        let least = COSTLY_TOKENS.max(self.median_bound().saturating_mul(COSTLY_RATIO));
        let mut found: Vec<Signal> = Vec::new();
        for (duration, at, tool, what) in self.slowest {
            let mut slow = new_signal(SignalKind::SlowCall, at, format!("{what} took {} s", duration / 1000));
            slow.tool = Some(tool);
            found.push(slow);
        }
        if self.steps >= MIN_STEPS {
            for (tokens, at) in self.costliest.into_iter().filter(|(tokens, _)| *tokens >= least) {
                found.push(new_signal(SignalKind::CostlyStep, at, format!("{tokens} new tokens in one step")));
            }
        }
        found
    }
}

/// Returns the tokens that were not read from a cache, which cost next to nothing.
fn fresh_tokens(usage: TokenUsage) -> u64 {
    let read = usage.prompt_tokens.unwrap_or_default().saturating_sub(usage.cached_tokens.unwrap_or_default());
    read.saturating_add(usage.completion_tokens.unwrap_or_default())
}
