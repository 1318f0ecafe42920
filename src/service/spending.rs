//! What models cost, written down on the server that holds the memory, so that caps hold for all machines together.

use std::sync::Arc;

use chrono::NaiveDate;
use tokio::runtime::{Builder, Handle};

use crate::memory::MemoryError;
use crate::memory::postgres::{Reservation, Server, SpendLines, Verdict};
use crate::model::{Deciding, LedgerError, LedgerMemo, NumberedLine, SharedLedger, Wish};

/// The ledger on a server.
#[derive(Debug)]
pub struct FleetLedger {
    lines: SpendLines,
    memo: Arc<LedgerMemo>,
}

impl FleetLedger {
    /// What is spent is written down in the name of this bank. Nothing is asked yet.
    pub fn new(server: Arc<Server>, bank: &str) -> Self {
        Self { memo: server.memo(), lines: SpendLines::new(server, bank) }
    }
}

impl SharedLedger for FleetLedger {
    fn place(&self) -> String {
        self.lines.place()
    }

    fn memo(&self) -> Arc<LedgerMemo> {
        Arc::clone(&self.memo)
    }

    fn lines(&self, day: NaiveDate) -> Result<Vec<NumberedLine>, LedgerError> {
        wait_for(self.lines.lines(day))
    }

    fn reserve(&self, id: &str, day: NaiveDate, decide: &Deciding<'_>) -> Result<(), LedgerError> {
        let decide = |day: NaiveDate, lines: Option<&[NumberedLine]>| match decide(day, lines) {
            Wish::ReadFrom(number) => Verdict::ReadFrom(number),
            Wish::Day(day) => Verdict::Day(day),
            Wish::Leave => Verdict::Leave,
            Wish::Write(call) => Verdict::Write(Reservation {
                at: call.at,
                project: call.project,
                endpoint: call.endpoint,
                model: call.model,
                line: call.line,
            }),
        };
        wait_for(self.lines.reserve(id, day, &decide))
    }

    fn settle(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), LedgerError> {
        wait_for(self.lines.settle(id, day, line))
    }
}

/// Waits, on a thread that may, for the runtime it belongs to; where there is none, on one of its own.
fn wait_for<T>(work: impl Future<Output = Result<T, MemoryError>>) -> Result<T, LedgerError> {
    let done = match Handle::try_current() {
        Ok(runtime) => runtime.block_on(work),
        Err(_) => {
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| LedgerError::Interrupted(error.to_string()))?.block_on(work)
        }
    };
    done.map_err(|error| LedgerError::Elsewhere { why: error.to_string() })
}
