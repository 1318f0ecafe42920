//! What can go wrong in a memory, told so that a person knows the next step.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::LessonName;
use crate::domain::{Alias, Invalid, MemoryId};

/// What can go wrong in a memory.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Nobody by that name.
    #[error("there is no lesson `{name}`")]
    NoSuchLesson {
        /// The name.
        name: LessonName,
    },
    /// The lesson never had that version.
    #[error("lesson `{id}` has no version {version}; it has {known}")]
    NoSuchVersion {
        /// The lesson.
        id: MemoryId,
        /// What was asked for.
        version: u64,
        /// How many there are.
        known: usize,
    },
    /// Two branches gave one short name to two lessons.
    #[error("`{alias}` names {} lessons: {}", ids.len(), list(ids))]
    Ambiguous {
        /// The short name.
        alias: Alias,
        /// Whom it names.
        ids: Vec<MemoryId>,
    },
    /// Somebody else wrote first.
    #[error("lesson `{id}` changed meanwhile: it was expected at version {expected} and is at {found}")]
    Conflict {
        /// The lesson.
        id: MemoryId,
        /// What the writer had seen.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// The turn to decide what is new ended before the decision was written down.
    #[error("the turn to write was lost before it was used, and nothing was written")]
    TurnLost,
    /// A record would not fit on a line that readers accept.
    #[error("record `{id}` is {size} bytes long; the limit is {limit}")]
    TooLarge {
        /// Its id.
        id: String,
        /// Its length.
        size: usize,
        /// `memory.maxLineBytes`.
        limit: usize,
    },
    /// Another process has been writing for too long.
    #[error("another process has held {} for {} s", path.display(), waited.as_secs())]
    Locked {
        /// The lock.
        path: PathBuf,
        /// How long this one waited.
        waited: Duration,
    },
    /// A store file is a symbolic link.
    #[error("{} is a symbolic link; Archivist does not write through links", path.display())]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done, as in "cannot read".
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A value could not be written as JSON.
    #[error("cannot write record `{id}` as JSON: {source}")]
    Encode {
        /// Its id.
        id: String,
        /// Why.
        source: serde_json::Error,
    },
    /// The short names are used up.
    #[error("there are no short names left: {0}")]
    NoMoreAliases(Invalid),
    /// The server that holds the memory cannot be asked.
    #[error("the memory at {place} cannot be reached: {why}")]
    Unreachable {
        /// Where it is.
        place: String,
        /// What was heard.
        why: String,
    },
    /// The server that holds the memory cannot show that it is the one.
    #[error("the certificate of the server at {place} is not trusted: {why}")]
    Untrusted {
        /// Where it is.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server that holds the memory speaks in the open, which the settings forbid.
    #[error("the server at {place} does not offer TLS, and `sslmode=require` asks for it")]
    Unencrypted {
        /// Where it is.
        place: String,
    },
    /// The server refused.
    #[error("the server at {place} refused to {doing}: {why} (code {code})")]
    Server {
        /// What was being done, as in "refused to read".
        doing: &'static str,
        /// Where it is.
        place: String,
        /// Its code for it.
        code: String,
        /// Its words for it.
        why: String,
    },
    /// The server lets this user not do it.
    #[error("this user may not do that in the memory at {place}: {why}")]
    Forbidden {
        /// Where it is.
        place: String,
        /// Its words for it.
        why: String,
    },
    /// Nobody made the tables yet.
    #[error("there is no memory at {place} yet")]
    SchemaMissing {
        /// Where it is.
        place: String,
    },
    /// The tables are those of an older program.
    #[error("the tables are of version {found}; this archivist needs version {needed}")]
    SchemaOlder {
        /// What is there.
        found: i32,
        /// What is needed.
        needed: i32,
    },
    /// The tables are those of a newer program, which an older one does not write to.
    #[error("the tables are of version {found}; this archivist knows version {known} and only reads them")]
    SchemaNewer {
        /// What is there.
        found: i32,
        /// What is known.
        known: i32,
    },
    /// A setting cannot be used.
    #[error("`{key}` cannot be used: {why}")]
    Settings {
        /// Which.
        key: &'static str,
        /// Why.
        why: String,
    },
    /// A thread of the store ended early.
    #[error("the memory stopped in the middle of an operation: {0}")]
    Interrupted(String),
}

impl MemoryError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// What the person in front of it can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchLesson { .. } => Some("`archivist list --all` shows every lesson".into()),
            Self::NoSuchVersion { id, .. } => Some(format!("`archivist history {id}` shows its versions")),
            Self::Ambiguous { .. } => {
                Some("use the id, or give new short names with `archivist doctor --repair`".into())
            }
            Self::Locked { .. } => Some("wait for it, or raise `memory.lockTimeoutSeconds`".into()),
            Self::TooLarge { .. } => Some("shorten its detail, or raise `memory.maxLineBytes`".into()),
            Self::Symlink { .. } => Some("put the real file there, or point `memory.dir` at its directory".into()),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Some("allow reading and writing there, or choose another directory with --memory-dir".into())
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    Some("free some space and run the command again; nothing was half written".into())
                }
                io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
                | io::ErrorKind::AlreadyExists
                | io::ErrorKind::InvalidInput => {
                    Some("something else stands where a file or a directory is needed; move it away".into())
                }
                _ => None,
            },
            Self::Conflict { .. } | Self::TurnLost => Some("run the command again".into()),
            Self::Unreachable { .. } => Some("start the server, or look at `memory.postgres.url`".into()),
            Self::Untrusted { .. } => Some(
                "name the certificate of its authority in `memory.postgres.caFile`, and the server as its certificate does"
                    .into(),
            ),
            Self::Unencrypted { .. } => {
                Some("switch `ssl` on at the server, or write `sslmode=disable` into `memory.postgres.url`".into())
            }
            Self::Forbidden { .. } => {
                Some("the owner of the tables lets you in with `archivist migrate --grant`".into())
            }
            Self::SchemaMissing { .. } | Self::SchemaOlder { .. } => {
                Some("`archivist migrate` makes the tables".into())
            }
            Self::SchemaNewer { .. } => Some("use the archivist that made them, or a newer one".into()),
            Self::Server { code, .. } => match code.as_str() {
                "57014" | "55P03" => Some("raise `memory.postgres.statementTimeoutSeconds`".into()),
                "53100" | "53200" => Some("free some space on the server and run the command again".into()),
                _ => None,
            },
            Self::Settings { .. } => Some("`archivist config show --origin` says where it is set".into()),
            Self::Encode { .. } | Self::NoMoreAliases(_) | Self::Interrupted(_) => None,
        }
    }

    /// Whether somebody else was faster, so that the same may work once it is decided anew.
    pub fn is_race(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::TurnLost)
    }

    /// Whether the fault is Archivist's own.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Encode { .. } | Self::Interrupted(_))
    }
}

fn list(ids: &[MemoryId]) -> String {
    ids.iter().map(MemoryId::as_str).collect::<Vec<_>>().join(", ")
}
