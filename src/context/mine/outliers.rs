//! What cost or took much more than the rest.

use std::collections::HashMap;

use super::super::action::Action;
use super::super::signal::{Signal, SignalKind};
use super::{Place, one_line, signal};
use crate::domain::Usage;

/// Calls shorter than this are not slow.
const SLOW_MS: u64 = 120_000;

/// Steps of fewer new tokens than this are not costly.
const COSTLY_TOKENS: u64 = 20_000;

/// A costly step costs this many times what a middling one does.
const COSTLY_RATIO: u64 = 8;

/// Fewer steps have no middle.
const MIN_STEPS: usize = 8;

/// How many are told.
const TOLD: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Outliers {
    slowest: Vec<(u64, Place, String, String)>,
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

    /// The slowest calls and the costliest steps, given what each step of the trajectory cost.
    pub(super) fn signals(self, trajectory: u32, spent: &HashMap<u32, Usage>) -> Vec<Signal> {
        let mut found: Vec<Signal> = Vec::new();
        for (duration, at, tool, what) in self.slowest {
            let mut slow = signal(SignalKind::SlowCall, at, format!("{what} took {} s", duration / 1000));
            slow.tool = Some(tool);
            found.push(slow);
        }
        if spent.len() < MIN_STEPS {
            return found;
        }
        let mut costs: Vec<(u64, u32)> = spent.iter().map(|(step, usage)| (fresh_tokens(*usage), *step)).collect();
        costs.sort_by_key(|(tokens, step)| (std::cmp::Reverse(*tokens), *step));
        let middle = costs.get(costs.len() / 2).map_or(0, |(tokens, _)| *tokens);
        let least = COSTLY_TOKENS.max(middle.saturating_mul(COSTLY_RATIO));
        for (tokens, step) in costs.into_iter().take(TOLD).filter(|(tokens, _)| *tokens >= least) {
            let at = Place { trajectory, step };
            found.push(signal(SignalKind::CostlyStep, at, format!("{tokens} new tokens in one step")));
        }
        found
    }
}

/// Tokens that had to be worked on: those from a cache cost next to nothing.
fn fresh_tokens(usage: Usage) -> u64 {
    let read = usage.prompt_tokens.unwrap_or_default().saturating_sub(usage.cached_tokens.unwrap_or_default());
    read.saturating_add(usage.completion_tokens.unwrap_or_default())
}
