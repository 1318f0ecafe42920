//! How much may be spent, and the sentence that says that it would be too much.

use super::money::{Amount, Sum, cap_in_micro_usd, dollars};

#[cfg(test)]
#[path = "caps_tests.rs"]
mod tests;

/// The most that may be spent. 0: there is no such cap. Days are days in UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    /// Calls that one reflection may make, every attempt counted.
    pub calls_per_reflection: u32,
    /// Tokens, read and written, that one reflection may take.
    pub tokens_per_reflection: u64,
    /// Dollars that one reflection may cost.
    pub usd_per_reflection: f64,
    /// Tokens that all projects together may take in a day.
    pub tokens_per_day: u64,
    /// Dollars that all projects together may cost in a day.
    pub usd_per_day: f64,
    /// Tokens that one project may take in a day.
    pub tokens_per_project_day: u64,
    /// Dollars that one project may cost in a day.
    pub usd_per_project_day: f64,
}

/// What is spent or reserved already.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Standing {
    /// Calls made in this reflection.
    pub(super) calls: u32,
    /// By this reflection.
    pub(super) reflection: Sum,
    /// By this project today.
    pub(super) project: Sum,
    /// By everybody today.
    pub(super) day: Sum,
}

impl Caps {
    /// Whether everything is allowed.
    pub(super) fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Why a call that may take this much is not made; `None` if it fits under every cap. What is equal to a cap fits.
    pub(super) fn refusal(&self, wanted: &Amount, standing: &Standing) -> Option<String> {
        self.too_many_calls(standing.calls)
            .or_else(|| self.too_many_tokens(wanted, standing))
            .or_else(|| self.too_much_money(wanted, standing))
    }

    fn too_many_calls(&self, made: u32) -> Option<String> {
        let cap = self.calls_per_reflection;
        (cap != 0 && made >= cap).then(|| {
            format!(
                "this reflection has made {made} of the {cap} calls it may make; \
                 raise model.caps.callsPerReflection to allow more"
            )
        })
    }

    fn too_many_tokens(&self, wanted: &Amount, standing: &Standing) -> Option<String> {
        let caps = [
            (self.tokens_per_reflection, &standing.reflection, "in one reflection", "tokensPerReflection"),
            (self.tokens_per_project_day, &standing.project, "in one project a day", "tokensPerProjectDay"),
            (self.tokens_per_day, &standing.day, "a day", "tokensPerDay"),
        ];
        caps.into_iter().find(|(cap, spent, ..)| *cap != 0 && spent.tokens() + wanted.tokens() > u128::from(*cap)).map(
            |(cap, spent, scope, key)| {
                format!(
                    "the call may take {} tokens, and {} of the {cap} allowed {scope} are spent or reserved; \
                     raise model.caps.{key} to allow more",
                    wanted.tokens(),
                    spent.tokens(),
                )
            },
        )
    }

    fn too_much_money(&self, wanted: &Amount, standing: &Standing) -> Option<String> {
        let caps = [
            (self.usd_per_reflection, &standing.reflection, "in one reflection", "usdPerReflection"),
            (self.usd_per_project_day, &standing.project, "in one project a day", "usdPerProjectDay"),
            (self.usd_per_day, &standing.day, "a day", "usdPerDay"),
        ];
        caps.into_iter().find_map(|(cap, spent, scope, key)| {
            let cap = u128::from(cap_in_micro_usd(cap)?);
            let wanted = u128::from(wanted.micro_usd);
            (spent.micro_usd + wanted > cap).then(|| {
                format!(
                    "the call may cost {}, and {} of the {} allowed {scope} are spent or reserved; \
                     raise model.caps.{key} to allow more",
                    dollars(wanted),
                    dollars(spent.micro_usd),
                    dollars(cap),
                )
            })
        })
    }
}
