//! Why something did not work, and whether it may work the next time.

use std::error::Error as _;
use std::io;

use tokio_postgres::error::SqlState;

use crate::memory::MemoryError;

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;

/// Why something did not work.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It never will.
    Memory(MemoryError),
    /// The server said so, or is gone.
    Server(tokio_postgres::Error),
    /// There is no connection to be had.
    Busy(String),
}

impl From<MemoryError> for Trouble {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Server(error) => f.write_str(&said(error)),
            Self::Busy(why) => f.write_str(why),
        }
    }
}

impl Trouble {
    /// Whether the same may work a moment later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Memory(_) => false,
            Self::Busy(_) => true,
            // Without a code it was not the server that refused: the connection broke, or could not be made.
            Self::Server(error) => error.code().map_or_else(|| insecure(error).is_none(), passes),
        }
    }

    /// The same for a person.
    pub(super) fn into_error(self, doing: &'static str, place: &str) -> MemoryError {
        let place = place.to_owned();
        match self {
            Self::Memory(error) => error,
            Self::Busy(why) => MemoryError::Unreachable { place, why },
            Self::Server(error) => match error.code() {
                None => match insecure(&error) {
                    Some(Insecure::Untrusted(why)) => MemoryError::Untrusted { place, why },
                    Some(Insecure::Unencrypted) => MemoryError::Unencrypted { place },
                    None => MemoryError::Unreachable { place, why: said(&error) },
                },
                Some(code) if is_refused_at_the_door(code) => MemoryError::Unreachable { place, why: said(&error) },
                Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME | &SqlState::UNDEFINED_COLUMN) => {
                    MemoryError::SchemaMissing { place }
                }
                Some(&SqlState::INSUFFICIENT_PRIVILEGE) => MemoryError::Forbidden { place, why: said(&error) },
                Some(code) => MemoryError::Server { doing, place, code: code.code().to_owned(), why: said(&error) },
            },
        }
    }
}

/// Why a connection that could be made must not be.
enum Insecure {
    /// The server's certificate is not to be trusted, for this reason.
    Untrusted(String),
    /// The server speaks in the open, and that is not allowed.
    Unencrypted,
}

/// Whether it was we who hung up. That does not pass by waiting.
fn insecure(error: &tokio_postgres::Error) -> Option<Insecure> {
    let source = error.source()?;
    // The library has no other sign for it.
    if source.to_string() == "server does not support TLS" {
        return Some(Insecure::Unencrypted);
    }
    let cause = source.downcast_ref::<io::Error>().and_then(io::Error::get_ref)?;
    match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(why) => Some(Insecure::Untrusted(why.to_string())),
        _ => None,
    }
}

/// Whether a refusal with this code may pass: another transaction won, or the server is on its way up, down or over.
fn passes(code: &SqlState) -> bool {
    let codes = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    code.code().starts_with("08") || codes.contains(code)
}

fn is_refused_at_the_door(code: &SqlState) -> bool {
    code.code().starts_with("28") || *code == SqlState::INVALID_CATALOG_NAME || passes(code)
}

/// What the server said, or what lies behind an error that only says where it happened.
fn said(error: &tokio_postgres::Error) -> String {
    if let Some(told) = error.as_db_error() {
        return match told.detail() {
            Some(detail) => format!("{} ({detail})", told.message()),
            None => told.message().to_owned(),
        };
    }
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
