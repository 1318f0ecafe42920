//! The spend ledger on the server that holds the memory, so that caps apply to all machines together.

use std::sync::Arc;

use chrono::NaiveDate;
use tokio::runtime::{Builder, Handle};

use crate::memory::MemoryError;
use crate::memory::postgres::{PostgresServer, ReservationDecision, SpendReservation, SpendTable};
use crate::model::{Deciding, LedgerError, LedgerInstruction, LedgerMemo, NumberedLine, SharedLedger};

/// The spend ledger on a server.
#[derive(Debug)]
pub struct FleetLedger {
    lines: SpendTable,
    memo: Arc<LedgerMemo>,
}

impl FleetLedger {
    /// Makes the ledger for this bank, without contacting the server.
    pub fn new(server: Arc<PostgresServer>, bank: &str) -> Self {
        Self { memo: server.shared_memo(), lines: SpendTable::new(server, bank) }
    }
}

impl SharedLedger for FleetLedger {
    fn describe_location(&self) -> String {
        self.lines.display_address()
    }

    fn ledger_memo(&self) -> Arc<LedgerMemo> {
        Arc::clone(&self.memo)
    }

    fn read_day_lines(&self, day: NaiveDate) -> Result<Vec<NumberedLine>, LedgerError> {
        block_on_future(self.lines.read_day_lines(day))
    }

    fn reserve_call(&self, id: &str, day: NaiveDate, decide: &Deciding<'_>) -> Result<(), LedgerError> {
        let decide = |day: NaiveDate, lines: Option<&[NumberedLine]>| match decide(day, lines) {
            LedgerInstruction::ReadFrom(number) => ReservationDecision::ReadFrom(number),
            LedgerInstruction::Day(day) => ReservationDecision::Day(day),
            LedgerInstruction::Leave => ReservationDecision::Leave,
            LedgerInstruction::Write(call) => ReservationDecision::Write(SpendReservation {
                at: call.at,
                project: call.project,
                endpoint: call.endpoint,
                model: call.model,
                line: call.line,
            }),
        };
        block_on_future(self.lines.reserve_spend(id, day, &decide))
    }

    fn charge_call(&self, id: &str, day: NaiveDate, line: &str) -> Result<(), LedgerError> {
        block_on_future(self.lines.charge_call(id, day, line))
    }
}

/// Blocks on a future, with the current runtime if there is one, else with a temporary one.
fn block_on_future<T>(work: impl Future<Output = Result<T, MemoryError>>) -> Result<T, LedgerError> {
    let done = match Handle::try_current() {
        Ok(runtime) => runtime.block_on(work),
        Err(_) => {
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| LedgerError::Interrupted(error.to_string()))?.block_on(work)
        }
    };
    done.map_err(|error| LedgerError::Elsewhere { why: error.to_string() })
}
