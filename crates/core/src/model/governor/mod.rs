//! The spend governor, which must permit every call that leaves the process.
//!
//! A call is reserved at the most it can cost, and only if that fits under every cap, on top of everything spent and
//! reserved. The reservation is on disk before the call is made. When the call returns it is charged at its actual
//! cost; if it never returns (a crash, a cancelled reflection, a timeout), the reservation stays and counts as spent.
//! So the caps hold, whatever endpoints report and whenever a process dies:
//!
//! - an endpoint that claims more than the reservation is not believed, and gets no more calls that day;
//! - an endpoint that claims less than we count ourselves is not believed either;
//! - several processes share the ledger and its caps (`file_ledger.rs`), and so do machines, where it is on a server
//!   (`shared_ledger.rs`);
//! - if the ledger cannot be written, nothing is spent.
//!
//! The tokens of hidden reasoning are known from the endpoint's report only.
//!
//! A refusal is an outcome, [`ModelError::Refused`], and says which cap to raise. The ledger is read and written on
//! tokio's threads for blocking work, because waiting for another process may take seconds.

mod call_cost;
mod caps;
mod day_totals;
mod file_ledger;
mod money;
mod shared_ledger;
mod spend_ledger;
mod token_estimate;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::call_cost::{CallCost, exceeds_maximum};
use self::caps::CurrentSpend;
use self::day_totals::{ChargeEntry, LedgerDay, ReservationEntry};
use self::file_ledger::FileLedger;
use self::money::{CallAmount, SpendTotal};
use self::spend_ledger::SpendLedger;
use self::token_estimate::CallSize;
use super::public_address::public_address;
use super::{LanguageModel, ModelError, ModelReply, ModelRequest};
use crate::domain::{Timestamp, TokenUsage};

pub use self::caps::SpendCaps;
pub use self::file_ledger::LedgerError;
pub(crate) use self::file_ledger::lock_spend_folder;
pub use self::money::{CallTokens, TokenPrices};
pub use self::shared_ledger::{Deciding, LedgerInstruction, LedgerMemo, NumberedLine, ReservedCall, SharedLedger};
pub use self::token_estimate::{estimate_prompt_tokens, max_billable_tokens};

#[cfg(test)]
#[path = "governor_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile_tests;

#[cfg(test)]
#[path = "race_tests.rs"]
mod race_tests;

/// A function that returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The governor that enforces the caps for one endpoint. Shared by everything that calls it.
pub struct SpendGovernor {
    spend_ledger: SpendLedger,
    /// The account to which all reflections are charged, if it is not the project of each.
    account: Option<String>,
    endpoint: String,
    prices: TokenPrices,
    caps: SpendCaps,
    clock: Clock,
}

impl std::fmt::Debug for SpendGovernor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { spend_ledger, account, endpoint, prices, caps, clock: _ } = self;
        f.debug_struct("SpendGovernor")
            .field("books", spend_ledger)
            .field("account", account)
            .field("endpoint", endpoint)
            .field("prices", prices)
            .field("caps", caps)
            .finish_non_exhaustive()
    }
}

/// The amounts spent or reserved in a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpentToday {
    /// The calls of all projects.
    pub calls: u64,
    /// The usage of all projects together.
    pub total: TokenUsage,
    /// The usage of one project.
    pub project: TokenUsage,
}

/// Returns the number of calls on a day in UTC and their usage, by everything that shares this ledger.
pub fn read_day_spend(ledger: &Path, at: Timestamp) -> Result<(u64, TokenUsage), LedgerError> {
    let day = FileLedger::new(ledger.to_owned()).read_day(at)?;
    Ok((day.calls, day.total.token_usage()))
}

/// Returns the number of calls on a day in UTC and their usage, from a ledger that machines share.
pub fn read_shared_day_spend(ledger: &dyn SharedLedger, at: Timestamp) -> Result<(u64, TokenUsage), LedgerError> {
    let day = shared_ledger::read_shared_day(ledger, at)?;
    Ok((day.calls, day.total.token_usage()))
}

impl SpendGovernor {
    /// Creates a governor with a ledger in files; the directory is created with the first call. User, password and
    /// query are removed from the endpoint's address, because the ledger stores it.
    pub fn new(
        ledger: impl Into<PathBuf>,
        endpoint: &str,
        prices: TokenPrices,
        caps: SpendCaps,
        clock: Clock,
    ) -> Arc<Self> {
        let spend_ledger = SpendLedger::Files(Box::new(FileLedger::new(ledger.into())));
        Arc::new(Self { spend_ledger, account: None, endpoint: public_address(endpoint), prices, caps, clock })
    }

    /// Creates a governor with a ledger that machines share. A project has another path on each machine, so all
    /// reflections are charged to this account.
    pub fn with_shared_ledger(
        ledger: Arc<dyn SharedLedger>,
        account: &str,
        endpoint: &str,
        prices: TokenPrices,
        caps: SpendCaps,
        clock: Clock,
    ) -> Arc<Self> {
        let spend_ledger = SpendLedger::Shared(shared_ledger::SharedSpendLedger::new(ledger));
        Arc::new(Self {
            spend_ledger,
            account: Some(account.to_owned()),
            endpoint: public_address(endpoint),
            prices,
            caps,
            clock,
        })
    }

    /// Returns the allowance of one reflection.
    pub fn reflection_allowance(self: &Arc<Self>, project: &str) -> ReflectionAllowance {
        let project = self.account.as_deref().unwrap_or(project).to_owned();
        ReflectionAllowance { governor: Arc::clone(self), project, turn: Mutex::default(), purse: Mutex::default() }
    }

    /// Returns what was spent or reserved today, by all projects and by one. Takes no lock and writes nothing.
    pub fn spent_today(&self, project: &str) -> Result<SpentToday, LedgerError> {
        let project = self.account.as_deref().unwrap_or(project);
        let day = self.spend_ledger.read_day((self.clock)())?;
        Ok(SpentToday {
            calls: day.calls,
            total: day.total.token_usage(),
            project: day.project_total(project).token_usage(),
        })
    }

    /// Returns true if a call may be made without being recorded.
    fn needs_no_ledger(&self) -> bool {
        self.caps.are_unlimited() && self.prices.are_zero()
    }
}

/// The spending limit of one reflection, and what it has spent.
#[derive(Debug)]
pub struct ReflectionAllowance {
    governor: Arc<SpendGovernor>,
    project: String,
    /// The lock held while a call is reserved: a reflection may make several calls at once, and its spend must be
    /// checked and counted in one step.
    turn: Mutex<()>,
    purse: Mutex<AllowanceBalance>,
}

#[derive(Debug, Default)]
struct AllowanceBalance {
    calls: u32,
    /// The amount that counts against the caps.
    counted: SpendTotal,
    /// The amount shown to people.
    billed: SpendTotal,
    /// The reason why the server with the ledger could not record a call.
    away: Option<String>,
}

/// A call that may be made.
#[derive(Debug)]
struct PermittedCall {
    amount: CallAmount,
    /// The time and the id of its reservation in the ledger; `None` if it needed no record and none could be written.
    written: Option<(Timestamp, String)>,
    model: String,
}

impl ReflectionAllowance {
    /// Returns the billed usage. Calls that are under way or never returned count for the most they can cost.
    pub fn billed_usage(&self) -> TokenUsage {
        self.lock_balance().billed.token_usage()
    }

    /// Returns the number of calls made, every attempt counted.
    pub fn call_count(&self) -> u32 {
        self.lock_balance().calls
    }

    /// Returns why a call was not made because the server with the ledger did not answer. Unlike a cap this is
    /// temporary, so a caller that can wait may try again later.
    pub fn ledger_outage(&self) -> Option<String> {
        self.lock_balance().away.clone()
    }

    fn lock_balance(&self) -> MutexGuard<'_, AllowanceBalance> {
        self.purse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a call, or returns the reason for its refusal.
    fn reserve_call(&self, model: &str, size: &CallSize) -> Result<PermittedCall, ModelError> {
        let amount = self.governor.prices.price_tokens(size.at_most);
        match self.try_reserve_call(model, amount) {
            Ok(Ok(ticket)) => Ok(ticket),
            Ok(Err(why)) => Err(ModelError::Refused { why }),
            Err(error) if self.governor.needs_no_ledger() => {
                tracing::warn!(%error, "the call is not in the ledger of spend; it is free and there are no caps");
                self.lock_balance().add_reservation(&amount);
                Ok(PermittedCall { amount, written: None, model: model.to_owned() })
            }
            Err(error) => {
                if let LedgerError::Elsewhere { why } = &error {
                    self.lock_balance().away = Some(why.clone());
                }
                Err(no_ledger_error(&error))
            }
        }
    }

    fn try_reserve_call(&self, model: &str, amount: CallAmount) -> Result<Result<PermittedCall, String>, LedgerError> {
        let governor = &*self.governor;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = |at: Timestamp, day: &LedgerDay| self.refusal_reason(model, &amount, at, day);
        let reserve = |at: Timestamp, id: String| ReservationEntry {
            id,
            at,
            project: self.project.clone(),
            endpoint: governor.endpoint.clone(),
            model: model.to_owned(),
            amount,
        };
        let reserved = governor.spend_ledger.reserve_call(&*governor.clock, &refusal, &reserve)?;
        Ok(reserved.map(|written| {
            self.lock_balance().add_reservation(&amount);
            PermittedCall { amount, written: Some(written), model: model.to_owned() }
        }))
    }

    /// Returns the reason to refuse a call, given the totals of the day.
    fn refusal_reason(&self, model: &str, amount: &CallAmount, at: Timestamp, day: &LedgerDay) -> Option<String> {
        let governor = &*self.governor;
        if day.has_overcharged(&governor.endpoint, model) {
            let endpoint = &governor.endpoint;
            return Some(format!(
                "the model {model} at {endpoint} billed more than was sent or asked for, see {}; \
                 it is not asked again before midnight UTC; until then use another endpoint or model",
                governor.spend_ledger.describe_location(at),
            ));
        }
        let availability = {
            let purse = self.lock_balance();
            CurrentSpend {
                calls: purse.calls,
                reflection: purse.counted,
                project: day.project_total(&self.project),
                day: day.total,
            }
        };
        governor.caps.refusal_reason(amount, &availability)
    }

    /// Records the actual cost of a call. If that fails, the reservation stands.
    fn charge_call(&self, ticket: PermittedCall, size: &CallSize, bill: CallCost) {
        let CallCost::Known { counted, billed, claimed } = bill else {
            return;
        };
        let governor = &*self.governor;
        if let Some(claimed) = claimed.filter(|claimed| exceeds_maximum(claimed, &size.at_most)) {
            tracing::warn!(
                endpoint = governor.endpoint,
                model = ticket.model,
                claimed.prompt,
                claimed.completion,
                most.prompt = size.at_most.prompt,
                most.completion = size.at_most.completion,
                "the endpoint billed more than was sent or asked for; it is not asked again today"
            );
        }
        let counted = governor.prices.price_tokens(counted);
        if let Some((at, id)) = ticket.written {
            let charge = ChargeEntry { id, amount: counted, claimed };
            if let Err(error) = governor.spend_ledger.charge_call(at, charge) {
                tracing::warn!(%error, "a call could not be settled and counts for all it can have cost");
                return;
            }
        }
        self.lock_balance().replace_reservation(&ticket.amount, &counted, &governor.prices.price_tokens(billed));
    }
}

impl AllowanceBalance {
    fn add_reservation(&mut self, amount: &CallAmount) {
        self.calls = self.calls.saturating_add(1);
        self.counted.add_amount(amount);
        self.billed.add_amount(amount);
    }

    fn replace_reservation(&mut self, held: &CallAmount, counted: &CallAmount, billed: &CallAmount) {
        self.counted.remove_amount(held);
        self.counted.add_amount(counted);
        self.billed.remove_amount(held);
        self.billed.add_amount(billed);
    }
}

/// A model whose calls are limited by an allowance.
#[derive(Debug)]
pub struct GovernedModel<M> {
    inner: M,
    allowance: Arc<ReflectionAllowance>,
}

impl<M> GovernedModel<M> {
    /// Wraps `inner`, so that `allowance` pays for every call.
    pub fn new(inner: M, allowance: Arc<ReflectionAllowance>) -> Self {
        Self { inner, allowance }
    }

    /// Returns the allowance that pays for the calls.
    pub fn allowance(&self) -> &ReflectionAllowance {
        &self.allowance
    }

    /// Runs file work on a blocking thread. The work finishes even if its caller is cancelled.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ReflectionAllowance) -> T + Send + 'static,
    ) -> Result<T, LedgerError> {
        let allowance = Arc::clone(&self.allowance);
        let done = tokio::task::spawn_blocking(move || work(&allowance)).await;
        done.map_err(|error| LedgerError::Interrupted(error.to_string()))
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for GovernedModel<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn send_request(&self, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let (size, model) = (CallSize::from_request(request), self.name().to_owned());
        let reserved = self.run_blocking(move |allowance| allowance.reserve_call(&model, &size)).await;
        let ticket = reserved.map_err(|error| no_ledger_error(&error))??;
        let answer = self.inner.send_request(request).await;
        let bill = CallCost::from_answer(&size, &answer);
        if let Err(error) = self.run_blocking(move |allowance| allowance.charge_call(ticket, &size, bill)).await {
            tracing::warn!(%error, "a call could not be settled and counts for all it can have cost");
        }
        answer
    }
}

fn no_ledger_error(error: &LedgerError) -> ModelError {
    ModelError::Refused {
        why: format!(
            "what a call costs cannot be written down ({error}); make that possible, or set no price and no cap"
        ),
    }
}
