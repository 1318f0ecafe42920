//! Tokens and money, in whole numbers: sums are exact, and what does not come out even is rounded up.

use serde::{Deserialize, Serialize};

use crate::domain::Usage;

#[cfg(test)]
#[path = "money_tests.rs"]
mod tests;

/// Prices are held in millionths of a micro-dollar, so that a price of six decimals is exact.
const PER_MICRO: u128 = 1_000_000;

/// What a million tokens cost, in dollars. 0: nothing, as on a machine of one's own.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// Of what the model reads.
    pub input_per_million: f64,
    /// Of what it writes.
    pub output_per_million: f64,
}

impl Prices {
    /// Whether nothing costs anything.
    pub(super) fn are_zero(&self) -> bool {
        per_token(self.input_per_million) == 0 && per_token(self.output_per_million) == 0
    }

    /// These tokens, with what they cost.
    pub(super) fn of(&self, tokens: Tokens) -> Amount {
        let input = u128::from(tokens.prompt) * u128::from(per_token(self.input_per_million));
        let output = u128::from(tokens.completion) * u128::from(per_token(self.output_per_million));
        let micro_usd = input.saturating_add(output).div_ceil(PER_MICRO);
        Amount {
            prompt_tokens: tokens.prompt,
            completion_tokens: tokens.completion,
            micro_usd: u64::try_from(micro_usd).unwrap_or(u64::MAX),
        }
    }
}

/// Dollars for a million tokens are micro-dollars for one. A price that is none is the highest there is.
fn per_token(per_million: f64) -> u64 {
    if per_million >= 0.0 { whole(per_million * 1e6, f64::ceil) } else { u64::MAX }
}

/// A cap in micro-dollars, rounded down; `None` where there is no cap. A cap that is no number lets nothing through.
pub(super) fn cap_in_micro_usd(usd: f64) -> Option<u64> {
    if usd == 0.0 {
        return None;
    }
    Some(if usd > 0.0 { whole(usd * 1e6, f64::floor) } else { 0 })
}

/// The whole number meant by a product that may be off by the last bit, else the one that `rounded` gives.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is too large becomes the largest")]
fn whole(product: f64, rounded: fn(f64) -> f64) -> u64 {
    let nearest = product.round();
    let is_meant = (product - nearest).abs() <= product * 2.0 * f64::EPSILON;
    (if is_meant { nearest } else { rounded(product) }) as u64
}

/// Tokens read and written in one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Read by the model.
    #[serde(rename = "promptTokens")]
    pub prompt: u64,
    /// Written by it.
    #[serde(rename = "completionTokens")]
    pub completion: u64,
}

/// Tokens of one call with what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Amount {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) micro_usd: u64,
}

impl Amount {
    pub(super) fn tokens(&self) -> u128 {
        u128::from(self.prompt_tokens) + u128::from(self.completion_tokens)
    }
}

/// Many amounts together. Wide enough that no file can make it run over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    prompt_tokens: u128,
    completion_tokens: u128,
    pub(super) micro_usd: u128,
}

impl Sum {
    pub(super) fn add(&mut self, amount: &Amount) {
        self.prompt_tokens += u128::from(amount.prompt_tokens);
        self.completion_tokens += u128::from(amount.completion_tokens);
        self.micro_usd += u128::from(amount.micro_usd);
    }

    /// Takes out what was added before.
    pub(super) fn remove(&mut self, amount: &Amount) {
        self.prompt_tokens = self.prompt_tokens.saturating_sub(amount.prompt_tokens.into());
        self.completion_tokens = self.completion_tokens.saturating_sub(amount.completion_tokens.into());
        self.micro_usd = self.micro_usd.saturating_sub(amount.micro_usd.into());
    }

    pub(super) fn plus(mut self, other: &Self) -> Self {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.micro_usd += other.micro_usd;
        self
    }

    pub(super) fn tokens(&self) -> u128 {
        self.prompt_tokens + self.completion_tokens
    }

    pub(super) fn usage(&self) -> Usage {
        Usage {
            prompt_tokens: Some(u64::try_from(self.prompt_tokens).unwrap_or(u64::MAX)),
            completion_tokens: Some(u64::try_from(self.completion_tokens).unwrap_or(u64::MAX)),
            cost_usd: Some(self.micro_usd as f64 / 1e6),
            ..Usage::default()
        }
    }
}

/// `$4.99`, with as many decimals as it takes and two at least.
pub(super) fn dollars(micro_usd: u128) -> String {
    let decimals = format!("{:06}", micro_usd % 1_000_000);
    let (cents, rest) = decimals.split_at_checked(2).unwrap_or((&decimals, ""));
    format!("${}.{cents}{}", micro_usd / 1_000_000, rest.trim_end_matches('0'))
}
