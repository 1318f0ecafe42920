//! Failures of database work, and which of them are transient.

use std::error::Error as _;
use std::io;

use tokio_postgres::error::SqlState;

use crate::memory::MemoryError;

#[cfg(test)]
#[path = "database_error_tests.rs"]
mod tests;

/// The reason why database work failed.
#[derive(Debug)]
pub(super) enum PostgresFailure {
    /// A permanent error of the memory.
    Memory(MemoryError),
    /// An error from the server or the connection to it.
    Server(tokio_postgres::Error),
    /// No connection is available.
    Busy(String),
}

impl From<MemoryError> for PostgresFailure {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<tokio_postgres::Error> for PostgresFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl std::fmt::Display for PostgresFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Server(error) => f.write_str(&describe_error(error)),
            Self::Busy(why) => f.write_str(why),
        }
    }
}

impl PostgresFailure {
    /// Returns true if a retry may succeed.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Memory(_) => false,
            Self::Busy(_) => true,
            // Without a code the connection broke or could not be made.
            Self::Server(error) => error.code().map_or_else(|| detect_insecure(error).is_none(), is_transient_code),
        }
    }

    /// Converts the failure into an error for the user.
    pub(super) fn into_error(self, doing: &'static str, place: &str) -> MemoryError {
        let place = place.to_owned();
        match self {
            Self::Memory(error) => error,
            Self::Busy(why) => MemoryError::Unreachable { place, why },
            Self::Server(error) => match error.code() {
                None => match detect_insecure(&error) {
                    Some(InsecureConnection::Untrusted(why)) => MemoryError::Untrusted { place, why },
                    Some(InsecureConnection::Unencrypted) => MemoryError::Unencrypted { place },
                    None => MemoryError::Unreachable { place, why: describe_error(&error) },
                },
                Some(code) if is_connection_refusal(code) => {
                    MemoryError::Unreachable { place, why: describe_error(&error) }
                }
                Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME | &SqlState::UNDEFINED_COLUMN) => {
                    MemoryError::SchemaMissing { place }
                }
                Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                    MemoryError::Forbidden { place, why: describe_error(&error) }
                }
                Some(code) => {
                    MemoryError::Server { doing, place, code: code.code().to_owned(), why: describe_error(&error) }
                }
            },
        }
    }
}

/// The reason why a possible connection must not be made.
enum InsecureConnection {
    /// The server's certificate is not trusted, for this reason.
    Untrusted(String),
    /// The server does not offer TLS, which is required.
    Unencrypted,
}

/// Returns the reason if the client itself refused the connection as insecure. Waiting does not help then.
fn detect_insecure(error: &tokio_postgres::Error) -> Option<InsecureConnection> {
    let source = error.source()?;
    // The library reports this only by its text.
    if source.to_string() == "server does not support TLS" {
        return Some(InsecureConnection::Unencrypted);
    }
    let cause = source.downcast_ref::<io::Error>().and_then(io::Error::get_ref)?;
    match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(why) => Some(InsecureConnection::Untrusted(why.to_string())),
        _ => None,
    }
}

/// Returns true if this code is transient: another transaction won, or the server starts, stops or fails over.
fn is_transient_code(code: &SqlState) -> bool {
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

fn is_connection_refusal(code: &SqlState) -> bool {
    code.code().starts_with("28") || *code == SqlState::INVALID_CATALOG_NAME || is_transient_code(code)
}

/// Returns the server's message, or the source of an error that has no message of its own.
fn describe_error(error: &tokio_postgres::Error) -> String {
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
