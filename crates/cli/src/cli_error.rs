//! Defines how a command ends and how it reports an error.

use std::io;
use std::process::ExitCode;

use super::console::{Console, is_broken_pipe};
use archivist_core::config::ConfigError;
use archivist_core::memory::MemoryError;
use archivist_core::service::{RequestError, RequestFault};

/// The way in which a command ended. The exit codes are a published contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandExit {
    /// The command did what it was asked to do.
    Done,
    /// Nothing was found, or the request cannot be fulfilled.
    Refused,
    /// The arguments are invalid.
    Usage,
    /// Archivist itself is at fault.
    Ours,
}

impl From<CommandExit> for ExitCode {
    fn from(exit: CommandExit) -> Self {
        Self::from(match exit {
            CommandExit::Done => 0,
            CommandExit::Refused => 1,
            CommandExit::Usage => 2,
            CommandExit::Ours => 70,
        })
    }
}

/// An error of the command line itself.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// An error that the user can fix.
    #[error("{message}")]
    User {
        /// The description of the error.
        message: String,
        /// The suggested next step.
        hint: Option<String>,
    },
    /// The arguments do not make sense together.
    #[error("{message}")]
    Usage {
        /// The description of the error.
        message: String,
        /// The suggested next step.
        hint: Option<String>,
    },
    /// Writing to stdout failed.
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
    /// A value could not be encoded as JSON.
    #[error("cannot write the answer as JSON: {0}")]
    Encode(serde_json::Error),
    /// The async runtime could not be started.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

impl CliError {
    pub(super) fn user_error(message: impl Into<String>) -> Self {
        Self::User { message: message.into(), hint: None }
    }

    pub(super) fn usage_error(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// Returns the error with an suggested next step.
    pub(super) fn with_hint(self, next: impl Into<String>) -> Self {
        match self {
            Self::User { message, .. } => Self::User { message, hint: Some(next.into()) },
            Self::Usage { message, .. } => Self::Usage { message, hint: Some(next.into()) },
            other => other,
        }
    }
}

/// Prints an error with its hints, and returns the exit for it.
pub(super) fn report_error(error: &anyhow::Error, console: &mut Console) -> CommandExit {
    if let Some(error) = error.downcast_ref::<ConfigError>() {
        for problem in &error.problems {
            console.print_error(&problem.message);
            problem.hint.iter().for_each(|hint| console.print_hint(hint));
        }
        return CommandExit::Refused;
    }
    if let Some(error) = error.downcast_ref::<MemoryError>() {
        console.print_error(&error.to_string());
        error.hint().iter().for_each(|hint| console.print_hint(hint));
        return if error.is_internal_fault() { CommandExit::Ours } else { CommandExit::Refused };
    }
    if let Some(refusal) = error.downcast_ref::<RequestError>() {
        console.print_error(&refusal.to_string());
        refusal.hint().iter().for_each(|hint| console.print_hint(hint));
        return match refusal.fault() {
            RequestFault::Ours => CommandExit::Ours,
            _ if matches!(refusal, RequestError::Unclear { .. }) => CommandExit::Usage,
            _ => CommandExit::Refused,
        };
    }
    let (hint, exit) = match error.downcast_ref::<CliError>() {
        Some(CliError::Output(error)) if is_broken_pipe(error) => return CommandExit::Done,
        Some(CliError::User { hint, .. }) => (hint.as_deref(), CommandExit::Refused),
        Some(CliError::Usage { hint, .. }) => (hint.as_deref(), CommandExit::Usage),
        Some(CliError::Encode(_) | CliError::Start(_)) => (None, CommandExit::Ours),
        Some(CliError::Output(_)) | None => (None, CommandExit::Refused),
    };
    console.print_error(&format!("{error:#}"));
    hint.iter().for_each(|hint| console.print_hint(hint));
    exit
}
