//! How a command ends, and how it says that something went wrong.

use std::io;
use std::process::ExitCode;

use super::console::{Console, is_gone};
use crate::config::ConfigError;
use crate::desk::{Fault, Refusal};
use crate::memory::MemoryError;

/// How a command ended. The numbers are a published contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// It did what it was asked to do.
    Done,
    /// Nothing was found, or what was asked cannot be done.
    Refused,
    /// The arguments make no sense.
    Usage,
    /// Archivist is at fault.
    Ours,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Ours => 70,
        })
    }
}

/// What goes wrong in the command line itself.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The person in front of it can do something about it.
    #[error("{message}")]
    User {
        /// What is wrong.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// The arguments do not make sense together.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do next.
        hint: Option<String>,
    },
    /// Stdout does not take any more.
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
    /// A value of ours is not JSON.
    #[error("cannot write the answer as JSON: {0}")]
    Encode(serde_json::Error),
    /// The runtime does not start.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

impl Failure {
    pub(super) fn user(message: impl Into<String>) -> Self {
        Self::User { message: message.into(), hint: None }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// The same, with a next step.
    pub(super) fn with_hint(self, next: impl Into<String>) -> Self {
        match self {
            Self::User { message, .. } => Self::User { message, hint: Some(next.into()) },
            Self::Usage { message, .. } => Self::Usage { message, hint: Some(next.into()) },
            other => other,
        }
    }
}

/// Tells the person what went wrong, and decides on the exit code.
pub(super) fn report(error: &anyhow::Error, console: &mut Console) -> Exit {
    if let Some(error) = error.downcast_ref::<ConfigError>() {
        for problem in &error.problems {
            console.error(&problem.message);
            problem.hint.iter().for_each(|hint| console.hint(hint));
        }
        return Exit::Refused;
    }
    if let Some(error) = error.downcast_ref::<MemoryError>() {
        console.error(&error.to_string());
        error.hint().iter().for_each(|hint| console.hint(hint));
        return if error.is_ours() { Exit::Ours } else { Exit::Refused };
    }
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        console.error(&refusal.to_string());
        refusal.hint().iter().for_each(|hint| console.hint(hint));
        return match refusal.fault() {
            Fault::Ours => Exit::Ours,
            _ if matches!(refusal, Refusal::Unclear { .. }) => Exit::Usage,
            _ => Exit::Refused,
        };
    }
    let (hint, exit) = match error.downcast_ref::<Failure>() {
        Some(Failure::Output(error)) if is_gone(error) => return Exit::Done,
        Some(Failure::User { hint, .. }) => (hint.as_deref(), Exit::Refused),
        Some(Failure::Usage { hint, .. }) => (hint.as_deref(), Exit::Usage),
        Some(Failure::Encode(_) | Failure::Start(_)) => (None, Exit::Ours),
        Some(Failure::Output(_)) | None => (None, Exit::Refused),
    };
    console.error(&format!("{error:#}"));
    hint.iter().for_each(|hint| console.hint(hint));
    exit
}
