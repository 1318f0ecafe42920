//! The limits on spend, and the messages for calls that would exceed them.

use super::money::{CallAmount, SpendTotal, cap_in_micro_usd, format_dollars};

#[cfg(test)]
#[path = "caps_tests.rs"]
mod tests;

/// The most that may be spent. 0 means that there is no such cap. Days are days in UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpendCaps {
    /// The calls that one reflection may make, every attempt counted.
    pub calls_per_reflection: u32,
    /// The tokens, read and written, that one reflection may take.
    pub tokens_per_reflection: u64,
    /// The dollars that one reflection may cost.
    pub usd_per_reflection: f64,
    /// The tokens that all projects together may take in a day.
    pub tokens_per_day: u64,
    /// The dollars that all projects together may cost in a day.
    pub usd_per_day: f64,
    /// The tokens that one project may take in a day.
    pub tokens_per_project_day: u64,
    /// The dollars that one project may cost in a day.
    pub usd_per_project_day: f64,
}

/// The amounts that are already spent or reserved.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CurrentSpend {
    /// The calls made in this reflection.
    pub(super) calls: u32,
    /// The amount of this reflection.
    pub(super) reflection: SpendTotal,
    /// The amount of this project today.
    pub(super) project: SpendTotal,
    /// The amount of all projects today.
    pub(super) day: SpendTotal,
}

impl SpendCaps {
    /// Returns true if there is no cap at all.
    pub(super) fn are_unlimited(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the reason to refuse a call that may take this much; `None` if it fits under every cap. An amount equal
    /// to a cap fits.
    pub(super) fn refusal_reason(&self, wanted: &CallAmount, availability: &CurrentSpend) -> Option<String> {
        self.call_cap_refusal(availability.calls)
            .or_else(|| self.token_cap_refusal(wanted, availability))
            .or_else(|| self.money_cap_refusal(wanted, availability))
    }

    fn call_cap_refusal(&self, made: u32) -> Option<String> {
        let cap = self.calls_per_reflection;
        (cap != 0 && made >= cap).then(|| {
            format!(
                "this reflection has made {made} of the {cap} calls it may make; \
                 raise model.caps.callsPerReflection to allow more"
            )
        })
    }

    fn token_cap_refusal(&self, wanted: &CallAmount, availability: &CurrentSpend) -> Option<String> {
        let caps = [
            (self.tokens_per_reflection, &availability.reflection, "in one reflection", "tokensPerReflection"),
            (self.tokens_per_project_day, &availability.project, "in one project a day", "tokensPerProjectDay"),
            (self.tokens_per_day, &availability.day, "a day", "tokensPerDay"),
        ];
        caps.into_iter()
            .find(|(cap, spent, ..)| *cap != 0 && spent.total_tokens() + wanted.total_tokens() > u128::from(*cap))
            .map(|(cap, spent, scope, key)| {
                format!(
                    "the call may take {} tokens, and {} of the {cap} allowed {scope} are spent or reserved; \
                     raise model.caps.{key} to allow more",
                    wanted.total_tokens(),
                    spent.total_tokens(),
                )
            })
    }

    fn money_cap_refusal(&self, wanted: &CallAmount, availability: &CurrentSpend) -> Option<String> {
        let caps = [
            (self.usd_per_reflection, &availability.reflection, "in one reflection", "usdPerReflection"),
            (self.usd_per_project_day, &availability.project, "in one project a day", "usdPerProjectDay"),
            (self.usd_per_day, &availability.day, "a day", "usdPerDay"),
        ];
        caps.into_iter().find_map(|(cap, spent, scope, key)| {
            let cap = u128::from(cap_in_micro_usd(cap)?);
            let wanted = u128::from(wanted.micro_usd);
            (spent.micro_usd + wanted > cap).then(|| {
                format!(
                    "the call may cost {}, and {} of the {} allowed {scope} are spent or reserved; \
                     raise model.caps.{key} to allow more",
                    format_dollars(wanted),
                    format_dollars(spent.micro_usd),
                    format_dollars(cap),
                )
            })
        })
    }
}
