//! Tokens and money in whole numbers: sums are exact, and fractions are rounded up.

use serde::{Deserialize, Serialize};

use crate::domain::TokenUsage;

#[cfg(test)]
#[path = "money_tests.rs"]
mod tests;

/// The scale of prices: millionths of a micro-dollar, so that a price of six decimals is exact.
const PER_MICRO: u128 = 1_000_000;

/// The price of a million tokens in dollars. 0 means free, as on one's own machine.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TokenPrices {
    /// The price of the tokens that the model reads.
    pub input_per_million: f64,
    /// The price of the tokens that the model writes.
    pub output_per_million: f64,
}

impl TokenPrices {
    /// Returns true if both prices are zero.
    pub(super) fn are_zero(&self) -> bool {
        price_per_token(self.input_per_million) == 0 && price_per_token(self.output_per_million) == 0
    }

    /// Returns these tokens with their cost.
    pub(super) fn price_tokens(&self, tokens: CallTokens) -> CallAmount {
        let input = u128::from(tokens.prompt) * u128::from(price_per_token(self.input_per_million));
        let output = u128::from(tokens.completion) * u128::from(price_per_token(self.output_per_million));
        let micro_usd = input.saturating_add(output).div_ceil(PER_MICRO);
        CallAmount {
            prompt_tokens: tokens.prompt,
            completion_tokens: tokens.completion,
            micro_usd: u64::try_from(micro_usd).unwrap_or(u64::MAX),
        }
    }
}

/// Returns the price of one token. Dollars for a million tokens are micro-dollars for one; an invalid price counts as
/// the highest.
fn price_per_token(per_million: f64) -> u64 {
    if per_million >= 0.0 { round_product(per_million * 1e6, f64::ceil) } else { u64::MAX }
}

/// Returns a cap in micro-dollars, rounded down; `None` if there is no cap. An invalid cap lets nothing through.
pub(super) fn cap_in_micro_usd(usd: f64) -> Option<u64> {
    if usd == 0.0 {
        return None;
    }
    Some(if usd > 0.0 { round_product(usd * 1e6, f64::floor) } else { 0 })
}

/// Returns the nearest whole number if the product is off by rounding errors only, else the one that `rounded` gives.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is too large becomes the largest")]
fn round_product(product: f64, rounded: fn(f64) -> f64) -> u64 {
    let nearest = product.round();
    let is_meant = (product - nearest).abs() <= product * 2.0 * f64::EPSILON;
    (if is_meant { nearest } else { rounded(product) }) as u64
}

/// The tokens read and written in one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallTokens {
    /// The tokens read by the model.
    #[serde(rename = "promptTokens")]
    pub prompt: u64,
    /// The tokens written by the model.
    #[serde(rename = "completionTokens")]
    pub completion: u64,
}

/// The tokens of one call with their cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallAmount {
    pub(super) prompt_tokens: u64,
    pub(super) completion_tokens: u64,
    pub(super) micro_usd: u64,
}

impl CallAmount {
    pub(super) fn total_tokens(&self) -> u128 {
        u128::from(self.prompt_tokens) + u128::from(self.completion_tokens)
    }
}

/// The total of many amounts. It is wide enough that no file can make it overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SpendTotal {
    prompt_tokens: u128,
    completion_tokens: u128,
    pub(super) micro_usd: u128,
}

impl SpendTotal {
    pub(super) fn add_amount(&mut self, amount: &CallAmount) {
        self.prompt_tokens += u128::from(amount.prompt_tokens);
        self.completion_tokens += u128::from(amount.completion_tokens);
        self.micro_usd += u128::from(amount.micro_usd);
    }

    /// Subtracts an amount that was added before.
    pub(super) fn remove_amount(&mut self, amount: &CallAmount) {
        self.prompt_tokens = self.prompt_tokens.saturating_sub(amount.prompt_tokens.into());
        self.completion_tokens = self.completion_tokens.saturating_sub(amount.completion_tokens.into());
        self.micro_usd = self.micro_usd.saturating_sub(amount.micro_usd.into());
    }

    pub(super) fn combined_with(mut self, other: &Self) -> Self {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.micro_usd += other.micro_usd;
        self
    }

    pub(super) fn total_tokens(&self) -> u128 {
        self.prompt_tokens + self.completion_tokens
    }

    pub(super) fn token_usage(&self) -> TokenUsage {
        TokenUsage {
            prompt_tokens: Some(u64::try_from(self.prompt_tokens).unwrap_or(u64::MAX)),
            completion_tokens: Some(u64::try_from(self.completion_tokens).unwrap_or(u64::MAX)),
            cost_usd: Some(self.micro_usd as f64 / 1e6),
            ..TokenUsage::default()
        }
    }
}

/// Formats an amount such as `$4.99`, with as many decimals as needed and at least two.
pub(super) fn format_dollars(micro_usd: u128) -> String {
    let decimals = format!("{:06}", micro_usd % 1_000_000);
    let (cents, rest) = decimals.split_at_checked(2).unwrap_or((&decimals, ""));
    format!("${}.{cents}{}", micro_usd / 1_000_000, rest.trim_end_matches('0'))
}
