//! The cost of model calls, day by day.

use std::sync::Arc;

use chrono::{NaiveDate, TimeDelta};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Archivist, RequestError};
use crate::domain::TokenUsage;
use crate::model::{SharedLedger, read_day_spend, read_shared_day_spend};

/// What models cost, all projects together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Spend")]
pub struct SpendReport {
    /// Day by day, the oldest first.
    pub days: Vec<DaySpend>,
    /// What may be spent in a day.
    pub caps: DayCaps,
}

/// What one day cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaySpend {
    /// The day, in UTC.
    pub date: NaiveDate,
    /// How often a model was asked.
    pub calls: u64,
    /// Tokens read and written.
    pub tokens: u64,
    /// The cost in dollars.
    pub usd: f64,
}

/// What may be spent in a day; null is no cap.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DayCaps {
    /// The most tokens a day.
    pub day_tokens: Option<u64>,
    /// The most dollars a day.
    pub day_usd: Option<f64>,
}

impl Archivist {
    /// Returns the spend ledger that all machines share, if they share a server.
    pub fn shared_ledger(&self) -> Option<Arc<dyn SharedLedger>> {
        #[cfg(feature = "postgres")]
        if let Some(server) = self.server() {
            return Some(Arc::new(crate::service::FleetLedger::new(server.clone(), &self.bank_key())));
        }
        None
    }

    /// Reports the cost of the last days, today included. It may block on files or a server, so it must not run on an
    /// async thread.
    pub fn report_spend(&self, days: u32) -> Result<SpendReport, RequestError> {
        let now = self.now();
        let caps = &self.config().model.caps;
        let mut spend = SpendReport {
            days: Vec::new(),
            caps: DayCaps {
                day_tokens: Some(caps.tokens_per_day).filter(|tokens| *tokens > 0),
                day_usd: Some(caps.usd_per_day).filter(|usd| *usd > 0.0),
            },
        };
        let spend_dir = self.environment.state_dir().map(|state| state.join("spend"));
        let shared = self.shared_ledger();
        for back in (0..i64::from(days)).rev() {
            let Some(at) = now.checked_sub_signed(TimeDelta::days(back)) else { continue };
            let (calls, usage) = match (&shared, &spend_dir) {
                (Some(ledger), _) => read_shared_day_spend(&**ledger, at)?,
                (None, Some(directory)) => read_day_spend(directory, at)?,
                (None, None) => (0, TokenUsage::default()),
            };
            let tokens =
                usage.prompt_tokens.unwrap_or_default().saturating_add(usage.completion_tokens.unwrap_or_default());
            spend.days.push(DaySpend { date: at.date_naive(), calls, tokens, usd: usage.cost_usd.unwrap_or_default() });
        }
        Ok(spend)
    }
}
