//! Why the desk does not do what it is asked, told so that a person, a program and a server know the next step.

use crate::domain::{EpisodeId, Invalid};
use crate::memory::MemoryError;
use crate::model::LedgerError;
use crate::service::{QueueError, Skip, Undecidable};

/// Why the desk does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The memory said no.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A decision cannot be carried out.
    #[error(transparent)]
    Undecidable(Undecidable),
    /// The queue said no.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// There was no reflection.
    #[error(transparent)]
    Skipped(Skip),
    /// What was spent cannot be read.
    #[error(transparent)]
    Spend(#[from] LedgerError),
    /// No run by that name.
    #[error("there is no episode `{id}`")]
    NoSuchEpisode {
        /// The name.
        id: EpisodeId,
    },
    /// A word is not what it should be.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// What is asked makes no sense.
    #[error("{message}")]
    Unclear {
        /// What is wrong.
        message: String,
        /// What to do next.
        hint: String,
    },
    /// What is asked makes sense and cannot be done here.
    #[error("{message}")]
    Impossible {
        /// What is wrong.
        message: String,
        /// What to do next.
        hint: String,
    },
}

/// Whose turn it is after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The question makes no sense.
    Question,
    /// It asks for something that is not there.
    Missing,
    /// It does not fit what is there.
    State,
    /// Others are busy; the same question may do later.
    Busy,
    /// The machine does not let us.
    Machine,
    /// Archivist's.
    Ours,
}

impl Refusal {
    /// What is asked makes no sense.
    pub(super) fn unclear(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Unclear { message: message.into(), hint: hint.into() }
    }

    /// What is asked makes sense and cannot be done here.
    pub(super) fn impossible(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Impossible { message: message.into(), hint: hint.into() }
    }

    /// What whoever asked can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Memory(error) => return error.hint(),
            Self::Queue(error) => return error.hint(),
            Self::Spend(LedgerError::Elsewhere { .. }) | Self::Skipped(Skip::LedgerAway(_)) => {
                "start the server, or look at `memory.postgres.url`"
            }
            Self::Spend(_) | Self::Invalid(_) => return None,
            Self::Undecidable(Undecidable::Memory(error)) | Self::Skipped(Skip::Memory(error)) => return error.hint(),
            Self::Undecidable(Undecidable::NotQuarantined { .. }) => {
                "`archivist promote` stands behind a lesson that is in use"
            }
            Self::Undecidable(Undecidable::Retired { .. }) => {
                "`archivist approve` takes it out of quarantine, `archivist restore` back"
            }
            Self::Undecidable(Undecidable::NotMerged { .. }) => "`archivist history` shows how it came about",
            Self::Skipped(Skip::NoLog(_)) => "`archivist reflect --file PATH` takes a log wherever it lies",
            Self::Skipped(Skip::Unreadable { .. }) => "docs/formats.md lists the formats that are read",
            Self::Skipped(Skip::Disabled | Skip::Unwanted { .. }) => {
                "`archivist config show --origin` tells where that is set"
            }
            Self::Skipped(Skip::Unchanged) => "`--again` reflects on it all the same",
            Self::Skipped(Skip::HealerSkipped | Skip::Broke(_)) => return None,
            Self::NoSuchEpisode { .. } => "`archivist episodes --json` shows every run",
            Self::Unclear { hint, .. } | Self::Impossible { hint, .. } => hint,
        };
        Some(hint.to_owned())
    }

    /// Whose turn it is now.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Memory(error)
            | Self::Undecidable(Undecidable::Memory(error))
            | Self::Skipped(Skip::Memory(error))
            | Self::Queue(QueueError::Fleet(error)) => of_memory(error),
            Self::Queue(error) if error.is_ours() => Fault::Ours,
            Self::Queue(QueueError::TooLarge { .. }) | Self::Unclear { .. } | Self::Invalid(_) => Fault::Question,
            Self::Queue(_) => Fault::Machine,
            Self::Spend(LedgerError::Busy { .. } | LedgerError::Elsewhere { .. }) => Fault::Busy,
            Self::Spend(_) => Fault::Machine,
            Self::Undecidable(_) | Self::Impossible { .. } => Fault::State,
            Self::NoSuchEpisode { .. } | Self::Skipped(Skip::NoLog(_)) => Fault::Missing,
            Self::Skipped(Skip::Broke(_)) => Fault::Ours,
            Self::Skipped(Skip::LedgerAway(_)) => Fault::Busy,
            Self::Skipped(_) => Fault::State,
        }
    }
}

fn of_memory(error: &MemoryError) -> Fault {
    match error {
        MemoryError::NoSuchLesson { .. } | MemoryError::NoSuchVersion { .. } => Fault::Missing,
        MemoryError::Ambiguous { .. } | MemoryError::Conflict { .. } | MemoryError::NoMoreAliases(_) => Fault::State,
        MemoryError::TooLarge { .. } => Fault::Question,
        MemoryError::Locked { .. } | MemoryError::TurnLost | MemoryError::Unreachable { .. } => Fault::Busy,
        MemoryError::Symlink { .. }
        | MemoryError::Io { .. }
        | MemoryError::Server { .. }
        | MemoryError::Untrusted { .. }
        | MemoryError::Unencrypted { .. }
        | MemoryError::Forbidden { .. }
        | MemoryError::SchemaMissing { .. }
        | MemoryError::SchemaOlder { .. }
        | MemoryError::SchemaNewer { .. }
        | MemoryError::Settings { .. } => Fault::Machine,
        MemoryError::Encode { .. } | MemoryError::Interrupted(_) => Fault::Ours,
    }
}

impl From<Undecidable> for Refusal {
    fn from(undecidable: Undecidable) -> Self {
        match undecidable {
            Undecidable::Memory(error) => Self::Memory(error),
            other => Self::Undecidable(other),
        }
    }
}

impl From<Skip> for Refusal {
    fn from(skip: Skip) -> Self {
        match skip {
            Skip::Memory(error) => Self::Memory(error),
            other => Self::Skipped(other),
        }
    }
}
