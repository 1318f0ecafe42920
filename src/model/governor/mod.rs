//! The spend governor: asked before every call that leaves the process.
//!
//! A call is reserved at the most it can cost, and only if that fits under every cap, on top of all that is spent and
//! all that is reserved. The reservation is on disk before the call is made. When the call comes back it is settled at
//! what it did cost; if it never does (a crash, a cancelled reflection, a timeout), the reservation stays and counts as
//! spent. So the caps hold, whatever endpoints say and whenever a process dies:
//!
//! - an endpoint that claims more than the reservation is not believed, and not asked again that day;
//! - an endpoint that claims less than we count ourselves is not believed either;
//! - several processes share the ledger and its caps (`ledger.rs`), and so do machines, where it is on a server
//!   (`shared.rs`);
//! - where the ledger cannot be written, nothing is spent.
//!
//! What a model thinks without showing it is known from the endpoint's word only.
//!
//! Being refused is an outcome, [`ModelError::Refused`], and says which cap to raise. The ledger is read and written on
//! tokio's threads for blocking work, because waiting for another process may take seconds.

mod bill;
mod books;
mod caps;
mod day;
mod estimate;
mod ledger;
mod money;
mod shared;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use self::bill::{Bill, is_too_much};
use self::books::Books;
use self::caps::Standing;
use self::day::{Day, Reserve, Settle};
use self::estimate::Size;
use self::ledger::Ledger;
use self::money::{Amount, Sum};
use super::place::place;
use super::{LanguageModel, ModelError, Reply, Request};
use crate::domain::{Timestamp, Usage};

pub use self::caps::Caps;
pub use self::estimate::{estimate, reservation};
pub use self::ledger::LedgerError;
pub use self::money::{Prices, Tokens};
pub use self::shared::{Deciding, LedgerMemo, NumberedLine, ReservedCall, SharedLedger, Wish};

#[cfg(test)]
#[path = "governor_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile_tests;

#[cfg(test)]
#[path = "race_tests.rs"]
mod race_tests;

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Holds the caps for one endpoint. Shared by everything that asks it.
pub struct Governor {
    books: Books,
    /// The name under which all reflections spend, where that is not for each to say.
    account: Option<String>,
    endpoint: String,
    prices: Prices,
    caps: Caps,
    clock: Clock,
}

impl std::fmt::Debug for Governor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { books, account, endpoint, prices, caps, clock: _ } = self;
        f.debug_struct("Governor")
            .field("books", books)
            .field("account", account)
            .field("endpoint", endpoint)
            .field("prices", prices)
            .field("caps", caps)
            .finish_non_exhaustive()
    }
}

/// What was spent or reserved in a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// Calls of all projects.
    pub calls: u64,
    /// By all projects together.
    pub total: Usage,
    /// By one project.
    pub project: Usage,
}

/// How often models were asked on a day in UTC, and what that took, by everybody who shares this ledger.
pub fn spent_on(ledger: &Path, at: Timestamp) -> Result<(u64, Usage), LedgerError> {
    let day = Ledger::new(ledger.to_owned()).look(at)?;
    Ok((day.calls, day.total.usage()))
}

/// The same for a ledger that machines share.
pub fn spent_together(ledger: &dyn SharedLedger, at: Timestamp) -> Result<(u64, Usage), LedgerError> {
    let day = shared::look(ledger, at)?;
    Ok((day.calls, day.total.usage()))
}

impl Governor {
    /// The directory of the ledger is made when the first call is. Of the endpoint's address, a user, a password and a
    /// query are left out, for it stands in the ledger.
    pub fn new(ledger: impl Into<PathBuf>, endpoint: &str, prices: Prices, caps: Caps, clock: Clock) -> Arc<Self> {
        let books = Books::Files(Box::new(Ledger::new(ledger.into())));
        Arc::new(Self { books, account: None, endpoint: place(endpoint), prices, caps, clock })
    }

    /// The same where machines share the ledger. A project lies at another path on each of them, so all reflections
    /// spend in the name of this account.
    pub fn sharing(
        ledger: Arc<dyn SharedLedger>,
        account: &str,
        endpoint: &str,
        prices: Prices,
        caps: Caps,
        clock: Clock,
    ) -> Arc<Self> {
        let books = Books::Shared(shared::Shared::new(ledger));
        Arc::new(Self { books, account: Some(account.to_owned()), endpoint: place(endpoint), prices, caps, clock })
    }

    /// What one reflection may spend.
    pub fn reflection(self: &Arc<Self>, project: &str) -> Allowance {
        let project = self.account.as_deref().unwrap_or(project).to_owned();
        Allowance { governor: Arc::clone(self), project, turn: Mutex::default(), purse: Mutex::default() }
    }

    /// What was spent or reserved today, by all and by one project. Waits for nobody and writes nothing.
    pub fn today(&self, project: &str) -> Result<Spent, LedgerError> {
        let project = self.account.as_deref().unwrap_or(project);
        let day = self.books.look((self.clock)())?;
        Ok(Spent { calls: day.calls, total: day.total.usage(), project: day.project(project).usage() })
    }

    /// Whether a call can be made without being written down.
    fn needs_no_ledger(&self) -> bool {
        self.caps.are_none() && self.prices.are_zero()
    }
}

/// What one reflection may spend, and what it has spent.
#[derive(Debug)]
pub struct Allowance {
    governor: Arc<Governor>,
    project: String,
    /// Held while a call is reserved: a reflection may make several at once, and what it may spend is checked and
    /// counted in one go.
    turn: Mutex<()>,
    purse: Mutex<Purse>,
}

#[derive(Debug, Default)]
struct Purse {
    calls: u32,
    /// Against the caps.
    counted: Sum,
    /// For people.
    billed: Sum,
    /// Why a call could not be written down by the server that should have done so.
    away: Option<String>,
}

/// A call that may be made.
#[derive(Debug)]
struct Ticket {
    amount: Amount,
    /// Where it is written: the moment it was reserved, and its id. `None` where it did not have to be and could not.
    written: Option<(Timestamp, String)>,
    model: String,
}

impl Allowance {
    /// What was billed. Calls that are under way or never came back count for all they can have cost.
    pub fn spent(&self) -> Usage {
        self.purse().billed.usage()
    }

    /// How many calls were made, every attempt counted.
    pub fn calls(&self) -> u32 {
        self.purse().calls
    }

    /// Why a call was not made that might have been, had the server answered that keeps the ledger. That passes, unlike a
    /// cap: whoever can wait asks again later.
    pub fn away(&self) -> Option<String> {
        self.purse().away.clone()
    }

    fn purse(&self) -> MutexGuard<'_, Purse> {
        self.purse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for permission.
    fn reserve(&self, model: &str, size: &Size) -> Result<Ticket, ModelError> {
        let amount = self.governor.prices.of(size.at_most);
        match self.try_reserve(model, amount) {
            Ok(Ok(ticket)) => Ok(ticket),
            Ok(Err(why)) => Err(ModelError::Refused { why }),
            Err(error) if self.governor.needs_no_ledger() => {
                tracing::warn!(%error, "the call is not in the ledger of spend; it is free and there are no caps");
                self.purse().hold(&amount);
                Ok(Ticket { amount, written: None, model: model.to_owned() })
            }
            Err(error) => {
                if let LedgerError::Elsewhere { why } = &error {
                    self.purse().away = Some(why.clone());
                }
                Err(no_ledger(&error))
            }
        }
    }

    fn try_reserve(&self, model: &str, amount: Amount) -> Result<Result<Ticket, String>, LedgerError> {
        let governor = &*self.governor;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = |at: Timestamp, day: &Day| self.refusal(model, &amount, at, day);
        let reserve = |at: Timestamp, id: String| Reserve {
            id,
            at,
            project: self.project.clone(),
            endpoint: governor.endpoint.clone(),
            model: model.to_owned(),
            amount,
        };
        let reserved = governor.books.reserve(&*governor.clock, &refusal, &reserve)?;
        Ok(reserved.map(|written| {
            self.purse().hold(&amount);
            Ticket { amount, written: Some(written), model: model.to_owned() }
        }))
    }

    /// Why a call is not made, as the day stands.
    fn refusal(&self, model: &str, amount: &Amount, at: Timestamp, day: &Day) -> Option<String> {
        let governor = &*self.governor;
        if day.is_greedy(&governor.endpoint, model) {
            let endpoint = &governor.endpoint;
            return Some(format!(
                "the model {model} at {endpoint} billed more than was sent or asked for, see {}; \
                 it is not asked again before midnight UTC; until then use another endpoint or model",
                governor.books.place(at),
            ));
        }
        let standing = {
            let purse = self.purse();
            Standing {
                calls: purse.calls,
                reflection: purse.counted,
                project: day.project(&self.project),
                day: day.total,
            }
        };
        governor.caps.refusal(amount, &standing)
    }

    /// Writes down what a call did cost. If that fails, the reservation stands.
    fn settle(&self, ticket: Ticket, size: &Size, bill: Bill) {
        let Bill::Known { counted, billed, claimed } = bill else {
            return;
        };
        let governor = &*self.governor;
        if let Some(claimed) = claimed.filter(|claimed| is_too_much(claimed, &size.at_most)) {
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
        let counted = governor.prices.of(counted);
        if let Some((at, id)) = ticket.written {
            let settle = Settle { id, amount: counted, claimed };
            if let Err(error) = governor.books.settle(at, settle) {
                tracing::warn!(%error, "a call could not be settled and counts for all it can have cost");
                return;
            }
        }
        self.purse().settle(&ticket.amount, &counted, &governor.prices.of(billed));
    }
}

impl Purse {
    fn hold(&mut self, amount: &Amount) {
        self.calls = self.calls.saturating_add(1);
        self.counted.add(amount);
        self.billed.add(amount);
    }

    fn settle(&mut self, held: &Amount, counted: &Amount, billed: &Amount) {
        self.counted.remove(held);
        self.counted.add(counted);
        self.billed.remove(held);
        self.billed.add(billed);
    }
}

/// A model that is asked only as far as an allowance goes.
#[derive(Debug)]
pub struct Governed<M> {
    inner: M,
    allowance: Arc<Allowance>,
}

impl<M> Governed<M> {
    /// Every call of `inner` is paid for by `allowance`.
    pub fn new(inner: M, allowance: Arc<Allowance>) -> Self {
        Self { inner, allowance }
    }

    /// What pays for it.
    pub fn allowance(&self) -> &Allowance {
        &self.allowance
    }

    /// Files block, and an executor must not. What was begun is finished even if nobody waits for it any more.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Allowance) -> T + Send + 'static,
    ) -> Result<T, LedgerError> {
        let allowance = Arc::clone(&self.allowance);
        let done = tokio::task::spawn_blocking(move || work(&allowance)).await;
        done.map_err(|error| LedgerError::Interrupted(error.to_string()))
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Governed<M> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, ModelError> {
        let (size, model) = (Size::of(request), self.name().to_owned());
        let reserved = self.blocking(move |allowance| allowance.reserve(&model, &size)).await;
        let ticket = reserved.map_err(|error| no_ledger(&error))??;
        let answer = self.inner.ask(request).await;
        let bill = Bill::of(&size, &answer);
        if let Err(error) = self.blocking(move |allowance| allowance.settle(ticket, &size, bill)).await {
            tracing::warn!(%error, "a call could not be settled and counts for all it can have cost");
        }
        answer
    }
}

fn no_ledger(error: &LedgerError) -> ModelError {
    ModelError::Refused {
        why: format!(
            "what a call costs cannot be written down ({error}); make that possible, or set no price and no cap"
        ),
    }
}
