//! The error of a request, with a hint for the next step and the party at fault.

use crate::domain::{EpisodeId, InvalidValue};
use crate::memory::MemoryError;
use crate::model::LedgerError;
use crate::service::{DecisionError, QueueError, SkipReason};

/// The reason why a request fails.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The memory returned an error.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A decision cannot be applied.
    #[error(transparent)]
    Undecidable(DecisionError),
    /// The queue returned an error.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The reflection was skipped.
    #[error(transparent)]
    Skipped(SkipReason),
    /// The spend ledger cannot be read.
    #[error(transparent)]
    Spend(#[from] LedgerError),
    /// There is no episode with this id.
    #[error("there is no episode `{id}`")]
    NoSuchEpisode {
        /// The id asked for.
        id: EpisodeId,
    },
    /// A value is not valid.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// The request makes no sense.
    #[error("{message}")]
    Unclear {
        /// The error message.
        message: String,
        /// The next step to take.
        hint: String,
    },
    /// The request makes sense but cannot be carried out here.
    #[error("{message}")]
    Impossible {
        /// The error message.
        message: String,
        /// The next step to take.
        hint: String,
    },
}

/// The cause of a failed request, which tells who can fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestFault {
    /// The request itself makes no sense.
    Question,
    /// The requested thing does not exist.
    Missing,
    /// The request conflicts with the current state.
    State,
    /// A resource is busy; the same request may succeed later.
    Busy,
    /// The machine or its set-up prevents it.
    Machine,
    /// A defect in Archivist itself.
    Ours,
}

impl RequestError {
    /// Makes the error for a request that makes no sense.
    pub fn unclear_request(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unclear { message: message.into(), hint: hint.into() }
    }

    /// Makes the error for a request that makes sense but cannot be carried out here.
    pub fn impossible_request(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Impossible { message: message.into(), hint: hint.into() }
    }

    /// Returns the next step that the caller can take, if there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Memory(error) => return error.hint(),
            Self::Queue(error) => return error.hint(),
            Self::Spend(LedgerError::Elsewhere { .. }) | Self::Skipped(SkipReason::LedgerAway(_)) => {
                "start the server, or look at `memory.postgres.url`"
            }
            Self::Spend(_) | Self::Invalid(_) => return None,
            Self::Undecidable(DecisionError::Memory(error)) | Self::Skipped(SkipReason::Memory(error)) => {
                return error.hint();
            }
            Self::Undecidable(DecisionError::NotQuarantined { .. }) => {
                "`archivist promote` stands behind a lesson that is in use"
            }
            Self::Undecidable(DecisionError::Retired { .. }) => {
                "`archivist approve` takes it out of quarantine, `archivist restore` back"
            }
            Self::Undecidable(DecisionError::NotMerged { .. }) => "`archivist history` shows how it came about",
            Self::Skipped(SkipReason::NoLog(_)) => "`archivist reflect --file PATH` takes a log wherever it lies",
            Self::Skipped(SkipReason::Unreadable { .. }) => "docs/formats.md lists the formats that are read",
            Self::Skipped(SkipReason::Disabled | SkipReason::Unwanted { .. }) => {
                "`archivist config show --origin` tells where that is set"
            }
            Self::Skipped(SkipReason::Unchanged) => "`--again` reflects on it all the same",
            Self::Skipped(SkipReason::Purged) => "docs/operations.md says how a purged session is remembered",
            Self::Skipped(SkipReason::HealerSkipped | SkipReason::Broke(_)) => return None,
            Self::NoSuchEpisode { .. } => "`archivist episodes --json` shows every run",
            Self::Unclear { hint, .. } | Self::Impossible { hint, .. } => hint,
        };
        Some(hint.to_owned())
    }

    /// Returns the cause of the failure.
    pub fn fault(&self) -> RequestFault {
        match self {
            Self::Memory(error)
            | Self::Undecidable(DecisionError::Memory(error))
            | Self::Skipped(SkipReason::Memory(error))
            | Self::Queue(QueueError::Fleet(error)) => classify_memory_error(error),
            Self::Queue(error) if error.is_ours() => RequestFault::Ours,
            Self::Queue(QueueError::TooLarge { .. }) | Self::Unclear { .. } | Self::Invalid(_) => {
                RequestFault::Question
            }
            Self::Queue(_) => RequestFault::Machine,
            Self::Spend(LedgerError::Busy { .. } | LedgerError::Elsewhere { .. }) => RequestFault::Busy,
            Self::Spend(_) => RequestFault::Machine,
            Self::Undecidable(_) | Self::Impossible { .. } => RequestFault::State,
            Self::NoSuchEpisode { .. } | Self::Skipped(SkipReason::NoLog(_)) => RequestFault::Missing,
            Self::Skipped(SkipReason::Broke(_)) => RequestFault::Ours,
            Self::Skipped(SkipReason::LedgerAway(_)) => RequestFault::Busy,
            Self::Skipped(_) => RequestFault::State,
        }
    }
}

fn classify_memory_error(error: &MemoryError) -> RequestFault {
    match error {
        MemoryError::NoSuchLesson { .. } | MemoryError::NoSuchVersion { .. } => RequestFault::Missing,
        MemoryError::Ambiguous { .. } | MemoryError::Conflict { .. } | MemoryError::NoMoreAliases(_) => {
            RequestFault::State
        }
        MemoryError::TooLarge { .. } | MemoryError::NotRedactable { .. } => RequestFault::Question,
        MemoryError::Locked { .. } | MemoryError::TurnLost | MemoryError::Unreachable { .. } => RequestFault::Busy,
        MemoryError::Symlink { .. }
        | MemoryError::Io { .. }
        | MemoryError::Server { .. }
        | MemoryError::Untrusted { .. }
        | MemoryError::Unencrypted { .. }
        | MemoryError::Forbidden { .. }
        | MemoryError::SchemaMissing { .. }
        | MemoryError::SchemaOlder { .. }
        | MemoryError::SchemaNewer { .. }
        | MemoryError::Settings { .. } => RequestFault::Machine,
        MemoryError::Encode { .. } | MemoryError::Interrupted(_) => RequestFault::Ours,
    }
}

impl From<DecisionError> for RequestError {
    fn from(undecidable: DecisionError) -> Self {
        match undecidable {
            DecisionError::Memory(error) => Self::Memory(error),
            other => Self::Undecidable(other),
        }
    }
}

impl From<SkipReason> for RequestError {
    fn from(skip: SkipReason) -> Self {
        match skip {
            SkipReason::Memory(error) => Self::Memory(error),
            other => Self::Skipped(other),
        }
    }
}
